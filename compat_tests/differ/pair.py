"""The same steps to Kafka and to Weir at the same time; what of the answers differs and is not accepted."""

import dataclasses
import itertools
import pathlib
import re
import secrets

from raw.accepted import Accepted
from raw.side import Side, differences

ACCEPTED = pathlib.Path(__file__).resolve().parent / "accepted.txt"
# The second column is the name of a step ("named"; most have none), or this: nothing else of the answer and of
# the sequence is comparable.
ENDS = "ends"


@dataclasses.dataclass
class Found:
    """The first step whose answers differ, and what differs in them: (path, Kafka's value, Weir's value)."""

    number: int
    step: dict
    rows: list[tuple]

    @property
    def kind(self) -> tuple:
        """By this a smaller case is known to show the same: the API, and the first field without its indexes."""
        return self.step.get("api", ""), re.sub(r"\[[^]]*\]", "[]", self.rows[0][0])


class Pair:
    """The two brokers. `left` is Kafka in both roles when Kafka is compared with itself."""

    def __init__(self, left: tuple[str, int], right: tuple[str, int]):
        self.left, self.right = left, right
        self.accepted = Accepted(ACCEPTED.read_text()) if right[0] == "weir" else Accepted("")
        self.sent: set[tuple[str, int]] = set()
        self.well: set[tuple[str, int]] = set()  # those that were answered without any error, and alike
        self.steps = 0

    def run(self, steps: list[dict], patience: float = 1) -> Found | None:
        # Two names when both sides are one broker. They are of the same length: sizes of answers are compared too.
        kafka, weir = (Side(kind, port, f"d{secrets.token_hex(4)}-", patience) for kind, port in (self.left, self.right))
        try:
            for number, step in enumerate(steps):
                self._note(step)
                kafka.send(step)
                weir.send(step)
                of_kafka, of_weir = kafka.receive(step), weir.receive(step)
                rows = differences(of_kafka, of_weir)
                bad, goes_on = self._judge(step, rows)
                self._note_answer(step, of_weir, bool(rows))
                if bad:
                    return Found(number, step, bad)
                if not goes_on:
                    return None
        finally:
            kafka.close()
            weir.close()
        return None

    def _judge(self, step: dict, rows: list[tuple]) -> tuple[list[tuple], bool]:
        bad, goes_on = [], True
        for path, of_kafka, of_weir in rows:
            api, name = step.get("api", ""), step.get("named", "")
            found = (self.accepted.find(api, label, path, of_kafka, of_weir) for label in (name, "", ENDS))
            row = next(filter(None, found), None)
            if row is None:
                bad.append((path, of_kafka, of_weir))
            elif row[1] == ENDS:
                goes_on = False
        return bad if goes_on else [], goes_on

    def _note_answer(self, step: dict, answer: dict, differs: bool):
        refused = any(path.endswith("ErrorCode") and code for path, code in answer.items())
        if "api" in step and answer.get("outcome") == "answer" and not refused and not differs:
            self.well.add((step["api"], step["v"]))

    def _note(self, step: dict):
        self.steps += 1
        if "api" in step:
            self.sent.add((step["api"], step["v"]))


def smaller(pair: Pair, steps: list[dict], found: Found, budget: int = 120) -> tuple[list[dict], Found]:
    """Steps left out while the same kind of difference stays, then parts of bodies; at most `budget` runs."""
    tries = itertools.count()

    def still(candidate: list[dict]) -> Found | None:
        if next(tries) >= budget:
            return None
        again = pair.run(candidate, 2)
        return again if again and again.kind == found.kind else None

    steps = steps[:found.number + 1]
    size = max(len(steps) // 2, 1)
    while size:
        at = 0
        while at < len(steps) - 1:
            shorter = still(steps[:at] + steps[min(at + size, len(steps) - 1):])
            if shorter:
                steps, found = (steps[:at] + steps[min(at + size, len(steps) - 1):])[:shorter.number + 1], shorter
            else:
                at += size
        size //= 2
    for at in range(len(steps) - 1, -1, -1):
        for simpler in _simpler(steps[at]):
            shown = still([*steps[:at], simpler, *steps[at + 1:]])
            if shown:
                steps, found = [*steps[:at], simpler, *steps[at + 1:]], shown
    return steps, found


def _simpler(step: dict):
    """Bodies with one thing less: each is tried against the step as it was at the start."""
    body = step.get("body", {})
    for name, value in body.items():
        rest = {key: other for key, other in body.items() if key != name}
        if isinstance(value, list) and len(value) > 1:
            yield step | {"body": body | {name: value[:1]}}
            yield step | {"body": body | {name: value[-1:]}}
        elif not isinstance(value, list):
            yield step | {"body": rest}
