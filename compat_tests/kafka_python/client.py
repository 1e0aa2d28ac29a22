"""The kafka-python client under test; run by suite.py with the interpreter of the venv.

`client.py tests` runs everything but the crash run, `client.py crash` that one.
"""

import pathlib
import sys

# The folder of this file would hide the standard library's and our own names; the folder above is the root we import from.
sys.path[0] = str(pathlib.Path(__file__).resolve().parent.parent)

from kafka_python import admin  # noqa: E402
from kafka_python.adapter import Client  # noqa: E402
from python_clients import tests  # noqa: E402
from python_clients.support import failures, run_test  # noqa: E402

if __name__ == "__main__":
    client = Client()
    if sys.argv[1:] == ["crash"]:
        tests.crash(client)
    else:
        run_test("metadata", admin.metadata, client)
        tests.run_all(client)
        for name in ("topics", "configs", "groups", "offsets_and_delete_records", "log_dirs"):
            run_test(f"admin_{name}", getattr(admin, name), client)
    sys.exit(1 if failures else 0)
