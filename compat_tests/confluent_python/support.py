"""Shared by the parts of the confluent-kafka-python client: its admin client, topics, reading a topic."""

import functools
import time

from confluent_kafka import Consumer, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from harness.records import headers_of, key_of, value_of
from python_clients.support import BROKER, PARTITIONS, SEED, WAIT_SECONDS, require, until


@functools.cache
def admin() -> AdminClient:
    """One for the whole run: a client that is collected before its future is done cancels the call."""
    return AdminClient({"bootstrap.servers": BROKER})


def create_topic(name: str, partitions: int = PARTITIONS, config: dict | None = None):
    new = NewTopic(name, partitions, 1, config=config or {})
    admin().create_topics([new])[name].result(WAIT_SECONDS)
    # Kafka's controller has answered, but its broker may learn of the topic a moment later.
    until(f"{name} has {partitions} partitions", lambda: partitions_of(name) == partitions)


def partitions_of(topic: str) -> int:
    known = admin().list_topics(timeout=WAIT_SECONDS).topics
    return len(known[topic].partitions) if topic in known else 0


def read_all(topic: str, partitions: int = PARTITIONS, **config):
    """Every record of the topic from its start to the ends seen at the beginning."""
    consumer = Consumer({"bootstrap.servers": BROKER, "group.id": "reader", "enable.auto.commit": False,
                         "auto.offset.reset": "error", **config})
    try:
        bounds = [consumer.get_watermark_offsets(TopicPartition(topic, p), timeout=WAIT_SECONDS) for p in range(partitions)]
        consumer.assign([TopicPartition(topic, p, low) for p, (low, _) in enumerate(bounds)])
        left = sum(high - low for low, high in bounds)
        end = time.monotonic() + WAIT_SECONDS
        while left:
            messages = consumer.consume(min(left, 1_000), timeout=1)
            require(messages or time.monotonic() < end, f"{left} records of {topic} did not come")
            for message in messages:
                if message.error():
                    raise KafkaException(message.error())
                yield message
            left -= len(messages)
    finally:
        consumer.close()


def check_content(message, codec: str) -> int:
    """The id of a record whose key, value and headers are those that this id must have."""
    record_id = int(message.value().split(b"-", 2)[1])
    require(message.key() == key_of(record_id), f"record {record_id} has the key {message.key()!r}")
    require(message.value() == value_of(record_id, SEED), f"record {record_id} has another value: {message.value()!r}")
    require(message.headers() == headers_of(record_id, codec), f"record {record_id} has the headers {message.headers()}")
    require(message.timestamp()[1] > 0, f"record {record_id} has no timestamp")
    return record_id
