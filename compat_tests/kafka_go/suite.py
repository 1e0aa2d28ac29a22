"""Runs the kafka-go client (go/kafka_go, built by setup.sh)."""

from harness import paths
from harness.context import Context
from harness.program import run_program


# It has no idempotent producer: a batch whose answer was lost comes again. Its batches have at most 1,000 records.
ECHO = 1_000


def run(context: Context):
    program = paths.GO_BIN / "kafka_go"
    with context.broker() as broker:
        run_program(context, broker, [program, "tests"], [program, "crash"], echo=ECHO)
