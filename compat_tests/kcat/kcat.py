"""Drives kcat: command lines, its delivery lines and its length-prefixed output. One caller at a time per object.

kcat has no way to name a record in its delivery lines, only partition and offset. Its keys choose the partition by
CRC-32, and a producer keeps the order inside a partition, so the n-th delivery of a partition is the n-th record whose
key belongs there.
"""

import pathlib
import re
import subprocess
import time
import zlib
from collections import defaultdict

from harness.checker import Seen
from harness.child import Child, Deadline
from harness.crash import CLIENT_SECONDS, AckWatch
from harness.results import require

DELIVERED = re.compile(r"Message delivered to partition (\d+) \(offset (\d+)\)")
ASSIGNED = re.compile(r"rebalanced .*assigned: (.*)$")
# One header line, then key, value and headers each as its own run of bytes whose length the line told.
FORMAT = r"%p %o %K %S\n%k%s%h\n"


def key_of(record_id: int) -> bytes:
    return b"key-%d" % (record_id * 31 % 499)


def partition_of(key: bytes, partitions: int) -> int:
    return zlib.crc32(key) % partitions


def expected_order(ids, partitions: int) -> dict[int, list[int]]:
    order = defaultdict(list)
    for record_id in ids:
        order[partition_of(key_of(record_id), partitions)].append(record_id)
    return order


def name_deliveries(deliveries: list[tuple[int, int]], order: dict[int, list[int]]) -> list[Seen]:
    """Gives each (partition, offset) of a delivery line the id that was sent there at its turn."""
    turns = {partition: iter(ids) for partition, ids in order.items()}
    return [Seen(partition, offset, next(turns[partition])) for partition, offset in deliveries]


def command(address: str, mode: str, *options) -> list:
    return ["kcat", "-b", address, mode, *options]


def run(address: str, mode: str, *options, data: bytes | None = None, seconds: float = 60) -> subprocess.CompletedProcess:
    return subprocess.run(command(address, mode, *options), input=data, capture_output=True, timeout=seconds)


def feed(client: Child, watch: AckWatch, wanted: int, lines: list[bytes]) -> int:
    """Sends until `wanted` deliveries were told; answers how many lines went out, always fewer than all.

    kcat tells deliveries only while it reads input (or at its end). So the first nine tenths go out in blocks, and if
    that was not enough, the rest one by one."""
    gate = len(lines) - len(lines) // 10
    sent = 0
    deadline = Deadline(CLIENT_SECONDS)
    while watch.acknowledged < wanted and sent < len(lines) - 1:
        require(client.running() and not deadline.passed, f"kcat stopped at {watch.acknowledged}\n{client.tail()}")
        block = lines[sent : min(sent + 500, gate)] or lines[sent : sent + 1]
        client.process.stdin.write(b"".join(block))
        client.process.stdin.flush()
        sent += len(block)
        if sent > gate:
            time.sleep(0.01)  # paces the drip, which the deadline and the number of lines bound
    return sent


class Records:
    """Parses output in FORMAT: (partition, offset, key or None, value or None, headers text)."""

    def __init__(self, output: bytes):
        self._output = output

    def __iter__(self):
        at = 0
        while at < len(self._output):
            line_end = self._output.index(b"\n", at)
            partition, offset, key_length, value_length = map(int, self._output[at:line_end].split())
            key_start = line_end + 1
            value_start = key_start + max(key_length, 0)
            headers_start = value_start + max(value_length, 0)
            at = self._output.index(b"\n", headers_start) + 1
            yield (
                partition,
                offset,
                self._output[key_start:value_start] if key_length >= 0 else None,
                self._output[value_start:headers_start] if value_length >= 0 else None,
                self._output[headers_start : at - 1].decode(),
            )


class Member:
    """A kcat that reads as a member of a group; its assignment and records can be asked for while it runs."""

    def __init__(self, address: str, group: str, topic: str, log: pathlib.Path, *options):
        self.assigned: list[str] = []
        self.lines: list[str] = []
        self._child = Child(
            ["kcat", "-b", address, "-u", "-X", "auto.offset.reset=earliest", "-X", "heartbeat.interval.ms=200",
             "-X", "session.timeout.ms=6000", "-f", r"%p %o %s\n", *options, "-G", group, topic],
            log, watch=self.lines.append, watch_stderr=self._on_message,
        )

    def _on_message(self, line: str):
        found = ASSIGNED.search(line)
        if found:
            self.assigned = [part.strip() for part in found.group(1).split(", ") if part.strip()]

    def running(self) -> bool:
        return self._child.running()

    def read(self) -> list[Seen]:
        return [Seen(*map(int, line.split())) for line in list(self.lines)]

    def leave(self) -> int:
        """SIGTERM makes kcat commit, leave the group and end."""
        return self._child.terminate(30)

    def wait(self) -> int:
        return self._child.wait(60)

    def kill(self):
        self._child.kill9()
