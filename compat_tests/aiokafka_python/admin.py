"""The admin calls of aiokafka. Most of its answers are the bare responses, error codes in them."""

from aiokafka import TopicPartition, errors
from aiokafka.admin import NewPartitions, NewTopic, RecordsToDelete
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

from aiokafka_python.adapter import Client, run
from python_clients.support import BROKER, PARTITIONS, require, until
from python_clients.tests import produce_numbers


def told_error(error: type, response):
    """The response has one topic, and this is its error."""
    codes = getattr(response, "topic_errors", None) or response.topic_error_codes
    require([one[1] for one in codes] == [error.errno], f"{response} instead of {error.__name__}")


def refused(error: type, coroutine):
    try:
        told = run(coroutine)
    except error:
        return
    require(False, f"answered {told} instead of refusing with {error.__name__}")


def metadata(client: Client):
    told = run(client.admin.describe_cluster())
    brokers = {one["node_id"]: f"{one['host']}:{one['port']}" for one in told["brokers"]}
    require(told["cluster_id"] and list(brokers.values()) == [BROKER] and told["controller_id"] in brokers, f"{told}")
    client.create_topic("metadata", 3)
    (topic,) = run(client.admin.describe_topics(["metadata"]))
    leaders = {one["partition"]: one["leader"] for one in topic["partitions"]}
    require(leaders == {p: told["controller_id"] for p in range(3)}, f"{topic}")


def topics(client: Client):
    admin, name = client.admin, "admin-topic"
    client.create_topic(name, 3, {"retention.ms": "86400000"})
    for error, topic in ((errors.TopicAlreadyExistsError, NewTopic(name, 3, 1)), (errors.InvalidTopicError, NewTopic("no/slash", 1, 1)),
                         (errors.InvalidConfigurationError, NewTopic("odd", 1, 1, topic_configs={"no.such.key": "1"})),
                         (errors.InvalidPartitionsError, NewTopic("none", 0, 1))):
        told_error(error, run(admin.create_topics([topic])))
    told_error(errors.NoError, run(admin.create_topics([NewTopic("only-asked", 1, 1)], validate_only=True)))
    run(admin.create_partitions({name: NewPartitions(5)}))
    until("the topic has 5 partitions", lambda: client.partitions_of(name) == 5)
    refused(errors.InvalidPartitionsError, admin.create_partitions({name: NewPartitions(5)}))
    told_error(errors.NoError, run(admin.delete_topics([name])))
    until("the topic is gone", lambda: client.partitions_of(name) == 0)
    told_error(errors.UnknownTopicOrPartitionError, run(admin.delete_topics([name])))
    require(client.partitions_of("only-asked") == 0, "validate_only made a topic")


def configs(client: Client):
    """AlterConfigs, the old call: what is not named goes back to its default."""
    client.create_topic("configured", 1, {"retention.ms": "86400000"})

    def described() -> dict:
        (told,) = run(client.admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, "configured")]))
        ((code, message, _, _, entries),) = told.resources
        require(code == 0, f"{code} {message}")
        return {name: value for name, value, *_ in entries}

    def alter(**changes) -> int:
        named = {name.replace("_", "."): value for name, value in changes.items()}
        (told,) = run(client.admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, "configured", named)]))
        return told.resources[0][0]

    require((described()["retention.ms"], described()["cleanup.policy"]) == ("86400000", "delete"), f"{described()}")
    require(alter(max_message_bytes="2000000") == 0, "the change is refused")
    until("the new value is told", lambda: described()["max.message.bytes"] == "2000000")
    require(described()["retention.ms"] == "604800000", f"{described()}")
    require(alter(max_message_bytes="a lot") == errors.InvalidConfigurationError.errno, "an impossible value is taken")


def groups(client: Client):
    admin, topic, group = client.admin, "admin-grouped", "admin-group"
    client.create_topic(topic)
    produce_numbers(client, topic, 0, 60)
    member = client.member(group, topic, client_id="the-member")
    until("all is read", lambda: len(member.reads) == 60, member.poll)
    require(group in {one[0] for one in run(admin.list_consumer_groups())}, "the group is not listed")

    def described():
        (told,) = run(admin.describe_consumer_groups([group]))
        return told.to_object()["groups"][0]

    told = described()
    require(told["state"] == "Stable" and [one["client_id"] for one in told["members"]] == ["the-member"], f"{told}")
    member.leave()
    until("the group is empty", lambda: described()["state"] == "Empty")
    offsets = {part.partition: at.offset for part, at in run(admin.list_consumer_group_offsets(group)).items()}
    require(offsets == {p: 10 for p in range(PARTITIONS)}, f"{offsets}")


def delete_records(client: Client):
    client.create_topic("trimmed")
    produce_numbers(client, "trimmed", 0, 600)
    part = TopicPartition("trimmed", 0)
    told = run(client.admin.delete_records({part: RecordsToDelete(40)}))
    require(told == {part: 40}, f"{told}")
    refused(errors.OffsetOutOfRangeError, client.admin.delete_records({part: RecordsToDelete(101)}))
    offsets = {}
    for record in client.read_all("trimmed"):
        offsets.setdefault(record.partition, []).append(record.offset)
    require(offsets == {p: list(range(40 if p == 0 else 0, 100)) for p in range(PARTITIONS)}, "other records are left")
