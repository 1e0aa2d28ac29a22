"""Shared by the parts of the confluent-kafka-python client: settings from the environment, test lines, reading a topic."""

import functools
import os
import pathlib
import time
import traceback

from confluent_kafka import Consumer, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from harness.records import headers_of, key_of, value_of

BROKER = os.environ["WEIR_BROKER"]
SEED = int(os.environ["WEIR_SEED"])
COUNT = int(os.environ["WEIR_COUNT"])
OUT = pathlib.Path(os.environ["WEIR_OUT"])
PARTITIONS = 6
WAIT_SECONDS = 60

failures: list[str] = []


class Wrong(Exception):
    """What a test has to say when it fails; anything else is shown with its traceback."""


def require(condition, sentence: str):
    if not condition:
        raise Wrong(sentence)


def run_test(name: str, test, *arguments):
    start = time.monotonic()
    detail = ""
    try:
        test(*arguments)
    except Wrong as wrong:
        detail = str(wrong)
    except Exception:
        detail = traceback.format_exc(limit=-3).replace("\n", " | ")
    if detail:
        failures.append(name)
    print(f"TEST {name} {'FAIL' if detail else 'PASS'} {time.monotonic() - start:.1f} {detail}".rstrip(), flush=True)


def until(sentence: str, condition, work=lambda: time.sleep(0.05)):
    """Repeats `work` until the condition holds; too late is a failure that says the sentence."""
    end = time.monotonic() + WAIT_SECONDS
    while not condition():
        require(time.monotonic() < end, f"not within {WAIT_SECONDS} s: {sentence}")
        work()


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
