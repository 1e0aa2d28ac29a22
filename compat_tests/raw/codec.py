"""Messages as dicts: {"Topics": [{"Name": "t"}]} to bytes and back, for every API and version of protocol/schemas.

Names are the schema's own. What a dict lacks has its default; what a version lacks is dropped, so that one body serves
all versions; a name that the schema does not know is an error. uuids are 32 hex digits, bytes and records are bytes.
"""

import functools
import pathlib
import struct
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "gen_messages"))

import schema  # noqa: E402

ZERO_UUID = "0" * 32
UNKNOWN_TAGS = "_tags"  # tagged fields that the schema does not know: {number: bytes}
_NUMBERS = {"bool": ">B", "int8": ">b", "int16": ">h", "int32": ">i", "int64": ">q", "uint16": ">H", "uint32": ">I",
            "float64": ">d"}
_EMPTY = {"string": "", "bytes": b"", "uuid": ZERO_UUID}


class CodecError(Exception):
    """Bytes that the schema does not explain, or a value that it cannot carry."""


class Slot:
    """One field in one version, everything decided."""

    def __init__(self, message, field, version):
        self.name, self.type, self.is_list, self.tag = field.name, field.type, field.is_list, field.tag
        self.nullable = version in field.nullable
        self.compact = version in message.flexible and not field.never_compact
        self.plan = Plan(message, field.struct, version) if field.struct else None
        self.default = self._default(field)

    def _default(self, field):
        if field.default == "null":
            return None
        if self.is_list:
            return []
        if self.plan:
            return {}
        if self.type == "records":
            return None if self.nullable else b""
        if field.default is None:
            return _EMPTY.get(self.type, 0)
        if self.type == "bool":
            return field.default == "true"
        if self.type == "float64":
            return float(field.default)
        return int(field.default, 0) if self.type in _NUMBERS else field.default

    def __repr__(self):
        return f"{self.name} {'[]' * self.is_list}{self.type}"


class Plan:
    """One struct in one version: the fields in their place, and those in the tagged section."""

    def __init__(self, message, struct_, version):
        self.name, self.flexible = struct_.name, version in message.flexible
        self.slots = [Slot(message, f, version) for f in struct_.fields if version in struct_.in_place(f)]
        self.tagged = {f.tag: Slot(message, f, version) for f in struct_.fields if version in struct_.in_tags(f)}
        self.known = {f.name for f in struct_.fields} | {UNKNOWN_TAGS}

    @property
    def all_slots(self):
        return [*self.slots, *self.tagged.values()]


@functools.cache
def _files() -> dict:
    return {m.name: m for path in sorted((ROOT / "protocol" / "schemas").glob("*.msg")) for m in schema.parse_file(path)}


@functools.cache
def apis() -> dict:
    """API name to its request message; the answer has the same name."""
    return {m.name.removesuffix("Request"): m for m in _files().values() if m.kind == "request"}


@functools.cache
def api_name(key: int) -> str | None:
    return next((name for name, message in apis().items() if message.key == key), None)


@functools.cache
def plan(message_name: str, version: int) -> Plan:
    message = _files()[message_name]
    if version not in message.valid:
        raise CodecError(f"{message_name} has no version {version}")
    return Plan(message, message.top, version)


def is_flexible(api: str, version: int) -> bool:
    message = apis()[api]
    return version in message.flexible or (version > max(message.valid) and bool(message.flexible))


# ---------------------------------------------------------------------------------------------------------- encoding
def unsigned_varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def encode(message_name: str, version: int, body: dict) -> bytes:
    out = bytearray()
    _encode_struct(out, plan(message_name, version), body, message_name)
    return bytes(out)


def _encode_struct(out: bytearray, struct_plan: Plan, body: dict, path: str):
    unknown = set(body) - struct_plan.known
    if unknown:
        raise CodecError(f"{path} has no field {', '.join(sorted(unknown))}")
    for slot in struct_plan.slots:
        _encode_field(out, slot, body.get(slot.name, slot.default), f"{path}.{slot.name}", slot.compact, b"\xff")
    if struct_plan.flexible:
        tags = dict(body.get(UNKNOWN_TAGS, {}))
        for tag, slot in struct_plan.tagged.items():
            value = body.get(slot.name, slot.default)
            if not _is_default(slot, value):
                part = bytearray()
                _encode_field(part, slot, value, f"{path}.{slot.name}", True, b"\0")
                tags[tag] = bytes(part)
        out += unsigned_varint(len(tags))
        for tag in sorted(tags):
            out += unsigned_varint(tag) + unsigned_varint(len(tags[tag])) + tags[tag]


def _is_default(slot: Slot, value) -> bool:
    if value == slot.default:
        return True
    if slot.plan and not slot.is_list and value is not None and slot.default is not None:
        return all(_is_default(child, value.get(child.name, child.default)) for child in slot.plan.all_slots)
    return False


def _encode_field(out: bytearray, slot: Slot, value, path: str, compact: bool, null_struct: bytes):
    if value is None and not slot.nullable:
        raise CodecError(f"{path} may not be null")
    if slot.is_list:
        _encode_length(out, None if value is None else len(value), compact, ">i")
        for index, item in enumerate(value or ()):
            _encode_one(out, slot, item, f"{path}[{index}]", compact)
    elif slot.plan and slot.nullable:
        out += null_struct if value is None else b"\1"
        if value is not None:
            _encode_struct(out, slot.plan, value, path)
    else:
        _encode_one(out, slot, value, path, compact)


def _encode_one(out: bytearray, slot: Slot, value, path: str, compact: bool):
    try:
        if slot.plan:
            _encode_struct(out, slot.plan, value, path)
        elif slot.type in _NUMBERS:
            out += struct.pack(_NUMBERS[slot.type], value)
        elif slot.type == "uuid":
            out += bytes.fromhex(value)
        else:
            raw = value.encode() if isinstance(value, str) else value
            _encode_length(out, None if raw is None else len(raw), compact, ">h" if slot.type == "string" else ">i")
            out += raw or b""
    except (struct.error, ValueError, AttributeError, TypeError) as wrong:
        raise CodecError(f"{path} cannot carry {value!r}: {wrong}") from None


def _encode_length(out: bytearray, length: int | None, compact: bool, form: str):
    if compact:
        out += unsigned_varint(0 if length is None else length + 1)
    else:
        out += struct.pack(form, -1 if length is None else length)


# ---------------------------------------------------------------------------------------------------------- decoding
class Reader:
    def __init__(self, data: bytes):
        self.data, self.at = data, 0

    def take(self, count: int) -> bytes:
        if count < 0 or self.at + count > len(self.data):
            raise CodecError(f"{count} bytes wanted at {self.at} of {len(self.data)}")
        self.at += count
        return self.data[self.at - count:self.at]

    def number(self, form: str):
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def unsigned_varint(self) -> int:
        value = 0
        for shift in range(0, 35, 7):
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        raise CodecError(f"a varint of more than five bytes at {self.at}")

    def length(self, compact: bool, form: str) -> int | None:
        value = self.unsigned_varint() - 1 if compact else self.number(form)
        return None if value == -1 else value


def decode(message_name: str, version: int, data: bytes) -> dict:
    """All of the bytes; what is left over is an error."""
    reader = Reader(data)
    body = _decode_struct(reader, plan(message_name, version), message_name)
    if reader.at != len(data):
        raise CodecError(f"{message_name} v{version}: {len(data) - reader.at} bytes left over")
    return body


def _decode_struct(reader: Reader, struct_plan: Plan, path: str) -> dict:
    body = {slot.name: _decode_field(reader, slot, f"{path}.{slot.name}", slot.compact, -1) for slot in struct_plan.slots}
    if not struct_plan.flexible:
        return body
    unknown, last = {}, -1
    for _ in range(reader.unsigned_varint()):
        tag = reader.unsigned_varint()
        if tag <= last:
            raise CodecError(f"{path}: tag {tag} after {last}")
        last, raw = tag, reader.take(reader.unsigned_varint())
        slot = struct_plan.tagged.get(tag)
        if slot is None:
            unknown[tag] = raw
            continue
        part = Reader(raw)
        body[slot.name] = _decode_field(part, slot, f"{path}.{slot.name}", True, 0)
        if part.at != len(raw):
            raise CodecError(f"{path}: tag {tag} is longer than its field")
    for slot in struct_plan.tagged.values():
        body.setdefault(slot.name, full_default(slot))
    if unknown:
        body[UNKNOWN_TAGS] = unknown
    return body


def full_default(slot: Slot):
    """The default with the fields of a struct filled in, as a decoded one has them."""
    if slot.plan and not slot.is_list and slot.default is not None:
        return {child.name: full_default(child) for child in slot.plan.all_slots}
    return [] if slot.default == [] else slot.default


def _decode_field(reader: Reader, slot: Slot, path: str, compact: bool, null_struct: int):
    if slot.is_list:
        count = reader.length(compact, ">i")
        if count is None:
            return _null(slot, path)
        if not 0 <= count <= len(reader.data) - reader.at:
            raise CodecError(f"{path}: {count} entries in {len(reader.data) - reader.at} bytes")
        return [_decode_one(reader, slot, f"{path}[{index}]", compact) for index in range(count)]
    if slot.plan and slot.nullable:
        mark = reader.number(">b")
        if mark not in (null_struct, 1):
            raise CodecError(f"{path}: {mark} before a struct that may be null")
        return _decode_struct(reader, slot.plan, path) if mark == 1 else None
    return _decode_one(reader, slot, path, compact)


def _null(slot: Slot, path: str):
    if not slot.nullable:
        raise CodecError(f"{path} is null")


def _decode_one(reader: Reader, slot: Slot, path: str, compact: bool):
    if slot.plan:
        return _decode_struct(reader, slot.plan, path)
    if slot.type in _NUMBERS:
        value = reader.number(_NUMBERS[slot.type])
        return bool(value) if slot.type == "bool" else value
    if slot.type == "uuid":
        return reader.take(16).hex()
    length = reader.length(compact, ">h" if slot.type == "string" else ">i")
    if length is None:
        return _null(slot, path)
    raw = reader.take(length)
    if slot.type != "string":
        return raw
    try:
        return raw.decode()
    except UnicodeDecodeError as wrong:
        raise CodecError(f"{path}: {wrong}") from None


# ---------------------------------------------------------------------------------------------------------- headers
def request_header(api: str, version: int, correlation: int, client_id: str | None) -> bytes:
    """Any version, also one that the schema does not know."""
    raw = (client_id or "").encode()
    head = struct.pack(">hhih", apis()[api].key, version, correlation, -1 if client_id is None else len(raw)) + raw
    return head + (b"\0" if is_flexible(api, version) else b"")


def split_answer(api: str, version: int, frame: bytes) -> tuple[int, bytes]:
    """(correlation id, body) of an answer without its size. The header of ApiVersions never has tags."""
    reader = Reader(frame)
    correlation = reader.number(">i")
    if is_flexible(api, version) and api != "ApiVersions":
        for _ in range(reader.unsigned_varint()):
            reader.unsigned_varint()
            reader.take(reader.unsigned_varint())
    return correlation, frame[reader.at:]
