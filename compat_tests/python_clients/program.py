"""The main of a Python client's program: `client.py tests` runs everything but the crash run, `client.py crash` that one."""

import sys

from python_clients import tests
from python_clients.support import failures, run_test


def run(client, admin, admin_tests):
    """`admin` has a function for `metadata` and for each name in `admin_tests`."""
    if sys.argv[1:] == ["crash"]:
        tests.crash(client)
    else:
        run_test("metadata", admin.metadata, client)
        tests.run_all(client)
        for name in admin_tests:
            run_test(f"admin_{name}", getattr(admin, name), client)
    sys.exit(1 if failures else 0)
