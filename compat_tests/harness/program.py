"""Runs a client program that speaks the line protocol of these tests, and checks the files it leaves.

The program (Java, Python, C++) is started twice: for its ordinary tests, and, where there is one, for the crash run. It reads
  WEIR_BROKER  host:port          WEIR_COUNT  records per codec     WEIR_SEED  seed of the record values
  WEIR_OUT     folder for files   WEIR_CRASH_TOTAL and WEIR_CRASH_GATE  amounts of the crash run
and writes to stdout `TEST name PASS seconds` or `TEST name FAIL seconds reason`, and in the crash run `ACKED n`.
For each acks-X.txt it leaves a reads-X.txt (lines `partition offset id`); the pair is one more test, named check_X.
"""

import os
import pathlib

from harness import checker
from harness.broker import Broker
from harness.child import Child
from harness.context import CRASH_COUNT, CRASH_GATE, Context
from harness.crash import CLIENT_SECONDS, AckWatch, kill_and_restart
from harness.results import require

TESTS_SECONDS = 300


def run_program(context: Context, broker: Broker, tests_command: list, crash_command: list | None = None,
                count: int | None = None, echo: int = 0):
    """`count` is the number of records per codec, where it is not what the run asks for. `echo`, for a client without
    idempotence, is how many records of a partition its retries in the crash run may repeat."""
    count = count or context.count
    with context.test("program_ends_with_0"):
        _run_tests(context, broker, tests_command, count)
    for acks in sorted(broker.folder.glob("acks-*.txt")):
        name = acks.stem.removeprefix("acks-")
        with context.test(f"check_{name}") as notes:
            notes.append(check_files(broker.folder, name, count))
    if crash_command is None:
        return
    with context.test("crash") as notes:
        notes.append(_run_crash(context, broker, crash_command))
        notes.append(check_files(broker.folder, "crash", CRASH_COUNT, echo))


def check_files(folder: pathlib.Path, name: str, wanted: int, echo: int = 0) -> str:
    acks = checker.read_file(folder / f"acks-{name}.txt")
    reads = checker.read_file(folder / f"reads-{name}.txt")
    report = checker.check(acks, reads, window=echo)
    require(len(acks) == wanted, f"{len(acks)} of {wanted} sends were acknowledged")
    faults = report.faults(duplicates_allowed=echo > 0)
    require(not faults, "; ".join(faults))
    return report.summary()


def _environment(context: Context, broker: Broker, count: int) -> dict:
    return os.environ | {
        "WEIR_BROKER": broker.address,
        "WEIR_COUNT": str(count),
        "WEIR_SEED": str(context.seed),
        "WEIR_OUT": str(broker.folder),
        "WEIR_CRASH_TOTAL": str(CRASH_COUNT),
        "WEIR_CRASH_GATE": str(CRASH_GATE),
    }


def _run_tests(context: Context, broker: Broker, command: list, count: int):
    def on_line(line: str):
        words = line.split(" ", 4)
        if len(words) >= 4 and words[0] == "TEST":
            context.results.report(context.suite, words[1], words[2] == "PASS", float(words[3]), *words[4:])

    log = broker.folder / "client.log"
    client = Child(command, log, env=_environment(context, broker, count), watch=on_line)
    code = client.wait(TESTS_SECONDS * (10 if context.full else 1))
    require(code == 0, f"the client program ended with {code}\n{client.tail()}")


def _run_crash(context: Context, broker: Broker, command: list) -> str:
    watch = AckWatch()
    said = []

    def on_line(line: str):
        if line.startswith("ACKED "):
            watch.set(int(line.split()[1]))
        else:
            said.append(line)

    log = broker.folder / "crash.log"
    client = Child(command, log, env=_environment(context, broker, context.count), stdin=True, watch=on_line)
    try:
        told = kill_and_restart(broker, client, watch, context.kill_after(), CRASH_COUNT)
        client.say("KILLED")
        code = client.wait(CLIENT_SECONDS)
        require(code == 0, f"the client ended with {code}: {' '.join(said)}\n{client.tail()}")
    finally:
        client.kill9()
    return told
