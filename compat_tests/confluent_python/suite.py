"""Runs the confluent-kafka-python client in its own environment (setup.sh makes it from requirements.lock)."""

from harness import paths
from harness.context import Context
from harness.program import run_program


def run(context: Context):
    program = paths.COMPAT / "confluent_python" / "client.py"
    with context.broker() as broker:
        run_program(context, broker, [paths.VENV_PYTHON, program, "tests"], [paths.VENV_PYTHON, program, "crash"])
