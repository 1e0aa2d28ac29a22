"""Groups: members join, share, leave; what is committed is where the next member goes on."""

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from confluent_python.support import create_topic
from python_clients.support import BROKER, PARTITIONS, WAIT_SECONDS, require, until

THIRD = 3_000


class Member:
    """A consumer that commits all it has read when it is told to, when partitions are taken from it, and as it leaves."""

    def __init__(self, group: str, topic: str, **config):
        self.assigned: set[int] = set()
        self.reads: list[tuple[int, int, int]] = []
        self._next: dict[int, int] = {}
        self._topic = topic
        self.consumer = Consumer({"bootstrap.servers": BROKER, "group.id": group, "auto.offset.reset": "earliest",
                                  "enable.auto.commit": False, "heartbeat.interval.ms": 200, "session.timeout.ms": 6000,
                                  **config})
        self.consumer.subscribe([topic], on_assign=self._on_assign, on_revoke=self._on_revoke)

    def _on_assign(self, _, partitions):
        self.assigned = {part.partition for part in partitions}

    def _on_revoke(self, _, partitions):
        self.commit()
        self.assigned = set()

    def poll(self, wanted: int = 200):
        for message in self.consumer.consume(wanted, timeout=0.05):
            if message.error():
                raise KafkaException(message.error())
            self.reads.append((message.partition(), message.offset(), int(message.value())))
            self._next[message.partition()] = message.offset() + 1

    def commit_instead(self, offsets: dict[int, int]):
        """Commits these and forgets what was read, so that leaving commits nothing more."""
        self._next = dict(offsets)
        self.commit()

    def commit(self):
        if self._next:
            offsets = [TopicPartition(self._topic, partition, at) for partition, at in self._next.items()]
            self.consumer.commit(offsets=offsets, asynchronous=False)
            self._next = {}

    def leave(self):
        self.commit()
        self.consumer.close()


def produce_numbers(topic: str, first: int, count: int):
    producer = Producer({"bootstrap.servers": BROKER, "enable.idempotence": True})
    for number in range(first, first + count):
        producer.produce(topic, b"%d" % number, partition=number % PARTITIONS)
    require(producer.flush(WAIT_SECONDS) == 0, "not all was delivered")


def join_share_leave_resume():
    topic = "grouped"
    create_topic(topic)
    produce_numbers(topic, 0, THIRD)
    first = Member("group", topic)
    # It stops in the middle: what it has read is committed, what it has not is for the next members.
    until("the first member has read 2,000", lambda: len(first.reads) >= 2_000, first.poll)
    first.leave()
    second, third = Member("group", topic), Member("group", topic)

    def poll_both():
        second.poll()
        third.poll()

    def total() -> int:
        return len(first.reads) + len(second.reads) + len(third.reads)

    until("two members share 3 and 3", lambda: len(second.assigned) == len(third.assigned) == PARTITIONS // 2, poll_both)
    require(not second.assigned & third.assigned, f"both have {second.assigned & third.assigned}")
    produce_numbers(topic, THIRD, THIRD)
    until("two thirds are read", lambda: total() >= 2 * THIRD, poll_both)
    require(second.reads and third.reads, "one of the two members read nothing")
    third.leave()
    until("the member that stays has all", lambda: len(second.assigned) == PARTITIONS, second.poll)
    produce_numbers(topic, 2 * THIRD, THIRD)
    until("all is read", lambda: total() >= 3 * THIRD, second.poll)
    second.leave()
    numbers = sorted(number for member in (first, second, third) for _, _, number in member.reads)
    require(numbers == list(range(3 * THIRD)), f"{len(numbers)} reads, {len(set(numbers))} different, of {3 * THIRD}")


def committed_positions_are_resumed():
    """Commits behind what was read, in some partitions only: the next member begins exactly there, and nowhere else."""
    topic, group = "resumed", "resuming"
    create_topic(topic)
    produce_numbers(topic, 0, 600)
    first = Member(group, topic)
    until("all is read", lambda: len(first.reads) == 600, first.poll)
    wanted = {0: 7, 1: 50, 2: 100}
    first.commit_instead(wanted)
    first.leave()
    next_member = Member(group, topic)
    told = next_member.consumer.committed([TopicPartition(topic, p) for p in range(PARTITIONS)], timeout=WAIT_SECONDS)
    require({part.partition: part.offset for part in told if part.offset >= 0} == wanted, f"committed {told}")
    expected = sum(100 - wanted.get(p, 0) for p in range(PARTITIONS))
    until("the rest is read", lambda: len(next_member.reads) >= expected, next_member.poll)
    starts = {p: min(at for of, at, _ in next_member.reads if of == p) for p in {of for of, _, _ in next_member.reads}}
    require(starts == {0: 7, 1: 50, 3: 0, 4: 0, 5: 0}, f"begins at {starts}")
    require(len(next_member.reads) == expected, f"{len(next_member.reads)} reads instead of {expected}")
    next_member.leave()


def static_member_keeps_its_partitions():
    """A static member that goes away and comes back within its session gets the same share without a rebalance."""
    topic, group = "static", "static-group"
    create_topic(topic)

    def member(name: str) -> Member:
        return Member(group, topic, **{"group.instance.id": name, "session.timeout.ms": 30_000})

    one, two = member("one"), member("two")

    def poll_both():
        one.poll()
        two.poll()

    until("both have 3", lambda: len(one.assigned) == len(two.assigned) == PARTITIONS // 2, poll_both)
    before_one, before_two = one.assigned, two.assigned
    two.consumer.close()
    again = member("two")
    until("it has its partitions again", lambda: again.assigned == before_two, again.poll)
    one.poll()
    require(one.assigned == before_one, f"the other member had {before_one} and has {one.assigned}")
    one.leave()
    again.leave()
