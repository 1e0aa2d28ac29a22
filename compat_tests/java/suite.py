"""Runs the Java client (setup.sh compiles it): producer, consumer with group.protocol=classic, and admin."""

from harness import paths
from harness.context import Context
from harness.program import run_program


def run(context: Context):
    with context.broker() as broker:
        run_program(context, broker, [*paths.JAVA_CLIENT, "tests"], [*paths.JAVA_CLIENT, "crash"])
