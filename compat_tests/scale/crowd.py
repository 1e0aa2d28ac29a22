#!/usr/bin/env python3
"""A process full of group members, made to be killed: joins them, prints `settled`, and heartbeats until it dies."""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from scale.flock import HELLO, Flock, raise_descriptor_limit  # noqa: E402
from scale.member import Member, Settled, each_partition_once  # noqa: E402

JOIN_SECONDS = 90
LIFE_SECONDS = 120


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int)
    parser.add_argument("--group")
    parser.add_argument("--topic")
    parser.add_argument("--partitions", type=int)
    parser.add_argument("--members", type=int)
    parser.add_argument("--session-ms", type=int)
    options = parser.parse_args()
    raise_descriptor_limit()
    topics = {options.topic: options.partitions}
    with Flock(options.port) as flock:
        members = [Member(flock, options.group, topics, session_ms=options.session_ms, heartbeat_seconds=2)
                   for _ in range(options.members)]
        for member, channel in zip(members, flock.open_many(options.members, HELLO)):
            member.start_on(channel)
        flock.run(Settled(members), JOIN_SECONDS)
        print("settled" if each_partition_once(members, topics) else "the partitions are not dealt well", flush=True)
        flock.run(lambda: False, LIFE_SECONDS)


if __name__ == "__main__":
    main()
