"""Runs the franz-go client (go/franz_go, built by setup.sh)."""

from harness import paths
from harness.context import Context
from harness.program import run_program


def run(context: Context):
    program = paths.GO_BIN / "franz_go"
    with context.broker() as broker:
        run_program(context, broker, [program, "tests"], [program, "crash"])
