"""Splits the output of `apt-cache dumpavail` into records: one stanza each, keyed by its source package."""

import re

# kcat's delimiters on the way in; a byte that no stanza has.
END_OF_RECORD = b"\x01"
END_OF_KEY = b"\x02"

_SOURCE = re.compile(rb"^Source: (\S+)", re.MULTILINE)
_SECTION = re.compile(rb"^Section: (\S+)", re.MULTILINE)


def split(dump: bytes) -> list[tuple[bytes, bytes]]:
    """(key, stanza) in the order of the dump. The key is the Source, or the Section where the package is its own."""
    return [(_key(stanza), stanza) for stanza in dump.split(b"\n\n") if stanza.strip()]


def _key(stanza: bytes) -> bytes:
    found = _SOURCE.search(stanza) or _SECTION.search(stanza)
    return found.group(1) if found else b"unsorted"


def line(key: bytes, stanza: bytes) -> bytes:
    return key + END_OF_KEY + stanza + END_OF_RECORD
