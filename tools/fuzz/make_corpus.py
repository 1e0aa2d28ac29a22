#!/usr/bin/env python3
"""Makes fuzz inputs from the golden encodings.   make_corpus.py OUT   all of them, into OUT/messages_fuzz and
OUT/request_header_fuzz.   make_corpus.py OUT --small   the full variant of the newest version of what a broker is asked
most: the corpus that is committed in protocol/testdata/corpus. The form of an input is told in protocol/*_fuzz.cpp.
"""
import gzip
import pathlib
import struct
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / 'tools/gen_messages'))
import gen_messages  # noqa: E402

SMALL_KEYS = set(range(0, 28)) | {32, 36, 37, 42, 44, 60, 68, 75, 76, 78, 79}
CLIENT_ID = b'corpus'


def fnv1a(name):
    value = 2166136261
    for byte in name.encode():
        value = (value ^ byte) * 16777619 & 0xffffffff
    return value


def goldens():
    with gzip.open(ROOT / 'protocol/testdata/golden.tsv.gz', 'rt', encoding='utf-8') as lines:
        for line in lines:
            name, version, variant, text, _ = line.split('\t', 4)
            yield name, int(version), variant, bytes.fromhex(text)


def header(message, version):
    flexible = message.flexible_from is not None and version >= message.flexible_from
    return (struct.pack('>hhih', message.key, version, 1, len(CLIENT_ID)) + CLIENT_ID + (b'\0' if flexible else b''))


def main():
    out, small = pathlib.Path(sys.argv[1]), '--small' in sys.argv
    messages = {m.name: m for _, _, ms in gen_messages.load(ROOT / 'protocol/schemas') for m in ms}
    for folder in ('messages_fuzz', 'request_header_fuzz'):
        (out / folder).mkdir(parents=True, exist_ok=True)
    for name, version, variant, body in goldens():
        message = messages[name]
        is_call = message.kind in ('request', 'response')
        wanted = variant == 'full' and version == max(message.valid) and (not is_call or message.key in SMALL_KEYS)
        if small and not wanted:
            continue
        file = f'{name}_v{version}_{variant}'
        choice = struct.pack('>IB', fnv1a(name), version - min(message.valid))
        (out / 'messages_fuzz' / file).write_bytes(choice + body)
        if message.kind == 'request' and (not small or message.key < 4):
            (out / 'request_header_fuzz' / file).write_bytes(header(message, version) + body)


if __name__ == '__main__':
    main()
