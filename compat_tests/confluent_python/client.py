"""The confluent-kafka-python client under test; run by suite.py with the interpreter of the venv.

`client.py tests` runs everything but the crash run, `client.py crash` that one.
"""

import pathlib
import sys

# The folder of this file would hide the standard library's and our own names; the folder above is the root we import from.
sys.path[0] = str(pathlib.Path(__file__).resolve().parent.parent)

from confluent_python import admin, crash, groups, records  # noqa: E402
from harness.context import CODECS  # noqa: E402
from python_clients.support import failures, run_test  # noqa: E402


def run_tests():
    run_test("metadata", records.metadata)
    for codec in CODECS:
        run_test(f"codec_{codec}", records.codec, codec)
    run_test("empty_and_null_values", records.empty_and_null_values)
    for acks in ("0", "1"):
        run_test(f"plain_acks_{acks}", records.plain_acks, acks)
    run_test("group_join_share_leave_resume", groups.join_share_leave_resume)
    run_test("group_committed_positions_are_resumed", groups.committed_positions_are_resumed)
    run_test("group_static_member_keeps_its_partitions", groups.static_member_keeps_its_partitions)
    run_test("admin_topics", admin.topics)
    run_test("admin_configs", admin.configs)
    run_test("admin_groups", admin.groups)
    run_test("admin_offsets_and_delete_records", admin.offsets_and_delete_records)
    run_test("admin_cluster", admin.cluster)


if __name__ == "__main__":
    if sys.argv[1:] == ["crash"]:
        crash.crash()
    else:
        run_tests()
    sys.exit(1 if failures else 0)
