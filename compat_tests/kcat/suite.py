"""kcat as a user runs it: list, produce, consume, query, and as a member of a group. It has no admin calls, so topics
come by auto-creation with the broker's num.partitions."""

import json
import time

from harness.child import Child, Deadline
from harness.checker import Seen, check
from harness.context import CODECS, CRASH_COUNT, CRASH_TOPIC_PARTITIONS, Context
from harness.crash import CLIENT_SECONDS, AckWatch, kill_and_restart
from harness.records import value_of
from harness.results import require
from kcat import kcat

PARTITIONS = CRASH_TOPIC_PARTITIONS
IDEMPOTENT = ("-X", "enable.idempotence=true")
PLAIN = ("-X", "enable.idempotence=false", "-X", "acks=all", "-X", "max.in.flight=1", "-X", "batch.num.messages=1000")
HEADERS = ("-H", "same=first", "-H", "same=second", "-H", "empty=", "-H", "null")
HEADERS_TEXT = "same=first,same=second,empty=,null=NULL"


def run(context: Context):
    with context.broker(**{"num.partitions": PARTITIONS}) as broker:
        for codec in CODECS:
            with context.test(f"codec_{codec}") as notes:
                notes.append(_codec(context, broker.address, codec))
        for name, test in (("metadata", _metadata), ("offsets_by_time", _offsets_by_time), ("null_key_and_value", _nulls),
                           ("reads_from_an_offset_and_a_tail", _positions)):
            with context.test(name):
                test(broker.address)
        with context.test("group") as notes:
            notes.append(_group(broker))
        with context.test("crash") as notes:
            notes.append(_crash(context, broker, "crash", IDEMPOTENT))
        if context.full:
            with context.test("crash_without_idempotence") as notes:
                notes.append(_crash(context, broker, "crash-plain", PLAIN))


def _line(record_id: int, seed: int) -> bytes:
    return kcat.key_of(record_id) + b"\t" + value_of(record_id, seed) + b"\n"


def _produce(address: str, topic: str, ids, seed: int, *options) -> list[Seen]:
    done = kcat.run(address, "-P", "-t", topic, "-vvv", "-K", r"\t", *IDEMPOTENT, *options,
                    data=b"".join(_line(record_id, seed) for record_id in ids), seconds=120)
    require(done.returncode == 0, f"kcat -P ended with {done.returncode}: {done.stderr[-400:]}")
    deliveries = [tuple(map(int, found)) for found in kcat.DELIVERED.findall(done.stderr.decode())]
    return kcat.name_deliveries(deliveries, kcat.expected_order(ids, PARTITIONS))


def _consume(address: str, topic: str, *options, seconds: float = 120):
    done = kcat.run(address, "-C", "-t", topic, "-e", "-q", "-f", kcat.FORMAT, *options, seconds=seconds)
    require(done.returncode == 0, f"kcat -C ended with {done.returncode}: {done.stderr[-400:]}")
    return list(kcat.Records(done.stdout))


def _named(records, seed: int, headers: str | None) -> list[Seen]:
    """Finds the id in each value and compares the whole content with what that id must have."""
    seen = []
    for partition, offset, key, value, text in records:
        record_id = int(value.split(b"-", 2)[1])
        require(key == kcat.key_of(record_id), f"record {record_id} has the key {key!r}")
        require(value == value_of(record_id, seed), f"record {record_id} has another value: {value!r}")
        require(partition == kcat.partition_of(key, PARTITIONS), f"record {record_id} is in partition {partition}")
        require(headers is None or text == headers, f"record {record_id} has the headers {text!r}")
        seen.append(Seen(partition, offset, record_id))
    return seen


def _codec(context: Context, address: str, codec: str) -> str:
    topic = f"codec-{codec}"
    acks = _produce(address, topic, range(context.count), context.seed, "-z", codec, "-H", f"codec={codec}", *HEADERS)
    require(len(acks) == context.count, f"{len(acks)} deliveries for {context.count} records")
    reads = _named(_consume(address, topic), context.seed, f"codec={codec},{HEADERS_TEXT}")
    report = check(acks, reads)
    require(len(reads) == context.count, f"{len(reads)} records read of {context.count}")
    faults = report.faults(duplicates_allowed=False)
    require(not faults, "; ".join(faults))
    return report.summary()


def _metadata(address: str):
    done = kcat.run(address, "-L", "-J", "-t", "codec-none")
    require(done.returncode == 0, f"kcat -L ended with {done.returncode}: {done.stderr[-400:]}")
    told = json.loads(done.stdout)
    require([broker["name"] for broker in told["brokers"]] == [address], f"brokers {told['brokers']}")
    (topic,) = told["topics"]
    node = told["brokers"][0]["id"]
    require(topic["topic"] == "codec-none" and len(topic["partitions"]) == PARTITIONS, f"topic {topic}")
    for partition in topic["partitions"]:
        require(partition["leader"] == node and partition["isrs"] == [{"id": node}], f"partition {partition}")


def _offsets_by_time(address: str):
    """-2 is the beginning, -1 the end; a time before the first record finds the first, one in the future the end."""
    topic = "codec-none"
    asked = [f"{topic}:0:{when}" for when in ("-2", "-1", "1", str((int(time.time()) + 86_400) * 1000))]
    told = []
    for query in asked:
        done = kcat.run(address, "-Q", "-t", query)
        require(done.returncode == 0, f"kcat -Q {query} ended with {done.returncode}: {done.stderr[-400:]}")
        told.append(int(done.stdout.split()[-1]))
    end = len(_consume(address, topic, "-p", "0"))
    require(told[0] == 0 and told[1] == end and told[2] == 0, f"offsets {told}, but partition 0 has {end} records")
    require(told[3] in (-1, end), f"a time in the future gave {told[3]}")


def _nulls(address: str):
    """A line without the delimiter has no key; with -Z nothing after the delimiter is a null value."""
    done = kcat.run(address, "-P", "-t", "nulls", "-K", ":", "-Z", *IDEMPOTENT, data=b"no key\nkey:\nkey:value\n")
    require(done.returncode == 0, f"kcat -P ended with {done.returncode}: {done.stderr[-400:]}")
    seen = {(key, value) for _, _, key, value, _ in _consume(address, "nulls")}
    require(seen == {(None, b"no key"), (b"key", None), (b"key", b"value")}, f"read {seen}")


def _positions(address: str):
    everything = _consume(address, "codec-lz4", "-p", "1")
    middle = len(everything) // 2
    require(_consume(address, "codec-lz4", "-p", "1", "-o", str(middle)) == everything[middle:], "-o MIDDLE differs")
    require(_consume(address, "codec-lz4", "-p", "1", "-o", "-7") == everything[-7:], "-o -7 differs")


def _group(broker) -> str:
    """Three thirds of 9,000 records: one member reads and leaves; two share the second third; one leaves, and the
    other reads the last. Every member commits as it leaves or is revoked, so nothing may be read twice or left out."""
    address, topic, group = broker.address, "grouped", "kcat-group"
    third = 3_000

    def produce(first: int):
        lines = b"".join(kcat.key_of(i) + b"\t" + b"%d\n" % i for i in range(first, first + third))
        done = kcat.run(address, "-P", "-t", topic, "-K", r"\t", *IDEMPOTENT, data=lines)
        require(done.returncode == 0, f"kcat -P ended with {done.returncode}: {done.stderr[-400:]}")

    def member(name: str, *options) -> kcat.Member:
        members.append(kcat.Member(address, group, topic, broker.folder / f"member-{name}.log", *options))
        return members[-1]

    def until(sentence: str, condition):
        deadline = Deadline(60)
        while not condition():
            require(not deadline.passed, f"not within 60 s: {sentence}")
            require(any(one.running() for one in members), f"all members ended before: {sentence}")
            time.sleep(0.05)  # a poll of other processes, bounded by the deadline

    def total() -> int:
        return sum(len(one.lines) for one in members)

    members: list[kcat.Member] = []
    try:
        produce(0)
        first = member("first", "-c", str(third))
        require(first.wait() == 0, "the first member did not end with 0")
        second, third_member = member("second"), member("third")
        until("two members share 3 and 3", lambda: len(second.assigned) == len(third_member.assigned) == PARTITIONS // 2)
        require(total() == third, f"the next members read {total() - third} records again")
        produce(third)
        until("the second third is read", lambda: total() >= 2 * third)
        require(second.lines and third_member.lines, "one of the two members read nothing")
        require(third_member.leave() == 0, "the third member did not end with 0")
        until("the member that stays has all partitions", lambda: len(second.assigned) == PARTITIONS)
        produce(2 * third)
        until("the last third is read", lambda: total() >= 3 * third)
        require(second.leave() == 0, "the second member did not end with 0")
        reads = [seen for one in members for seen in one.read()]
        ids = sorted(seen.record_id for seen in reads)
        require(ids == list(range(3 * third)), f"{len(ids)} reads, {len(set(ids))} different ids of {3 * third}")
        return f"{[len(one.lines) for one in members]} records by three members"
    finally:
        for one in members:
            one.kill()


def _crash(context: Context, broker, topic: str, options) -> str:
    order = kcat.expected_order(range(CRASH_COUNT), PARTITIONS)
    deliveries: list[tuple[int, int]] = []
    watch = AckWatch()

    def on_message(line: str):
        found = kcat.DELIVERED.search(line)
        if found:
            deliveries.append((int(found.group(1)), int(found.group(2))))
            watch.set(len(deliveries))

    # -E: without it kcat ends as soon as its only broker is down.
    client = Child(kcat.command(broker.address, "-P", "-E", "-t", topic, "-vvv", "-K", r"\t", "-z", "lz4", *options),
                   broker.folder / f"{topic}.log", stdin=True, watch_stderr=on_message)
    wanted = context.kill_after()
    try:
        lines = [_line(record_id, context.seed) for record_id in range(CRASH_COUNT)]
        sent = kcat.feed(client, watch, wanted, lines)
        told = kill_and_restart(broker, client, watch, wanted, CRASH_COUNT)
        client.process.stdin.write(b"".join(lines[sent:]))
        client.close_stdin()
        code = client.wait(CLIENT_SECONDS)
        require(code == 0, f"kcat ended with {code}\n{client.tail()}")
    finally:
        client.kill9()
    acks = kcat.name_deliveries(deliveries, order)
    require(len(acks) == CRASH_COUNT, f"{len(acks)} of {CRASH_COUNT} sends were acknowledged")
    report = check(acks, _named(_consume(broker.address, topic), context.seed, None), window=2_000)
    faults = report.faults(duplicates_allowed=options is PLAIN)
    require(not faults, "; ".join(faults))
    return f"{told}; {report.summary()}"
