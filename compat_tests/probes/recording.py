"""The recording of what Apache Kafka answers (recorded.json, one line a step) and the differences that are accepted.

An accepted difference is a line of accepted.txt: case | step | field | what Weir says | reason. `*` stands for any case
or step. A line that fits no difference any more is a failure: the list never says more than is so.
"""

import json
import pathlib

FOLDER = pathlib.Path(__file__).resolve().parent
RECORDED = FOLDER / "recorded.json"
ACCEPTED = FOLDER / "accepted.txt"


def write(recorded: dict):
    """{case: {step: {field: value}}}; one line a step, so that a new recording can be read as a diff."""
    parts = []
    for case, steps in recorded.items():
        lines = ",\n".join(f"  {json.dumps(label)}: {json.dumps(fields)}" for label, fields in steps.items())
        parts.append(f" {json.dumps(case)}: {{\n{lines}\n }}")
    RECORDED.write_text("{\n" + ",\n".join(parts) + "\n}\n")


def read() -> dict:
    return json.loads(RECORDED.read_text())
