"""What is measured, and how. Each function takes a started broker and returns what it cost; who asks judges.

Times are taken at the socket of a client on the same machine: from the first byte of a request that was encoded before,
to the last byte of its answer, which is decoded and checked after the clock has stopped.
"""

import contextlib
import dataclasses
import pathlib
import re
import socket
import sys
import threading
import time

from harness import paths
from harness.child import Child, Deadline
from harness.results import require
from hostile.wire import Wire
from raw.batches import batch, record
from raw.client import Connection
from scale import others
from scale.flock import HELLO, Flock, answer_body, frame
from scale.member import Member, Settled, each_partition_once
from scale.others import Others

IDLE_CONNECTIONS = 5_000
WIDE_TOPICS, WIDE_PARTITIONS = 10, 1_000
WIDE_TOPICS_KAFKA = 5  # it opens three files for a partition, and a machine may give a process 20,000
EARLY, LATE = 1_700_000_000_000, 1_700_000_001_000  # the times of the two records in each partition
UNKNOWN_NAMES = 200_000
SCALED_TOPIC, SCALED_PARTITIONS, SCALED_MEMBERS = "scaled", 1_000, 200
ARRIVAL_SECONDS = 0.005
HEARTBEAT_AFTER_SECONDS = 0.9  # of the arrivals: the phase that costs most, as nearly all must come back for the last
HEARTBEAT_SECONDS = 3  # as the clients have it
CROWD = 2_000
CROWD_SESSION_MS = 6_000  # the least that the broker allows
WATCHED_GROUPS, WATCHED_MEMBERS = 8, 2
UNKNOWN_TOPIC = 3


@dataclasses.dataclass
class Measure:
    value: float
    said: str  # beside the value, for people


# ------------------------------------------------------------------------------------------------------------ helpers
def resident_mib(broker) -> float:
    for line in pathlib.Path(f"/proc/{broker.child.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    raise ValueError("no VmRSS")


def timed(wire: Wire, data: bytes) -> tuple[float, bytes]:
    begun = time.monotonic()
    wire.send(data)
    answer = wire.answer()
    return (time.monotonic() - begun) * 1000, answer


def make_topics(broker, topics: dict[str, int], config: dict[str, str] | None = None):
    """Returns when each partition has a leader and an end."""
    configs = [{"Name": name, "Value": value} for name, value in (config or {}).items()]
    connection = Connection(broker.port)
    for name, count in topics.items():  # one at a time: Kafka refuses 10,000 partitions in one request
        answer = connection.call("CreateTopics", 5, {"timeoutMs": 120_000, "Topics": [
            {"Name": name, "NumPartitions": count, "ReplicationFactor": 1, "Configs": configs}]}, 180)
        require(answer["Topics"][0]["ErrorCode"] in (0, 36), f"CreateTopics answered {answer['Topics']}")
    deadline = Deadline(120)
    for name, count in topics.items():
        asked = {"ReplicaId": -1, "Topics": [
            {"Name": name, "Partitions": [{"PartitionIndex": index, "Timestamp": -1} for index in range(count)]}]}
        while any(p["ErrorCode"] for p in connection.call("ListOffsets", 4, asked, 60)["Topics"][0]["Partitions"]):
            require(not deadline.passed, f"{name} did not get its partitions")
            deadline.pause()
    connection.close()


def make_group_coordinator(broker, group: str):
    connection = Connection(broker.port)
    deadline = Deadline(60)
    while True:
        connection.call("FindCoordinator", 0, {"Key": group})
        if connection.call("DescribeGroups", 0, {"Groups": [group]})["Groups"][0]["ErrorCode"] == 0:
            break
        require(not deadline.passed, "no coordinator")
        deadline.pause()
    connection.close()


def make_others(broker):
    """Their topic is not synced, as a Kafka topic is not: a disk that is busy elsewhere takes 80 ms for a sync at times,
    and that is not what the crowd does to others."""
    make_topics(broker, {others.TOPIC: 1}, {"mq.flush": "async"} if broker.kind == "weir" else None)


# --------------------------------------------------------------------------------------------------- idle connections
def idle_connections(broker) -> Measure:
    """MiB resident (VmRSS) of the broker process, all of it, with 5,000 connections open: each has sent ApiVersions v3
    and Metadata v9 as clients do when they connect, has its answers, and says nothing more. Read one second later.
    Afterwards each of the 5,000 asks once more and is answered: they are alive, not only open."""
    make_others(broker)
    before = resident_mib(broker)
    with Flock(broker.port) as flock:
        channels = flock.open_many(IDLE_CONNECTIONS, HELLO)
        metadata = frame("Metadata", 9, {"Topics": [{"Name": others.TOPIC}], "AllowAutoTopicCreation": False})
        flock.ask_all(channels, metadata)
        time.sleep(1)
        held = resident_mib(broker)
        answers = flock.ask_all(channels, metadata)
    require(all(answer_body("Metadata", 9, answer)["Topics"][0]["ErrorCode"] == 0 for answer in answers[::500]),
            "an idle connection got a bad answer")
    return Measure(held, f"{before:.0f} MiB before")


# ------------------------------------------------------------------------------------------------- 10,000 partitions
def _wide(broker) -> list[str]:
    return [f"wide-{number}" for number in range(WIDE_TOPICS if broker.kind == "weir" else WIDE_TOPICS_KAFKA)]


def make_wide(broker):
    """10 topics of 1,000 partitions, two records with two times in each; a group has committed 1 on each of them."""
    make_topics(broker, {name: WIDE_PARTITIONS for name in _wide(broker)})
    connection = Connection(broker.port)
    for name in _wide(broker):
        for when in (EARLY, LATE):
            records = batch(record(0, b"x"), base_time=when)
            answer = connection.call("Produce", 7, {"Acks": -1, "TimeoutMs": 60_000, "TopicData": [
                {"Name": name, "PartitionData": [{"Index": i, "Records": records} for i in range(WIDE_PARTITIONS)]}]}, 60)
            require(all(p["ErrorCode"] == 0 for p in answer["Responses"][0]["PartitionResponses"]), "a batch was refused")
    make_group_coordinator(broker, "wide-group")
    for name in _wide(broker):
        answer = connection.call("OffsetCommit", 2, {"GroupId": "wide-group", "GenerationIdOrMemberEpoch": -1, "Topics": [
            {"Name": name, "Partitions": [{"PartitionIndex": i, "CommittedOffset": 1} for i in range(WIDE_PARTITIONS)]}]}, 60)
        require(all(p["ErrorCode"] == 0 for p in answer["Topics"][0]["Partitions"]), "a commit was refused")
    connection.close()


def list_offsets(broker) -> Measure:
    """Milliseconds of one ListOffsets v7 about all 10,000 partitions of make_wide(): the slowest of three requests, for
    the ends, the starts, and by a time that lies between the two records of each partition."""
    asked = {"end": (-1, 2), "start": (-2, 0), "time": (EARLY + 1, 1)}
    took = {}
    with Wire(broker.port, 60) as wire:
        for name, (timestamp, expected) in asked.items():
            data = frame("ListOffsets", 7, {"ReplicaId": -1, "Topics": [
                {"Name": topic, "Partitions": [{"PartitionIndex": i, "Timestamp": timestamp} for i in range(WIDE_PARTITIONS)]}
                for topic in _wide(broker)]})
            took[name], answer = timed(wire, data)
            topics = answer_body("ListOffsets", 7, answer)["Topics"]
            found = [(p["ErrorCode"], p["Offset"]) for t in topics for p in t["Partitions"]]
            require(found == [(0, expected)] * WIDE_PARTITIONS * len(_wide(broker)), f"by {name}: not always offset {expected}")
    return Measure(max(took.values()), ", ".join(f"{name} {ms:.0f} ms" for name, ms in took.items()))


def http_port(broker) -> int:
    found = re.search(r"http://127\.0\.0\.1:(\d+)/metrics", broker.log.read_text(errors="replace"))
    require(found, "the broker's log names no /metrics")
    return int(found[1])


def scrape(broker) -> Measure:
    """Milliseconds of GET /metrics with the 10,000 partitions of make_wide() and a group that has committed on all of
    them, so that the answer tells 10,000 lags: from the first byte of the request to the last byte of the body."""
    with socket.create_connection(("127.0.0.1", http_port(broker)), timeout=60) as connection:
        begun = time.monotonic()
        connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        answer = bytearray()
        while part := connection.recv(1 << 20):
            answer += part
        took = (time.monotonic() - begun) * 1000
    require(answer.startswith(b"HTTP/1.1 200"), f"{bytes(answer[:40])!r}")
    lags = len(re.findall(rb'^weir_group_records_behind\{group="wide-group",.*\} 1$', answer, re.M))
    require(lags == 10_000, f"{lags} lags of 1 instead of 10,000")
    return Measure(took, f"{len(answer) >> 10} KiB")


# ---------------------------------------------------------------------------------------------------- unknown names
def unknown_names(broker) -> tuple[Measure, float]:
    """Milliseconds of one Metadata v9 about 200,000 names that do not exist (no auto-creation asked for), and the
    slowest answer in ms that others (others.py) got meanwhile."""
    data = frame("Metadata", 9, {"Topics": [{"Name": f"no-such-topic-{number:06}"} for number in range(UNKNOWN_NAMES)],
                                 "AllowAutoTopicCreation": False})
    with Others(broker.port) as beside, Wire(broker.port, 60) as wire:
        took, answer = timed(wire, data)
    topics = answer_body("Metadata", 9, answer)["Topics"]
    require(len(topics) == UNKNOWN_NAMES and all(t["ErrorCode"] == UNKNOWN_TOPIC for t in topics), "not 200,000 times error 3")
    return Measure(took, f"{len(answer) >> 10} KiB"), beside.slowest()[0]


# ------------------------------------------------------------------------------------------------- 1 -> 200 members
def scale_up(broker, attempt: int) -> Measure:
    """Seconds from the first JoinGroup of 199 new members to the moment the group has settled at 200: the SyncGroup
    answer that gave the last of the 200 its assignment of the one generation that stays. It stays if in the next round of
    heartbeats each of the 200 hears 0; then each partition is held once, too. One member holds all 1,000 partitions of
    one topic before. The others connect and join one every 5 ms, a second in all, as a deployment that is scaled up
    does. A heartbeat every 3 s, the clients' default: only so does a member hear that it must join again, so up to 3 s of
    each rebalance are the clients' own. The phase is the worst: the first member's heartbeat comes when nine tenths of
    the others have joined, these get a generation, and must all hear of the last tenth."""
    group = f"scaled-{attempt}"
    make_group_coordinator(broker, group)
    topics = {SCALED_TOPIC: SCALED_PARTITIONS}
    with Flock(broker.port) as flock:
        members = [Member(flock, group, topics, session_ms=45_000, heartbeat_seconds=HEARTBEAT_SECONDS)
                   for _ in range(SCALED_MEMBERS)]
        members[0].start()
        flock.run(Settled(members[:1]), 30)
        require(len(members[0].parts[SCALED_TOPIC]) == SCALED_PARTITIONS, "the first member does not hold all partitions")
        first_generation = members[0].generation
        begun = members[0].next_heartbeat_at - HEARTBEAT_AFTER_SECONDS
        for number, member in enumerate(members[1:]):
            flock.at(begun + number * ARRIVAL_SECONDS, member.start)
        flock.run(Settled(members), 60)
        flock.run(lambda: all(member.confirmed for member in members), 60)  # what is told to join again loses its mark
        took = max(member.assigned_at for member in members) - begun
        generation = members[0].generation
        require(Settled(members)(), "they are not of one generation")
        require(each_partition_once(members, topics), "not every partition is held exactly once")
        require(all(len(m.parts[SCALED_TOPIC]) == SCALED_PARTITIONS // SCALED_MEMBERS for m in members), "not fairly dealt")
    return Measure(took, f"in {generation - first_generation} generations")


# ------------------------------------------------------------------------------------------- 2,000 members vanish
def _partition_of(group: str, count: int) -> int:
    value = 0
    for character in group:
        value = (31 * value + ord(character)) & 0xFFFFFFFF
    signed = value - (1 << 32) if value >> 31 else value
    return abs(signed) % count


def _neighbours(broker, victim: str, attempt: int) -> list[str]:
    """Names of groups; half of them live in the partition of __consumer_offsets in which the victim lives."""
    connection = Connection(broker.port)
    count = len(connection.call("Metadata", 9, {"Topics": [{"Name": "__consumer_offsets"}]})["Topics"][0]["Partitions"])
    connection.close()
    names = [f"neighbour-{attempt}-{number}" for number in range(2_000)]
    same = [n for n in names if _partition_of(n, count) == _partition_of(victim, count)]
    elsewhere = [n for n in names if n not in same]
    return same[:WATCHED_GROUPS // 2] + elsewhere[:WATCHED_GROUPS // 2]


def _wait_until_empty(broker, group: str) -> str:
    """The group's last state; bounded by twice its session timeout. It is asked only from the time on when sessions may
    end: to describe 2,000 members is work for the broker too, and not what is measured."""
    time.sleep(CROWD_SESSION_MS / 1000 - 1)
    connection = Connection(broker.port)
    deadline = Deadline(2 * CROWD_SESSION_MS / 1000 + 10)
    state = ""
    while not deadline.passed and state != "Empty":
        state = connection.call("DescribeGroups", 0, {"Groups": [group]}, 60)["Groups"][0]["GroupState"]
        deadline.pause(0.1)
    connection.close()
    return state


def vanish(broker, attempt: int) -> Measure:
    """A process with 2,000 members of one group, each on its own connection, is killed (-9) just after all of them were
    heard of, so their sessions of 6 s end together. Milliseconds: the slowest answer that anybody else got from then
    until the group is empty. Others are 8 groups of 2 members that heartbeat every 50 ms, half of them in the same
    partition of __consumer_offsets, and the client of others.py. None of the 8 may hear any error or see a new
    generation."""
    victim = f"crowd-{attempt}"
    make_group_coordinator(broker, victim)
    done: list[str] = []
    told: list[str] = []
    crowd = Child([sys.executable, paths.COMPAT / "scale" / "crowd.py", "--port", broker.port, "--group", victim,
                   "--topic", SCALED_TOPIC, "--partitions", SCALED_PARTITIONS, "--members", CROWD,
                   "--session-ms", CROWD_SESSION_MS], broker.folder / f"crowd-{attempt}.log", watch=told.append)
    with contextlib.ExitStack() as at_end:
        at_end.callback(crowd.kill9)
        flock = at_end.enter_context(Flock(broker.port))
        groups = [[Member(flock, name, {others.TOPIC: 1}, session_ms=CROWD_SESSION_MS, heartbeat_seconds=0.05)
                   for _ in range(WATCHED_MEMBERS)] for name in _neighbours(broker, victim, attempt)]
        watched = [member for group in groups for member in group]
        for member in watched:
            member.start()
        for group in groups:
            flock.run(Settled(group), 60)
        flock.run(lambda: told or not crowd.running(), 120)
        require(told == ["settled"], f"the crowd says {told}\n{crowd.tail()}")
        generations = [member.generation for member in watched]
        rebalances = [member.rebalances for member in watched]
        for member in watched:
            member.worst_heartbeat_ms = 0.0
        with Others(broker.port) as beside:
            begun = time.monotonic()
            crowd.kill9()
            watcher = threading.Thread(target=lambda: done.append(_wait_until_empty(broker, victim)))
            watcher.start()
            flock.run(lambda: bool(done), 60)
            emptied = time.monotonic() - begun
            watcher.join(60)
        require(done == ["Empty"], f"the group of those who vanished is {done} after {emptied:.0f} s")
        require([m.generation for m in watched] == generations and [m.rebalances for m in watched] == rebalances,
                "a neighbour had to join again")
        heartbeat = max(member.worst_heartbeat_ms for member in watched)
    others_ms, api = beside.slowest()
    return Measure(max(heartbeat, others_ms),
                   f"heartbeat {heartbeat:.0f} ms, {api} {others_ms:.0f} ms, empty after {emptied:.1f} s")
