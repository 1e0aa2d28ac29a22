"""What was promised, and whether it is there. By partition of the topics of the load, what each offset holds; entered when it was
seen first, by a reader or an audit, and never changed."""

import collections
import threading

from harness.child import Deadline
from outages.records import entries, fetch
from raw.client import Connection
from threads.clients import Broken

PARTITIONS = 3
SAFE, IDEMPOTENT, LEADER, ASYNC = "safe", "idempotent", "leader", "async"
TOPICS = {SAFE: {}, IDEMPOTENT: {}, LEADER: {}, ASYNC: {"mq.flush": "async"}}
# What was answered there before its sync may be gone when a sync has failed.
BEFORE_THE_SYNC = (LEADER, ASYNC)
OUT_OF_RANGE, LOADING, NOT_AVAILABLE, NOT_COORDINATOR = 1, 14, 15, 16
PATIENCE = 60


class Ledger:
    def __init__(self):
        self.lock = threading.Lock()
        self.there: dict[tuple[str, int], list[tuple[str, int]]] = collections.defaultdict(list)
        self.places: dict[tuple[str, int], dict[tuple[str, int], int]] = collections.defaultdict(dict)
        self.newest: dict[tuple[int, str], int] = collections.defaultdict(lambda: -1)
        self.checked: collections.Counter = collections.Counter()  # acknowledgements of a producer, from the front

    def end(self, topic: str, partition: int) -> int:
        return len(self.there[topic, partition])

    def take(self, topic: str, partition: int, data: bytes) -> int | None:
        """What a fetch brought; the offset behind it."""
        end = None
        with self.lock:
            for offset, name, number in entries(data):
                self._enter(topic, partition, offset, (name, number))
                end = offset + 1
        return end

    def _enter(self, topic: str, partition: int, offset: int, found: tuple[str, int]):
        known = self.there[topic, partition]
        if offset < len(known):
            if known[offset] != found:
                raise Broken(f"{topic}-{partition} offset {offset} was {known[offset]} and is {found}")
            return
        if offset > len(known):
            raise Broken(f"{topic}-{partition}: offset {offset} comes behind {len(known) - 1}")
        before = self.places[topic, partition].setdefault(found, offset)
        if before != offset:
            raise Broken(f"{topic}-{partition}: {found} is at {before} and at {offset}")
        if topic == IDEMPOTENT:
            name, number = found
            if number <= self.newest[partition, name]:
                raise Broken(f"{topic}-{partition} offset {offset}: {found} comes late")
            self.newest[partition, name] = number
        known.append(found)

    def forget_unsynced(self):
        """After a failed sync: an async topic may have lost what it showed."""
        with self.lock:
            for partition in range(PARTITIONS):
                self.there[ASYNC, partition].clear()
                self.places[ASYNC, partition].clear()


class Audit:
    """After one start. `failed_lives`: lives of the broker in which a sync failed."""

    def __init__(self, port: int, ledger: Ledger, load, failed_lives: set[int], all_again: bool):
        self.connection = Connection(port)
        self.ledger, self.load = ledger, load
        self.failed_lives, self.all_again = failed_lives, all_again

    def run(self):
        try:
            self.records()
            for committer in self.load.committers:
                self.commits(committer)
            for maker in self.load.makers:
                self.topics(maker)
            for changer in self.load.changers:
                self.configs(changer)
        finally:
            self.connection.close()

    # ------------------------------------------------------------------------------------------------------ records
    def records(self):
        promised = [(producer, entry) for producer in self.load.producers
                    for entry in producer.acked[self.ledger.checked[producer.name]:] if self._holds(producer, entry)]
        needed: collections.Counter = collections.Counter()
        for producer, (partition, base, count, _, _) in promised:
            needed[producer.topic, partition] = max(needed[producer.topic, partition], base + count)
        for topic in TOPICS:
            for partition in range(PARTITIONS):
                self._read(topic, partition, needed[topic, partition])
        for producer, (partition, base, count, number, life) in promised:
            known = self.ledger.there[producer.topic, partition][base:base + count]
            if known != [(producer.name, number + i) for i in range(count)]:
                raise Broken(f"{producer.topic}-{partition} from {base}: {producer.name} {number}, {count} records, was acknowledged "
                             f"in life {life} with acks={producer.acks}; there is {known}")
        for producer in self.load.producers:
            self.ledger.checked[producer.name] = len(producer.acked)

    def _holds(self, producer, entry) -> bool:
        return producer.topic not in BEFORE_THE_SYNC or entry[4] not in self.failed_lives

    def _read(self, topic: str, partition: int, needed: int):
        end = self._end(topic, partition, max(needed, self.ledger.end(topic, partition)))
        at = 0 if self.all_again else self.ledger.end(topic, partition)
        deadline = Deadline(PATIENCE)
        while at < end:
            if deadline.passed:
                raise Broken(f"{topic}-{partition}: offset {at} below the end {end} cannot be read")
            at = self.ledger.take(topic, partition, self._fetch(topic, partition, at)) or at

    def _fetch(self, topic: str, partition: int, at: int) -> bytes:
        part = fetch(self.connection.call, topic, [(partition, at)], wait_ms=1_000, bytes_max=4 << 20)[0]
        if part["ErrorCode"] != 0:
            raise Broken(f"a fetch of {topic}-{partition} at {at} got error {part['ErrorCode']}")
        return part["Records"] or b""

    def _end(self, topic: str, partition: int, needed: int) -> int:
        """What was acknowledged before its sync is visible behind it, which may be a moment away."""
        deadline = Deadline(10)
        while True:
            first, end = (self._offset(topic, partition, stamp) for stamp in (-2, -1))
            if first != 0:
                raise Broken(f"{topic}-{partition} begins at {first}")
            if end >= needed:
                return end
            if deadline.passed:
                raise Broken(f"{topic}-{partition} ends at {end}; {needed} was acknowledged or read before")
            deadline.pause()

    def _offset(self, topic: str, partition: int, stamp: int) -> int:
        told = self.connection.call("ListOffsets", 1, {"ReplicaId": -1, "Topics": [
            {"Name": topic, "Partitions": [{"PartitionIndex": partition, "Timestamp": stamp}]}]})
        part = told["Topics"][0]["Partitions"][0]
        if part["ErrorCode"] != 0:
            raise Broken(f"ListOffsets of {topic}-{partition} got error {part['ErrorCode']}")
        return part["Offset"]

    # ------------------------------------------------------------------------------------- commits, topics, configs
    def commits(self, committer):
        deadline = Deadline(PATIENCE)
        while True:
            told = self.connection.call("OffsetFetch", 5, {"GroupId": committer.name, "Topics": [
                {"Name": SAFE, "PartitionIndexes": [0]}]})
            if told["ErrorCode"] == 0:
                break
            if told["ErrorCode"] not in (LOADING, NOT_AVAILABLE, NOT_COORDINATOR) or deadline.passed:
                raise Broken(f"OffsetFetch of {committer.name} got error {told['ErrorCode']}")
            deadline.pause()
        stored = max(0, told["Topics"][0]["Partitions"][0]["CommittedOffset"])
        if not committer.told <= stored <= committer.asked:
            raise Broken(f"{committer.name}: {stored} is committed, {committer.told} was answered, {committer.asked} asked")

    def topics(self, maker):
        there = {topic["Name"] for topic in self.connection.call("Metadata", 4, {"Topics": None})["Topics"]}
        if missing := [name for name in maker.made if name not in there]:
            raise Broken(f"topics that were made are gone: {missing}")
        if back := [name for name in maker.gone if name in there]:
            raise Broken(f"topics that were deleted are back: {back}")
        for name, number in maker.with_record.items():
            found = list(entries(self._fetch(name, 0, 0)))
            if found != [(0, name, number)]:
                raise Broken(f"{name}: its record {number} was acknowledged, there is {found}")

    def configs(self, changer):
        told = self.connection.call("DescribeConfigs", 1, {"Resources": [
            {"ResourceType": 2, "ResourceName": SAFE, "ConfigurationKeys": [changer.KEY]}]})
        value = int(told["Results"][0]["Configs"][0]["Value"]) - changer.FIRST
        if changer.asked and not changer.told <= value <= changer.asked and changer.told:
            raise Broken(f"{changer.KEY} is {value}, {changer.told} was answered, {changer.asked} asked")
