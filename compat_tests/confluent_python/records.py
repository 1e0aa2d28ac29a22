"""Metadata, and the records with each codec: what is read is compared here, the order by the checker of the harness."""

from confluent_kafka import Producer

from confluent_python.support import admin, check_content, create_topic, read_all
from harness.records import headers_of, key_of, value_of
from python_clients.support import BROKER, COUNT, OUT, PARTITIONS, SEED, WAIT_SECONDS, require, until


def metadata():
    told = admin().list_topics(timeout=WAIT_SECONDS)
    require(told.cluster_id, "no cluster id")
    require([f"{b.host}:{b.port}" for b in told.brokers.values()] == [BROKER], f"brokers {told.brokers}")
    require(told.controller_id in told.brokers, f"controller {told.controller_id}")
    unknown = admin().list_topics("not-there", timeout=WAIT_SECONDS).topics["not-there"]
    require(unknown.error is not None, "a topic that is not there has no error")


def codec(name: str):
    topic = f"codec-{name}"
    create_topic(topic)
    producer = Producer({"bootstrap.servers": BROKER, "enable.idempotence": True, "compression.type": name, "linger.ms": 5})
    with open(OUT / f"acks-{topic}.txt", "w", encoding="ascii") as acks:

        def delivered(error, message, record_id):
            require(error is None, f"record {record_id} was not delivered: {error}")
            acks.write(f"{message.partition()} {message.offset()} {record_id}\n")

        for record_id in range(COUNT):
            producer.produce(topic, value_of(record_id, SEED), key_of(record_id), headers=headers_of(record_id, name),
                             on_delivery=lambda error, message, i=record_id: delivered(error, message, i))
            producer.poll(0)
        require(producer.flush(WAIT_SECONDS) == 0, "not all was delivered")
    partition_of_key = {}
    with open(OUT / f"reads-{topic}.txt", "w", encoding="ascii") as reads:
        for message in read_all(topic):
            record_id = check_content(message, name)
            reads.write(f"{message.partition()} {message.offset()} {record_id}\n")
            if message.key() is not None:
                known = partition_of_key.setdefault(message.key(), message.partition())
                require(known == message.partition(), f"key {message.key()} is in two partitions")
    require(len(set(partition_of_key.values())) == PARTITIONS, "the keys do not reach all partitions")


def empty_and_null_values():
    """A tombstone, an empty value and an empty key stay what they are: null and empty are not the same."""
    create_topic("nulls", 1)
    producer = Producer({"bootstrap.servers": BROKER, "enable.idempotence": True})
    sent = [(b"key", None), (b"key", b""), (b"", b"value"), (None, b"value")]
    for key, value in sent:
        producer.produce("nulls", value, key)
    require(producer.flush(WAIT_SECONDS) == 0, "not all was delivered")
    read = [(message.key(), message.value()) for message in read_all("nulls", 1)]
    require(read == sent, f"read {read}")


def plain_acks(acks: str):
    """Without idempotence: acks=1 and acks=0 (which never answers) bring everything too when nothing fails."""
    topic = f"acks-{acks}"
    create_topic(topic, 1)
    producer = Producer({"bootstrap.servers": BROKER, "acks": acks, "enable.idempotence": False})
    for number in range(500):
        producer.produce(topic, b"%d" % number)
    require(producer.flush(WAIT_SECONDS) == 0, "not all was delivered")
    # With acks=0 the client is done when the bytes are in its socket; the broker may still be reading them.
    until("all 500 are there", lambda: sum(1 for _ in read_all(topic, 1)) == 500)
    read = [int(message.value()) for message in read_all(topic, 1)]
    require(read == list(range(500)), f"{len(read)} records, or not in order")
