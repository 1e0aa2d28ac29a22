"""The kill loop: producers, committers and topics made and removed go on while the broker is killed again and again, at
any moment, starts included. After each start everything that was answered must be there: records once, in order, at the
offset that was told, for ever; committed offsets never lower; topics that were made. Run by suite.py, in its Python.

  loop.py --weir BINARY --kills N --seed S [--power]

`mq.log.io` alternates from one start to the next. With --power the data lie on an ext4 of their own whose power is cut
before each kill (volume.py); then only what is promised for that is asked: the synced topics, commits, made topics.
Ends with `KILLS n STARTS n RECORDS n COMMITS n` or the first promise that was broken, and code 1.
"""

import argparse
import collections
import os
import pathlib
import random
import signal
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition  # noqa: E402
from confluent_kafka.admin import AdminClient, NewTopic  # noqa: E402

from harness.broker import WeirBroker  # noqa: E402
from harness.child import Deadline  # noqa: E402
from kill_loop.volume import Volume  # noqa: E402

PARTITIONS = 3
PATIENCE = 60
# name -> (topic configs, producer configs). Retries of the last one would repeat records, so it has none.
TOPICS = {
    "safe": ({}, {"enable.idempotence": True}),
    "async": ({"mq.flush": "async"}, {"enable.idempotence": True}),
    "leader": ({}, {"acks": 1, "retries": 0, "max.in.flight": 1}),
}
SURVIVE_POWER = ("safe",)
FAST = {"reconnect.backoff.ms": 10, "reconnect.backoff.max.ms": 100, "retry.backoff.ms": 20, "log_level": 0}


class Broken(Exception):
    """A promise."""


class Writer(threading.Thread):
    """One producer. `acked` grows by (partition, offset, number); read by the auditor, written by this thread only."""

    def __init__(self, address: str, topic: str, number: int, seed: str):
        super().__init__(daemon=True)
        self.topic, self.name = topic, f"{topic}{number}"
        self.random = random.Random(f"{seed}-{self.name}")
        self.producer = Producer({"bootstrap.servers": address, "linger.ms": 1, "message.timeout.ms": 300_000, **FAST,
                                  **TOPICS[topic][1]})
        self.acked: list[tuple[int, int, int]] = []
        self.pending = 0
        self.ends = threading.Event()
        self.fatal = ""

    def run(self):
        number = 0
        while not self.ends.is_set() and not self.fatal:
            if self.pending < 200:
                self._send(number)
                number += 1
                self.producer.poll(0.002)  # some hundred records a second are enough, and all must be kept in mind
                if self.random.random() < 0.02:
                    self.producer.poll(self.random.random() / 50)
            else:
                self.producer.poll(0.05)
        self.producer.flush(PATIENCE)

    def _send(self, number: int):
        size = 20_000 if self.random.random() < 0.02 else self.random.randrange(400)
        value = f"{self.name} {number} ".encode() + b"." * size
        partition = self.random.randrange(PARTITIONS)
        self.pending += 1
        self.producer.produce(self.topic, value, partition=partition, on_delivery=lambda e, m, n=number: self._told(e, m, n))

    def _told(self, error, message, number: int):
        self.pending -= 1
        if error is None:
            self.acked.append((message.partition(), message.offset(), number))
        elif self.topic != "leader":
            self.fatal = f"{self.name}: {error}"


class Committer(threading.Thread):
    """Commits rising offsets of one group; what was answered may never be lower again."""

    def __init__(self, address: str, group: str):
        super().__init__(daemon=True)
        self.name = group
        self.consumer = Consumer({"bootstrap.servers": address, "group.id": group, "enable.auto.commit": False, **FAST})
        self.answered = 0
        self.asked = 0
        self.count = 0
        self.ends = threading.Event()

    def run(self):
        while not self.ends.is_set():
            self.asked += 1
            try:
                told = self.consumer.commit(offsets=[TopicPartition("safe", 0, self.asked)], asynchronous=False)
                if told[0].error is None:
                    self.answered = self.asked
                    self.count += 1
            except KafkaException:
                time.sleep(0.02)
        self.consumer.close()

    def audit(self, address: str):
        answered = self.answered
        reader = Consumer({"bootstrap.servers": address, "group.id": self.name, **FAST})
        try:
            stored = max(0, reader.committed([TopicPartition("safe", 0)], timeout=PATIENCE)[0].offset)  # -1001: none
        finally:
            reader.close()
        if stored < answered or stored > self.asked:
            raise Broken(f"group {self.name}: {stored} is committed, {answered} was answered, {self.asked} asked")


class Auditor:
    """Reads what is new after each start, and from time to time everything again."""

    def __init__(self, address: str, writers: list[Writer]):
        self.address, self.writers = address, writers
        self.there: dict[tuple[str, int], list[tuple[str, int]]] = collections.defaultdict(list)  # by offset
        self.newest: dict[tuple[str, int, str], int] = collections.defaultdict(lambda: -1)
        self.checked: dict[str, int] = collections.defaultdict(int)  # acknowledgements of a writer, from the front

    def audit(self, all_again: bool):
        promised = {writer.name: len(writer.acked) for writer in self.writers}
        needed = collections.defaultdict(int)
        for writer in self.writers:
            for partition, offset, _ in writer.acked[self.checked[writer.name]:promised[writer.name]]:
                needed[writer.topic, partition] = max(needed[writer.topic, partition], offset + 1)
        consumer = Consumer({"bootstrap.servers": self.address, "group.id": "auditor", "enable.auto.commit": False,
                             "auto.offset.reset": "error", **FAST})
        try:
            for topic in TOPICS:
                for partition in range(PARTITIONS):
                    self._read(consumer, topic, partition, needed[topic, partition], all_again)
        finally:
            consumer.close()
        for writer in self.writers:
            for partition, offset, number in writer.acked[self.checked[writer.name]:promised[writer.name]]:
                found = self.there[writer.topic, partition][offset]
                if found != (writer.name, number):
                    raise Broken(f"{writer.topic}-{partition} offset {offset}: {writer.name} {number} was acknowledged, {found} is there")
            self.checked[writer.name] = promised[writer.name]

    def _read(self, consumer: Consumer, topic: str, partition: int, needed: int, all_again: bool):
        known = self.there[topic, partition]
        high = self._high_watermark(consumer, topic, partition, max(needed, len(known)))
        at = 0 if all_again else len(known)
        consumer.assign([TopicPartition(topic, partition, at)])
        end = time.monotonic() + PATIENCE
        while at < high:
            if time.monotonic() > end:
                raise Broken(f"{topic}-{partition}: offset {at} below the high watermark {high} cannot be read")
            for message in consumer.consume(min(high - at, 2_000), timeout=1):
                if message.error():
                    raise Broken(f"{topic}-{partition} at {at}: {message.error()}")
                if message.offset() != at:
                    raise Broken(f"{topic}-{partition}: offset {message.offset()} came instead of {at}")
                name, number, _ = message.value().decode().split(" ", 2)
                self._take(topic, partition, at, name, int(number))
                at += 1

    def _high_watermark(self, consumer: Consumer, topic: str, partition: int, needed: int) -> int:
        """With acks=1 a record is visible only after the next sync, which may be a moment away."""
        end = time.monotonic() + 10
        while True:
            low, high = consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=PATIENCE)
            if low != 0:
                raise Broken(f"{topic}-{partition} begins at {low}")
            if high >= needed:
                return high
            if time.monotonic() > end:
                raise Broken(f"{topic}-{partition} ends at {high}, {needed} was acknowledged or read before")
            time.sleep(0.02)

    def _take(self, topic: str, partition: int, offset: int, name: str, number: int):
        known = self.there[topic, partition]
        if offset < len(known):
            if known[offset] != (name, number):
                raise Broken(f"{topic}-{partition} offset {offset} was {known[offset]} and is {name} {number}")
            return
        if number <= self.newest[topic, partition, name]:
            raise Broken(f"{topic}-{partition} offset {offset}: {name} {number} comes twice or late")
        self.newest[topic, partition, name] = number
        known.append((name, number))


def stop_now(pid: int):
    """SIGSTOP, and no thread of the process runs any more: one has to take the signal before the others are told, which
    may be a while on a busy machine. A thread inside the kernel (D) stops before it returns."""
    os.kill(pid, signal.SIGSTOP)
    deadline = Deadline(PATIENCE)
    while True:
        states = {stat.read_text().rsplit(")", 1)[1].split()[0] for stat in pathlib.Path(f"/proc/{pid}/task").glob("*/stat")}
        if "T" in states and states <= {"T", "D"}:
            return
        if deadline.passed:
            raise Broken(f"process {pid} does not stop: {states}")
        time.sleep(0.001)


class Loop:
    def __init__(self, arguments):
        self.arguments = arguments
        self.random = random.Random(arguments.seed)
        self.broker = WeirBroker("kill-loop", arguments.weir.resolve(), {
            "mq.segment.bytes": 4 << 20, "mq.image.bytes": 4 << 20, "mq.log.io": "buffered"})
        self.volume = Volume() if arguments.power else None
        if self.volume:
            self.broker.data = self.volume.path / "data"
            for topic in set(TOPICS) - set(SURVIVE_POWER):
                del TOPICS[topic]
        self.starts = 0
        self.made: set[str] = set()

    def start(self):
        self.broker.settings["mq.log.io"] = ("buffered", "direct")[self.starts % 2]
        self.starts += 1
        self.broker.restart() if self.starts > 1 else self.broker.start()

    def die(self):
        """At any moment; one time in five the next start dies too, before or after it answers."""
        self.kill()
        while self.random.random() < 0.2:
            self.broker.settings["mq.log.io"] = self.random.choice(("buffered", "direct"))
            self.broker.child = self.broker._spawn()
            time.sleep(self.random.random() * 0.3)
            self.kill()
            self.starts += 1

    def kill(self):
        if self.volume:
            # A cut ends the program too: no answer may leave it once the file system is gone. A sync that is under way may
            # then well return without an error, though its journal was aborted.
            stop_now(self.broker.child.pid)
            self.volume.cut_power()
        self.broker.kill9()
        if self.volume:
            self.volume.mount_again()

    def make_topic(self, admin: AdminClient):
        name = f"made-{self.starts}"
        try:
            admin.create_topics([NewTopic(name, 1, 1)], request_timeout=2)[name].result(5)
            self.made.add(name)
        except Exception:  # the kill came first: nobody was told anything
            pass

    def run(self) -> str:
        self.start()
        address = self.broker.address
        admin = AdminClient({"bootstrap.servers": address, **FAST})
        for future in admin.create_topics([NewTopic(n, PARTITIONS, 1, config=c) for n, (c, _) in TOPICS.items()]).values():
            future.result(PATIENCE)
        writers = [Writer(address, topic, n, str(self.arguments.seed)) for topic in TOPICS for n in range(2)]
        committers = [Committer(address, f"group-{n}") for n in range(2)]
        auditor = Auditor(address, writers)
        for thread in (*writers, *committers):
            thread.start()
        for kill in range(1, self.arguments.kills + 1):
            maker = threading.Thread(target=self.make_topic, args=(admin,))
            maker.start()
            time.sleep(0.02 + self.random.random() * self.arguments.work_seconds)
            self.die()
            maker.join()
            self.start()
            self.judge(auditor, committers, admin, writers, all_again=kill % 20 == 0)
            if kill % 10 == 0:
                print(f"{kill} kills, {sum(len(w.acked) for w in writers)} records acknowledged", flush=True)
        for thread in (*writers, *committers):
            thread.ends.set()
        for thread in (*writers, *committers):
            thread.join(PATIENCE)
        self.judge(auditor, committers, admin, writers, all_again=True)
        self.broker.stop()
        return (f"KILLS {self.broker.kills} STARTS {self.starts} RECORDS {sum(len(w.acked) for w in writers)} "
                f"COMMITS {sum(c.count for c in committers)}")

    def judge(self, auditor, committers, admin, writers, all_again: bool):
        auditor.audit(all_again)
        for committer in committers:
            committer.audit(self.broker.address)
        missing = self.made - set(admin.list_topics(timeout=PATIENCE).topics)
        if missing:
            raise Broken(f"topics that were made are gone: {missing}")
        for writer in writers:
            if writer.fatal:
                raise Broken(writer.fatal)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--weir", type=pathlib.Path, required=True)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work-seconds", type=float, default=0.6, help="at most, between a start and the kill")
    parser.add_argument("--power", action="store_true")
    parser.add_argument("--keep", action="store_true", help="leave the folder and the volume of a loop that found something")
    loop = Loop(parser.parse_args())
    try:
        print(loop.run(), flush=True)
    except Broken as broken:
        print(f"BROKEN after {loop.broker.kills} kills: {broken}\n{loop.broker.child.tail(20)}", flush=True)
        if loop.arguments.keep:
            loop.broker.kill9()
            print(f"kept: {loop.broker.folder} {loop.broker.data}")
            os._exit(1)
        return 1
    finally:
        loop.broker.remove()
        if loop.volume:
            loop.volume.remove()
    return 0


if __name__ == "__main__":
    sys.exit(main())
