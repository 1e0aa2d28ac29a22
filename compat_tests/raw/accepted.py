"""Differences that are accepted: lines of a file, `what | step | field | what Weir says | reason`, with * as in file names.

`what` is a case of the probes or an API of the differ. A field is a path with [0] or [*] in it. The value is JSON, or * for
any, or `2 -> 3` where Kafka's value counts too.
"""

import fnmatch
import json


class Accepted:
    def __init__(self, text: str):
        self.rows = []
        for line in text.splitlines():
            if line and not line.startswith("#"):
                words = [word.strip() for word in line.split(" | ")]
                if len(words) != 5 or not words[4]:
                    raise ValueError(f"not what | step | field | value | reason: {line}")
                self.rows.append(words)
        self.used: set[int] = set()

    def find(self, what: str, step: str, path: str, kafka, weir) -> list[str] | None:
        for index, row in enumerate(self.rows):
            of, label, field, value, _ = row
            if (fnmatch.fnmatchcase(what, of) and fnmatch.fnmatchcase(step, label) and _path_fits(path, field)
                    and value in ("*", json.dumps(weir), f"{json.dumps(kafka)} -> {json.dumps(weir)}")):
                self.used.add(index)
                return row
        return None

    def unused(self) -> list[str]:
        return [" | ".join(row) for index, row in enumerate(self.rows) if index not in self.used]


def _path_fits(path: str, field: str) -> bool:
    """[0] in a field is meant as it is; [*] and * are patterns."""
    return fnmatch.fnmatchcase(path, field.replace("[", "[[]"))
