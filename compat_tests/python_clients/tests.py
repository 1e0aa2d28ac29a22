"""The tests that are the same for every Python client, over its adapter: records with each codec, groups, the crash run."""

import os
import select
import sys

from harness.records import headers_of, key_of, value_of
from python_clients.adapter import Adapter, Outgoing, Record
from python_clients.support import COUNT, OUT, PARTITIONS, SEED, require, run_test, until

THIRD = 3_000
STEP = 500


def run_all(client: Adapter):
    for codec in client.codecs:
        run_test(f"codec_{codec}", codec_round_trip, client, codec)
    run_test("empty_and_null_values", empty_and_null_values, client)
    for acks in (0, 1):
        run_test(f"plain_acks_{acks}", plain_acks, client, acks)
    run_test("group_join_share_leave_resume", join_share_leave_resume, client)
    run_test("group_committed_positions_are_resumed", committed_positions_are_resumed, client)


def standard_headers(client: Adapter, record_id: int, codec: str) -> list:
    return [header for header in headers_of(record_id, codec) if client.null_headers or header[1] is not None]


def standard_record(client: Adapter, record_id: int, codec: str) -> Outgoing:
    return Outgoing(record_id, value_of(record_id, SEED), key_of(record_id), standard_headers(client, record_id, codec))


def check_content(client: Adapter, record: Record, codec: str) -> int:
    """The id of a record whose key, value and headers are those that this id must have."""
    record_id = int(record.value.split(b"-", 2)[1])
    require(record.key == key_of(record_id), f"record {record_id} has the key {record.key!r}")
    require(record.value == value_of(record_id, SEED), f"record {record_id} has another value: {record.value!r}")
    wanted = standard_headers(client, record_id, codec)
    require(list(record.headers) == wanted, f"record {record_id} has the headers {record.headers}")
    require(record.timestamp > 0, f"record {record_id} has no timestamp")
    return record_id


def _write_reads(client: Adapter, topic: str, name: str, codec: str) -> dict:
    """Leaves the reads file and answers the partitions of each key."""
    partitions_of_key = {}
    with open(OUT / f"reads-{name}.txt", "w", encoding="ascii") as reads:
        for record in client.read_all(topic):
            reads.write(f"{record.partition} {record.offset} {check_content(client, record, codec)}\n")
            if record.key is not None:
                partitions_of_key.setdefault(record.key, set()).add(record.partition)
    return partitions_of_key


def codec_round_trip(client: Adapter, codec: str):
    topic = f"codec-{codec}"
    client.create_topic(topic)
    with open(OUT / f"acks-{topic}.txt", "w", encoding="ascii") as acks:
        client.send_all(topic, (standard_record(client, i, codec) for i in range(COUNT)),
                        lambda i, partition, offset: acks.write(f"{partition} {offset} {i}\n"), codec=codec)
    partitions_of_key = _write_reads(client, topic, topic, codec)
    split = [key for key, partitions in partitions_of_key.items() if len(partitions) != 1]
    require(not split, f"keys in more than one partition: {split[:5]}")
    require(len(set.union(*partitions_of_key.values())) == PARTITIONS, "the keys do not reach all partitions")


def empty_and_null_values(client: Adapter):
    """A tombstone, an empty value and an empty key stay what they are: null and empty are not the same."""
    client.create_topic("nulls", 1)
    sent = [(b"key", None), (b"key", b""), (b"", b"value"), (None, b"value")]
    client.send_all("nulls", [Outgoing(i, value, key) for i, (key, value) in enumerate(sent)], lambda *_: None)
    read = [(record.key, record.value) for record in client.read_all("nulls", 1)]
    require(read == sent, f"read {read}")


def plain_acks(client: Adapter, acks: int):
    """Without idempotence: acks=1 and acks=0 (which never answers) bring everything too when nothing fails."""
    topic = f"acks-{acks}"
    client.create_topic(topic, 1)
    client.send_all(topic, [Outgoing(i, b"%d" % i) for i in range(500)], lambda *_: None, acks=acks, idempotent=False)
    # With acks=0 the client is done when the bytes are in its socket; the broker may still be reading them.
    until("all 500 are there", lambda: sum(1 for _ in client.read_all(topic, 1)) == 500)
    read = [int(record.value) for record in client.read_all(topic, 1)]
    require(read == list(range(500)), f"{len(read)} records, or not in order")


def produce_numbers(client: Adapter, topic: str, first: int, count: int):
    numbers = range(first, first + count)
    client.send_all(topic, [Outgoing(i, b"%d" % i, partition=i % PARTITIONS) for i in numbers], lambda *_: None)


def join_share_leave_resume(client: Adapter):
    topic = "grouped"
    client.create_topic(topic)
    produce_numbers(client, topic, 0, THIRD)
    first = client.member("group", topic)
    until("the first member has read 2,000", lambda: len(first.reads) >= 2_000, first.poll)
    first.leave()
    second, third = client.member("group", topic), client.member("group", topic)

    def poll_both():
        second.poll()
        third.poll()

    def total() -> int:
        return len(first.reads) + len(second.reads) + len(third.reads)

    until("two members share 3 and 3", lambda: len(second.assigned) == len(third.assigned) == PARTITIONS // 2, poll_both)
    require(not second.assigned & third.assigned, f"both have {second.assigned & third.assigned}")
    produce_numbers(client, topic, THIRD, THIRD)
    until("two thirds are read", lambda: total() >= 2 * THIRD, poll_both)
    require(second.reads and third.reads, "one of the two members read nothing")
    third.leave()
    until("the member that stays has all", lambda: len(second.assigned) == PARTITIONS, second.poll)
    produce_numbers(client, topic, 2 * THIRD, THIRD)
    until("all is read", lambda: total() >= 3 * THIRD, second.poll)
    second.leave()
    numbers = sorted(number for member in (first, second, third) for _, _, number in member.reads)
    require(numbers == list(range(3 * THIRD)), f"{len(numbers)} reads, {len(set(numbers))} different, of {3 * THIRD}")


def committed_positions_are_resumed(client: Adapter):
    """Commits behind what was read, in some partitions only: the next member begins exactly there, and nowhere else."""
    topic, group = "resumed", "resuming"
    client.create_topic(topic)
    produce_numbers(client, topic, 0, 600)
    first = client.member(group, topic)
    until("all is read", lambda: len(first.reads) == 600, first.poll)
    wanted = {0: 7, 1: 50, 2: 100}
    first.commit_instead(wanted)
    first.leave()
    second = client.member(group, topic)
    told = second.committed(range(PARTITIONS))
    require(told == {p: wanted.get(p) for p in range(PARTITIONS)}, f"committed {told}")
    expected = sum(100 - wanted.get(p, 0) for p in range(PARTITIONS))
    until("the rest is read", lambda: len(second.reads) >= expected, second.poll)
    starts = {p: min(at for of, at, _ in second.reads if of == p) for p in {of for of, _, _ in second.reads}}
    require(starts == {0: 7, 1: 50, 3: 0, 4: 0, 5: 0}, f"begins at {starts}")
    require(len(second.reads) == expected, f"{len(second.reads)} reads instead of {expected}")
    second.leave()


def crash(client: Adapter):
    """The producer of the crash run, and the reading back. The protocol with the harness is told in harness/program.py."""
    total, gate = int(os.environ["WEIR_CRASH_TOTAL"]), int(os.environ["WEIR_CRASH_GATE"])
    client.create_topic("crash")
    acknowledged = 0

    def records():
        for record_id in range(total):
            if record_id == gate:
                # Deliveries go on while we wait: the harness may need more of them before it kills.
                while not select.select([sys.stdin], [], [], 0)[0]:
                    yield None
                require(sys.stdin.readline().strip() == "KILLED", "the harness went away")
            yield standard_record(client, record_id, "lz4")

    with open(OUT / "acks-crash.txt", "w", encoding="ascii") as acks:

        def delivered(record_id: int, partition: int, offset: int):
            nonlocal acknowledged
            acks.write(f"{partition} {offset} {record_id}\n")
            acknowledged += 1
            if acknowledged % STEP == 0:
                print(f"ACKED {acknowledged}", flush=True)

        client.send_all("crash", records(), delivered, codec="lz4")
    _write_reads(client, "crash", "crash", "lz4")
