"""The load: producers, committers, topics made and deleted, configs changed, readers. Each is a thread with a connection of its
own that goes on through all outages, and remembers what it was answered; ledger.py audits it. Only the thread itself writes
what it remembers; the auditor reads while all are parked."""

import collections
import threading

from harness.child import Deadline
from outages.ledger import ASYNC, IDEMPOTENT, LEADER, PARTITIONS, SAFE, Ledger
from outages.records import fetch, make_batch, produce
from raw import codec
from raw.client import LATE, Connection
from threads.clients import Broken, Client

STORAGE_ERROR, NOT_LEADER, TIMED_OUT = 56, 6, 7
# What a produce may hear besides success: the log does not take it, a stop is under way.
REFUSALS = {STORAGE_ERROR, NOT_LEADER}
IN_FLIGHT = 4
PARK_SECONDS = 45  # longer than any request may go without an answer
NEVER_ANSWERED = f"{LATE} in 30 s"


class Gate:
    """Closed while the auditor works: the threads wait in it between two steps."""

    def __init__(self):
        self.is_open = threading.Event()
        self.life = 0  # of the broker; counts its starts


class Worker(Client):
    """`answered` counts what went well, `heard` the other answers by their code."""

    def __init__(self, port: int, name: str, seed, gate: Gate):
        super().__init__(port, name, seed)
        self.gate = gate
        self.parked = threading.Event()
        self.answered = 0
        self.heard: collections.Counter = collections.Counter()

    def step(self):
        if self.gate.is_open.is_set():
            self.parked.clear()
            self.work()
        else:
            self.parked.set()
            self.gate.is_open.wait(0.2)

    def close(self):
        super().close()
        if not self.gate.is_open.is_set():
            self.parked.set()

    def work(self):
        raise NotImplementedError

    def call(self, api: str, version: int, body: dict) -> dict:
        try:
            return super().call(api, version, body)
        except ConnectionError as error:
            if str(error).endswith(LATE):
                raise Broken(f"{api}: {NEVER_ANSWERED}")
            raise

    def refused(self, code: int):
        self.heard[code] += 1
        self.ends.wait(0.03)


class Producer(Worker):
    """Some requests in flight. `acked`: (partition, offset, count, first number, life)."""

    topic, acks = SAFE, -1

    def __init__(self, port: int, name: str, seed, gate: Gate, topic: str, acks: int):
        super().__init__(port, name, seed, gate)
        self.topic, self.acks = topic, acks
        self.acked: list[tuple[int, int, int, int, int]] = []
        self.number = 0

    def work(self):
        sent = [self.send(*self.next_batch()) for _ in range(self.random.randrange(1, IN_FLIGHT + 1))]
        for correlation, partition, number, count in sent:
            code, base = self.receive(correlation)
            if code == 0:
                self.answered += 1
                self.acked.append((partition, base, count, number, self.gate.life))
            elif code in REFUSALS:
                self.refused(code)
            else:
                raise Broken(f"a produce got error {code}")

    def next_batch(self) -> tuple[int, int, int, bytes]:
        number, count = self.number, self.random.randrange(1, 8)
        self.number += count
        partition = self.random.randrange(PARTITIONS)
        return partition, number, count, make_batch(self.name, number, count, self.draw_tail())

    def draw_tail(self) -> int:
        draw = self.random.random()
        return 60_000 if draw < 0.15 else 3_000 if draw < 0.3 else 0

    def send(self, partition: int, number: int, count: int, batch: bytes) -> tuple[int, int, int, int]:
        return self.connection.send("Produce", 7, produce(self.topic, partition, batch, self.acks)), partition, number, count

    def receive(self, correlation: int) -> tuple[int, int]:
        frame = self.connection.receive(30)
        if frame == LATE:
            raise Broken(f"a produce: {NEVER_ANSWERED}")
        if isinstance(frame, str):
            raise ConnectionError(frame)
        got, answer = codec.split_answer("Produce", 7, frame)
        if got != correlation:
            raise Broken(f"answer {got} to request {correlation}")
        told = codec.decode("ProduceResponse", 7, answer)["Responses"][0]["PartitionResponses"][0]
        return told["ErrorCode"], told["BaseOffset"]


class IdempotentProducer(Producer):
    """One request in flight, repeated until it is answered: each of its numbers must be there once, in order."""

    def __init__(self, port: int, name: str, seed, gate: Gate):
        super().__init__(port, name, seed, gate, IDEMPOTENT, -1)
        self.identity: tuple[int, int] | None = None
        self.sequences = [0] * PARTITIONS
        self.waiting: tuple[int, int, int, bytes] | None = None

    def work(self):
        if self.identity is None:
            told = self.call("InitProducerId", 0, {"TransactionalId": None, "TransactionTimeoutMs": 60_000})
            if told["ErrorCode"] != 0:
                return self.refused(told["ErrorCode"])
            self.identity = told["ProducerId"], told["ProducerEpoch"]
        self.waiting = self.waiting or self.next_batch()
        partition, number, count, _ = self.waiting
        code, base = self.receive(self.send(*self.waiting)[0])
        if code in REFUSALS:
            return self.refused(code)
        if code != 0:
            raise Broken(f"an idempotent produce got error {code}")
        self.waiting = None
        self.answered += 1
        self.acked.append((partition, base, count, number, self.gate.life))

    def next_batch(self) -> tuple[int, int, int, bytes]:
        number, count = self.number, self.random.randrange(1, 8)
        self.number += count
        partition = self.random.randrange(PARTITIONS)
        sequence, self.sequences[partition] = self.sequences[partition], self.sequences[partition] + count
        return partition, number, count, make_batch(self.name, number, count, self.draw_tail(), (*self.identity, sequence))


class Reader(Worker):
    """Reads on in the safe topics; what was visible once goes to the ledger and must stay so."""

    def __init__(self, port: int, name: str, seed, gate: Gate, ledger: Ledger):
        super().__init__(port, name, seed, gate)
        self.ledger = ledger

    def work(self):
        topic = self.random.choice((SAFE, IDEMPOTENT, LEADER))
        for part in fetch(self.call, topic, [(i, self.ledger.end(topic, i)) for i in range(PARTITIONS)], wait_ms=100, bytes_max=256 << 10):
            if part["ErrorCode"] == NOT_LEADER:
                self.refused(NOT_LEADER)
            elif part["ErrorCode"] != 0:
                raise Broken(f"a fetch of {topic}-{part['PartitionIndex']} got error {part['ErrorCode']}")
            else:
                self.ledger.take(topic, part["PartitionIndex"], part["Records"] or b"")
        self.answered += 1


class Committer(Worker):
    """Commits rising offsets of one group."""

    def __init__(self, port: int, name: str, seed, gate: Gate):
        super().__init__(port, name, seed, gate)
        self.asked = self.told = 0

    def work(self):
        self.asked += 1
        answer = self.call("OffsetCommit", 5, {"GroupId": self.name, "GenerationIdOrMemberEpoch": -1, "MemberId": "", "Topics": [
            {"Name": SAFE, "Partitions": [{"PartitionIndex": 0, "CommittedOffset": self.asked}]}]})
        code = answer["Topics"][0]["Partitions"][0]["ErrorCode"]
        if code != 0:
            return self.refused(code)
        self.told = self.asked
        self.answered += 1


class TopicMaker(Worker):
    """Makes topics, writes the name as the first record, deletes some. What was asked and not answered is neither in `made`
    nor in `gone`."""

    KEEPS = 30

    def __init__(self, port: int, name: str, seed, gate: Gate):
        super().__init__(port, name, seed, gate)
        self.made: list[str] = []
        self.gone: list[str] = []
        self.with_record: dict[str, int] = {}  # number of the record at offset 0

    def work(self):
        self.ends.wait(0.03)  # they cost the auditor a request each
        if len(self.made) > self.KEEPS or self.made and self.random.random() < 0.3:
            self.delete(self.made.pop(self.random.randrange(len(self.made))))
        else:
            self.make(f"{self.name}-{self.answered}-{self.random.randrange(1_000_000)}")

    def make(self, name: str):
        told = self.call("CreateTopics", 4, {"timeoutMs": 30_000, "Topics": [
            {"Name": name, "NumPartitions": self.random.randrange(1, 4), "ReplicationFactor": 1}]})
        if code := told["Topics"][0]["ErrorCode"]:
            return self.refused(code)
        self.answered += 1
        self.made.append(name)
        connection = self.connection
        connection.send("Produce", 7, produce(name, 0, make_batch(name, self.answered, 1), -1))
        frame = connection.receive(30)
        if isinstance(frame, str):
            raise (Broken if frame == LATE else ConnectionError)(frame)
        part = codec.decode("ProduceResponse", 7, codec.split_answer("Produce", 7, frame)[1])["Responses"][0]["PartitionResponses"][0]
        if part["ErrorCode"] == 0:
            if part["BaseOffset"] != 0:
                raise Broken(f"the first record of {name} got offset {part['BaseOffset']}")
            self.with_record[name] = self.answered
        elif part["ErrorCode"] not in REFUSALS:
            raise Broken(f"the first produce to {name} got error {part['ErrorCode']}")

    def delete(self, name: str):
        self.with_record.pop(name, None)
        told = self.call("DeleteTopics", 4, {"TimeoutMs": 30_000, "TopicNames": [name]})
        if code := told["Responses"][0]["ErrorCode"]:
            return self.refused(code)
        self.answered += 1
        self.gone.append(name)


class ConfigChanger(Worker):
    """Raises one config of a topic."""

    KEY, FIRST = "retention.ms", 10 ** 12

    def __init__(self, port: int, name: str, seed, gate: Gate):
        super().__init__(port, name, seed, gate)
        self.asked = self.told = 0

    def work(self):
        self.ends.wait(0.05)
        self.asked += 1
        answer = self.call("IncrementalAlterConfigs", 0, {"Resources": [{"ResourceType": 2, "ResourceName": SAFE, "Configs": [
            {"Name": self.KEY, "ConfigOperation": 0, "Value": str(self.FIRST + self.asked)}]}]})
        if code := answer["Responses"][0]["ErrorCode"]:
            return self.refused(code)
        self.told = self.asked
        self.answered += 1


class Load:
    """All threads for one data folder."""

    def __init__(self, port: int, seed, ledger: Ledger):
        self.gate = gate = Gate()
        self.producers = [
            *(Producer(port, f"safe{n}", seed, gate, SAFE, -1) for n in range(2)), IdempotentProducer(port, "idempotent0", seed, gate),
            Producer(port, "leader0", seed, gate, LEADER, 1), Producer(port, "async0", seed, gate, ASYNC, -1)]
        self.committers = [Committer(port, f"group-{n}", seed, gate) for n in range(2)]
        self.makers = [TopicMaker(port, "made", seed, gate)]
        self.changers = [ConfigChanger(port, "changer", seed, gate)]
        self.readers = [Reader(port, "reader", seed, gate, ledger)]
        self.workers = [*self.producers, *self.committers, *self.makers, *self.changers, *self.readers]

    def start(self):
        for worker in self.workers:
            worker.start()

    def go(self):
        for worker in self.workers:
            worker.parked.clear()
        self.gate.is_open.set()

    def park(self):
        """Returns when nobody has anything under way."""
        self.gate.is_open.clear()
        deadline = Deadline(PARK_SECONDS)
        while late := [w.name for w in self.workers if not w.parked.is_set() and w.is_alive()]:
            if deadline.passed:
                raise Broken(f"without an answer for {PARK_SECONDS} s: {', '.join(late)}")
            deadline.pause(0.01)
        self.check()

    def check(self):
        if problems := [w.problem for w in self.workers if w.problem]:
            raise Broken("; ".join(problems))

    def end(self):
        for worker in self.workers:
            worker.ends.set()
        self.gate.is_open.set()
        for worker in self.workers:
            if worker.ident is not None:
                worker.join(60)
