#!/usr/bin/env python3
"""Outages: a broker under load gets failing syncs, no descriptors, a full disk, a hanging one; is stopped or killed in the middle or
behind it, and started again, in one mode of `mq.log.io` or the other, after a failure with or without `weir log allow-writes`. Nothing
that was answered may be lost, no offset be given twice, each outage must end as the message of the broker said, each stop
within 5 seconds, and its memory stay below 256 MiB.

  loop.py --weir BINARY --rounds N --seed S [--each] [--only KIND] [--io MODE]
  loop.py --weir BINARY --partitions N

After a broken promise it goes on in a new folder. Ends with `OUTAGES n STARTS n RECORDS n COMMITS n RSS n MiB STOPS n ms
BROKEN n`, and code 1 if anything was broken.
"""

import argparse
import collections
import contextlib
import pathlib
import random
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from outages import kinds  # noqa: E402
from outages.faults import Faults  # noqa: E402
from outages.partitions import stop_with_many  # noqa: E402
from outages.place import make_place  # noqa: E402
from outages.world import World  # noqa: E402
from threads.clients import Broken  # noqa: E402

FOLDER_ROUNDS = 40  # then a new folder, so that all of it can be read again now and then


def named_kinds(arguments) -> list:
    if arguments.only:
        return [kind for kind in kinds.KINDS if kind.__name__ in arguments.only]
    return list(kinds.SHORT if arguments.each else kinds.KINDS)


def drawn_kinds(arguments, draw: random.Random):
    named = named_kinds(arguments)
    if arguments.each:
        draw.shuffle(named)
    while True:
        yield from named if arguments.each else draw.choices(named, [kinds.WEIGHTS[kind] for kind in named], k=1)


class Loop:
    def __init__(self, arguments):
        self.arguments = arguments
        self.random = random.Random(arguments.seed)
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="weir-outages-"))
        self.faults = Faults(self.home)
        self.place = make_place(self.home, self.faults, arguments.plain)
        self.sums: collections.Counter = collections.Counter()
        self.stops: dict[str, float] = {}
        self.broken = 0

    def run(self) -> str:
        print(f"seed {self.arguments.seed}, data on {self.place.kind}", flush=True)
        kind_of = drawn_kinds(self.arguments, self.random)
        done = 0
        while done < self.arguments.rounds:
            done += self.folder(done, kind_of)
        for state, seconds in sorted(self.stops.items(), key=lambda item: -item[1]):
            print(f"longest stop, {state}: {seconds * 1000:.0f} ms")
        sums = self.sums
        return (f"OUTAGES {done} STARTS {sums['starts']} RECORDS {sums['records']} COMMITS {sums['commits']} "
                f"RSS {sums['rss'] >> 20} MiB STOPS {max(self.stops.values(), default=0) * 1000:.0f} ms BROKEN {self.broken}")

    def folder(self, first: int, kind_of) -> int:
        """Rounds on one data folder, until there were enough or a promise was broken; how many."""
        world = World(self.arguments, f"{self.arguments.seed}-{first}", self.faults, self.place, first)
        rounds = min(FOLDER_ROUNDS, self.arguments.rounds - first)
        done, broken_before = 0, self.broken
        try:
            world.begin()
            while done < rounds:
                done += 1
                print(f"{first + done}: {world.round(next(kind_of))}", flush=True)
            world.finish()
        except (Broken, OSError, RuntimeError, EOFError) as broken:
            self.broken += 1
            print(f"BROKEN seed {self.arguments.seed} round {first + done}: {world.story()}\n  {type(broken).__name__}: {broken}\n"
                  f"{world.tail()}", flush=True)
        finally:
            self.add(world)
            world.remove(keep=self.arguments.keep and self.broken > broken_before)
        return max(done, 1)

    def add(self, world: World):
        world.count()
        for name in ("starts", "records", "commits"):
            self.sums[name] += world.sums[name]
        self.sums["rss"] = max(self.sums["rss"], world.sums["rss"])
        for state, seconds in world.stops.items():
            self.stops[state] = max(self.stops.get(state, 0), seconds)

    def remove(self):
        self.faults.close()
        with contextlib.suppress(Exception):
            self.place.remove()
        shutil.rmtree(self.home, ignore_errors=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--weir", type=pathlib.Path, required=True)
    parser.add_argument("--rounds", type=int, help="200 by default; with --each, one of each kind")
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    parser.add_argument("--each", action="store_true", help="every kind in turn, in an order that the seed draws")
    parser.add_argument("--only", nargs="+", choices=[kind.__name__ for kind in kinds.KINDS], help="these kinds")
    parser.add_argument("--io", choices=("buffered", "direct"), help="this mode only")
    parser.add_argument("--plain", action="store_true", help="no file system of its own: the full disk is the preloaded library's too")
    parser.add_argument("--work-seconds", type=float, default=0.6, help="at most, of load before an outage")
    parser.add_argument("--partitions", type=int, help="no outage: a stop under load with so many partitions")
    parser.add_argument("--segment-mib", type=int, default=128, help="with --partitions: mq.segment.bytes")
    parser.add_argument("--keep", action="store_true", help="leave the broker's log of what was broken")
    arguments = parser.parse_args()
    arguments.rounds = arguments.rounds or (len(named_kinds(arguments)) if arguments.each else 200)
    loop = Loop(arguments)
    try:
        if arguments.partitions:
            print(stop_with_many(loop), flush=True)
        else:
            print(loop.run(), flush=True)
    finally:
        loop.remove()
    return 1 if loop.broken else 0


if __name__ == "__main__":
    sys.exit(main())
