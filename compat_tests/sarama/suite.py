"""Runs the sarama client (go/sarama, built by setup.sh)."""

from harness import paths
from harness.context import Context
from harness.program import run_program


def run(context: Context):
    program = paths.GO_BIN / "sarama"
    with context.broker() as broker:
        run_program(context, broker, [program, "tests"], [program, "crash"])
