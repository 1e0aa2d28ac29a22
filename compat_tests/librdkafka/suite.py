"""Runs the GoogleTest program against librdkafka (the machine's own); setup.sh or the main build makes it."""

from harness import paths
from harness.context import Context
from harness.program import run_program


def run(context: Context):
    program = paths.LIBRDKAFKA_TEST
    with context.broker() as broker:
        run_program(context, broker, [program, "--gtest_filter=-Crash.*"], [program, "--gtest_filter=Crash.*"])
