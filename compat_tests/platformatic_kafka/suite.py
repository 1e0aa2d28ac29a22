"""Runs the @platformatic/kafka client (node/platformatic_kafka) with the Node that setup.sh put beside it."""

from harness import paths
from harness.context import Context
from harness.program import run_program


def run(context: Context):
    program = [*paths.NODE, paths.NODE_SOURCES / "platformatic_kafka" / "main.js"]
    with context.broker() as broker:
        run_program(context, broker, [*program, "tests"], [*program, "crash"])
