"""The command line of Weir against a running broker: what a user types, and what comes back."""

import json
import random
import shutil
import subprocess

from cli import explain, member, stops, usage
from cli.weir import Weir, one_sentence
from harness.child import Child, Deadline
from harness.context import CODECS, Context
from harness.results import require


def run(context: Context):
    with context.broker(**{"num.partitions": 1}) as broker:
        weir = Weir(context.weir, broker.address)
        for name, test in (("bad_options", usage.bad_options), ("topic_life", _topic_life), ("round_trip", _round_trip),
                           ("keys_and_json", _keys_and_json), ("codecs", _codecs), ("positions", _positions),
                           ("several_servers", usage.several_servers), ("positions_beyond", usage.positions_beyond), ("trim", usage.trim)):
            with context.test(name):
                test(weir)
        with context.test("many_records"):
            _many_records(weir, context)
        with context.test("output_that_cannot_be_written"):
            usage.output_that_cannot_be_written(weir, broker.data)
        with context.test("files_of_somebody_else"):
            usage.files_of_somebody_else(weir, broker.folder)
        with context.test("greeting_lines"):
            usage.greeting_lines(broker)
        with context.test("brokers_that_take_nothing"):
            usage.brokers_that_take_nothing(context)
        with context.test("signal_during_the_start"):
            stops.signal_during_the_start(context)
        with context.test("second_signal_inside_a_stop"):
            stops.second_signal(context)
        with context.test("group_reset"):
            _group_reset(weir)
        with context.test("group_with_members"):
            _group_with_members(weir)
        with context.test("group_delete"):
            usage.group_delete(weir)
        with context.test("explain_member_without_commits"):
            explain.member_without_commits(weir)
        with context.test("explain_stopped_member"):
            explain.stopped_member(weir, broker.folder)
        with context.test("explain_empty_and_unknown_group"):
            explain.empty_and_unknown_group(weir)
        with context.test("crash") as notes:
            notes.append(_crash(weir, context, broker))
        with context.test("log_dump_and_verify"):
            _log_dump_and_verify(weir, broker)
        with context.test("broker_away"):
            _broker_away(weir, broker)


def _topic_life(weir: Weir):
    require("3 partitions" in weir.out("topic", "create", "life", "--partitions", 3, "--config", "retention.ms=60000"), "create")
    require("TOPIC_ALREADY_EXISTS" in weir.refused("topic", "create", "life"), "a second create is not refused by name")
    require("exists already" in weir.out("topic", "create", "life", "--if-not-exists"), "--if-not-exists")
    require({"life": 3}.items() <= {one["name"]: one["partitions"] for one in weir.json("topic", "list")}.items(), "list")
    told = weir.json("topic", "describe", "life")
    require([(part["partition"], part["start"], part["end"]) for part in told["partitions"]] == [(i, 0, 0) for i in range(3)], f"{told}")
    require({"name": "retention.ms", "value": "60000", "set_on_topic": True} in told["configs"], f"{told}")
    require("retention.ms=60000" in weir.out("topic", "describe", "life"), "describe in words")
    weir.run("topic", "config", "life", "--set", "retention.ms=70000", "--set", "max.message.bytes=2000")
    values = {one["name"]: one["value"] for one in weir.json("topic", "config", "life") if one["set_on_topic"]}
    require(values == {"retention.ms": "70000", "max.message.bytes": "2000"}, f"after --set: {values}")
    weir.run("topic", "config", "life", "--unset", "retention.ms")
    values = {one["name"]: one["value"] for one in weir.json("topic", "config", "life")}
    require(values["retention.ms"] == "604800000" and values["max.message.bytes"] == "2000", f"after --unset: {values}")
    require("nonsense" in weir.refused("topic", "config", "life", "--set", "nonsense=1"), "an unknown config is not named")
    require("MESSAGE_TOO_LARGE" in weir.run("produce", "life", data=b"x" * 4000 + b"\n", code=1).stderr.decode(), "a record over the limit")
    require("deleted topic 'life'" in weir.out("topic", "delete", "life"), "delete says what was deleted")
    require("UNKNOWN_TOPIC" in weir.refused("topic", "describe", "life"), "a deleted topic is described")
    require("UNKNOWN_TOPIC" in weir.refused("topic", "delete", "life"), "a deleted topic is deleted again")


def _round_trip(weir: Weir):
    """The two commands that `weir serve` prints when it starts; the topic comes by auto-creation."""
    done = weir.bare("produce", "--to", weir.address, "greetings", data=b"hello\n\nlast line without an end")
    require(done.returncode == 0 and b"3 records" in done.stderr and not done.stdout, f"produce: {done}")
    read = weir.bare("consume", "--from", weir.address, "greetings", "--beginning", "--exit-at-end")
    require(read.returncode == 0 and read.stdout == b"hello\n\nlast line without an end\n", f"consume: {read}")
    require(weir.run("produce", "greetings", data=b"").stderr.startswith(b"weir: 0 records"), "nothing on stdin")
    for acks in ("1", "0"):
        weir.run("produce", f"acks-{acks}", "--acks", acks, data=b"a\nb\n")
        require(weir.out("consume", f"acks-{acks}", "--beginning", "--count", 2) == "a\nb\n", f"acks {acks}")


def _keys_and_json(weir: Weir):
    data = b"k1:v1\nno key\n:empty key\nk2:a:b\n\xff:\xfe\n"
    weir.run("produce", "keyed", "--key-separator", ":", "--header", "h=1", "--header", "h=2", data=data)
    require(weir.run("consume", "keyed", "--beginning", "--exit-at-end", "--keys", "--key-separator", ":").stdout == data, "--keys differs")
    read = weir.lines("consume", "keyed", "--beginning", "--exit-at-end")
    pairs = [(one["key"], one["value"]) for one in read]
    require(pairs == [("k1", "v1"), (None, "no key"), ("", "empty key"), ("k2", "a:b"), ({"base64": "/w=="}, {"base64": "/g=="})], f"{pairs}")
    require([one["offset"] for one in read] == list(range(5)) and {one["partition"] for one in read} == {0}, f"{read}")
    require(read[0]["headers"] == [{"key": "h", "value": "1"}, {"key": "h", "value": "2"}] and read[0]["timestamp"] > 0, f"{read[0]}")


def _codecs(weir: Weir):
    data = b"".join(b"line %d of one and the same text\n" % i for i in range(1000))
    for codec in CODECS:
        weir.run("produce", f"codec-{codec}", "--codec", codec, data=data)
        require(weir.run("consume", f"codec-{codec}", "--beginning", "--exit-at-end").stdout == data, f"{codec} differs")


def _positions(weir: Weir):
    weir.run("topic", "create", "positions", "--partitions", 2)
    for partition in (0, 1):
        weir.run("produce", "positions", "--partition", partition, data=b"".join(b"%d-%d\n" % (partition, i) for i in range(10)))
    one = ("consume", "positions", "--partition", 1, "--exit-at-end")
    require(weir.out(*one, "--offset", 8) == "1-8\n1-9\n", "--offset")
    require(weir.out(*one, "--tail", 1) == "1-9\n", "--tail")
    require(weir.out(*one, "--beginning", "--count", 2) == "1-0\n1-1\n", "--count")
    require(weir.out(*one) == "", "without a start: from the end")
    require(len(weir.out("consume", "positions", "--beginning", "--exit-at-end").splitlines()) == 20, "both partitions")
    require("holds offsets 0 to 9, the next record will have offset 10" in weir.refused("consume", "positions", "--offset", 11), "an offset behind the end")
    with open("/dev/full", "wb") as full:
        done = subprocess.run([weir.binary, *map(str, one), "--beginning", "--server", weir.address], stdout=full, stderr=subprocess.PIPE, timeout=60, check=False)
    require(done.returncode == 1 and b"cannot write to stdout" in done.stderr, f"a full stdout: {done}")
    for command in ("produce", "consume"):
        require("only 2 partitions" in weir.refused(command, "positions", "--partition", 2), f"{command}: a partition that is not there")
    require("UNKNOWN_TOPIC" in weir.refused("consume", "nothing-here"), "consume creates a topic")


def _many_records(weir: Weir, context: Context):
    """More than one batch and more than one request; each key in order, in the partition that Kafka's hash gives it."""
    chance = random.Random(context.seed)
    count = 20 * context.count
    lines = [b"%d\t%d-%s" % (chance.randrange(1000), i, b"x" * chance.randrange(100)) for i in range(count)]
    weir.run("topic", "create", "many", "--partitions", 6)
    weir.run("produce", "many", "--key-separator", "\t", "--codec", "lz4", data=b"\n".join(lines) + b"\n")
    read = weir.run("consume", "many", "--beginning", "--exit-at-end", "--keys").stdout.splitlines()
    require(len(read) == count, f"{len(read)} records read of {count}")

    def by_key(all_lines):
        keys = {}
        for line in all_lines:
            keys.setdefault(line.split(b"\t")[0], []).append(line)
        return keys

    require(by_key(read) == by_key(lines), "a key's records differ, or their order")


def _group_reset(weir: Weir):
    weir.run("topic", "create", "reset", "--partitions", 2)
    weir.run("produce", "reset", "--partition", 0, data=b"a\nb\nc\n")
    reset = ("group", "reset", "resetters")
    require("no commits" in weir.refused(*reset, "--to-latest"), "a group without commits and without --topic")
    require("no group" in weir.refused("group", "describe", "resetters"), "a group that is not there is described")
    planned = [{"topic": "reset", "partition": 0, "from": None, "to": 3}, {"topic": "reset", "partition": 1, "from": None, "to": 0}]
    told = weir.json(*reset, "--topic", "reset", "--to-latest")
    require(told == {"group": "resetters", "executed": False, "partitions": planned}, f"dry run: {told}")
    require("dry run" in weir.out(*reset, "--topic", "reset", "--to-latest"), "a dry run does not say so")
    require("resetters" not in weir.out("group", "list"), "a dry run made a group")
    told = weir.json(*reset, "--topic", "reset", "--to-latest", "--execute")
    require(told["executed"] and told["partitions"] == planned, f"executed: {told}")
    require([one["group"] for one in weir.json("group", "list")] == ["resetters"], "the group is not listed")
    weir.run("produce", "reset", "--partition", 0, data=b"d\n")
    told = weir.json("group", "describe", "resetters")
    lags = [(one["partition"], one["committed"], one["end"], one["lag"]) for one in told["partitions"]]
    require(told["state"] == "Empty" and told["members"] == [] and lags == [(0, 3, 4, 1), (1, 0, 0, 0)], f"{told}")
    for where, expected in ((("--shift-by", "-2"), 1), (("--shift-by", "99"), 4), (("--to-offset", 2), 2), (("--to-earliest",), 0),
                            (("--to-time", "2100-01-01"), 4), (("--to-time", "0"), 0)):
        told = weir.json(*reset, *where)
        require(told["partitions"][0]["to"] == expected, f"{where}: {told}")
    weir.run(*reset, "--shift-by", "-2", "--execute")
    require(weir.json("group", "describe", "resetters")["partitions"][0]["committed"] == 1, "the shift is not committed")


def _group_with_members(weir: Weir):
    """A member that only our own bytes make: one JoinGroup and one SyncGroup of the consumer protocol."""
    weir.run("topic", "create", "joined", "--partitions", 2)
    with member.Member(weir.address, "joiners", "joined", [0, 1]):
        told = weir.json("group", "describe", "joiners")
        (one,) = told["members"]
        require(told["state"] == "Stable" and one["client"] == "a-test", f"{told}")
        require([at["partition"] for at in one["assigned"]] == [0, 1], f"{one}")
        shown = [(at["partition"], at["committed"], at["end"], at["lag"], at["member"]) for at in told["partitions"]]
        require(shown == [(index, None, 0, None, one["member"]) for index in (0, 1)], f"{shown}")
        require("no commit" in weir.out("group", "describe", "joiners"), "a partition without a commit is not called that")
        text = weir.refused("group", "reset", "joiners", "--topic", "joined", "--to-earliest", "--execute")
        require("it has 1 member (Stable); stop them first" in text, f"{text}")


def _crash(weir: Weir, context: Context, broker) -> str:
    """The broker dies while `weir produce` is under way; every line is there once, and in order."""
    lines = [b"%d\n" % i for i in range(5 * context.count)]
    weir.run("topic", "create", "crash")
    child = Child([weir.binary, "produce", "crash", "--server", weir.address], broker.folder / "produce.log", stdin=True)
    try:
        child.process.stdin.write(b"".join(lines[: len(lines) // 2]))
        child.process.stdin.flush()
        deadline = Deadline(30)
        while (stored := weir.json("topic", "describe", "crash")["partitions"][0]["end"]) == 0:
            require(not deadline.passed, "nothing is stored within 30 s")
        broker.kill9()
        child.process.stdin.write(b"".join(lines[len(lines) // 2 :]))
        broker.restart()
        child.close_stdin()
        require(child.wait(60) == 0, f"produce did not end with 0: {child.tail()}")
    finally:
        child.kill9()
    read = weir.run("consume", "crash", "--beginning", "--exit-at-end").stdout
    require(read == b"".join(lines), f"{read.count(b'%c' % 10)} lines read of {len(lines)}, or in another order")
    return f"killed with {stored} of {len(lines)} stored"


def _log_dump_and_verify(weir: Weir, broker):
    """On a copy of the stopped folder: sound, then with one byte of a batch turned."""
    broker.stop()
    folder = broker.folder / "copy"
    shutil.copytree(broker.data, folder)
    broker.restart()

    def tree():
        return {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}

    before = tree()
    done = weir.bare("log", "verify", folder)
    require(done.returncode == 0 and b"no damage" in done.stdout and not done.stderr, f"verify of a sound folder: {done}")
    told = json.loads(weir.bare("log", "verify", folder, "--json").stdout)
    require(told["records"] > 100_000 and told["problems"] == [], f"{told}")
    require((done := weir.bare("log", "dump", folder)).returncode == 0, f"dump in words ended with {done.returncode}: {done.stderr}")
    done = weir.bare("log", "dump", folder, "--json")
    entries = [json.loads(line) for line in done.stdout.splitlines()]
    require(done.returncode == 0 and not done.stderr, f"dump --json ended with {done.returncode}: {done.stderr}")
    require(tree() == before, "looking changed the folder")
    last_file, found = None, None
    for entry in entries:
        last_file = entry.get("file", last_file)
        if found is None and entry.get("kind") == "batch" and entry["records"] > 1:
            found = (last_file, entry)
    path, batch = found
    few = weir.bare("log", "dump", path, "--json", "--from", batch["position"], "--entries", 1).stdout.splitlines()
    require(json.loads(few[-1]) == batch, f"--from and --entries gave {few}, not {batch}")
    with open(path, "r+b") as segment:
        segment.seek(batch["position"] + batch["size"] // 2)
        byte = segment.read(1)[0]
        segment.seek(-1, 1)
        segment.write(bytes([byte ^ 0x55]))
    done = weir.bare("log", "verify", folder)
    text = done.stdout.decode()
    require(done.returncode == 1, f"verify of a damaged folder ended with {done.returncode}: {text}")
    for part in (path, batch["position"], batch["partition"], batch["base"], batch["last"]):
        require(str(part) in text, f"{part} is not named: {text}")
    require(json.loads(weir.bare("log", "verify", folder, "--json").stdout)["problems"], "the damage is not in the JSON")
    for words in (("log", "verify", folder / "nowhere"), ("log", "dump", folder / "nowhere")):
        done = weir.bare(*words)
        require(done.returncode == 1 and "nowhere" in one_sentence(done, words), f"{words}: {done}")


def _broker_away(weir: Weir, broker):
    broker.stop()
    for words in (("topic", "list"), ("produce", "life"), ("consume", "life"), ("group", "list")):
        require(weir.address in weir.refused(*words), f"{words} does not say where")
    broker.restart()
    require(weir.out("consume", "greetings", "--beginning", "--count", 1) == "hello\n", "records of before the restart")
