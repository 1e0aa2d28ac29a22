"""What a first day meets: wrong command lines, output that cannot be written, brokers and files that are not what was meant."""

import os
import pathlib
import re
import subprocess
import time

from cli.weir import SECONDS, Weir, one_sentence
from harness.broker import make_broker
from harness.ports import free_port
from harness.results import require

WRONG = (  # words, what the sentence must say
    ((), "wants a command"), (("nonsense",), "no command 'weir nonsense'"), (("--nonsense",), "no option '--nonsense'"),
    (("serve", "--nonsense"), "no option '--nonsense'"), (("serve", "--listen", "nowhere"), "HOST:PORT"), (("serve", "--set", "x"), "NAME=VALUE"),
    (("serve", "--listen"), "wants a value"), (("topic",), "wants a command"), (("topic", "nonsense"), "no command 'weir topic nonsense'"),
    (("topic", "create"), "wants NAME"), (("topic", "create", "a", "b"), "'b'"), (("topic", "create", "a", "--partitions", "0"), "from 1 to"),
    (("topic", "create", "a", "--partitions", "many"), "not 'many'"), (("topic", "create", "a", "--config", "novalue"), "NAME=VALUE"),
    (("topic", "list", "extra"), "'extra'"), (("topic", "list", "--server", "nowhere"), "not 'nowhere'"), (("topic", "config", "a", "--set", "=1"), "not '=1'"),
    (("topic", "trim", "a"), "one of --all"), (("topic", "trim", "a", "--all", "--before-offset", "1"), "only one of"),
    (("produce",), "wants TOPIC"), (("produce", "a", "--acks", "2"), "not '2'"), (("produce", "a", "--codec", "zip"), "not 'zip'"),
    (("produce", "a", "--header", "x"), "not 'x'"), (("produce", "a", "--partition", "-1"), "not '-1'"), (("consume",), "wants TOPIC"),
    (("consume", "a", "--offset", "-1"), "not '-1'"), (("consume", "a", "--beginning", "--tail", "1"), "do not go together"),
    (("consume", "a", "--count", "few"), "from 0 on, not 'few'"), (("consume", "a", "--timeout", "0"), "from 0.1 to 3600"),
    (("group",), "wants a command"), (("group", "nonsense"), "no command 'weir group nonsense'"), (("group", "describe"), "wants GROUP"),
    (("group", "reset", "billing"), "one of --to-earliest"), (("group", "reset", "billing", "--to-earliest", "--to-latest"), "only one of"),
    (("group", "reset", "billing", "--to-time", "yesterday"), "2026-01-31T12:30 or in milliseconds"), (("group", "reset", "billing", "--to-offset"), "wants a value"),
    (("group", "reset"), "wants GROUP"), (("group", "delete"), "wants GROUP"), (("explain",), "wants a command"), (("explain", "nonsense"), "no command"),
    (("explain", "group"), "wants GROUP"), (("log",), "wants a command"), (("log", "dump"), "wants PATH"), (("log", "verify", "a", "b"), "'b'"),
    (("log", "dump", "a", "--from", "-1"), "not '-1'"), (("metadata",), "wants a command"), (("metadata", "repair"), "wants FOLDER"),
)
HELPS = ((), ("serve",), ("produce",), ("consume",), ("topic",), ("topic", "list"), ("topic", "create"), ("topic", "describe"),
         ("topic", "delete"), ("topic", "config"), ("topic", "trim"), ("group",), ("group", "list"), ("group", "describe"), ("group", "reset"),
         ("group", "delete"), ("explain",), ("explain", "group"), ("log",), ("log", "dump"), ("log", "verify"), ("metadata", "repair"))
REFUSED_AT_ONCE_SECONDS = 20  # a produce that cannot be written is given up after 5; the machine may do much else


def bad_options(weir: Weir):
    for words, part in WRONG:
        done = weir.bare(*words)
        require(done.returncode == 2, f"{words} ended with {done.returncode}: {done.stderr}")
        text = one_sentence(done, words)
        require(part in text, f"{words} does not say {part!r}: {text}")
        require("there is no command" not in text or "no command" in part, f"{words}: {text}")
        require(words[:1] == ("serve",) or "--help" in text, f"{words} does not say where help is: {text}")
    for words in HELPS:
        done = weir.bare(*words, "--help")
        require(done.returncode == 0 and b"--help" in done.stdout and not done.stderr, f"{words} --help: {done}")
    version = weir.bare("--version").stdout.decode()
    require(re.fullmatch(r"\d+\.\d+\.\d+( \(commit [0-9a-f]{12}( and changes)?\))?\n", version), f"--version says {version!r}")


def output_that_cannot_be_written(weir: Weir, folder: pathlib.Path):
    """A full disk behind stdout, and no stdout at all: then the next socket must not get what is printed."""
    commands = (("topic", "list"), ("topic", "list", "--json"), ("topic", "create", "unseen", "--if-not-exists"), ("topic", "describe", "unseen"),
                ("group", "list"), ("consume", "greetings", "--beginning", "--count", 1))
    calls = [(*words, "--server", weir.address) for words in commands] + [("--version",), ("topic", "--help"), ("log", "dump", folder, "--entries", 1)]
    for words in calls:
        command = [weir.binary, *map(str, words)]
        with open("/dev/full", "wb") as full:
            full_disk = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, timeout=SECONDS, check=False)
        closed = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=SECONDS, check=False)
        for done, why in ((full_disk, "No space left on device"), (closed, "Bad file descriptor")):
            text = done.stderr.decode()
            require(done.returncode == 1 and text.count("\n") == 1 and "cannot write to stdout" in text, f"{words}, {why}: {done}")
            require(why in text, f"{words} does not say {why}: {text}")


def several_servers(weir: Weir):
    nobody = f"127.0.0.1:{free_port()}"
    both = Weir(weir.binary, f"{nobody},{weir.address}")
    require("greetings" in both.out("topic", "list"), "the second of two servers is not asked")
    both.run("produce", "greetings", data=b"by way of the second\n")
    text = Weir(weir.binary, f"{nobody},{nobody}").refused("topic", "list")
    require(f"{nobody},{nobody}" in text, f"{text}")


def positions_beyond(weir: Weir):
    weir.run("topic", "create", "beyond")
    require("is empty, the next record will have offset 0" in weir.refused("consume", "beyond", "--offset", 1), "of an empty partition")
    weir.run("produce", "beyond", data=b"one\n")
    require("holds offsets 0 to 0, the next record will have offset 1" in weir.refused("consume", "beyond", "--offset", 99), "beyond the end")
    require(weir.out("consume", "beyond", "--offset", 1, "--exit-at-end") == "", "the end is an offset to start at")
    require(b"1 record, 1 byte to" in weir.run("produce", "beyond", data=b"x\n").stderr, "one byte")


def trim(weir: Weir):
    weir.run("topic", "create", "trimmed", "--partitions", 2)
    for partition in (0, 1):
        weir.run("produce", "trimmed", "--partition", partition, data=b"a\nb\nc\n")

    def starts():
        return [part["start"] for part in weir.json("topic", "describe", "trimmed")["partitions"]]

    planned = [{"partition": 0, "start": 0, "new_start": 2}, {"partition": 1, "start": 0, "new_start": 2}]
    words = ("topic", "trim", "trimmed")
    require(weir.json(*words, "--before-offset", 2) == {"topic": "trimmed", "executed": False, "partitions": planned}, "what a dry run says")
    require("dry run" in weir.out(*words, "--before-offset", 2) and starts() == [0, 0], "a dry run trims")
    require(weir.json(*words, "--before-offset", 2, "--execute")["partitions"] == planned and starts() == [2, 2], "--execute")
    require(weir.json(*words, "--before-offset", 1, "--execute")["partitions"][0]["new_start"] == 2, "a start moves back")
    require("trimmed topic" in weir.out(*words, "--before-time", "2100-01-01", "--partition", 1, "--execute") and starts() == [2, 3], "--before-time")
    require(weir.json(*words, "--before-time", "0", "--execute")["partitions"][0]["new_start"] == 2, "a time before all")
    require(weir.json(*words, "--all", "--execute")["partitions"][0]["new_start"] == 3 and starts() == [3, 3], "--all")
    require("only 2 partitions" in weir.refused(*words, "--all", "--partition", 2), "a partition that is not there")
    require("UNKNOWN_TOPIC" in weir.refused("topic", "trim", "nothing-here", "--all"), "a topic that is not there")
    weir.run("topic", "create", "compacted", "--config", "cleanup.policy=compact")
    require("POLICY_VIOLATION" in weir.refused("topic", "trim", "compacted", "--all", "--execute"), "a compacted topic")


def group_delete(weir: Weir):
    for group in ("gone", "gone-too"):
        weir.run("group", "reset", group, "--topic", "greetings", "--to-earliest", "--execute")
    require("there is no group 'nobody'" in weir.refused("group", "delete", "nobody"), "a group that is not there")
    require(weir.out("group", "delete", "gone", "gone-too") == "deleted group 'gone'\ndeleted group 'gone-too'\n", "two groups")
    require("gone" not in weir.out("group", "list"), "a deleted group is listed")


def files_of_somebody_else(weir: Weir, folder: pathlib.Path):
    stranger = folder / "stranger"
    stranger.mkdir()
    (stranger / "notes").write_text("no log\n")
    (stranger / "other.log").write_text("somebody else's log\n")
    (stranger / "other.index").write_bytes(b"\0" * 100_000)
    calls = (("verify", stranger, "is no data folder of Weir"), ("dump", stranger, "is no data folder of Weir"), ("verify", stranger / "nowhere", "there is no "),
             ("dump", stranger / "notes", "is no data folder of Weir"), ("dump", stranger / "other.log", "is no log file of Weir"),
             ("dump", stranger / "other.index", "is no index file of Weir"), ("dump", stranger / "gone.log", "there is no "),
             ("allow-writes", stranger, "is no data folder of Weir"))
    for verb, path, part in calls:
        done = weir.bare("log", verb, path)
        text = done.stderr.decode()
        require(done.returncode == 1 and part in text and str(path) in text and text.count("\n") == 1, f"{verb} {path}: {done}")
    require(sorted(path.name for path in stranger.iterdir()) == ["notes", "other.index", "other.log"], "something was made there")


def greeting_lines(broker):
    """What the broker prints at its start can be pasted into a shell of any folder."""
    log = broker.log.read_text(errors="replace")
    produce, consume = (re.search(rf"\b{verb}: (.*)", log)[1] for verb in ("produce", "consume"))
    environment = {**os.environ, "PATH": "/usr/bin:/bin"}
    for line in (produce, f"{consume} --count 1"):
        done = subprocess.run(["sh", "-c", line], cwd="/", env=environment, capture_output=True, timeout=SECONDS, check=False)
        require(done.returncode == 0, f"{line}: {done}")
    require(done.stdout == b"hello\n", f"{consume}: {done.stdout}")


def brokers_that_take_nothing(context):
    """A topic that cannot be made is told at once and by its reason, a log that takes no writes within seconds."""
    with _other_broker(context, {"default.replication.factor": 3}) as weir:
        begun = time.monotonic()
        text = one_sentence(weir.run("produce", "new", data=b"x\n", code=1), "produce")
        require("cannot be made: INVALID_REPLICATION_FACTOR" in text, f"{text}")
        require(time.monotonic() - begun < REFUSED_AT_ONCE_SECONDS / 2, "it waits for a topic that never comes")
        require("INVALID_REPLICATION_FACTOR" in weir.refused("topic", "create", "new"), "create says something else")
    with _other_broker(context, {"mq.disk.reserve.bytes": 1 << 60}) as weir:
        weir.run("topic", "create", "short")
        begun = time.monotonic()
        done = weir.run("produce", "short", data=b"x\n", code=1)
        lines = done.stderr.decode().splitlines()
        require(time.monotonic() - begun < REFUSED_AT_ONCE_SECONDS, "it tries for too long")
        require("KAFKA_STORAGE_ERROR, trying again" in lines[0], f"what it waits for: {lines}")
        require("KAFKA_STORAGE_ERROR" in lines[-1] and "weir log allow-writes" in lines[-1] and "disk is full" in lines[-1], f"what to do: {lines}")


class _other_broker:
    def __init__(self, context, settings: dict):
        self.broker = make_broker("weir", "cli-other", context.weir, settings)
        self.binary = context.weir

    def __enter__(self) -> Weir:
        self.broker.start()
        return Weir(self.binary, self.broker.address)

    def __exit__(self, *_):
        self.broker.stop()
        self.broker.remove()
