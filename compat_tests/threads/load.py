#!/usr/bin/env python3
"""What one thread cannot show: a broker, built with a sanitizer, under many clients at once, for some seconds in each way of
writing the log (mq.log.io). Segments of 1 MiB roll all the time, retention looks every 200 ms, the scrub has no bound, topics and
group members come and go, configs change, records are deleted; then SIGTERM in the middle of it.

It holds that the broker ends with 0, that no sanitizer spoke, that no offset was given twice, and that no answer was
one that the load does not explain. `./dev tsan` runs it for a minute and more, `./dev test` for some seconds.
"""

import argparse
import collections
import pathlib
import random
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from harness.broker import WeirBroker  # noqa: E402
from harness.ports import free_port  # noqa: E402
from raw.client import Connection  # noqa: E402
from threads.clients import (ASYNC, MEMORY, PARTITIONS, SYNCED, TOPICS, Admin, Broken, Fetcher, Member, Passer, Producer,  # noqa: E402
                             Scraper)

SPOKEN = ("ThreadSanitizer", "AddressSanitizer", "LeakSanitizer", "runtime error:", "CHECK failed", "cannot be read",
          "damage", "unhandled exception")
STOP_SECONDS = 60


def settings(io: str, http_port: int) -> dict:
    return {
        "mq.log.io": io, "mq.http.listen": f"127.0.0.1:{http_port}", "mq.segment.bytes": 1 << 20, "mq.image.bytes": 4 << 20,
        "mq.read.cache.bytes": 2 << 20, "mq.memory.bytes": 2 << 20, "mq.scrub.bytes.per.second": 1 << 30,
        "mq.scrub.interval.ms": 1_000, "log.retention.check.interval.ms": 200, "log.retention.ms": 300_000,
        "offsets.topic.num.partitions": 3, "group.min.session.timeout.ms": 1_000, "num.network.threads": 3,
    }


def make_topics(port: int):
    connection = Connection(port)
    connection.call("CreateTopics", 4, {"timeoutMs": 60_000, "Topics": [
        {"Name": name, "NumPartitions": PARTITIONS, "ReplicationFactor": 1,
         "Configs": [{"Name": n, "Value": v} for n, v in ({"retention.ms": "1000"} | config).items()]}
        for name, config in TOPICS.items()]}, 60)
    connection.close()


class Life:
    """One broker from its start to its stop under load. `taken` is what was given before, on the same folder."""

    def __init__(self, broker: WeirBroker, http_port: int, seed, taken: dict):
        lock = threading.Lock()
        port = broker.port
        self.broker = broker
        self.clients = [
            *(Producer(port, f"producer-{n}", seed, topic, taken, lock)
              for n, topic in enumerate((SYNCED, SYNCED, ASYNC, MEMORY))),
            *(Fetcher(port, f"fetcher-{n}", seed, topic) for n, topic in enumerate((SYNCED, SYNCED, ASYNC, MEMORY))),
            *(Member(port, f"member-{n}", seed, f"group-{n % 2}") for n in range(4)),
            *(Admin(port, f"admin-{n}", seed) for n in range(2)),
            Scraper(port, "scraper", seed, http_port), Passer(port, "passer", seed)]

    def run(self, seconds: float):
        for client in self.clients:
            client.start()
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.broker.child.running() and not any(c.problem for c in self.clients):
            time.sleep(0.1)
        alive = self.broker.child.running()
        if alive:
            self.broker.child.process.terminate()  # they go on: it is a stop under load
            code = self.broker.child.wait(STOP_SECONDS)
        else:
            code = self.broker.child.wait(1)
        for client in self.clients:
            client.ends.set()
        for client in self.clients:
            client.join(60)
        self.judge(alive, code)

    def judge(self, alive: bool, code: int):
        log = self.broker.log.read_text(errors="replace")
        spoken = [line for line in log.splitlines() if any(word in line for word in SPOKEN)]
        if spoken:
            at = log.index(spoken[0])
            raise Broken(f"the broker's log:\n{log[at:at + 12_000]}")
        if not alive or code != 0:
            raise Broken(f"the broker ended with {code}{'' if alive else ' by itself'}\n{self.broker.child.tail(30)}")
        problems = [client.problem for client in self.clients if client.problem]
        if problems:
            raise Broken("\n".join(problems))


def newest_segment(data: pathlib.Path) -> int:
    """How far the numbers of the segments have gone."""
    return max((int(file.stem) for file in (data / "commitlog").glob("*.log")), default=0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--weir", type=pathlib.Path, required=True)
    parser.add_argument("--seconds", type=float, default=30, help="of load in each way of writing")
    parser.add_argument("--lives", type=int, default=2, help="stops and starts within that time")
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}", flush=True)
    passed = failed = 0
    for io in ("buffered", "direct"):
        http_port = free_port()
        broker = WeirBroker(f"threads-{io}", arguments.weir.resolve(), settings(io, http_port))
        taken: dict = {}
        steps: collections.Counter = collections.Counter()
        try:
            for life in range(arguments.lives):
                broker.start() if life == 0 else broker.restart()
                if life == 0:
                    make_topics(broker.port)
                one = Life(broker, http_port, f"{arguments.seed}-{io}-{life}", taken)
                one.run(arguments.seconds / arguments.lives)
                steps.update({type(client).__name__: 0 for client in one.clients})
                for client in one.clients:
                    steps[type(client).__name__] += client.done
                print(f"{io}, life {life + 1}: {dict(steps)}, segment {newest_segment(broker.data)}", flush=True)
                passed += 1
            if idle := [kind for kind, done in steps.items() if done == 0]:
                raise Broken(f"did nothing: {', '.join(idle)}")
        except Broken as broken:
            failed += 1
            print(f"{io}: {broken}", flush=True)
        finally:
            broker.remove()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
