"""The kafka-python client under test; run by suite.py with the interpreter of the venv. Its words: python_clients/program.py."""

import pathlib
import sys

# The folder of this file would hide the standard library's and our own names; the folder above is the root we import from.
sys.path[0] = str(pathlib.Path(__file__).resolve().parent.parent)

from kafka_python import admin  # noqa: E402
from kafka_python.adapter import Client  # noqa: E402
from python_clients import program  # noqa: E402

if __name__ == "__main__":
    program.run(Client(), admin, ("topics", "configs", "groups", "offsets_and_delete_records", "log_dirs"))
