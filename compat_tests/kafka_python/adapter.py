"""kafka-python behind the adapter of the shared tests. Written for its line 3; old_releases runs it with line 2.0 too."""

import functools
import threading
import time
from collections import deque

import kafka
from kafka import ConsumerRebalanceListener, KafkaConsumer, KafkaProducer, OffsetAndMetadata, TopicPartition
from kafka.admin import KafkaAdminClient, NewTopic

from python_clients import adapter
from python_clients.support import BROKER, PARTITIONS, WAIT_SECONDS, require, until


class Client(adapter.Adapter):
    null_headers = False  # its send() refuses them

    @functools.cached_property
    def admin(self) -> KafkaAdminClient:
        return KafkaAdminClient(bootstrap_servers=BROKER)

    def create_topic(self, name: str, partitions: int = PARTITIONS, config: dict | None = None):
        self.admin.create_topics([NewTopic(name, partitions, 1, topic_configs=config or {})])
        # Kafka's controller has answered, but its broker may learn of the topic a moment later.
        until(f"{name} has {partitions} partitions", lambda: self.partitions_of(name) == partitions)

    def partitions_of(self, topic: str) -> int:
        if topic not in self.admin.list_topics():
            return 0
        (told,) = self.admin.describe_topics([topic])
        return len(told["partitions"])

    def settings(self, idempotent: bool | None) -> dict:
        return {"enable_idempotence": self.idempotent if idempotent is None else idempotent}

    def send_all(self, topic, records, delivered, *, codec="none", acks="all", idempotent=None):
        producer = KafkaProducer(bootstrap_servers=BROKER, acks=acks, linger_ms=5, compression_type=None if codec == "none" else codec,
                                 **self.settings(idempotent))
        futures = []
        for record in records:
            if record is None:
                time.sleep(0.02)  # the sender has a thread of its own
                continue
            future = producer.send(topic, record.value, record.key, headers=record.headers, partition=record.partition)
            future.add_callback(lambda told, i=record.record_id: delivered(i, told.partition, told.offset))
            futures.append(future)
        for future in futures:
            future.get(WAIT_SECONDS)
        producer.close()

    def read_all(self, topic, partitions=PARTITIONS):
        parts = [TopicPartition(topic, p) for p in range(partitions)]
        consumer = KafkaConsumer(bootstrap_servers=BROKER, auto_offset_reset="none", enable_auto_commit=False, group_id=None)
        try:
            consumer.assign(parts)
            consumer.seek_to_beginning(*parts)
            left = sum(consumer.end_offsets(parts).values()) - sum(consumer.beginning_offsets(parts).values())
            end = time.monotonic() + WAIT_SECONDS
            while left > 0:
                require(time.monotonic() < end, f"nothing more of {topic} for {WAIT_SECONDS} s, {left} records are missing")
                for batch in consumer.poll(timeout_ms=200, max_records=2_000).values():
                    left -= len(batch)
                    end = time.monotonic() + WAIT_SECONDS
                    for one in batch:
                        yield adapter.Record(one.partition, one.offset, one.key, one.value, one.headers, one.timestamp)
        finally:
            consumer.close()

    def member(self, group, topic, **config):
        return Member(group, topic, **config)


class Listener(ConsumerRebalanceListener):
    """For line 2: called by the thread that polls, so it may block."""

    def __init__(self, member: "Member"):
        self._member = member

    def on_partitions_assigned(self, assigned):
        self._member.assigned = {part.partition for part in assigned}

    def on_partitions_revoked(self, revoked):
        self._member.commit()
        self._member.assigned = set()


class AsyncListener(getattr(kafka, "AsyncConsumerRebalanceListener", object)):
    """For line 3: called in its network thread, which refuses calls that block."""

    def __init__(self, member: "Member"):
        self._member = member

    async def on_partitions_assigned(self, assigned):
        self._member.assigned = {part.partition for part in assigned}

    async def on_partitions_revoked(self, revoked):
        if offsets := self._member.taken():
            await self._member.consumer.commit_async(offsets)
        self._member.assigned = set()


class Member(adapter.Member):
    """Has a thread of its own, which alone touches the consumer: joining blocks until all members have joined."""

    def __init__(self, group: str, topic: str, **config):
        super().__init__()
        self._topic = topic
        self._next: dict[TopicPartition, OffsetAndMetadata] = {}
        self._calls: deque = deque()
        self._stopped = False
        self._fault: Exception | None = None
        self.consumer = KafkaConsumer(bootstrap_servers=BROKER, group_id=group, auto_offset_reset="earliest", enable_auto_commit=False,
                                      heartbeat_interval_ms=200, session_timeout_ms=6000, **config)
        self.consumer.subscribe([topic], listener=(AsyncListener if hasattr(kafka, "AsyncConsumerRebalanceListener") else Listener)(self))
        # A member of line 3 that joins before it knows the partitions joins again, and may then stand still (FINDINGS.md).
        until(f"the member knows the partitions of {topic}", lambda: self.consumer.partitions_for_topic(topic))
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        try:
            while not self._stopped:
                while self._calls:
                    self._calls.popleft()()
                for part, batch in self.consumer.poll(timeout_ms=50, max_records=200).items():
                    self.reads.extend((one.partition, one.offset, int(one.value)) for one in batch)
                    self._next[part] = position(batch[-1].offset + 1)
            self.commit()
            self.consumer.close()
        except Exception as fault:
            self._fault = fault

    def taken(self) -> dict[TopicPartition, OffsetAndMetadata]:
        """What is to be committed, once."""
        offsets, self._next = self._next, {}
        return offsets

    def commit(self):
        if self._next:
            self.consumer.commit(self.taken())

    def poll(self):
        if self._fault:
            raise self._fault
        time.sleep(0.01)

    def _call(self, function):
        """The answer of `function`, run by the member's thread."""
        answers: list = []
        self._calls.append(lambda: answers.append(function()))
        until("the member's thread has answered", lambda: answers, self.poll)
        return answers[0]

    def commit_instead(self, offsets):
        def commit():
            self._next = {TopicPartition(self._topic, p): position(at) for p, at in offsets.items()}
            self.commit()

        self._call(commit)

    def committed(self, partitions):
        return self._call(lambda: {p: self.consumer.committed(TopicPartition(self._topic, p)) for p in partitions})

    def leave(self):
        self._stopped = True
        self._thread.join(WAIT_SECONDS)
        self.poll()
        require(not self._thread.is_alive(), "the member does not end")


def position(offset: int) -> OffsetAndMetadata:
    """Line 2.0 has two fields, later ones a leader epoch too."""
    return OffsetAndMetadata(offset, "", *[-1] * (len(OffsetAndMetadata._fields) - 2))
