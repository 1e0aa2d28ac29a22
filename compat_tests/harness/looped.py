"""A test that is a loop of its own (kill_loop, outages): it starts the broker as often as it needs, and ends with what it has seen."""

import pathlib
import subprocess

from harness import paths
from harness.context import Context
from harness.results import require

SECONDS = 240


def run_loop(context: Context, test: str, program: pathlib.Path, *options: str):
    """Of Weir only; its last line is the test's note."""
    if context.kind != "weir":
        return
    with context.test(test) as notes:
        done = subprocess.run([paths.VENV_PYTHON, program, "--weir", context.weir, "--seed", str(context.seed), *options],
                              capture_output=True, text=True, timeout=SECONDS)
        require(done.returncode == 0, f"{done.stdout}\n{done.stderr[-2000:]}")
        notes.append(done.stdout.splitlines()[-1])
