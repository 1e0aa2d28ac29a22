"""Frames made by hand, and bombs. Only what the hostile tests need; standard library only."""

import socket
import struct
import zlib

from raw.batches import batch, record, varint, xxh32  # noqa: F401

PRODUCE, FETCH, METADATA, API_VERSIONS, LIST_OFFSETS = 0, 1, 3, 18, 2


def header(key: int, version: int, correlation: int) -> bytes:
    return struct.pack(">hhi", key, version, correlation) + struct.pack(">h", 7) + b"hostile"


def frame(payload: bytes) -> bytes:
    return struct.pack(">i", len(payload)) + payload


def produce(topic: str, records: bytes, correlation: int = 1, acks: int = -1) -> bytes:
    """Produce version 7, the newest old coding: one topic, partition 0."""
    name = topic.encode()
    body = struct.pack(">hhi", -1, acks, 30_000) + struct.pack(">i", 1) + struct.pack(">h", len(name)) + name
    body += struct.pack(">i", 1) + struct.pack(">ii", 0, len(records)) + records
    return frame(header(PRODUCE, 7, correlation) + body)


def metadata(topic: str, correlation: int = 1) -> bytes:
    name = topic.encode()
    return frame(header(METADATA, 4, correlation) + struct.pack(">i", 1) + struct.pack(">h", len(name)) + name + b"\1")


def end_offset(topic: str, correlation: int = 1) -> bytes:
    name = topic.encode()
    body = struct.pack(">i", -1) + struct.pack(">i", 1) + struct.pack(">h", len(name)) + name
    return frame(header(LIST_OFFSETS, 1, correlation) + body + struct.pack(">i", 1) + struct.pack(">iq", 0, -1))


def fetch(topic: str, size_max: int, correlation: int = 1) -> bytes:
    """Version 4, partition 0 from offset 0."""
    name = topic.encode()
    body = struct.pack(">iiiib", -1, 0, 0, size_max, 0) + struct.pack(">i", 1) + struct.pack(">h", len(name)) + name
    return frame(header(FETCH, 4, correlation) + body + struct.pack(">i", 1) + struct.pack(">iqi", 0, 0, size_max))


class Wire:
    def __init__(self, port: int, seconds: float = 20):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=seconds)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data: bytes):
        self.socket.sendall(data)

    def read(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            part = self.socket.recv(count - len(data))
            if not part:
                raise EOFError("closed by the broker")
            data += part
        return data

    def answer(self) -> bytes:
        (size,) = struct.unpack(">i", self.read(4))
        return self.read(size)

    def is_closed(self) -> bool:
        """True when the broker has ended the connection without an answer."""
        try:
            return self.socket.recv(1) == b""
        except ConnectionResetError:
            return True

    def produce_error(self, topic: str, records: bytes) -> tuple[int, int]:
        """(error code, base offset) for one batch to partition 0."""
        self.send(produce(topic, records))
        return self.produce_answer(topic)

    def produce_answer(self, topic: str) -> tuple[int, int]:
        answer = self.answer()
        at = 4 + 4 + 2 + len(topic) + 4 + 4
        return struct.unpack(">hq", answer[at:at + 10])

    def end_offset(self, topic: str) -> int:
        self.send(end_offset(topic))
        return struct.unpack(">q", self.answer()[-8:])[0]


# ------------------------------------------------------------------ bombs: small batches that expand to `size` zeros
def _record_head(size: int) -> bytes:
    """The beginning of one record whose value is `size` zeros: a walker must read on to see that it is a bomb."""
    inner = b"\0" + varint(0) + varint(0) + varint(-1) + varint(size)
    return varint(len(inner) + size + 1) + inner


def gzip_bomb(size: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    out = packer.compress(_record_head(size))
    zeros = bytes(1 << 20)
    for _ in range(size >> 20):
        out += packer.compress(zeros)
    return out + packer.compress(b"\0") + packer.flush()


def zstd_bomb(size: int) -> bytes:
    """Raw block with the record's head, then RLE blocks of 128 KiB."""
    head = _record_head(size)

    def block(last: bool, kind: int, count: int) -> bytes:
        return struct.pack("<I", count << 3 | kind << 1 | last)[:3]

    out = b"\x28\xb5\x2f\xfd" + b"\x00" + b"\x38"  # no content size, window of 128 KiB
    out += block(False, 0, len(head)) + head
    for _ in range(size // (128 << 10)):
        out += block(False, 1, 128 << 10) + b"\0"
    return out + block(True, 1, 1) + b"\0"


def snappy_bomb(size: int) -> bytes:
    """Raw snappy: one literal, then copies of 64 bytes. Its length field tells the truth; the input is small."""
    head = _record_head(size)
    total = len(head) + 1 + size
    out = bytearray()
    left = total
    while left >= 0x80:
        out.append(left & 0x7F | 0x80)
        left >>= 7
    out.append(left)
    literal = head + b"\0"
    out += bytes([(len(literal) - 1) << 2]) + literal
    for _ in range(size // 64):
        out += bytes([(64 - 1) << 2 | 2]) + struct.pack("<H", 1)
    return bytes(out)


def lz4_bomb(size: int) -> bytes:
    """Frame format, independent blocks of 4 MB; each is one literal and one long match."""
    descriptor = bytes([0x60, 0x70])
    out = struct.pack("<I", 0x184D2204) + descriptor + bytes([xxh32(descriptor) >> 8 & 0xFF])

    def block(literal: bytes, total: int) -> bytes:
        match = total - len(literal) - 5  # the last five bytes are literals
        body = bytes([min(len(literal), 15) << 4 | 15])
        if len(literal) >= 15:
            body += bytes([len(literal) - 15])
        body += literal + struct.pack("<H", 1)
        rest = match - 4 - 15
        body += b"\xff" * (rest // 255) + bytes([rest % 255])
        body += bytes([5 << 4]) + b"\0" * 5
        return struct.pack("<I", len(body)) + body

    head = _record_head(size)
    out += block(head + b"\0", 4 << 20)
    for _ in range((size >> 22) - 1):
        out += block(b"\0", 4 << 20)
    return out + struct.pack("<I", 0)  # what the head and the end lack of `size`: the record is cut short, after all of it
