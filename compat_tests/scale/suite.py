"""Many of everything: connections, partitions, names, members. Each test measures one figure as the docstring of its
function in measures.py says, and holds it to the limit below. A busy machine can spoil one attempt, a broker that is too
slow spoils all six. Against Apache Kafka the figure is shown and not judged."""

import os
import pathlib
import resource
import time

from harness.broker import WeirBroker
from harness.child import Deadline
from harness.context import Context
from harness.results import Failure, require
from hostile.wire import Wire
from scale import measures
from scale.flock import HELLO, answer_body, frame, raise_descriptor_limit

ATTEMPTS = 6
SETTINGS = {"group.initial.rebalance.delay.ms": 1000}  # so that the crowd's 2,000 members make one generation, not many

IDLE_MIB = 200
LIST_OFFSETS_MS = 50
SCRAPE_MS = 200
UNKNOWN_NAMES_MS = 1_000
OTHERS_MS = 50
SCALE_UP_SECONDS = 5
DESCRIPTORS = 256
SPIN_SECONDS_MAX = 0.1  # of processor time in the second at the limit


class Missed(Failure):
    """The figure was not reached this time."""


def run(context: Context):
    raise_descriptor_limit()
    judged = context.kind == "weir"
    with context.broker(**SETTINGS) as broker:
        with context.test("idle_connections_5000") as notes:
            notes.append(_best(judged, lambda _: _figure(judged, measures.idle_connections(broker), IDLE_MIB, "MiB")))
        measures.make_topics(broker, {measures.SCALED_TOPIC: measures.SCALED_PARTITIONS})
        with context.test("members_1_to_200_on_1000_partitions") as notes:
            notes.append(_best(judged, lambda n: _figure(judged, measures.scale_up(broker, n), SCALE_UP_SECONDS, "s")))
        with context.test("members_2000_vanish_and_nobody_notices") as notes:
            notes.append(_best(judged, lambda n: _figure(judged, measures.vanish(broker, n), OTHERS_MS, "ms")))
        measures.make_wide(broker)
        with context.test("list_offsets_of_10000_partitions") as notes:
            notes.append(_best(judged, lambda _: _figure(judged, measures.list_offsets(broker), LIST_OFFSETS_MS, "ms")))
        with context.test("metadata_of_200000_unknown_names") as notes:
            notes.append(_best(judged, lambda _: _unknown_names(judged, broker)))
        if judged:
            with context.test("a_scrape_with_10000_partitions") as notes:
                notes.append(_best(judged, lambda _: _figure(judged, measures.scrape(broker), SCRAPE_MS, "ms")))
    if judged:
        with context.test("at_the_limit_of_descriptors") as notes:
            notes.append(_descriptor_limit(context))


def _descriptor_limit(context: Context) -> str:
    """A broker that may open 256 files, and 400 clients. Those near the limit are closed, the log says why, nothing
    spins, who is connected is served (a new topic too, which needs files), and when half have left others may come.
    Then the limit is lowered under the running process, so that accept itself fails: it waits and spins not."""
    broker = WeirBroker("scale-limit", context.weir, {}, descriptors=DESCRIPTORS)
    try:
        broker.start()
        crowd = [Wire(broker.port) for _ in range(400)]
        alive = [wire for wire in crowd if _lives(wire)]
        require(DESCRIPTORS // 2 < len(alive) < DESCRIPTORS, f"{len(alive)} of 400 are connected")
        require("file descriptors of this process are in use (ulimit -n)" in broker.log.read_text(), "the log does not say why")
        spun = _processor_seconds_in_one(broker)
        require(spun <= SPIN_SECONDS_MAX, f"{spun:.2f} s of processor time in a second at the limit")
        _make_topic(alive[0])
        for wire in set(crowd) - set(alive[:len(alive) // 2]):
            wire.socket.close()
        alive = alive[:len(alive) // 2]
        _await_served(broker, "after half have left")

        _, hard = resource.prlimit(broker.child.pid, resource.RLIMIT_NOFILE, (8, DESCRIPTORS))
        waiting = [Wire(broker.port) for _ in range(10)]
        for wire in waiting:
            wire.send(HELLO)
        spun_waiting = _processor_seconds_in_one(broker)
        require(spun_waiting <= SPIN_SECONDS_MAX, f"{spun_waiting:.2f} s of processor time in a second while accept fails")
        require("wait: accept failed: Too many open files" in broker.log.read_text(), "the log does not say that they wait")
        require(_lives(alive[0]), "who was connected is not served")
        resource.prlimit(broker.child.pid, resource.RLIMIT_NOFILE, (hard, hard))
        for wire in waiting:
            wire.answer()
        lines = broker.log.read_text().count("new connections to")
        require(lines <= 4, f"{lines} lines about it in the log")
        broker.stop()
        return f"{len(alive) * 2} served; {spun * 1000:.0f} and {spun_waiting * 1000:.0f} ms of processor time in a second"
    finally:
        broker.remove()


def _lives(wire: Wire) -> bool:
    try:
        wire.send(HELLO)
        return len(wire.answer()) > 0
    except (EOFError, OSError):
        return False


def _await_served(broker, when: str):
    deadline = Deadline(10)
    while True:
        with Wire(broker.port) as wire:
            if _lives(wire):
                return
        require(not deadline.passed, f"{when} nobody new is served")
        deadline.pause()


def _make_topic(wire: Wire):
    wire.send(frame("CreateTopics", 5, {"timeoutMs": 10_000, "Topics": [
        {"Name": "at-the-limit", "NumPartitions": 3, "ReplicationFactor": 1}]}))
    code = answer_body("CreateTopics", 5, wire.answer())["Topics"][0]["ErrorCode"]
    require(code == 0, f"CreateTopics answered {code} at the limit")


def _processor_seconds(broker) -> float:
    words = pathlib.Path(f"/proc/{broker.child.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def _processor_seconds_in_one(broker) -> float:
    before = _processor_seconds(broker)
    time.sleep(1)
    return _processor_seconds(broker) - before


def _best(judged: bool, attempt) -> str:
    for number in range(ATTEMPTS if judged else 1):
        try:
            return attempt(number) + (f" (attempt {number + 1})" if number else "")
        except Missed:
            if number == ATTEMPTS - 1:
                raise


def _figure(judged: bool, measure: measures.Measure, limit: float, unit: str) -> str:
    text = f"{measure.value:.{2 if unit == 's' else 0}f} {unit} of {limit} {unit}; {measure.said}"
    if judged and measure.value > limit:
        raise Missed(text)
    return text


def _unknown_names(judged: bool, broker) -> str:
    measure, others_ms = measures.unknown_names(broker)
    text = _figure(judged, measure, UNKNOWN_NAMES_MS, "ms") + f"; others at most {others_ms:.0f} ms"
    if judged and others_ms > OTHERS_MS:
        raise Missed(text)
    return text
