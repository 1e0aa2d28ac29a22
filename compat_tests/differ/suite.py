"""Random sequences of requests from a seed, the same to Weir and to Apache Kafka; every field of every answer compared.

suite.py --seed 7 --sequences 2000     prints each difference as a small case that can be sent again
suite.py --seed 7 --only 13            one sequence of a run
suite.py --replay FILE...              cases as they were printed
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import sys
import threading
import time

if __package__ in (None, ""):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from differ import generate  # noqa: E402
from differ.pair import Found, Pair, smaller  # noqa: E402
from harness import paths  # noqa: E402
from harness.broker import check_installed, make_broker  # noqa: E402
from harness.results import require  # noqa: E402
from raw import codec  # noqa: E402
from raw.client import LATE, Connection  # noqa: E402
from raw.warm import warm_up  # noqa: E402

OURS_FROM = 1000  # Kafka's keys are below; from here on they are our own, and nothing can be compared
LONG = 2000  # sequences of the long run; in so many each key and version must come, and be answered well
SHORT = 100
SEED = 2_026  # of the short run, which is a part of each run of all tests
CASES = pathlib.Path(__file__).resolve().parent / "cases"
NEVER_ALIKE = "ApiVersions "  # it lists what a broker serves
AGAIN = 2  # a difference must come again this often; what does not was a matter of time and is only counted


def served(port: int, strict: bool = False) -> dict:
    """What a broker says it serves, but our own APIs: API name to (lowest, highest version)."""
    connection = Connection(port)
    rows = connection.call("ApiVersions", 0, {})["ApiKeys"]
    connection.close()
    found, unknown = {}, []
    for row in rows:
        name = codec.api_name(row["ApiKey"])
        if name:
            found[name] = (max(row["MinVersion"], min(codec.apis()[name].valid)), row["MaxVersion"])
        elif row["ApiKey"] < OURS_FROM:
            unknown.append(row["ApiKey"])
    require(not (strict and unknown), f"served, but not in protocol/schemas: {unknown}")
    return found


def came_late(found: Found) -> bool:
    """Or Kafka was asked before it knew of the group that a refused JoinGroup makes: it answers before that record is written."""
    return any((path == "outcome" and LATE in (kafka, weir)) or (path.endswith("GroupState") and kafka == "Dead") for path, kafka, weir in found.rows)


def confirmed(pair: Pair, steps: list[dict], strict: bool) -> Found | None:
    """`strict`: only an answer that did not come in time may have been a matter of time."""
    found = pair.run(steps)
    for attempt in range(AGAIN if found and (came_late(found) or not strict) else 0):
        found = pair.run(steps, 2 + attempt)
        if not found:
            break
    return found


def as_text(steps: list[dict], found: Found) -> str:
    rows = "\n".join(f"    {path}: Kafka {kafka!r}, here {weir!r}" for path, kafka, weir in found.rows[:12])
    lines = ",\n".join("  " + json.dumps(step) for step in steps)
    return f"step {found.number}, {found.step.get('api', 'raw bytes')} v{found.step.get('v', '-')}:\n{rows}\n[\n{lines}\n]"


@contextlib.contextmanager
def brokers(right: str, weir: pathlib.Path, extra: dict | None = None):
    """Kafka and Weir, started at the same time; or Kafka alone, in both roles."""
    # A topic that a question makes is there in Kafka when it is there: no case may depend on that.
    # And an expiry check in the middle of a run would take empty groups away, at another moment in each of them.
    settings = {"group.min.session.timeout.ms": 6000, "auto.create.topics.enable": "false",
                "offsets.retention.check.interval.ms": 86_400_000} | (extra or {})
    # A node that does not hear itself for 9 s on a busy machine takes no more topics (38).
    settings["broker.session.timeout.ms"] = 120_000
    # Kafka's answer to a fetch ends where a segment ends, and a new one begins when timestamps are a week apart.
    settings["log.roll.ms"] = 10**15
    # What one node alone needs (oracle/kafka.py): DescribeConfigs of brokers is compared too, and which groups share a partition.
    settings |= {f"{of}.topic.num.partitions": 4 for of in ("offsets", "share.coordinator.state")} | {"transaction.state.log.num.partitions": 4}
    settings |= {f"{of}.replication.factor": 1 for of in ("offsets.topic", "transaction.state.log", "share.coordinator.state.topic")}
    settings |= {"transaction.state.log.min.isr": 1, "share.coordinator.state.topic.min.isr": 1}
    made = [make_broker("kafka", "differ", weir, settings)]
    if right == "weir":
        made.append(make_broker("weir", "differ", weir, settings))
    failures: list = []

    def start(broker):
        try:
            broker.start()
            warm_up(broker.port)
        except Exception as failure:  # told by the caller's thread
            failures.append(failure)

    threads = [threading.Thread(target=start, args=(broker,)) for broker in made]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]
        yield Pair(("kafka", made[0].port), (right, made[-1].port))
        for broker in made:
            broker.stop()
    finally:
        for broker in made:
            broker.remove()


def run_sequences(pair: Pair, seed: int, indexes, say=print, strict: bool = False) -> tuple[list[str], int]:
    """(differences as texts, how many came once only)."""
    told, once, kinds = [], 0, {}
    known = served(pair.right[1])
    for index in indexes:
        steps = generate.sequence(seed, index, known)
        first = pair.run(steps)
        if first is None:
            continue
        found = first if strict and not came_late(first) else confirmed(pair, steps, strict)
        if found is None:
            once += 1
            say(f"sequence {index}: came once: {first.kind}: {first.rows[:2]}")
            continue
        kinds[found.kind] = kinds.get(found.kind, 0) + 1
        if kinds[found.kind] > 1:
            told.append(f"sequence {index}: again {found.kind}")
            continue
        steps, found = smaller(pair, steps, found)
        told.append(f"sequence {index} of seed {seed}: {as_text(steps, found)}")
        say(told[-1])
    return told, once


def without(known: dict, met: set) -> list[str]:
    """Keys and versions of `known` that are not in `met`."""
    return [f"{api} v{v}" for api, (low, high) in known.items() for v in range(low, high + 1) if (api, v) not in met]


def generated(known: dict, seed: int, count: int) -> set[tuple[str, int]]:
    return {(one["api"], one["v"]) for index in range(count) for one in generate.sequence(seed, index, known) if "api" in one}


def left_out(pair: Pair, seed: int, count: int) -> list[str]:
    """What must not be: served keys and versions that no sequence of a long run has, sends, or gets a good answer to."""
    known = served(pair.right[1], strict=True)
    told = [f"in none of {LONG} sequences of seed {seed}: {pair}" for pair in without(known, generated(known, seed, LONG))]
    if count >= LONG:
        told += [f"not sent: {pair}" for pair in without(known, pair.sent)]
        told += [f"never answered without an error, and alike: {pair}" for pair in without(known, pair.well) if not pair.startswith(NEVER_ALIKE)]
    return told


def replay(pair: Pair, files, strict: bool = False) -> list[str]:
    told = []
    for file in files:
        steps = json.loads(file.read_text())
        found = confirmed(pair, steps, strict)
        if found:
            told.append(f"{file.name}: {as_text(steps, found)}")
    return told


def run(context):
    """A hundred sequences, the same in each run (with --full 2,000 of the run's seed), and the cases in which Weir once differed.
    Kafka is compared with itself."""
    count, seed = (LONG, context.seed) if context.full else (SHORT, SEED)
    with brokers(context.kind, context.weir) as pair:
        with context.test("cases_that_once_differed_agree") as notes:
            files = sorted(CASES.glob("*.json"))
            told = replay(pair, files, strict=True)
            require(not told, "\n".join(told))
            notes.append(f"{len(files)} cases")
        with context.test("sequences_agree") as notes:
            start = time.monotonic()
            told, once = run_sequences(pair, seed, range(count), strict=not context.full)
            require(not told, f"{len(told)} differences, seed {seed} (again with `./dev differ {count} --seed {seed}`)")
            notes.append(f"seed {seed}, {count} sequences, {pair.steps} steps in {time.monotonic() - start:.0f} s; {once} differences came once only")
        with context.test("each_key_and_version_is_in_the_long_run") as notes:
            told = left_out(pair, seed, count) if context.kind == "weir" else []
            require(not told, "\n".join(told))
            notes.append(f"{len(pair.sent)} pairs of key and version sent, {len(pair.well)} answered without an error")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--sequences", type=int, default=LONG)
    parser.add_argument("--only", type=int, nargs="+", help="these sequences of the run")
    parser.add_argument("--replay", type=pathlib.Path, nargs="+")
    parser.add_argument("--against", choices=("weir", "kafka"), default="weir", help="kafka: Kafka with itself, which must agree")
    parser.add_argument("--weir", type=pathlib.Path, default=pathlib.Path(os.environ.get("WEIR_BIN", paths.WEIR_DEFAULT)))
    parser.add_argument("--ports", type=int, nargs=2, metavar=("KAFKA", "WEIR"), help="brokers that are running already")
    args = parser.parse_args()
    seed = random.randrange(1_000_000) if args.seed is None else args.seed
    start = time.monotonic()
    if args.ports:
        context = contextlib.nullcontext(Pair(("kafka", args.ports[0]), (args.against, args.ports[1])))
    else:
        check_installed("kafka", args.weir)
        check_installed(args.against, args.weir)
        context = brokers(args.against, args.weir.resolve())
    with context as pair:
        print(f"differ: seed {seed} (again with --seed {seed}), brokers ready after {time.monotonic() - start:.0f} s", flush=True)
        if args.replay:
            told, once = replay(pair, args.replay), 0
            print("\n".join(told), flush=True)
        else:
            indexes = args.only or range(args.sequences)
            told, once = run_sequences(pair, seed, indexes, say=lambda text: print(text, flush=True))
            print(f"{len(indexes)} sequences, {pair.steps} steps, {len(pair.sent)} pairs of key and version sent, "
                  f"{len(pair.well)} answered without an error; {once} differences came once only", flush=True)
            print("".join(f"accepted, but it did not come: {line}\n" for line in pair.accepted.unused()), end="", flush=True)
            told += [] if args.only or args.against == "kafka" else left_out(pair, seed, args.sequences)
            print("\n".join(told), flush=True)
    print(f"{len(told)} differences in {time.monotonic() - start:.0f} s", flush=True)
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main())
