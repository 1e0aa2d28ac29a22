"""The records that every client sends. The same formulas stand in Java, C++ and Python clients, so keep them dull.

Record `id` of a run has a key (none for every 50th), a value that begins with the id and has a length that varies from
empty filling to about 300 bytes, and these headers: id, codec, two with the same name, an empty one and a null one.
"""


def key_of(record_id: int) -> bytes | None:
    return None if record_id % 50 == 49 else b"key-%d" % (record_id * 31 % 499)


def value_of(record_id: int, seed: int) -> bytes:
    length = (record_id * 7919 + seed) % 300
    first = record_id % 26
    filling = (_LETTERS * 13)[first : first + length]
    return b"value-%d-%s" % (record_id, filling)


def headers_of(record_id: int, codec: str) -> list[tuple[str, bytes | None]]:
    return [
        ("id", b"%d" % record_id),
        ("codec", codec.encode()),
        ("same", b"first"),
        ("same", b"second"),
        ("empty", b""),
        ("null", None),
    ]


_LETTERS = b"abcdefghijklmnopqrstuvwxyz"
