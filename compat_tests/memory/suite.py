"""Memory that runs out: the n-th allocation of a broker's life fails, and all behind it, for n from the first to some
hundred thousand. The end is one line and exit code 3, never a signal; the next start has all that was acknowledged. Where
only a large allocation fails, it costs the connection or the batch that asked for it."""

import os
import random
import re
import subprocess
import threading

from harness import paths
from harness.broker import WeirBroker, answers_api_versions
from harness.child import Child, Deadline
from harness.context import Context
from harness.results import require
from hostile import wire
from hostile.wire import Wire
from raw import batches
from raw.client import Connection

TOPIC = "kept"
OUT_OF_MEMORY_EXIT = 3
LINE = re.compile(r"^weir: (out of memory|a thread cannot be started).*exit code 3", re.M)
LIVES = 26
FIRST, GROWTH = 1, 1.6
LOAD_SECONDS = 1.5
LARGE = 4 << 20
UNKNOWN_SERVER_ERROR = -1
DIED = (OSError, EOFError, TimeoutError)  # what a client sees of a broker that is gone


def run(context: Context):
    if context.kind != "weir":
        return
    broker = StarvedBroker(context.suite, context.weir)
    try:
        with context.test("an_allocation_that_fails_ends_the_process_in_words_and_loses_nothing") as notes:
            notes.append(_lives(broker, random.Random(context.seed)))
        with context.test("a_large_request_that_finds_no_memory_costs_its_connection"):
            _large_requests(broker)
    finally:
        broker.remove()


class StarvedBroker(WeirBroker):
    """`fail_from`, `size_min`: of failing_malloc.c; None: an ordinary life."""

    def __init__(self, name: str, binary):
        super().__init__(name, binary, {"mq.segment.bytes": 1 << 20, "mq.image.bytes": 4 << 20, "mq.log.io": "buffered"})
        self.library = self.folder / "failing_malloc.so"
        subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", self.library, paths.COMPAT / "memory" / "failing_malloc.c", "-ldl"],
                       check=True)
        self.fail_from: int | None = None
        self.size_min = 0

    def _spawn(self) -> Child:
        child = super()._spawn() if self.fail_from is None else self._starved()
        return child

    def _starved(self) -> Child:
        variables = {"LD_PRELOAD": str(self.library), "FAIL_FROM": str(self.fail_from), "FAIL_SIZE_MIN": str(self.size_min)}
        saved = {name: os.environ.get(name) for name in variables}
        os.environ.update(variables)
        try:
            return super()._spawn()
        finally:
            for name, value in saved.items():
                os.environ.pop(name) if value is None else os.environ.__setitem__(name, value)


def _lives(broker: StarvedBroker, rng: random.Random) -> str:
    broker.start()
    with Wire(broker.port) as client:
        client.send(wire.metadata(TOPIC))
        client.answer()
    promised: dict[int, bytes] = {}
    _produce(broker.port, promised, rng, Deadline(0.3))
    require(promised, "nothing was acknowledged with all the memory there is")
    broker.stop()
    fail_from, in_start, in_load, survived = float(FIRST), 0, 0, 0
    for life in range(LIVES):
        broker.settings["mq.log.io"] = ("buffered", "direct")[life % 2]
        broker.fail_from = int(fail_from) + rng.randrange(1 + int(fail_from * 0.3))
        fail_from *= GROWTH
        code, answered, said = _starved_life(broker, promised, rng)
        where = f"allocation {broker.fail_from}, {broker.settings['mq.log.io']}"
        if code is None:
            survived += 1
        else:
            require(code == OUT_OF_MEMORY_EXIT, f"{where}: ended with {code}\n{broker.child.tail()}")
            require(len(LINE.findall(said)) == 1, f"{where}: no line, or more than one\n{broker.child.tail()}")
            in_load, in_start = in_load + answered, in_start + (not answered)
        broker.fail_from = None
        broker.restart()
        _all_there(broker.port, promised, where)
        broker.stop()
    require(in_start and in_load, f"{in_start} ended in their start, {in_load} under load: the numbers are not spread well")
    return f"{in_start} ended in their start, {in_load} under load, {survived} not; {len(promised)} batches acknowledged"


def _starved_life(broker: StarvedBroker, promised: dict, rng: random.Random) -> tuple[int | None, bool, str]:
    """Exit code (None: it lived on, and was killed), whether it ever answered, what it said."""
    begin = broker.log.stat().st_size
    broker.child = broker._spawn()
    deadline, answered = Deadline(30), False
    while broker.child.running() and not deadline.passed and not answered:
        answered = answers_api_versions(broker.port)
    if answered:
        _load(broker.port, promised, rng)
    try:
        broker.child.process.wait(0.5)
    except subprocess.TimeoutExpired:
        broker.kill9()
        return None, answered, ""
    code = broker.child.wait(10)
    return code, answered, broker.log.read_bytes()[begin:].decode(errors="replace")


def _load(port: int, promised: dict, rng: random.Random):
    deadline = Deadline(LOAD_SECONDS)
    others = [threading.Thread(target=work, args=(port, deadline, rng.random())) for work in (_groups, _topics, _readers)]
    for thread in others:
        thread.start()
    _produce(port, promised, rng, deadline)
    for thread in others:
        thread.join()


def _produce(port: int, promised: dict, rng: random.Random, deadline: Deadline):
    try:
        with Wire(port, 5) as client:
            while not deadline.passed:
                value = b"%d " % rng.randrange(1 << 60) + bytes(rng.choice((10, 10, 300, 20_000)))
                code, offset = client.produce_error(TOPIC, batches.batch(batches.record(0, value)))
                if code == 0:
                    require(promised.setdefault(offset, value) is value, f"offset {offset} was given twice")
    except DIED:
        pass


def _repeat(port: int, deadline: Deadline, step):
    number = 0
    while not deadline.passed:
        try:
            connection = Connection(port)
            while not deadline.passed:
                number += 1
                step(connection, number)
        except DIED:
            if not answers_api_versions(port):
                return


def _groups(port: int, deadline: Deadline, _):
    def step(connection: Connection, number: int):
        group = f"group-{number % 5}"
        connection.call("FindCoordinator", 0, {"Key": group}, 5)
        joined = connection.call("JoinGroup", 1, {
            "GroupId": group, "SessionTimeoutMs": 6_000, "RebalanceTimeoutMs": 100, "ProtocolType": "consumer",
            "Protocols": [{"Name": "range", "Metadata": b""}]}, 5)
        connection.call("LeaveGroup", 1, {"GroupId": group, "MemberId": joined["MemberId"]}, 5)
    _repeat(port, deadline, step)


def _topics(port: int, deadline: Deadline, tag: float):
    def step(connection: Connection, number: int):
        name = f"passing-{tag}-{number}"
        connection.call("CreateTopics", 4, {"timeoutMs": 5_000, "Topics": [
            {"Name": name, "NumPartitions": 2, "ReplicationFactor": 1}]}, 5)
        connection.call("DeleteTopics", 4, {"TimeoutMs": 5_000, "TopicNames": [name]}, 5)
    _repeat(port, deadline, step)


def _readers(port: int, deadline: Deadline, _):
    def step(connection: Connection, number: int):
        connection.call("Fetch", 7, {"MaxWaitMs": 20, "MinBytes": 1, "SessionEpoch": 0, "Topics": [
            {"Topic": TOPIC, "Partitions": [{"Partition": 0, "FetchOffset": number % 7, "PartitionMaxBytes": 100_000}]}]}, 5)
        connection.call("Metadata", 4, {"Topics": None}, 5)
    _repeat(port, deadline, step)


def _all_there(port: int, promised: dict, where: str):
    connection = Connection(port)
    at, end = 0, max(promised) + 1
    while at < end:
        answer = connection.call("Fetch", 4, {"MaxWaitMs": 1_000, "MinBytes": 1, "Topics": [
            {"Topic": TOPIC, "Partitions": [{"Partition": 0, "FetchOffset": at, "PartitionMaxBytes": 8 << 20}]}]})
        part = answer["Responses"][0]["Partitions"][0]
        require(part["ErrorCode"] == 0 and part["Records"], f"{where}: {part['ErrorCode']} at {at} of {end}")
        for base, body in _bodies(part["Records"]):
            require(promised.get(base, b"") in body, f"{where}: offset {base} has another record than was acknowledged")
            at = base + 1
    connection.close()


def _bodies(data: bytes):
    """(offset, bytes behind the header) of each whole batch; each has one record."""
    at = 0
    while len(data) - at > batches.HEADER_BYTES:
        base, length = int.from_bytes(data[at:at + 8], "big"), int.from_bytes(data[at + 8:at + 12], "big")
        if at + 12 + length > len(data):
            return
        yield base, data[at + batches.HEADER_BYTES:at + 12 + length]
        at += 12 + length


def _large_requests(broker: StarvedBroker):
    broker.fail_from, broker.size_min = 1, LARGE
    broker.restart()
    with Wire(broker.port) as other:
        other.produce_error(TOPIC, wire.batch(wire.record(0, b"before")))
        with Wire(broker.port) as large:
            try:
                large.send(wire.produce(TOPIC, bytes(3 * LARGE)))
                require(large.is_closed(), "a frame that found no memory was answered")
            except ConnectionError:
                pass
        code, _ = other.produce_error(TOPIC, wire.batch(wire.snappy_bomb(2 * LARGE), codec=2))
        require(code == UNKNOWN_SERVER_ERROR, f"a batch that expands and finds no memory got {code}")
        code, _ = other.produce_error(TOPIC, wire.batch(wire.record(0, b"behind")))
        require(code == 0, f"others were not served: {code}")
    said = broker.log.read_text(errors="replace")
    require("out of memory for what it sends" in said and "out of memory for a batch" in said, "the log says nothing of it")
    broker.stop()
