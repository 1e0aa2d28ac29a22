"""What a server.properties decides: addresses that each listener tells, limits on connections, batches as large as it allows; and
people's files, each of which starts or refuses with a sentence that says what to do."""

import contextlib
import socket
import threading
import time

from harness.broker import answers_api_versions
from harness.child import Deadline
from harness.context import Context
from harness.results import require
from raw import batches
from raw.client import CLOSED, Connection
from server_properties import large, starts
from server_properties.broker import call, start_with, told_addresses

MIB = 1 << 20
TOPIC = "large"
MAX_MESSAGE = 100_000_000
BROKER = 4  # a resource type
CONNECTIONS = 12  # ten at once, and two that wait


def run(context: Context):
    tests = (("each_listener_tells_its_own_address", _two_listeners), ("an_address_without_a_host_or_port", _without_host),
             ("node_id_and_rack", _node_id_and_rack), ("batches_as_large_as_allowed", _large_batches),
             ("connections_of_one_address", _connections_of_one_address), ("connections_a_second", _connections_a_second))
    for name, test in tests:
        with context.test(name) as notes:
            notes.extend(test(context) or ())
    if context.kind == "weir":
        starts.run(context)


@contextlib.contextmanager
def _started(context: Context, lines: dict):
    broker = start_with(context, lines)
    try:
        yield broker
        broker.stop()
    finally:
        broker.remove()


def _two_listeners(context: Context):
    lines = {"listeners": "internal://127.0.0.1:{A},EXTERNAL://127.0.0.1:{B}",
             "advertised.listeners": "EXTERNAL://localhost:{B},INTERNAL://broker.example:19092", "inter.broker.listener.name": "INTERNAL",
             "listener.security.protocol.map": "CONTROLLER:PLAINTEXT, internal : plaintext ,EXTERNAL:PLAINTEXT"}
    with _started(context, lines) as broker:
        inside, outside = broker.ports["A"], broker.ports["B"]
        for port, expected in ((inside, ("broker.example", 19092)), (outside, ("localhost", outside))):
            told = _with_coordinator(port)
            require(set(told.values()) == {expected}, f"port {port} tells {told}, not {expected}")


def _with_coordinator(port: int) -> dict:
    deadline = Deadline(30)
    while "FindCoordinator" not in (told := told_addresses(port)) and not deadline.passed:
        deadline.pause()
    require("FindCoordinator" in told, "no coordinator")
    return told


def _without_host(context: Context):
    with _started(context, {"advertised.listeners": "PLAINTEXT://:0"}) as broker:
        for api, (host, port) in told_addresses(broker.port).items():
            require(host and port == broker.port, f"{api} tells {host}:{port}")
            require(context.kind == "kafka" or host == "127.0.0.1", f"{api} tells {host}, not where the client came in")


def _node_id_and_rack(context: Context):
    lines = {"broker.id": "5", "node.id": "5", "broker.rack": "r1"} if context.kind == "kafka" else {"broker.id": "5", "broker.rack": "r1"}
    with _started(context, lines) as broker:
        metadata = call(broker.port, "Metadata", 9, {"Topics": []})["Brokers"]
        require([(one["NodeId"], one["Rack"]) for one in metadata] == [(5, "r1")], f"{metadata}")
        cluster = call(broker.port, "DescribeCluster", 1, {})["Brokers"]
        require([(one["BrokerId"], one["Rack"]) for one in cluster] == [(5, "r1")], f"{cluster}")


# ------------------------------------------------------------------------------------------------------- large batches
def _large_batches(context: Context):
    """Far larger than the memory image of the log's tail; small ones between; read back after a kill -9 too."""
    with _started(context, {"message.max.bytes": str(MAX_MESSAGE), "fetch.max.bytes": "209715200"}) as broker:
        made = call(broker.port, "CreateTopics", 5, {"Topics": [{"Name": TOPIC, "NumPartitions": 1, "ReplicationFactor": 1}], "timeoutMs": 30_000})
        require(made["Topics"][0]["ErrorCode"] == 0, f"{made}")
        sent = [large.batch_of(size, f"batch {size}".encode()) for size in (1_000, 33 * MIB, 2_000, 64 * MIB, MAX_MESSAGE, 3_000)]
        for offset, batch in enumerate(sent):
            answer = _produce(broker.port, batch)
            require((answer["ErrorCode"], answer["BaseOffset"]) == (0, offset), f"a batch of {len(batch)} bytes: {answer}")
        refused = _produce(broker.port, large.batch_of(MAX_MESSAGE + 1, b"over"))
        require(refused["ErrorCode"] == 10, f"one byte over message.max.bytes: {refused}")
        _read_back(broker.port, sent)
        broker.kill9()
        broker.restart()
        _read_back(broker.port, sent)


def _produce(port: int, records: bytes) -> dict:
    connection = Connection(port)
    try:
        body = {"Acks": -1, "TimeoutMs": 60_000, "TopicData": [{"Name": TOPIC, "PartitionData": [{"Index": 0, "Records": records}]}]}
        return connection.call("Produce", 7, body, 60)["Responses"][0]["PartitionResponses"][0]
    finally:
        connection.close()


def _read_back(port: int, sent: list):
    connection = Connection(port)
    try:
        for offset, batch in enumerate(sent):
            partition = {"Partition": 0, "FetchOffset": offset, "PartitionMaxBytes": 1_000}
            body = {"MaxWaitMs": 1_000, "MinBytes": 1, "MaxBytes": 1_000, "Topics": [{"Topic": TOPIC, "Partitions": [partition]}]}
            answer = connection.call("Fetch", 11, body, 60)["Responses"][0]["Partitions"][0]
            records = answer["Records"] or b""
            same = records[:len(batch)][batches.HEADER_BYTES - 40:] == batch[batches.HEADER_BYTES - 40:]  # from the checksummed part on
            require(answer["ErrorCode"] == 0 and same, f"offset {offset}: error {answer['ErrorCode']}, {len(records)} bytes for a batch of {len(batch)}")
    finally:
        connection.close()


# --------------------------------------------------------------------------------------------------- limits on connections
def _is_served(port: int, keep: list) -> bool:
    try:
        connection = Connection(port)
    except ConnectionError:
        return False
    keep.append(connection)
    connection.send("ApiVersions", 0, b"")
    return connection.receive(20) != CLOSED


def _set(port: int, name: str, value: str):
    body = {"Resources": [{"ResourceType": BROKER, "ResourceName": "", "Configs": [{"Name": name, "ConfigOperation": 0, "Value": value}]}]}
    answer = call(port, "IncrementalAlterConfigs", 1, body)["Responses"][0]
    require(answer["ErrorCode"] == 0, f"{name}={value}: {answer}")


def _connections_of_one_address(context: Context):
    """By the file, then by limits that are set while it runs."""
    with _started(context, {"max.connections.per.ip": "4"}) as broker:
        _await_served(broker.port, 4)
        _set(broker.port, "max.connections.per.ip", "2")
        _await_served(broker.port, 2)
        _set(broker.port, "max.connections.per.ip.overrides", "127.0.0.1:3")
        _await_served(broker.port, 3)


def _await_served(port: int, count: int):
    """Of more connections than that just so many are served; those of before may still count for a moment."""
    want = [True] * count + [False] * 3
    deadline = Deadline(20)
    while (served := _served_of(port, len(want))) != want and not deadline.passed:
        deadline.pause()
    require(served == want, f"served are {served}, not {count}")
    _until_served(port)


@contextlib.contextmanager
def _kept():
    connections = []
    try:
        yield connections
    finally:
        for connection in connections:
            connection.close()


def _served_of(port: int, count: int) -> list:
    _until_served(port)
    with _kept() as kept:
        return [_is_served(port, kept) for _ in range(count)]


def _until_served(port: int):
    """Until the broker has noticed that connections of before are closed."""
    deadline = Deadline(20)
    while not answers_api_versions(port):
        require(not deadline.passed, "nobody is served any more")
        deadline.pause()


def _connections_a_second(context: Context):
    """With one a second, those of ten seconds may come at once; then each waits for its turn."""
    with _started(context, {"max.connection.creation.rate": "1"}) as broker:
        times = []

        def one():
            start = time.monotonic()
            with socket.create_connection(("127.0.0.1", broker.port), timeout=20) as connection:
                connection.sendall(b"\0\0\0\x0a\0\x12\0\0\0\0\0\7\xff\xff")
                if connection.recv(4):
                    times.append(time.monotonic() - start)

        threads = [threading.Thread(target=one) for _ in range(CONNECTIONS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        late = sum(seconds > 0.5 for seconds in times)
        require(len(times) == CONNECTIONS and 1 <= late <= 8, f"{len(times)} of {CONNECTIONS} were served, {late} of them late: {times}")
        return [f"the last after {max(times):.1f} s"]
