"""Every kind of outage once, on a broker under load (loop.py); `./dev outages` runs hundreds."""

import subprocess
import sys

from harness import paths
from harness.context import Context
from harness.results import require

SECONDS = 240


def run(context: Context):
    if context.kind != "weir":
        return
    program = paths.COMPAT / "outages" / "loop.py"
    with context.test("each_outage_ends_as_its_message_says_and_loses_nothing") as notes:
        done = subprocess.run([sys.executable, program, "--weir", context.weir, "--each", "--work-seconds", "0.2",
                               "--seed", str(context.seed)], capture_output=True, text=True, timeout=SECONDS)
        require(done.returncode == 0, f"{done.stdout}\n{done.stderr[-2000:]}")
        notes.append(done.stdout.splitlines()[-1])
