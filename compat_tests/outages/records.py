"""Batches whose records say who sent them, `NAME NUMBER `, some with a long tail that costs no time: the checksum of a constant
tail is joined to that of the head. And what a fetch brings, back to names and numbers."""

import functools
import struct
import time

from raw import codec
from raw.batches import HEADER_BYTES, crc32c, read_varint, record, varint

_VALUE_LOOK = 48
_POLYNOMIAL = 0x82F63B78  # of CRC-32C, as raw/batches.py has it


class Tail:
    """The constant end of a batch: dots, and the record's zero headers."""

    def __init__(self, size: int):
        self.bytes = b"." * size + varint(0)
        self.crc = crc32c(self.bytes)
        self.columns = _zero_bytes(len(self.bytes))

    def join(self, crc: int) -> int:
        """The checksum of something with `crc` and this tail."""
        return self.crc ^ _apply(self.columns, crc)


def _apply(columns: list[int], crc: int) -> int:
    """A linear map of checksums, told by what becomes of each bit."""
    result = 0
    for column in columns:
        result ^= column if crc & 1 else 0
        crc >>= 1
    return result


def _zero_bytes(count: int) -> list[int]:
    """What so many zero bytes do to a checksum, as such a map: that of one bit, squared and joined."""
    result = [1 << bit for bit in range(32)]
    power = [_POLYNOMIAL, *(1 << bit for bit in range(31))]
    bits = count * 8
    while bits:
        if bits & 1:
            result = [_apply(power, column) for column in result]
        power = [_apply(power, column) for column in power]
        bits >>= 1
    return result


@functools.cache
def tail_of(size: int) -> Tail:
    return Tail(size)


def make_batch(name: str, number: int, count: int, tail_bytes: int = 0, producer: tuple[int, int, int] = (-1, -1, -1)) -> bytes:
    """`count` records, the first with this number; the last one is longer by `tail_bytes`."""
    values = [f"{name} {number + i} ".encode() for i in range(count)]
    plain = values[:-1] if tail_bytes else values
    payload = b"".join(record(i, value) for i, value in enumerate(plain))
    tail = tail_of(tail_bytes) if tail_bytes else None
    if tail:
        body = b"\0" + varint(0) + varint(count - 1) + varint(-1) + varint(len(values[-1]) + tail_bytes) + values[-1]
        payload += varint(len(body) + len(tail.bytes)) + body
    now = int(time.time() * 1000)
    head = struct.pack(">hiqqqhii", 0, count - 1, now, now, *producer, count) + payload
    crc = tail.join(crc32c(head)) if tail else crc32c(head)
    rest = struct.pack(">ibI", -1, 2, crc) + head + (tail.bytes if tail else b"")
    return struct.pack(">qi", 0, len(rest)) + rest


def produce(topic: str, partition: int, records: bytes, acks: int) -> bytes:
    return codec.encode("ProduceRequest", 7, {"Acks": acks, "TimeoutMs": 30_000, "TopicData": [
        {"Name": topic, "PartitionData": [{"Index": partition, "Records": records}]}]})


def entries(data: bytes):
    """(offset, name, number) of each record in what a fetch brought; a batch that is cut at the end is left out."""
    at = 0
    while len(data) - at >= HEADER_BYTES:
        base, length = struct.unpack_from(">qi", data, at)
        (count,) = struct.unpack_from(">i", data, at + HEADER_BYTES - 4)
        place, at = at + HEADER_BYTES, at + 12 + length
        if at > len(data):
            return
        for _ in range(count):
            size, place = read_varint(data, place)
            end = place + size
            _, place = read_varint(data, place + 1)  # behind the attributes: time
            delta, place = read_varint(data, place)
            key, place = read_varint(data, place)
            value, place = read_varint(data, place + max(key, 0))
            name, number, *_ = data[place:place + min(value, _VALUE_LOOK)].split(b" ", 2)
            yield base + delta, name.decode(), int(number)
            place = end


def fetch(call, topic: str, wanted: list[tuple[int, int]], wait_ms: int, bytes_max: int) -> list[dict]:
    """The answer for each (partition, offset), asked for as clients do: with the leader epoch that Metadata has."""
    told = call("Metadata", 7, {"Topics": [{"Name": topic}], "AllowAutoTopicCreation": False})["Topics"][0]["Partitions"]
    epochs = {part["PartitionIndex"]: part["LeaderEpoch"] for part in told}
    partitions = [{"Partition": partition, "CurrentLeaderEpoch": epochs.get(partition, -1), "FetchOffset": offset, "LogStartOffset": -1,
                   "PartitionMaxBytes": bytes_max} for partition, offset in wanted]
    return call("Fetch", 11, {"MaxWaitMs": wait_ms, "MinBytes": 1, "MaxBytes": 8 * bytes_max, "SessionId": 0, "SessionEpoch": -1,
                              "Topics": [{"Topic": topic, "Partitions": partitions}], "ForgottenTopicsData": [], "RackId": ""})["Responses"][0]["Partitions"]
