"""Runs kafka-clients 2.1.1, the oldest line that Apache Kafka 4.4.0 still speaks with; setup.sh compiles the program."""

from harness import paths
from harness.context import Context
from harness.program import run_program


def run(context: Context):
    with context.broker() as broker:
        run_program(context, broker, [*paths.OLD_JAVA_CLIENT], count=2_000)
