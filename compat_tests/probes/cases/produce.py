"""Produce: batches of each codec, lying ones, and the settings of a topic that decide what is taken."""

from raw.batches import FORMS, GOOD_FORMS, NOW, from_spec
from raw.story import create, fetch, produce, step, topic

NIL = "00000000000000000000000000000001"

LIES = {
    "crc": {"crc": 1}, "magic 0": {"magic": 0}, "magic 1": {"magic": 1}, "magic 3": {"magic": 3}, "count too high": {"count": 2},
    "count 0": {"count": 0}, "count -1": {"count": -1}, "last delta too high": {"last_delta": 5}, "last delta -1": {"last_delta": -1},
    "no records": {"n": 0, "last_delta": 0}, "base offset 7": {"base_offset": 7}, "deltas that jump": {"n": 2, "deltas": [0, 2]},
    "deltas that fall": {"n": 2, "deltas": [1, 0]}, "length too short": {"length": 20}, "length too long": {"length": 1 << 20},
    "negative length": {"length": -1}, "cut by a byte": {"cut": 1}, "cut in its header": {"cut": 40}, "junk behind": {"tail": "00"},
    "control bit": {"attrs": 0x20}, "transactional bit": {"attrs": 0x10}, "transactional with a producer": {"attrs": 0x10, "pid": 5, "epoch": 0, "seq": 0},
    "a producer without a sequence": {"pid": 5, "epoch": 0, "seq": -1},
    "a sequence without a producer": {"seq": 3}, "an epoch without a producer": {"epoch": 3},
}
ODD = {
    "wrong max time": {"max_ts": 5}, "time 0": {"base_ts": 0}, "time -1": {"base_ts": -1, "max_ts": -1}, "LogAppendTime bit": {"attrs": 8},
    "delete horizon bit": {"attrs": 0x40}, "an unknown bit": {"attrs": 0x200}, "leader epoch 9": {"leader_epoch": 9},
    "headers": {"headers": [["", ""], ["h", None], ["h", "2"]]}, "null key and value": {"null_keys": [0], "null_values": [0]},
    "rising times": {"n": 3, "step": 10},
}


def _versions() -> list:
    steps = [("make", create("@t"))]
    for v in range(3, 14):
        steps.append((f"v{v}", produce("@t", {"n": 2}, v=v)))
        steps.append((f"v{v} refused", produce("@t", {"crc": 1}, v=v)))
        steps.append((f"v{v} an unknown partition", produce("@t", {}, partition=7, v=v)))
    return [*steps, ("all", fetch("@t"))]


def _forms() -> list:
    steps = [("make", create("@t"))]
    steps += [(name, produce("@t", {"n": 2, "form": name}, v=9)) for name in FORMS]
    steps += [(name + " junk behind", produce("@t", {"n": 2, "form": name, "tail": "0000"}, v=9)) for name in GOOD_FORMS]
    steps += [("zstd before version 7", produce("@t", {"form": "zstd"}, v=6)), ("all", fetch("@t"))]
    return steps


FUTURE = 7_258_118_400_000  # the year 2200


def _bytes_behind() -> list:
    """A field that holds one batch and then bytes that are none: what is stored of it, and served?"""
    zeros = "00" * 7
    second = from_spec({"n": 2}).hex()
    steps = [("make", create("@t")), ("sound", produce("@t", {"n": 2})), ("seven zero bytes behind", produce("@t", {"n": 2, "behind": zeros})),
             ("sound again", produce("@t", {"n": 2})), ("read", fetch("@t"))]
    steps += [(f"{form}, zeros behind", produce("@t", {"n": 2, "form": form, "behind": zeros})) for form in GOOD_FORMS]
    for size in (1, 11, 12, 16, 17, 40, len(second) // 2 - 1):
        steps.append((f"{size} bytes of a second batch behind", produce("@t", {"n": 2, "behind": second[:2 * size]})))
    steps += [("a length that cannot be behind", produce("@t", {"n": 2, "behind": "00" * 12})), ("all", fetch("@t")),
              ("make stamped", create("@stamped", configs={"message.timestamp.type": "LogAppendTime"})),
              ("stamped, zeros behind", produce("@stamped", {"n": 2, "behind": zeros})), ("stamped read", fetch("@stamped")),
              ("make packed", create("@packed", configs={"compression.type": "gzip"})),
              ("packed anew, zeros behind", produce("@packed", {"n": 2, "behind": zeros})), ("packed read", fetch("@packed"))]
    return steps


def _stamped_by_the_client() -> list:
    """The LogAppendTime bit, which is the broker's: then the times of the records are not looked at, but the batch's is."""
    steps = [("make", create("@t"))]
    for form in ("none", "gzip"):
        for stamp in (-(1 << 62), -5, -1, 0, NOW, FUTURE):
            steps.append((f"{form}, stamp {stamp}, base in the future", produce("@t", {"n": 2, "form": form, "attrs": 8, "base_ts": FUTURE, "max_ts": stamp})))
    return [*steps, ("all", fetch("@t"))]


def _settings() -> list:
    future = FUTURE
    many = {"n": 4, "null_keys": [0, 1, 2, 3]}
    return [
        ("make small", create("@small", configs={"max.message.bytes": "200"})),
        ("too large for its topic", produce("@small", {"size": 300})),
        ("just small enough", produce("@small", {"size": 120})),
        ("make compact", create("@compact", configs={"cleanup.policy": "compact"})),
        ("one null key", produce("@compact", {"n": 3, "null_keys": [1]})),
        ("four null keys", produce("@compact", many)),
        ("four null keys in an old version", produce("@compact", many, v=7)),
        ("keys for all", produce("@compact", {"n": 3})),
        ("make stamped", create("@stamped", configs={"message.timestamp.type": "LogAppendTime"})),
        ("stamped", produce("@stamped", {"n": 2, "base_ts": 5})),
        ("stamped and packed", produce("@stamped", {"n": 2, "form": "gzip"})),
        ("stamped from the future", produce("@stamped", {"n": 2, "base_ts": future})),
        ("stamped read", fetch("@stamped")),
        ("make plain", create("@plain")),
        ("the future", produce("@plain", {"n": 2, "base_ts": future})),
        ("half the future", produce("@plain", {"n": 2, "base_ts": NOW, "step": future - NOW})),
        ("make past", create("@past", configs={"message.timestamp.before.max.ms": "1000"})),
        ("the past", produce("@past", {"n": 2})),
        ("time -1 into the past", produce("@past", {"base_ts": -1, "max_ts": -1})),
    ]


def _negative_lengths() -> list:
    """Of what is in a record: -1 is null, and what is below?"""
    lies = {"a key of -2": {"key": -2}, "a value of -2": {"value": -2}, "a value of the least": {"value": -(1 << 31)}, "-1 headers": {"headers": -1},
            "a header's name of -1": {"headers": 1, "header": -1}, "a header's value of -2": {"headers": 1, "header": 0, "content": -2}}
    steps = [("make", create("@t")), ("make packed", create("@packed", configs={"compression.type": "gzip"})),
             ("make compacted", create("@compacted", configs={"cleanup.policy": "compact"}))]
    for name, lengths in lies.items():
        for form in ("none", "gzip"):
            steps.append((f"{name}, {form}", produce("@t", {"lengths": lengths, "form": form})))
        steps += [(f"{name}, packed anew", produce("@packed", {"lengths": lengths})), (f"{name}, compacted", produce("@compacted", {"lengths": lengths}))]
    return [*steps, ("all", fetch("@t")), ("all packed anew", fetch("@packed")), ("all compacted", fetch("@compacted"))]


def _two(first: str, second: str, specs) -> list:
    return [topic(name, PartitionData=[{"Index": index, "Records": {"batch": spec}} for index, spec in enumerate(specs)]) for name in (first, second)]


def cases() -> dict:
    return {
        "produce_versions": _versions(),
        "produce_codecs": _forms(),
        "produce_lies": [("make", create("@t")), *((name, produce("@t", spec)) for name, spec in LIES.items()), ("all", fetch("@t"))],
        "produce_lies_in_an_old_version": [("make", create("@t")), *((name, produce("@t", spec, v=5)) for name, spec in LIES.items())],
        "produce_odd_but_taken": [("make", create("@t")), *((name, produce("@t", spec)) for name, spec in ODD.items()), ("all", fetch("@t"))],
        "produce_amounts": [
            ("make", create("@t")),
            ("two batches", produce("@t", [{}, {}])),
            ("a good and a broken batch", produce("@t", [{}, {"crc": 1}])),
            ("no bytes", produce("@t", {"hex": ""})),
            ("ten bytes", produce("@t", {"hex": "00" * 10})),
            ("larger than message.max.bytes", produce("@t", {"size": 1_100_000})),
            ("all", fetch("@t")),
        ],
        "produce_to_nobody": [
            ("make", create("@t")),
            ("an unknown topic", produce("@nobody", {}, v=12)),
            ("an illegal topic", produce("a b", {}, v=12)),
            ("a negative partition", produce("@t", {}, partition=-1)),
            ("an unknown id", step("Produce", 13, Acks=-1, TopicData=[{"TopicId": NIL, "PartitionData": [{"Index": 0, "Records": {"batch": {}}}]}])),
            ("a zero id", step("Produce", 13, Acks=-1, TopicData=[{"PartitionData": [{"Index": 0, "Records": {"batch": {}}}]}])),
            ("the offsets topic", produce("__consumer_offsets", {}, v=12)),
            ("no topics", step("Produce", 9, Acks=-1, TopicData=[])),
            ("no partitions", step("Produce", 9, Acks=-1, TopicData=[{"Name": "@t", "PartitionData": []}])),
            ("acks 2", produce("@t", {}, acks=2)),
            ("acks -2", produce("@t", {}, acks=-2)),
            ("acks 1", produce("@t", {}, acks=1)),
        ],
        "produce_to_many": [
            ("make one", create("@one", 2)),
            ("make two", create("@two", 2)),
            ("all four", step("Produce", Acks=-1, TopicData=_two("@one", "@two", [{"n": 2}, {}]))),
            ("one of two is bad", step("Produce", Acks=-1, TopicData=_two("@one", "@two", [{"crc": 1}, {}]))),
            ("a partition twice", step("Produce", 12, Acks=-1, TopicData=[{"Name": "@one", "PartitionData": [
                {"Index": 0, "Records": {"batch": {}}}, {"Index": 0, "Records": {"batch": {"n": 2}}}]}])),
            ("a topic twice", step("Produce", 12, Acks=-1, TopicData=[
                {"Name": "@one", "PartitionData": [{"Index": 0, "Records": {"batch": {}}}]},
                {"Name": "@one", "PartitionData": [{"Index": 1, "Records": {"batch": {"n": 2}}}]}])),
            ("one 0", fetch("@one")), ("one 1", fetch("@one", partition=1)), ("two 1", fetch("@two", partition=1)),
        ],
        "produce_with_settings": _settings(),
        "produce_with_bytes_behind_the_batch": _bytes_behind(),
        "produce_records_with_negative_lengths": _negative_lengths(),
        "produce_stamped_by_the_client": _stamped_by_the_client(),
    }
