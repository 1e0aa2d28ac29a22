"""Small fixed cases over raw sockets, and what Apache Kafka answered to them: a test for each case.

`compat_tests/probes/suite.py --record` makes the recording anew from a Kafka that it starts itself.
"""

import argparse
import pathlib
import secrets
import sys
import time

if __package__ in (None, ""):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from harness.broker import check_installed, make_broker  # noqa: E402
from harness.results import require  # noqa: E402
from probes import recording  # noqa: E402
from probes.cases import admin, fetch, groups, handshake, idempotence, produce  # noqa: E402
from raw.accepted import Accepted  # noqa: E402
from raw.side import Side, differences, run_case  # noqa: E402
from raw.warm import warm_up  # noqa: E402

AREAS = (handshake, produce, fetch, idempotence, groups, admin)
SHOWN = 12
ATTEMPTS = 3  # Kafka takes changes up behind its answers: what is not so at the next attempt was a matter of time


def all_cases() -> dict:
    cases = {}
    for area in AREAS:
        for name, steps in area.cases().items():
            labels = [label for label, *_ in _labelled(steps)]
            if name in cases or len(set(labels)) != len(labels):
                raise ValueError(f"{name}: a name twice")
            cases[name] = _labelled(steps)
    return cases


def _labelled(steps) -> list:
    """A step without a label waits for something and is not recorded."""
    return [step if isinstance(step, tuple) else (f"wait {index}", step) for index, step in enumerate(steps)]


def answers(kind: str, port: int, steps: list, patience: float = 1) -> dict:
    side = Side(kind, port, f"pr{secrets.token_hex(3)}-", patience)
    outcomes = run_case(side, [step for _, step in steps])
    return {label: _shortened(label, fields) for (label, _), fields in zip(steps, outcomes) if fields}


def _shortened(label: str, fields: dict) -> dict:
    """The settings of a new topic are recorded where they are the subject, not each time a case makes a topic."""
    return {path: value for path, value in fields.items() if not (label.startswith("make") and ".Configs[" in path)}


def compare(recorded: dict, seen: dict) -> list[tuple]:
    """(step, field, Kafka's value, ours) for all that differs."""
    found = []
    for label in [*recorded, *(label for label in seen if label not in recorded)]:
        found += [(label, *row) for row in differences(recorded.get(label, {}), seen.get(label, {}))]
    return found


def _not_accepted(accepted, name: str, found: list) -> list:
    return [row for row in found if accepted is None or not accepted.find(name, *row)]


def run(context):
    recorded = recording.read()
    accepted = Accepted(recording.ACCEPTED.read_text()) if context.kind == "weir" else None
    cases = all_cases()
    with context.broker() as broker:
        warm_up(broker.port)
        for name, steps in cases.items():
            with context.test(name) as notes:
                require(name in recorded, "not recorded: run probes/suite.py --record")
                for attempt in range(ATTEMPTS if context.kind == "kafka" else 1):
                    found = compare(recorded[name], answers(context.kind, broker.port, steps, 1 + 2 * attempt))
                    bad = _not_accepted(accepted, name, found)
                    if not bad:
                        break
                require(not bad, f"{len(bad)} fields differ" + "".join(
                    f"\n    {label}: {path}: Kafka {kafka!r}, here {weir!r}" for label, path, kafka, weir in bad[:SHOWN]))
                notes.append(f"{len(steps)} steps" + (f", {len(found)} accepted differences" if found else ""))
        with context.test("the_recording_and_the_accepted_differences_say_no_more_than_is_so"):
            require(set(recorded) == set(cases), f"recorded but gone: {set(recorded) - set(cases)}")
            unused = accepted.unused() if accepted else []
            require(not unused, f"accepted, but they do not differ: {unused}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record", action="store_true", help="make recorded.json anew")
    if not parser.parse_args().record:
        parser.error("compat_tests/run.py --only probes compares; this records")
    check_installed("kafka", pathlib.Path())
    broker = make_broker("kafka", "probes", pathlib.Path(), {})
    started = time.monotonic()
    try:
        broker.start()
        warm_up(broker.port)
        recorded = {}
        for name, steps in all_cases().items():
            # Recorded is what came twice in a row: the first time may have met a change that was under way.
            last = answers("kafka", broker.port, steps)
            for attempt in range(4):
                again = answers("kafka", broker.port, steps, 2 + attempt)
                if again == last:
                    break
                print(f"{name}: unsteady: {compare(last, again)[:5]}", flush=True)
                last = again
            recorded[name] = again
        recording.write(recorded)
        broker.stop()
    finally:
        broker.remove()
    print(f"{len(recorded)} cases recorded in {time.monotonic() - started:.0f} s: {recording.RECORDED}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
