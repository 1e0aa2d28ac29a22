"""One data folder, its broker and its load: what a round of outages does to them, and what must hold. One thread."""

import collections
import pathlib
import random
import re
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

from harness.broker import WeirBroker
from harness.child import Deadline
from harness.ports import free_port
from outages import kinds
from outages.ledger import TOPICS, PARTITIONS, Audit, Ledger
from outages.load import Load
from raw.client import Connection
from threads.clients import Broken

STOP_SECONDS = 5
SECOND_SIGNAL_SECONDS = 2
SPEAKS_SECONDS = 9  # a stop that hangs says so every five
TOLD_SECONDS = 20
STARTED_SECONDS = 30
RSS_MAX = 256 << 20
READ_ALL_EVERY = 20  # rounds
TAIL_LINES = 5_000
BAD_WORDS = ("CHECK failed", "unhandled exception", "damage took", "damage in ", "stepped over", "out of memory", "is damaged: it is")
STILL_STOPPING = r"still stopping, waits for (.*); a second SIGTERM or Ctrl-C ends the process at once"
READ_ONLY_STILL = r"commitlog: read-only, because a write or sync failed before this start \(.*\)\. Look at the disk; then stop the broker, run"


def settings(http_port: int) -> dict:
    return {
        "mq.http.listen": f"127.0.0.1:{http_port}", "mq.segment.bytes": 1 << 20, "mq.image.bytes": 4 << 20,
        "mq.read.cache.bytes": 4 << 20, "socket.request.max.bytes": 16 << 20, "mq.request.memory.bytes": 32 << 20,
        "offsets.topic.num.partitions": 3, "log.retention.check.interval.ms": 1_000, "mq.log.io": "buffered",
    }


class World:
    def __init__(self, arguments, seed: str, faults, place, first: int):
        self.arguments, self.faults, self.place = arguments, faults, place
        self.random = random.Random(seed)
        self.http_port = free_port()
        self.broker = WeirBroker("outages", arguments.weir.resolve(), settings(self.http_port))
        self.broker.data = place.new_data(first)
        self.broker.environment = faults.environment
        self.ledger = Ledger()
        self.load = Load(self.broker.port, seed, self.ledger)
        self.failed_lives: set[int] = set()
        self.sums: collections.Counter = collections.Counter()
        self.stops: dict[str, float] = {}
        self.steps: list[str] = []
        self.mark = 0
        self.rounds = 0
        self.stop_patience = 3 * STOP_SECONDS  # then it is killed

    # ------------------------------------------------------------------------------------------------------ a round
    def begin(self):
        self.start()
        connection = Connection(self.broker.port)
        told = connection.call("CreateTopics", 4, {"timeoutMs": 60_000, "Topics": [
            {"Name": name, "NumPartitions": PARTITIONS, "ReplicationFactor": 1,
             "Configs": [{"Name": n, "Value": v} for n, v in config.items()]} for name, config in TOPICS.items()]}, 60)
        if any(topic["ErrorCode"] for topic in told["Topics"]):
            raise Broken(f"CreateTopics: {told}")
        self.await_that(lambda: connection.call("FindCoordinator", 0, {"Key": "group"})["ErrorCode"] == 0, "groups have a coordinator")
        connection.close()
        self.load.start()
        self.load.go()

    def round(self, kind) -> str:
        self.rounds += 1
        self.steps = [self.broker.settings["mq.log.io"]]
        self.work()
        outage = kind(self)
        self.mark = self.log_size()
        outage.begin()
        self.steps.append(str(outage))
        outage.told()
        self.load.check()
        is_over = not outage.fails and not isinstance(outage, kinds.Nothing) and self.random.random() < 0.5
        if is_over:
            self.steps.append("passes")
            outage.heal()
            outage.healed()
        self.stop(outage, is_over)
        self.start_behind(outage, is_over)
        self.audit()
        self.load.go()
        return self.story()

    def work(self):
        """Until all have been answered, and for a while that the seed draws."""
        self.await_writes(kinds.BACK_SECONDS)
        deadline = Deadline(0.05 + self.random.random() * self.arguments.work_seconds)
        while not deadline.passed:
            self.load.check()
            if not self.broker.child.running():
                raise Broken(f"the broker ended by itself with {self.broker.child.wait(1)}")
            deadline.pause(0.02)

    def finish(self):
        self.steps = ["the end"]
        self.await_writes(kinds.BACK_SECONDS)
        self.audit(all_again=True)
        self.terminate("healthy")

    def count(self):
        self.sums["records"] = sum(entry[2] for producer in self.load.producers for entry in producer.acked)
        self.sums["commits"] = sum(committer.answered for committer in self.load.committers)

    # -------------------------------------------------------------------------------------------------- stops, starts
    def stop(self, outage, is_over: bool):
        state = "healthy" if is_over else outage.state
        hangs = isinstance(outage, kinds.Hang) and not is_over
        draw = self.random.random()
        if isinstance(outage, kinds.ReadOnly):
            self.await_note(outage)
        if draw < 0.25:
            self.kill()
        elif draw < 0.35 and not hangs:
            self.kill_while_stopping()
        elif hangs:
            self.terminate_hanging(outage)
        else:
            self.terminate(state)

    def kill(self):
        self.steps.append("SIGKILL")
        self.look_at_memory()
        self.broker.kill9()
        self.ended()

    def kill_while_stopping(self):
        self.steps.append("SIGTERM, SIGKILL")
        self.look_at_memory()
        self.broker.child.process.send_signal(signal.SIGTERM)
        try:
            self.broker.child.process.wait(self.random.random() * 0.3)
        except subprocess.TimeoutExpired:
            pass
        self.broker.kill9()
        self.ended()

    def terminate(self, state: str):
        self.look_at_memory()
        began = time.monotonic()
        self.broker.child.process.send_signal(signal.SIGTERM)
        code = self.await_end(state)
        seconds = time.monotonic() - began
        self.steps.append(f"SIGTERM in {seconds * 1000:.0f} ms")
        self.stops[state] = max(self.stops.get(state, 0), seconds)
        self.ended()
        if code != 0:
            raise Broken(f"SIGTERM, {state}: the broker ended with {code}")
        if seconds > STOP_SECONDS:
            raise Broken(f"SIGTERM, {state}: the stop took {seconds:.1f} s")

    def await_end(self, state: str) -> int:
        try:
            return self.broker.child.process.wait(self.stop_patience)
        except subprocess.TimeoutExpired:
            raise Broken(f"SIGTERM, {state}: the broker has not ended after {self.stop_patience} s")

    def terminate_hanging(self, outage):
        """It says what it waits for. Then the disk answers again, or a second signal ends it."""
        self.look_at_memory()
        self.mark = self.log_size()
        child = self.broker.child
        child.process.send_signal(signal.SIGTERM)
        said = self.await_said(STILL_STOPPING, SPEAKS_SECONDS)
        self.steps.append(f"SIGTERM, waits for {said[1]}")
        if not re.fullmatch(outage.waits_for, said[1]) or "connections or groups" in said[1]:
            raise Broken(f"{outage}: the stop says that it waits for {said[1]}")
        began = time.monotonic()
        if self.random.random() < 0.7:
            child.process.send_signal(signal.SIGTERM)
            wanted, state, limit = 1, "hanging disk, second SIGTERM", SECOND_SIGNAL_SECONDS
        else:
            outage.heal()
            wanted, state, limit = 0, "hanging disk that answers again", STOP_SECONDS
        code = self.await_end(state)
        seconds = time.monotonic() - began
        self.steps.append(f"{state}, {seconds * 1000:.0f} ms")
        self.stops[state] = max(self.stops.get(state, 0), seconds)
        self.ended()
        if code != wanted or seconds > limit:
            raise Broken(f"{state}: ended with {code} after {seconds:.1f} s")

    def ended(self):
        """What is answered from here on is of another life."""
        self.look_for_words()
        self.load.park()
        self.load.gate.life += 1
        self.load.go()

    def start(self):
        self.broker.settings["mq.log.io"] = self.arguments.io or self.random.choice(("buffered", "direct"))
        self.mark = self.log_size()
        self.sums["starts"] += 1
        self.broker.restart() if self.sums["starts"] > 1 else self.broker.start()

    def start_behind(self, outage, is_over: bool):
        if isinstance(outage, kinds.ReadOnly):
            return self.start_read_only(outage)
        stands = not is_over and self.random.random() < 0.5
        if stands and isinstance(outage, kinds.OpensFail):
            self.refused_start()
        if stands and isinstance(outage, (kinds.DiskFull, kinds.NoSegment)):
            return self.start_short(outage)
        outage.heal()
        self.kill_starts()
        self.start()
        self.steps.append(self.broker.settings["mq.log.io"])
        self.await_all(STARTED_SECONDS)
        self.require_health(200, "ok")

    def start_short(self, outage):
        """Reads are served; writes come back when there is room."""
        self.start()
        self.steps.append(f"started while it lasts, {self.broker.settings['mq.log.io']}")
        self.await_said(outage.REFUSES)
        self.audit(quick=True)
        self.load.go()
        outage.heal()
        outage.healed()

    def start_read_only(self, outage):
        outage.heal()
        noted = self.is_noted()
        if not noted and not outage.may_be_forgotten:
            raise Broken("the log became read-only, its manifest does not say so")
        if noted and self.random.random() < 0.5:
            self.allow_writes(self.said_last(kinds.READ_ONLY_NOW)[1])
        elif noted:
            self.start()
            self.steps.append(f"read-only, {self.broker.settings['mq.log.io']}")
            self.await_said(READ_ONLY_STILL)
            self.require_health(503, "read-only")
            self.require_metric("weir_log_read_only", 1)
            self.await_refusals(kinds.STORAGE_ERROR)
            self.audit()
            self.load.go()
            self.kill() if self.random.random() < 0.3 else self.terminate("read-only since before the start")
            self.allow_writes(f"weir log allow-writes {self.broker.data}")
        self.start()
        self.steps.append(self.broker.settings["mq.log.io"])
        self.await_all(STARTED_SECONDS)
        self.require_health(200, "ok")

    def kill_starts(self):
        """Now and then the start dies too."""
        while self.random.random() < 0.1:
            self.broker.settings["mq.log.io"] = self.arguments.io or self.random.choice(("buffered", "direct"))
            self.broker.child = self.broker._spawn()
            try:
                self.broker.child.process.wait(self.random.random() * 0.2)
            except subprocess.TimeoutExpired:
                pass
            self.broker.kill9()
            self.steps.append("killed in its start")

    def refused_start(self):
        """Without descriptors a start ends with a line, and changes nothing."""
        self.mark = self.log_size()
        self.broker.child = self.broker._spawn()
        code = self.broker.child.wait(STARTED_SECONDS)
        self.steps.append("refused start")
        if code != 1 or not re.search(r"^weir: .+", self.said(), re.M):
            raise Broken(f"a start that can open no file ended with {code} and said\n{self.said()}")

    # -------------------------------------------------------------------------------------------------- allow-writes
    def allow_writes(self, command: str):
        """As the message says, with the binary under test."""
        name, *words = command.split()
        if (name, words[:2], words[2:]) != ("weir", ["log", "allow-writes"], [str(self.broker.data)]):
            raise Broken(f"the message's command is: {command}")
        done = subprocess.run([self.broker.binary, *words], capture_output=True, text=True, timeout=60)
        self.steps.append("allow-writes")
        if done.returncode != 0 or "the log was read-only since" not in done.stdout:
            raise Broken(f"{command}: ended with {done.returncode}: {done.stdout}{done.stderr}")

    def is_noted(self) -> bool:
        """Whether the manifest says read-only: asked of a copy, which is then allowed writes."""
        with tempfile.TemporaryDirectory(prefix="weir-outages-") as copy:
            (pathlib.Path(copy) / "manifest").write_bytes((self.broker.data / "manifest").read_bytes())
            done = subprocess.run([self.broker.binary, "log", "allow-writes", copy], capture_output=True, text=True, timeout=60)
        return "the log was read-only since" in done.stdout

    def await_note(self, outage):
        """A kill between the failure and its note is believed by the next start (docs/DURABILITY.md), so it comes later."""
        if not outage.may_be_forgotten:
            self.await_that(self.is_noted, "the manifest notes the failure")

    # ------------------------------------------------------------------------------------------------------- judging
    def audit(self, all_again: bool = False, quick: bool = False):
        """`quick`: nothing but what is new."""
        self.load.park()
        if self.load.gate.life - 1 in self.failed_lives:
            self.ledger.forget_unsynced()
        all_again = all_again or not quick and self.rounds % READ_ALL_EVERY == 0
        Audit(self.broker.port, self.ledger, self.load, self.failed_lives, all_again).run()
        self.look_for_words()

    def look_for_words(self):
        said = self.said()
        if found := [line for line in said.splitlines() if any(word in line for word in BAD_WORDS)]:
            raise Broken("the log says: " + found[0])

    def look_at_memory(self):
        status = pathlib.Path(f"/proc/{self.broker.child.pid}/status").read_text()
        rss = int(re.search(r"^VmHWM:\s+(\d+) kB", status, re.M)[1]) << 10
        self.sums["rss"] = max(self.sums["rss"], rss)
        if rss > RSS_MAX:
            raise Broken(f"the broker took {rss >> 20} MiB")

    def await_that(self, condition, what: str, seconds: float = TOLD_SECONDS):
        deadline = Deadline(seconds)
        while not (found := condition()):
            if deadline.passed:
                raise Broken(f"not within {seconds} s: {what}")
            if not self.broker.child.running():
                raise Broken(f"the broker ended by itself with {self.broker.child.wait(1)}; waited for: {what}")
            self.load.check()
            deadline.pause(0.02)
        return found

    def await_said(self, pattern: str, seconds: float = TOLD_SECONDS) -> re.Match:
        return self.await_that(lambda: re.search(pattern, self.said()), f"the log says: {pattern}", seconds)

    def await_more(self, what: str, count, more: int, seconds: float = TOLD_SECONDS):
        before = count()
        self.await_that(lambda: count() >= before + more, what, seconds)

    def await_each(self, what: str, count, workers, seconds: float):
        before = [count(worker) for worker in workers]
        waits = lambda: [w.name for w, was in zip(workers, before) if count(w) <= was]  # noqa: E731
        try:
            self.await_that(lambda: not waits(), what, seconds)
        except Broken as broken:
            raise Broken(f"{broken}: {', '.join(waits())}")

    def await_writes(self, seconds: float):
        self.await_each("each producer is answered", lambda w: w.answered, self.load.producers, seconds)

    def await_all(self, seconds: float):
        self.await_each("each client is answered", lambda w: w.answered, self.load.workers, seconds)

    def await_refusals(self, code: int):
        self.await_each(f"each producer hears error {code}", lambda w: w.heard[code], self.load.producers, TOLD_SECONDS)

    def await_reads(self):
        self.await_each("reads are served", lambda w: w.answered, self.load.readers, TOLD_SECONDS)

    def health(self) -> tuple[int, str]:
        return self._get("healthz")

    def require_health(self, status: int, words: str):
        got, text = self.health()
        if got != status or words not in text:
            raise Broken(f"/healthz says {got} {text.strip()!r}, not {status} {words!r}")

    def require_metric(self, name: str, value: int):
        found = re.search(rf"^{name} (\S+)$", self._get("metrics")[1], re.M)
        if found is None or float(found[1]) != value:
            raise Broken(f"{name} is {found and found[1]}, not {value}")

    def _get(self, page: str) -> tuple[int, str]:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.http_port}/{page}", timeout=20) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    # -------------------------------------------------------------------------------------------------------- the log
    def log_size(self) -> int:
        return self.broker.log.stat().st_size if self.broker.log.exists() else 0

    def said(self) -> str:
        """What the broker said since the last mark."""
        with open(self.broker.log, "rb") as file:
            file.seek(self.mark)
            return file.read().decode(errors="replace")

    def said_last(self, pattern: str) -> re.Match:
        found = list(re.finditer(pattern, self.broker.log.read_text(errors="replace")))
        return found[-1]

    def story(self) -> str:
        return ", ".join(self.steps)

    def tail(self, lines: int = 60) -> str:
        """The end of the log, without lines that only repeat one before them."""
        seen: collections.Counter = collections.Counter()
        told = []
        for line in self.broker.log.read_text(errors="replace").splitlines()[-TAIL_LINES:]:
            text = re.sub(r"\d+", "", line)
            seen[text] += 1
            if seen[text] <= 3:
                told.append(f"    | {line}")
        return "\n".join(told[-lines:])

    def remove(self, keep: bool):
        self.faults.disarm()
        self.place.heal()
        if self.broker.child and self.broker.child.running():
            self.broker.child.kill9()
        self.load.end()
        if keep:
            print(f"kept: {self.broker.log}", flush=True)
        else:
            self.broker.remove()
        subprocess.run(["rm", "-rf", self.broker.data], check=False)
