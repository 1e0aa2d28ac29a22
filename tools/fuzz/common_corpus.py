#!/usr/bin/env python3
"""Fuzz inputs for targets that have none of their own: the files of the log's fixture, codecs' and properties' samples, and
random bytes of a fixed seed, each whole, cut short and with flipped bits.   common_corpus.py OUT   writes OUT/common."""
import pathlib
import random
import sys
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
RANDOM_INPUTS = 200
PIECE_MAX = 65_536
# What once broke a property: LogAppendTime set by a client, with a negative maximum time and a base time far ahead.
FOUND_BATCH = bytes.fromhex(
    '000000000000000000000038c000009702b1dbdd0e750800000000000038c000004102d92e2931750800ff75757575756a9a000000005d0000000000010c000c0001'
    '00000000fd5d00')


def samples():
    for path in sorted((ROOT / 'log' / 'testdata').rglob('*')):
        if path.is_file():
            data = path.read_bytes()
            yield data[:PIECE_MAX]
            yield data[4096:4096 + PIECE_MAX]  # behind a segment's header
    text = b'name = value\\\n  goes on\n# comment\nother:\\u0041\n' * 20
    yield text
    yield b'\x01' + zlib.compress(text, wbits=31)
    for rules in range(32):  # of batch_validator_fuzz, with a version of Produce behind
        for version in (0, 9):
            yield bytes([rules, version]) + FOUND_BATCH
    yield bytes.fromhex('4f28b52ffd50011f3a08000000010000')  # zstd: tells another size than it has, and ends with an empty block
    yield b'\x02\x0a' + bytes([9 << 2]) + b'0123456789'


def variants(data, source):
    yield data
    yield data[:len(data) // 2]
    for _ in range(4):
        flipped = bytearray(data)
        if flipped:
            at = source.randrange(len(flipped))
            flipped[at] ^= 1 << source.randrange(8)
        yield bytes(flipped)


def main():
    out = pathlib.Path(sys.argv[1]) / 'common'
    out.mkdir(parents=True, exist_ok=True)
    source = random.Random(1)
    inputs = [variant for sample in samples() for variant in variants(sample, source)]
    inputs += [source.randbytes(source.randrange(1, 600)) for _ in range(RANDOM_INPUTS)]
    for number, data in enumerate(inputs):
        (out / f'{number:05d}').write_bytes(data)
    print(f'{len(inputs)} inputs in {out.name}')


if __name__ == '__main__':
    main()
