"""Record batches: true and lying ones from a dict, and what a broker sends back as dicts. Standard library only.

Compressed payloads are real frames of their codec, but their blocks are stored: no library is needed, and the bytes are
the same on each machine. A lying batch is a dict with a field that says something else than the truth (`crc`, `count`).
"""

import json
import struct
import zlib

CODECS = {"none": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}
NOW = 1_700_000_000_000  # the time of all records that say nothing else: long ago, so that each run is the same
HEADER_BYTES = 61

_TABLE = []
for _i in range(256):
    _c = _i
    for _ in range(8):
        _c = _c >> 1 ^ 0x82F63B78 if _c & 1 else _c >> 1
    _TABLE.append(_c)


def crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def varint(value: int) -> bytes:
    """Zigzag, as inside records."""
    value = (value << 1) ^ (value >> 63)
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _sized(data: bytes | None) -> bytes:
    return varint(-1) if data is None else varint(len(data)) + data


def record(index: int, value: bytes | None, key: bytes | None = None, headers=(), time_delta: int = 0) -> bytes:
    body = b"\0" + varint(time_delta) + varint(index) + _sized(key) + _sized(value) + varint(len(headers))
    body += b"".join(_sized(name) + _sized(content) for name, content in headers)
    return varint(len(body)) + body


def batch(payload: bytes, count: int = 1, last_delta: int | None = None, codec: int = 0, crc: int | None = None,
          length: int | None = None, magic: int = 2, base_offset: int = 0, leader_epoch: int = -1, base_time: int = NOW,
          max_time: int | None = None, producer: tuple[int, int, int] = (-1, -1, -1)) -> bytes:
    """A batch around a payload; `codec` is the whole attributes field. Producer: id, epoch, first sequence."""
    tail = struct.pack(">hiqqqhii", codec, count - 1 if last_delta is None else last_delta, base_time,
                       base_time if max_time is None else max_time, *producer, count)
    tail += payload
    rest = struct.pack(">ibI", leader_epoch, magic, crc32c(tail) if crc is None else crc) + tail
    return struct.pack(">qi", base_offset, len(rest) if length is None else length) + rest


# ------------------------------------------------------------------------------------------------ compressed payloads
def xxh32(data: bytes) -> int:
    """For the header checksum of an LZ4 frame; inputs below 16 bytes only."""
    p1, p2, p3, p4, p5 = 2654435761, 2246822519, 3266489917, 668265263, 374761393
    mask = 0xFFFFFFFF
    h = (p5 + len(data)) & mask
    at = 0
    while at + 4 <= len(data):
        h = (h + struct.unpack_from("<I", data, at)[0] * p3) & mask
        h = ((h << 17 | h >> 15) & mask) * p4 & mask
        at += 4
    while at < len(data):
        h = (h + data[at] * p5) & mask
        h = ((h << 11 | h >> 21) & mask) * p1 & mask
        at += 1
    h = (h ^ h >> 15) * p2 & mask
    h = (h ^ h >> 13) * p3 & mask
    return h ^ h >> 16


def _gzip(data: bytes) -> bytes:
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    return packer.compress(data) + packer.flush()


def _snappy(data: bytes) -> bytes:
    out, left = bytearray(), len(data)
    while left >= 0x80:
        out.append(left & 0x7F | 0x80)
        left >>= 7
    out.append(left)
    for at in range(0, len(data), 60):
        piece = data[at:at + 60]
        out += bytes([(len(piece) - 1) << 2]) + piece
    return bytes(out)


def _snappy_xerial(data: bytes) -> bytes:
    packed = _snappy(data)
    return b"\x82SNAPPY\0" + struct.pack(">iii", 1, 1, len(packed)) + packed


def _snappy_framed(data: bytes) -> bytes:
    """The official stream format, which Kafka does not take."""
    chunk = b"\0\0\0\0" + data
    return b"\xff\x06\0\0sNaPpY" + b"\x01" + struct.pack("<I", len(chunk))[:3] + chunk


def _lz4(data: bytes, flags: int = 0x60, end: bytes = b"", check: int | None = None) -> bytes:
    descriptor = bytes([flags, 0x40])
    check = xxh32(descriptor) >> 8 & 0xFF if check is None else check
    return (struct.pack("<I", 0x184D2204) + descriptor + bytes([check]) + struct.pack("<I", len(data) | 1 << 31) + data
            + struct.pack("<I", 0) + end)


def _zstd(data: bytes) -> bytes:
    return b"\x28\xb5\x2f\xfd\x00\x38" + struct.pack("<I", len(data) << 3 | 1)[:3] + data


def _zstd_sized(data: bytes) -> bytes:
    return b"\x28\xb5\x2f\xfd\xa0" + struct.pack("<I", len(data)) + struct.pack("<I", len(data) << 3 | 1)[:3] + data


def _twice(pack):
    return lambda data: pack(data[:5]) + pack(data[5:])


FORMS = {  # how a payload is packed: (codec number, function)
    "none": (0, bytes), "gzip": (1, _gzip), "snappy": (2, _snappy), "lz4": (3, _lz4), "zstd": (4, _zstd),
    "snappy xerial": (2, _snappy_xerial), "zstd sized": (4, _zstd_sized),
    "gzip two members": (1, _twice(_gzip)), "zstd two frames": (4, _twice(_zstd)), "lz4 two frames": (3, _twice(_lz4)),
    "gzip garbage": (1, bytes), "snappy garbage": (2, lambda data: b"\xff" * 8 + data), "lz4 garbage": (3, bytes),
    "zstd garbage": (4, bytes), "snappy framed": (2, _snappy_framed), "lz4 linked": (3, lambda data: _lz4(data, 0x40)),
    "lz4 wrong header check": (3, lambda data: _lz4(data, check=0xFF)),
    "gzip cut": (1, lambda data: _gzip(data)[:-9]), "zstd cut": (4, lambda data: _zstd(data)[:-3]),
    "lz4 without end": (3, lambda data: _lz4(data)[:-4]), "codec 5": (5, bytes), "codec 7": (7, bytes),
}
GOOD_FORMS = ("none", "gzip", "snappy", "lz4", "zstd", "snappy xerial", "zstd sized")


# ---------------------------------------------------------------------------------------------------------- from a dict
def _lying_record(key: int = 0, value: int = 0, headers: int = 0, header: int | None = None, content: int | None = None) -> bytes:
    body = b"\0\0\0" + varint(key) + varint(value) + varint(headers)
    if header is not None:
        body += varint(header)
    if content is not None:
        body += varint(content)
    return varint(len(body)) + body


def from_spec(spec: dict) -> bytes:
    """`n` records (default 1) with the keys k and the values v0, v1 ... unless it says otherwise:

    size        bytes of each value          null_keys   indexes of records without key     headers  [[name, text or null]]
    form        a key of FORMS               pid, epoch, seq   the producer's               base_ts, max_ts, step  times
    attrs       further attribute bits       tail        hex behind the records             cut      bytes missing at the end
    null_values indexes of tombstones        deltas      the records' offset deltas         behind   hex behind the batch
    lengths     instead of n: one record of which lies what it says of its key, value, headers (their count), header (a name) or content
    and base_offset, leader_epoch, count, last_delta, crc, length, magic as batch() has them.
    """
    n, base_time = spec.get("n", 1), spec.get("base_ts", NOW)
    codec, pack = FORMS[spec.get("form", "none")]
    headers = [(name.encode(), None if text is None else text.encode()) for name, text in spec.get("headers", ())]
    deltas = spec.get("deltas", range(n))
    payload = b""
    for index in range(n):
        value = None if index in spec.get("null_values", ()) else (b"x" * spec["size"] if "size" in spec else b"v%d" % index)
        key = None if index in spec.get("null_keys", ()) else b"k"
        payload += record(deltas[index], value, key, headers, index * spec.get("step", 0))
    if "lengths" in spec:
        n, payload = 1, _lying_record(**spec["lengths"])
    payload = pack(payload + bytes.fromhex(spec.get("tail", "")))
    whole = batch(
        payload, spec.get("count", n), spec.get("last_delta", n - 1), codec | spec.get("attrs", 0), spec.get("crc"),
        spec.get("length"), spec.get("magic", 2), spec.get("base_offset", 0), spec.get("leader_epoch", -1), base_time,
        spec.get("max_ts", base_time + (n - 1) * spec.get("step", 0)), (spec.get("pid", -1), spec.get("epoch", -1), spec.get("seq", -1)))
    whole = whole[:len(whole) - spec["cut"]] if spec.get("cut") else whole
    return whole + bytes.fromhex(spec.get("behind", ""))


# ---------------------------------------------------------------------------------------------------------- reading
def parse(data: bytes) -> list[dict]:
    """What the bytes of a Fetch answer hold: one dict for each batch; a last one that is cut says how much there is."""
    found, at = [], 0
    while at < len(data):
        if len(data) - at < HEADER_BYTES:
            found.append({"CutTo": len(data) - at})
            break
        base, length, epoch, magic, crc = struct.unpack_from(">qiibI", data, at)
        end = at + 12 + length
        if end > len(data) or length < HEADER_BYTES - 12:
            found.append({"BaseOffset": base, "Length": length, "CutTo": len(data) - at})
            break
        fields = struct.unpack_from(">hiqqqhii", data, at + 21)
        one = dict(zip(("Attributes", "LastOffsetDelta", "BaseTimestamp", "MaxTimestamp", "ProducerId", "ProducerEpoch",
                        "BaseSequence", "Count"), fields))
        one |= {"BaseOffset": base, "Length": length, "LeaderEpoch": epoch, "Magic": magic,
                "CrcIsRight": crc32c(data[at + 21:end]) == crc}
        one["Records"] = _records(data[at + HEADER_BYTES:end], fields[0] & 7)
        found.append(one)
        at = end
    return found


def _records(payload: bytes, codec: int) -> str:
    """Plain and gzip payloads as records [offset, time, key, value, headers]; of others, which the broker only passes
    on, the bytes."""
    try:
        if codec == 1:
            payload = zlib.decompress(payload, 31)
        elif codec != 0:
            return payload.hex()
        return json.dumps(list(_walk(payload)))
    except (zlib.error, IndexError, struct.error):
        return payload.hex()


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """Of varint(): the number, and the place behind it."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value >> 1 ^ -(value & 1), at


def _walk(payload: bytes):
    at = 0

    def number() -> int:
        nonlocal at
        value, at = read_varint(payload, at)
        return value

    def text():
        nonlocal at
        length = number()
        if length < 0:
            return None
        at += length
        return payload[at - length:at].decode("utf-8", "replace")

    while at < len(payload):
        number()
        at += 1
        time_delta, offset_delta = number(), number()
        key, value = text(), text()
        headers = [[text(), text()] for _ in range(number())]
        yield [offset_delta, time_delta, key, value, headers]
