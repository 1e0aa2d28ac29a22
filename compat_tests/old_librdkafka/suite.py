"""Runs the GoogleTest program of librdkafka/ on librdkafka 1.9.2, all but the test whose calls came with 2.0."""

import platform

from harness import paths
from harness.context import Context
from harness.program import run_program

TOO_NEW = "Admin.ListsDescribesChangesAndDeletesGroups"


def run(context: Context):
    if platform.machine() != "x86_64":
        return  # its wheel is for this kind only
    lib = paths.OLD_LIBRDKAFKA
    command = ["env", f"LD_LIBRARY_PATH={lib}", f"LD_PRELOAD={lib}/libmissing.so", paths.LIBRDKAFKA_TEST]
    with context.broker() as broker:
        run_program(context, broker, [*command, f"--gtest_filter=-{TOO_NEW}:Crash.*"], count=2_000)
