"""Data that nobody here made: the package descriptions of the machine's Debian archive, about 50 MB.

kcat sends them with idempotence into a topic of 12 partitions with lz4, the broker is killed in the middle and started
again, kcat goes on; the Java client reads everything back, and each byte is compared, in order per key.
"""

import os
import random
import struct
import subprocess
from collections import defaultdict

from harness import checker, paths
from harness.checker import Seen
from harness.context import Context
from harness.crash import CLIENT_SECONDS, AckWatch, kill_and_restart
from harness.child import Child
from harness.results import require
from kcat import kcat
from real_input import stanzas

TOPIC = "packages"
PARTITIONS = 12
BYTES_AT_LEAST = 20_000_000


def run(context: Context):
    with context.broker() as broker:
        with context.test("packages_through_kcat_and_a_kill_to_java") as notes:
            records = _input()
            notes.append(f"{len(records)} stanzas, {sum(len(stanza) for _, stanza in records) / 1e6:.1f} MB")
            _java(broker, "create", TOPIC, PARTITIONS, "lz4")
            deliveries, told = _produce(context, broker, records)
            notes.append(told)
            dump = broker.folder / "dump.bin"
            _java(broker, "dump", TOPIC, PARTITIONS, dump)
            notes.append(_compare(records, deliveries, dump.read_bytes()))


def _input() -> list[tuple[bytes, bytes]]:
    dump = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, check=True, timeout=120).stdout
    require(len(dump) >= BYTES_AT_LEAST, f"apt-cache dumpavail tells only {len(dump)} bytes: run apt-get update")
    require(stanzas.END_OF_RECORD not in dump and stanzas.END_OF_KEY not in dump, "the dump has our delimiters in it")
    return stanzas.split(dump)


def _java(broker, *arguments):
    done = subprocess.run([*paths.JAVA_CLIENT, *map(str, arguments)], capture_output=True, timeout=CLIENT_SECONDS,
                          env=os.environ | {"WEIR_BROKER": broker.address, "WEIR_COUNT": "0", "WEIR_SEED": "0",
                                            "WEIR_OUT": str(broker.folder)})
    require(done.returncode == 0, f"java {arguments[0]} ended with {done.returncode}: {done.stderr[-600:]}")


def _produce(context: Context, broker, records) -> tuple[list[tuple[int, int]], str]:
    """The deliveries that kcat told. It tells them only while it sends, so the harness sends by what was delivered."""
    deliveries: list[tuple[int, int]] = []
    watch = AckWatch()

    def on_message(line: str):
        found = kcat.DELIVERED.search(line)
        if found:
            deliveries.append((int(found.group(1)), int(found.group(2))))
            watch.set(len(deliveries))

    client = Child(kcat.command(broker.address, "-P", "-E", "-t", TOPIC, "-vvv", "-D", r"\x01", "-K", r"\x02", "-z", "lz4",
                                "-X", "enable.idempotence=true"),
                   broker.folder / "kcat.log", stdin=True, watch_stderr=on_message)
    kill_after = random.Random(f"real-{context.seed}").randrange(len(records) // 10, len(records) * 6 // 10)
    try:
        lines = [stanzas.line(*record) for record in records]
        sent = kcat.feed(client, watch, kill_after, lines)
        told = kill_and_restart(broker, client, watch, kill_after, len(records))
        client.process.stdin.write(b"".join(lines[sent:]))
        client.close_stdin()
        code = client.wait(CLIENT_SECONDS)
        require(code == 0, f"kcat ended with {code}\n{client.tail()}")
    finally:
        client.kill9()
    return deliveries, told


def _read_dump(dump: bytes):
    """Yields (partition, offset, key, value) as Topics.java wrote them."""
    at = 0

    def take() -> bytes | None:
        nonlocal at
        (length,) = struct.unpack_from(">i", dump, at)
        at += 4
        if length < 0:
            return None
        at += length
        return dump[at - length : at]

    while at < len(dump):
        partition, offset = struct.unpack_from(">iq", dump, at)
        at += 12
        yield partition, offset, take(), take()


def _compare(records, deliveries, dump: bytes) -> str:
    order = defaultdict(list)
    for record_id, (key, _) in enumerate(records):
        order[kcat.partition_of(key, PARTITIONS)].append(record_id)
    acks = kcat.name_deliveries(deliveries, order)
    require(len(acks) == len(records), f"{len(acks)} of {len(records)} stanzas were acknowledged")
    ids = defaultdict(list)
    for record_id, (key, _) in enumerate(records):
        ids[key].append(record_id)
    turns = {key: iter(of_key) for key, of_key in ids.items()}
    reads = []
    for partition, offset, key, stanza in _read_dump(dump):
        record_id = next(turns[key], None)
        require(record_id is not None, f"one record too many with the key {key}")
        require(stanza == records[record_id][1], f"with the key {key}, at {partition}/{offset}, another stanza than number {record_id}")
        reads.append(Seen(partition, offset, record_id))
    report = checker.check(acks, reads)
    require(len(reads) == len(records), f"{len(reads)} of {len(records)} stanzas were read")
    faults = report.faults(duplicates_allowed=False)
    require(not faults, "; ".join(faults))
    return report.summary()
