"""A few rounds of the kill loop (loop.py); `./dev kills` runs hundreds."""

import subprocess

from harness import paths
from harness.context import Context
from harness.results import require

KILLS = 4
SECONDS = 240


def run(context: Context):
    if context.kind != "weir":
        return
    program = paths.COMPAT / "kill_loop" / "loop.py"
    with context.test("nothing_answered_is_lost_by_kills") as notes:
        done = subprocess.run([paths.VENV_PYTHON, program, "--weir", context.weir, "--kills", str(KILLS), "--seed", str(context.seed)],
                              capture_output=True, text=True, timeout=SECONDS)
        require(done.returncode == 0, f"{done.stdout}\n{done.stderr[-2000:]}")
        notes.append(done.stdout.splitlines()[-1])
