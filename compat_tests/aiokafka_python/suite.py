"""Runs the aiokafka client in the environment that setup.sh makes from requirements.lock."""

from harness import paths
from harness.context import Context
from harness.program import run_program


def run(context: Context):
    program = paths.COMPAT / "aiokafka_python" / "client.py"
    with context.broker() as broker:
        run_program(context, broker, [paths.VENV_PYTHON, program, "tests"], [paths.VENV_PYTHON, program, "crash"])
