"""A stop under load with very many partitions: how long the broker takes, and that the next start has them all."""

import time

from outages.world import World
from raw.client import Connection
from threads.clients import Broken

PER_TOPIC, TOPICS_A_REQUEST = 500, 4


def stop_with_many(loop) -> str:
    """Twice: by SIGTERM in either mode of mq.log.io."""
    arguments = loop.arguments
    print(f"seed {arguments.seed}, data on {loop.place.kind}", flush=True)
    world = World(arguments, str(arguments.seed), loop.faults, loop.place, 0)
    world.stop_patience = 120
    # Each segment begins with the state of all partitions.
    world.broker.settings |= {"mq.segment.bytes": arguments.segment_mib << 20}
    told = []
    try:
        world.begin()
        make(world, arguments.partitions)
        for mode in ("buffered", "direct"):
            told.append(one_stop(world, mode, arguments.partitions))
        world.finish()
        told.append(f"stop of the {mode} life {world.stops['healthy'] * 1000:.0f} ms at most")
    except Broken as broken:
        loop.broken += 1
        told.append(f"BROKEN: {broken}\n{world.tail()}")
    finally:
        world.remove(keep=False)
    return f"PARTITIONS {arguments.partitions}: " + "; ".join([*told, f"RSS {world.sums['rss'] >> 20} MiB"])


def make(world, count: int):
    connection = Connection(world.broker.port)
    names = [f"many-{n}" for n in range(-(-count // PER_TOPIC))]
    for first in range(0, len(names), TOPICS_A_REQUEST):
        answer = connection.call("CreateTopics", 4, {"timeoutMs": 120_000, "Topics": [
            {"Name": name, "NumPartitions": PER_TOPIC, "ReplicationFactor": 1} for name in names[first:first + TOPICS_A_REQUEST]]}, 180)
        if any(topic["ErrorCode"] for topic in answer["Topics"]):
            raise Broken(f"CreateTopics: {answer}")
    connection.close()


def one_stop(world, mode: str, count: int) -> str:
    world.arguments.io = mode
    world.work()
    began = time.monotonic()
    world.terminate("healthy")
    stop = time.monotonic() - began
    began = time.monotonic()
    world.start()
    start = time.monotonic() - began
    world.await_writes(60)
    world.audit(quick=True)
    world.load.go()
    connection = Connection(world.broker.port)
    there = sum(len(topic["Partitions"]) for topic in connection.call("Metadata", 4, {"Topics": None}, 60)["Topics"]
                if topic["Name"].startswith("many-"))
    connection.close()
    if there < count:
        raise Broken(f"{there} of {count} partitions are there")
    return f"stop in {stop * 1000:.0f} ms, start {mode} in {start * 1000:.0f} ms"
