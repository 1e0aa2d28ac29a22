"""Batches of tens of megabytes: nearly all zeros, so that their checksum is found without looking at each byte."""

import struct

from raw import batches
from raw.batches import varint

WORD = 0xFFFFFFFF


def _times(matrix: list, value: int) -> int:
    out = 0
    for row in matrix:
        if not value:
            break
        if value & 1:
            out ^= row
        value >>= 1
    return out


def crc_after_zeros(crc: int, count: int) -> int:
    """The state of a CRC-32C after `count` zero bytes: one byte is a linear map, so many are its power."""
    power = [bit >> 8 ^ batches._TABLE[bit & 255] for bit in (1 << i for i in range(32))]
    while count:
        if count & 1:
            crc = _times(power, crc)
        power = [_times(power, row) for row in power]
        count >>= 1
    return crc


def _state(crc: int, data: bytes) -> int:
    for byte in data:
        crc = crc >> 8 ^ batches._TABLE[(crc ^ byte) & 255]
    return crc


def batch_of(size: int, mark: bytes) -> bytes:
    """A batch of exactly `size` bytes with one record, whose value begins with `mark` and goes on with zeros."""
    rest = size - batches.HEADER_BYTES
    for value in range(rest - 16, rest):  # the lengths are written in as many bytes as they need
        head = b"\0" + varint(0) + varint(0) + varint(-1) + varint(value)
        if len(varint(len(head) + value + 1)) + len(head) + value + 1 == rest:
            break
    front = varint(len(head) + value + 1) + head + mark
    facts = struct.pack(">hiqqqhii", 0, 0, batches.NOW, batches.NOW, -1, -1, -1, 1)
    zeros = value - len(mark) + 1  # and no headers, which is a zero too
    crc = crc_after_zeros(_state(WORD, facts + front), zeros) ^ WORD
    return struct.pack(">qiibI", 0, size - 12, -1, 2, crc) + facts + front + bytes(zeros)
