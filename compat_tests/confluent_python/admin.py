"""The admin calls of confluent-kafka-python."""

from confluent_kafka import Consumer, ConsumerGroupState, ConsumerGroupTopicPartitions, KafkaException, TopicPartition
from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource, NewPartitions, NewTopic, OffsetSpec, ResourceType

from confluent_python.groups import Member, produce_numbers
from confluent_python.support import admin, create_topic, partitions_of
from python_clients.support import BROKER, PARTITIONS, WAIT_SECONDS, require, until


def result(futures: dict):
    """The one result of a call on one thing."""
    (future,) = futures.values()
    return future.result(WAIT_SECONDS)


def refused_with(name: str, futures: dict):
    try:
        told = result(futures)
    except KafkaException as refused:
        require(refused.args[0].name() == name, f"refused with {refused.args[0].name()} instead of {name}")
    else:
        require(False, f"answered {told} instead of refusing with {name}")


def topics():
    client = admin()
    create_topic("admin-topic", 3, {"retention.ms": "86400000"})
    until("the topic has 3 partitions", lambda: partitions_of("admin-topic") == 3)
    refused_with("TOPIC_ALREADY_EXISTS", client.create_topics([NewTopic("admin-topic", 3, 1)]))
    refused_with("TOPIC_EXCEPTION", client.create_topics([NewTopic("no/slash", 1, 1)]))
    refused_with("INVALID_CONFIG", client.create_topics([NewTopic("odd", 1, 1, config={"no.such.key": "1"})]))
    refused_with("INVALID_PARTITIONS", client.create_topics([NewTopic("none", 0, 1)]))
    result(client.create_topics([NewTopic("only-asked", 1, 1)], validate_only=True))
    result(client.create_partitions([NewPartitions("admin-topic", 5)]))
    until("the topic has 5 partitions", lambda: partitions_of("admin-topic") == 5)
    refused_with("INVALID_PARTITIONS", client.create_partitions([NewPartitions("admin-topic", 5)]))
    result(client.delete_topics(["admin-topic"]))
    until("the topic is gone", lambda: partitions_of("admin-topic") == 0)
    refused_with("UNKNOWN_TOPIC_OR_PART", client.delete_topics(["admin-topic"]))
    require(partitions_of("only-asked") == 0, "validate_only made a topic")


def configs():
    client = admin()
    create_topic("configured", 1, {"retention.ms": "86400000"})

    def described() -> dict:
        return result(client.describe_configs([ConfigResource(ResourceType.TOPIC, "configured")]))

    told = described()
    require(told["retention.ms"].value == "86400000" and not told["retention.ms"].is_default, f"{told['retention.ms']}")
    require(told["cleanup.policy"].value == "delete" and told["cleanup.policy"].is_default, f"{told['cleanup.policy']}")
    resource = ConfigResource(ResourceType.TOPIC, "configured", incremental_configs=[
        ConfigEntry("max.message.bytes", "2000000", incremental_operation=AlterConfigOpType.SET),
        ConfigEntry("retention.ms", None, incremental_operation=AlterConfigOpType.DELETE),
        ConfigEntry("cleanup.policy", "compact", incremental_operation=AlterConfigOpType.APPEND)])
    result(client.incremental_alter_configs([resource]))
    until("the new values are told", lambda: described()["max.message.bytes"].value == "2000000")
    told = described()
    require(told["retention.ms"].value == "604800000" and told["retention.ms"].is_default, f"{told['retention.ms']}")
    require(told["cleanup.policy"].value == "delete,compact", f"{told['cleanup.policy']}")
    bad = ConfigResource(ResourceType.TOPIC, "configured", incremental_configs=[
        ConfigEntry("max.message.bytes", "a lot", incremental_operation=AlterConfigOpType.SET)])
    refused_with("INVALID_CONFIG", client.incremental_alter_configs([bad]))
    refused_with("UNKNOWN_TOPIC_OR_PART", client.describe_configs([ConfigResource(ResourceType.TOPIC, "no-such-topic")]))


def groups():
    client = admin()
    topic, group = "admin-grouped", "admin-group"
    create_topic(topic)
    produce_numbers(topic, 0, 60)
    member = Member(group, topic, **{"client.id": "the-member"})
    until("all is read", lambda: len(member.reads) == 60, member.poll)
    member.commit()
    listed = client.list_consumer_groups().result(WAIT_SECONDS)
    require(group in {one.group_id for one in listed.valid} and not listed.errors, f"listed {listed.valid}")
    told = result(client.describe_consumer_groups([group]))
    require(told.state == ConsumerGroupState.STABLE and len(told.members) == 1, f"{told.state}, {len(told.members)} members")
    (one,) = told.members
    require(one.client_id == "the-member" and len(one.assignment.topic_partitions) == PARTITIONS, "another member")
    refused_with("NON_EMPTY_GROUP", client.delete_consumer_groups([group]))
    member.leave()
    until("the group is empty", lambda: result(client.describe_consumer_groups([group])).state == ConsumerGroupState.EMPTY)
    offsets = result(client.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])).topic_partitions
    require({(part.partition, part.offset) for part in offsets} == {(p, 10) for p in range(PARTITIONS)}, f"{offsets}")
    result(client.alter_consumer_group_offsets([ConsumerGroupTopicPartitions(group, [TopicPartition(topic, 2, 4)])]))
    offsets = result(client.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])).topic_partitions
    require((2, 4) in {(part.partition, part.offset) for part in offsets}, f"after the change {offsets}")
    result(client.delete_consumer_groups([group]))
    require(group not in {one.group_id for one in client.list_consumer_groups().result(WAIT_SECONDS).valid}, "still listed")
    refused_with("GROUP_ID_NOT_FOUND", client.delete_consumer_groups([group]))


def offsets_and_delete_records():
    client = admin()
    create_topic("trimmed")
    produce_numbers("trimmed", 0, 600)

    def bound(spec, partition: int = 0) -> int:
        return result(client.list_offsets({TopicPartition("trimmed", partition): spec})).offset

    require((bound(OffsetSpec.earliest()), bound(OffsetSpec.latest())) == (0, 100), "bounds before")
    require(bound(OffsetSpec.for_timestamp(1)) == 0, "a time before all records")
    require(bound(OffsetSpec.max_timestamp()) >= 0, "no record has the largest timestamp")
    low = result(client.delete_records([TopicPartition("trimmed", 0, 40)])).low_watermark
    require(low == 40, f"low watermark {low}")
    require((bound(OffsetSpec.earliest()), bound(OffsetSpec.latest())) == (40, 100), "bounds after")
    require(bound(OffsetSpec.earliest(), 1) == 0, "another partition was trimmed too")
    refused_with("OFFSET_OUT_OF_RANGE", client.delete_records([TopicPartition("trimmed", 0, 101)]))
    reader = Consumer({"bootstrap.servers": BROKER, "group.id": "trimmed-reader", "auto.offset.reset": "earliest"})
    reader.assign([TopicPartition("trimmed", 0, 0)])
    first = reader.poll(WAIT_SECONDS)
    require(first and not first.error() and first.offset() == 40, f"reading from 0 begins at {first and first.offset()}")
    reader.close()


def cluster():
    told = admin().describe_cluster().result(WAIT_SECONDS)
    require(told.cluster_id and [f"{n.host}:{n.port}" for n in told.nodes] == [BROKER], f"{told.cluster_id} {told.nodes}")
    require(told.controller is not None, "no controller")
