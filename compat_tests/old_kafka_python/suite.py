"""Runs kafka-python 2.0.2, which shadows the new one in the same environment."""

from harness import paths
from harness.context import Context
from harness.program import run_program


def run(context: Context):
    program = paths.COMPAT / "old_kafka_python" / "client.py"
    with context.broker() as broker:
        run_program(context, broker, ["env", f"PYTHONPATH={paths.OLD_KAFKA_PYTHON}", paths.VENV_PYTHON, program], count=2_000)
