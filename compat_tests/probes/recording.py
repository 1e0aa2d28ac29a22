"""The recording of what Apache Kafka answers (recorded.json, one line a step) and the differences that are accepted.

An accepted difference is a line of accepted.txt: case | step | field | what Weir says | reason. `*` stands for any case
or step. A line that fits no difference any more is a failure: the list never says more than is so.
"""

import fnmatch
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


class Accepted:
    def __init__(self, text: str):
        self.rows = []
        for line in text.splitlines():
            if line and not line.startswith("#"):
                words = [word.strip() for word in line.split(" | ")]
                if len(words) != 5 or not words[4]:
                    raise ValueError(f"not case | step | field | value | reason: {line}")
                self.rows.append(words)
        self.used: set[int] = set()

    def fits(self, case: str, label: str, path: str, weir) -> bool:
        for index, (of, step, field, value, _) in enumerate(self.rows):
            if (fnmatch.fnmatchcase(case, of) and fnmatch.fnmatchcase(label, step) and _path_fits(path, field)
                    and value in ("*", json.dumps(weir))):
                self.used.add(index)
                return True
        return False

    def unused(self) -> list[str]:
        return [" | ".join(row) for index, row in enumerate(self.rows) if index not in self.used]


def _path_fits(path: str, field: str) -> bool:
    """[0] in a field is meant as it is; [*] and * are patterns."""
    return fnmatch.fnmatchcase(path, field.replace("[", "[[]"))
