"""The clients of the load for threads: each is a thread with a connection of its own that does one thing over and over
until it is told to end. They speak raw frames (raw/), so that a slow broker under a sanitizer gets much to do at once.
"""

import random
import socket
import struct
import threading
import time
import urllib.request

from raw import batches, codec
from raw.client import Connection

PARTITIONS = 4
SYNCED, ASYNC, MEMORY = "load-synced", "load-async", "load-memory"
TOPICS = {SYNCED: {}, ASYNC: {"mq.flush": "async"}, MEMORY: {"mq.storage": "memory"}}
UNKNOWN_TOPIC, OUT_OF_RANGE = 3, 1


class Broken(Exception):
    """An answer that no load explains."""


class Client(threading.Thread):
    """step() until `ends`. A connection that closes is opened again; `done` counts the steps that were answered."""

    def __init__(self, port: int, name: str, seed):
        super().__init__(daemon=True, name=name)
        self.port, self.random = port, random.Random(f"{seed}-{name}")
        self.ends = threading.Event()
        self.done, self.problem = 0, ""
        self._connection = None

    def run(self):
        while not self.ends.is_set():
            try:
                self.step()
                self.done += 1
            except (OSError, EOFError):  # also ConnectionError: the broker has closed, or is gone
                self.close()
                self.ends.wait(0.05)
            except Exception as error:
                self.problem = f"{self.name}: {type(error).__name__} {error}"
                break
        self.close()

    def close(self):
        if self._connection:
            self._connection.close()
            self._connection = None

    @property
    def connection(self) -> Connection:
        if self._connection is None:
            self._connection = Connection(self.port)
        return self._connection

    def call(self, api: str, version: int, body: dict) -> dict:
        return self.connection.call(api, version, body, 30)

    def step(self):
        raise NotImplementedError


def _produce(topic: str, partition: int, records: bytes, acks: int) -> bytes:
    return codec.encode("ProduceRequest", 7, {"Acks": acks, "TimeoutMs": 30_000, "TopicData": [
        {"Name": topic, "PartitionData": [{"Index": partition, "Records": records}]}]})


class Producer(Client):
    """Several requests in flight, all codecs, batches of some bytes and of some 100 KB; no offset may come twice."""

    def __init__(self, port: int, name: str, seed, topic: str, taken: dict, lock: threading.Lock):
        super().__init__(port, name, seed)
        self.topic, self.taken, self.lock = topic, taken, lock
        now = int(time.time() * 1000)
        self.bodies = [(partition, n, _produce(topic, partition, records, acks))
                       for partition in range(PARTITIONS) for acks in (-1, 1)
                       for n, records in self._batches(now)]

    def _batches(self, now: int):
        for form in ("none", "gzip", "snappy", "lz4", "zstd"):
            n = self.random.randrange(1, 20)
            yield n, batches.from_spec({"n": n, "size": self.random.randrange(1, 200), "form": form, "base_ts": now})
        yield 2, batches.from_spec({"n": 2, "size": 60_000, "base_ts": now})

    def step(self):
        asked = [self.random.choice(self.bodies) for _ in range(self.random.randrange(1, 9))]
        sent = [(self.connection.send("Produce", 7, body), partition, n) for partition, n, body in asked]
        for correlation, partition, n in sent:
            frame = self.connection.receive(30)
            if isinstance(frame, str):
                raise ConnectionError(frame)
            got, answer = codec.split_answer("Produce", 7, frame)
            told = codec.decode("ProduceResponse", 7, answer)["Responses"][0]["PartitionResponses"][0]
            if got != correlation or told["ErrorCode"] != 0:
                raise Broken(f"answer {got} to {correlation}: {told}")
            self._take(partition, told["BaseOffset"], n)

    def _take(self, partition: int, base: int, n: int):
        with self.lock:
            given = self.taken.setdefault((self.topic, partition), set())
            if base in given:
                raise Broken(f"{self.topic}-{partition}: offset {base} was given twice")
            given.add(base)


class Fetcher(Client):
    """Reads on from where it is, at times from the log's start, within a fetch session at times, and waits for more."""

    def __init__(self, port: int, name: str, seed, topic: str):
        super().__init__(port, name, seed)
        self.topic, self.at = topic, [0] * PARTITIONS

    def step(self):
        if self.random.random() < 0.1:
            self.at = [0] * PARTITIONS
        answer = self.call("Fetch", 11, {
            "MaxWaitMs": self.random.choice((0, 20, 200)), "MinBytes": self.random.choice((1, 10_000)), "MaxBytes": 4 << 20,
            "SessionEpoch": self.random.choice((-1, 0)), "Topics": [{"Topic": self.topic, "Partitions": [
                {"Partition": i, "FetchOffset": at, "PartitionMaxBytes": 256 << 10} for i, at in enumerate(self.at)]}]})
        for part in answer["Responses"][0]["Partitions"] if answer["Responses"] else ():
            self._follow(part)

    def _follow(self, part: dict):
        index = part["PartitionIndex"]
        if part["ErrorCode"] == OUT_OF_RANGE:  # retention or DeleteRecords went past it
            self.at[index] = max(0, part["LogStartOffset"])
        elif part["ErrorCode"] not in (0, UNKNOWN_TOPIC):
            raise Broken(f"fetch of {self.topic}-{index} at {self.at[index]}: error {part['ErrorCode']}")
        data = part["Records"] or b""
        at = 0
        while len(data) - at >= batches.HEADER_BYTES:
            base, length, _, _, _ = struct.unpack_from(">qiibI", data, at)
            (last,) = struct.unpack_from(">i", data, at + 23)
            if at + 12 + length <= len(data):
                self.at[index] = base + last + 1
            at += 12 + length
        if self.at[index] == 0 and part["LogStartOffset"] > 0:
            self.at[index] = part["LogStartOffset"]


class Member(Client):
    """Joins a group, commits, and leaves, or goes away without a word."""

    def __init__(self, port: int, name: str, seed, group: str):
        super().__init__(port, name, seed)
        self.group, self.commits = group, 0

    def step(self):
        self.call("FindCoordinator", 0, {"Key": self.group})
        joined = self.call("JoinGroup", 2, {
            "GroupId": self.group, "SessionTimeoutMs": 6_000, "RebalanceTimeoutMs": 1_000, "MemberId": "",
            "ProtocolType": "consumer", "Protocols": [{"Name": "range", "Metadata": b""}]})
        me = {"GroupId": self.group, "GenerationId": joined["GenerationId"], "MemberId": joined["MemberId"]}
        if joined["ErrorCode"] == 0:
            self.call("SyncGroup", 1, me | {"Assignments": [
                {"MemberId": m["MemberId"], "Assignment": b"\0"} for m in joined["Members"]]})
        for _ in range(self.random.randrange(20)):
            self.commits += 1
            self.call("OffsetCommit", 5, {
                "GroupId": self.group, "GenerationIdOrMemberEpoch": joined["GenerationId"], "MemberId": joined["MemberId"],
                "Topics": [{"Name": SYNCED, "Partitions": [{"PartitionIndex": 0, "CommittedOffset": self.commits}]}]})
            self.call("Heartbeat", 1, me)
            if self.ends.is_set():
                return
        self.call("OffsetFetch", 5, {"GroupId": self.group, "Topics": None})
        if self.random.random() < 0.7:
            self.call("LeaveGroup", 1, {"GroupId": self.group, "MemberId": joined["MemberId"]})
        else:
            self.close()


class Admin(Client):
    """Topics made, written to, grown and deleted; configs of topics and of the broker changed; DeleteRecords."""

    def step(self):
        self.random.choice((self.passing_topic, self.configs, self.delete_records, self.look))()

    def passing_topic(self):
        name = f"passing-{self.name}-{self.random.randrange(1_000_000)}"
        config = self.random.choice(list(TOPICS.values()))
        self.call("CreateTopics", 4, {"timeoutMs": 30_000, "Topics": [
            {"Name": name, "NumPartitions": 3, "ReplicationFactor": 1,
             "Configs": [{"Name": n, "Value": v} for n, v in config.items()]}]})
        for partition in range(3):
            self.call_produce(name, partition)
        self.call("CreatePartitions", 1, {"TimeoutMs": 30_000, "Topics": [{"Name": name, "Count": 5, "Assignments": None}]})
        self.call_produce(name, 4)
        self.call("DeleteTopics", 4, {"TimeoutMs": 30_000, "TopicNames": [name]})

    def call_produce(self, name: str, partition: int):
        self.connection.send("Produce", 7, _produce(name, partition, batches.from_spec({"n": 2}), -1))
        if isinstance(frame := self.connection.receive(30), str):
            raise ConnectionError(frame)

    def configs(self):
        topic = self.random.choice((SYNCED, ASYNC, MEMORY))
        value = str(self.random.choice((500, 2_000, 60_000)))
        resources = [(2, topic, "retention.ms", value), (4, "1", "log.retention.ms", "300000"),
                     (4, "", "message.max.bytes", str(self.random.choice((1_048_588, 2_000_000))))]
        if topic == ASYNC:
            resources.append((2, topic, "mq.flush", self.random.choice(("sync", "async"))))
        for kind, name, key, to in resources:
            self.call("IncrementalAlterConfigs", 0, {"Resources": [
                {"ResourceType": kind, "ResourceName": name, "Configs": [{"Name": key, "ConfigOperation": 0, "Value": to}]}]})

    def delete_records(self):
        topic, partition = self.random.choice((SYNCED, ASYNC, MEMORY)), self.random.randrange(PARTITIONS)
        told = self.call("ListOffsets", 1, {"ReplicaId": -1, "Topics": [{"Name": topic, "Partitions": [
            {"PartitionIndex": partition, "Timestamp": self.random.choice((-1, -2, int(time.time() * 1000) - 300))}]}]})
        offset = told["Topics"][0]["Partitions"][0]["Offset"]
        self.call("DeleteRecords", 1, {"TimeoutMs": 30_000, "Topics": [
            {"Name": topic, "Partitions": [{"PartitionIndex": partition, "Offset": max(offset, 0)}]}]})

    def look(self):
        self.call("Metadata", 4, {"Topics": None})
        self.call("DescribeLogDirs", 1, {"Topics": None})
        self.call("ListGroups", 2, {})
        self.call("DescribeConfigs", 1, {"Resources": [{"ResourceType": 2, "ResourceName": SYNCED, "ConfigurationKeys": None}]})


class Scraper(Client):
    """/metrics and /healthz."""

    def __init__(self, port: int, name: str, seed, http_port: int):
        super().__init__(port, name, seed)
        self.http_port = http_port

    def step(self):
        for page in ("metrics", "healthz"):
            with urllib.request.urlopen(f"http://127.0.0.1:{self.http_port}/{page}", timeout=20) as answer:
                answer.read()
        self.ends.wait(0.1)


class Passer(Client):
    """Connects, says half a thing or nothing, and is gone."""

    def step(self):
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as visitor:
            visitor.sendall(b"\0\0\0\x30" + self.random.randbytes(self.random.randrange(0, 12)))
        self.ends.wait(0.02)
