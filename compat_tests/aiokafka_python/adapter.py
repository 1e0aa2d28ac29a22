"""aiokafka behind the adapter of the shared tests: its loop runs in a thread of its own, and the adapter's calls wait for it."""

import asyncio
import functools
import threading
import time

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from python_clients import adapter
from python_clients.support import BROKER, PARTITIONS, WAIT_SECONDS, require, until

_loop = asyncio.new_event_loop()
threading.Thread(target=_loop.run_forever, daemon=True).start()


def run(coroutine, seconds: float = 2 * WAIT_SECONDS):
    return asyncio.run_coroutine_threadsafe(coroutine, _loop).result(seconds)


async def _started(make):
    """Its objects must be made inside the loop."""
    made = make()
    await made.start()
    return made


class Client(adapter.Adapter):
    @functools.cached_property
    def admin(self) -> AIOKafkaAdminClient:
        return run(_started(lambda: AIOKafkaAdminClient(bootstrap_servers=BROKER)))

    def create_topic(self, name: str, partitions: int = PARTITIONS, config: dict | None = None):
        told = run(self.admin.create_topics([NewTopic(name, partitions, 1, topic_configs=config or {})]))
        require(told.topic_errors[0][1] == 0, f"{told}")
        # Kafka's controller has answered, but its broker may learn of the topic a moment later.
        until(f"{name} has {partitions} partitions", lambda: self.partitions_of(name) == partitions)

    def partitions_of(self, topic: str) -> int:
        if topic not in run(self.admin.list_topics()):
            return 0
        (told,) = run(self.admin.describe_topics([topic]))
        return len(told["partitions"])

    def send_all(self, topic, records, delivered, *, codec="none", acks="all", idempotent=None):
        run(self._send_all(topic, records, delivered, compression_type=None if codec == "none" else codec, acks=acks,
                           enable_idempotence=self.idempotent if idempotent is None else idempotent), 5 * WAIT_SECONDS)

    @staticmethod
    async def _send_all(topic, records, delivered, **config):
        producer = await _started(lambda: AIOKafkaProducer(bootstrap_servers=BROKER, linger_ms=5, **config))
        futures = []

        def done(future, record_id: int):
            if not future.exception() and future.result():  # nothing is told with acks=0
                delivered(record_id, future.result().partition, future.result().offset)

        for record in records:
            if record is None:
                await asyncio.sleep(0.02)
                continue
            future = await producer.send(topic, record.value, record.key, record.partition, headers=record.headers)
            future.add_done_callback(functools.partial(done, record_id=record.record_id))
            futures.append(future)
        await asyncio.gather(*futures)
        await producer.stop()

    def read_all(self, topic, partitions=PARTITIONS):
        return iter(run(self._read_all([TopicPartition(topic, p) for p in range(partitions)])))

    @staticmethod
    async def _read_all(parts) -> list[adapter.Record]:
        consumer = AIOKafkaConsumer(bootstrap_servers=BROKER, auto_offset_reset="none")
        await consumer.start()
        consumer.assign(parts)
        await consumer.seek_to_beginning(*parts)
        ends, starts = await consumer.end_offsets(parts), await consumer.beginning_offsets(parts)
        wanted = sum(ends.values()) - sum(starts.values())
        end = time.monotonic() + WAIT_SECONDS
        records = []
        while len(records) < wanted:
            require(time.monotonic() < end, f"{len(records)} of {wanted} records came")
            for batch in (await consumer.getmany(timeout_ms=200)).values():
                records += [adapter.Record(r.partition, r.offset, r.key, r.value, r.headers, r.timestamp) for r in batch]
        await consumer.stop()
        return records

    def member(self, group, topic, **config):
        return Member(group, topic, **config)


class Member(adapter.Member, ConsumerRebalanceListener):
    """All of it runs in the loop; the thread of the tests only waits."""

    def __init__(self, group: str, topic: str, **config):
        super().__init__()
        self._topic = topic
        self._next: dict[TopicPartition, int] = {}
        self.consumer = run(_started(lambda: AIOKafkaConsumer(
            bootstrap_servers=BROKER, group_id=group, auto_offset_reset="earliest", enable_auto_commit=False,
            heartbeat_interval_ms=200, session_timeout_ms=6000, **config)))
        self.consumer.subscribe([topic], listener=self)

    async def _commit(self):
        if self._next:
            await self.consumer.commit(self._next)
            self._next = {}

    async def on_partitions_assigned(self, assigned):
        self.assigned = {part.partition for part in assigned}

    async def on_partitions_revoked(self, revoked):
        await self._commit()
        self.assigned = set()

    def poll(self):
        run(self._poll())

    async def _poll(self):
        for part, batch in (await self.consumer.getmany(timeout_ms=50, max_records=200)).items():
            self.reads.extend((one.partition, one.offset, int(one.value)) for one in batch)
            self._next[part] = batch[-1].offset + 1

    def commit_instead(self, offsets):
        self._next = {TopicPartition(self._topic, p): at for p, at in offsets.items()}
        run(self._commit())

    def committed(self, partitions):
        return {p: run(self.consumer.committed(TopicPartition(self._topic, p))) for p in partitions}

    def leave(self):
        run(self._commit())
        run(self.consumer.stop())
