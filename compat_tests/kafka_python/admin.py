"""The admin calls of kafka-python 3."""

from kafka import KafkaConsumer, OffsetAndMetadata, TopicPartition, errors
from kafka.admin import ConfigResource, ConfigResourceType, OffsetSpec

from kafka_python.adapter import Client
from python_clients.support import BROKER, PARTITIONS, WAIT_SECONDS, require, until
from python_clients.tests import produce_numbers


def refused(error: type, call, *arguments, **options):
    try:
        told = call(*arguments, **options)
    except error:
        return
    require(False, f"answered {told} instead of refusing with {error.__name__}")


def metadata(client: Client):
    told = client.admin.describe_cluster()
    brokers = [f"{one['host']}:{one['port']}" for one in told["brokers"]]
    require(told["cluster_id"] and brokers == [BROKER], f"{told}")
    require(told["controller_id"] in {one["broker_id"] for one in told["brokers"]}, f"{told}")
    client.create_topic("metadata", 3)
    (topic,) = client.admin.describe_topics(["metadata"])
    leaders = [(one["partition_index"], one["leader_id"]) for one in topic["partitions"]]
    require(sorted(leaders) == [(p, told["controller_id"]) for p in range(3)] and topic["topic_id"], f"{topic}")


def topics(client: Client):
    admin, name = client.admin, "admin-topic"
    client.create_topic(name, 3, {"retention.ms": "86400000"})
    refused(errors.TopicAlreadyExistsError, admin.create_topics, {name: {"num_partitions": 3}})
    refused(errors.InvalidTopicError, admin.create_topics, {"no/slash": {}})
    refused(errors.InvalidConfigurationError, admin.create_topics, {"odd": {"configs": {"no.such.key": "1"}}})
    refused(errors.InvalidPartitionsError, admin.create_topics, {"none": {"num_partitions": 0}})
    admin.create_topics({"only-asked": {}}, validate_only=True)
    admin.create_partitions({name: 5})
    until("the topic has 5 partitions", lambda: client.partitions_of(name) == 5)
    refused(errors.InvalidPartitionsError, admin.create_partitions, {name: 5})
    admin.delete_topics([name])
    until("the topic is gone", lambda: client.partitions_of(name) == 0)
    refused(errors.UnknownTopicOrPartitionError, admin.delete_topics, [name])
    require(client.partitions_of("only-asked") == 0, "validate_only made a topic")


def configs(client: Client):
    client.create_topic("configured", 1, {"retention.ms": "86400000"})

    def described(which: str = "all") -> dict:
        told = client.admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, "configured")], config_filter=which)
        return {key: one["value"] for key, one in told["topic"]["configured"].items()}

    def alter(**changes) -> str:
        resource = ConfigResource(ConfigResourceType.TOPIC, "configured", {key.replace("_", "."): to for key, to in changes.items()})
        return client.admin.alter_configs([resource])["topic"]["configured"]

    require(described("modified") == {"retention.ms": "86400000"}, f"{described('modified')}")
    require(described()["cleanup.policy"] == "delete", f"{described()}")
    told = alter(max_message_bytes="2000000", retention_ms=("DELETE", None), cleanup_policy=("APPEND", "compact"))
    require(told == "OK", told)
    wanted = {"max.message.bytes": "2000000", "cleanup.policy": "delete,compact"}
    until("the new values are told", lambda: described("modified") == wanted)
    require(described()["retention.ms"] == "604800000", f"{described()}")
    told = alter(max_message_bytes="a lot")
    require("InvalidConfiguration" in told, told)


def groups(client: Client):
    admin, topic, group = client.admin, "admin-grouped", "admin-group"
    client.create_topic(topic)
    produce_numbers(client, topic, 0, 60)
    member = client.member(group, topic, client_id="the-member")
    until("all is read", lambda: len(member.reads) == 60, member.poll)
    require(group in {one["group_id"] for one in admin.list_groups()}, "the group is not listed")
    told = admin.describe_groups([group])[group]
    require(told["group_state"] == "Stable" and not told["error"], f"{told}")
    (one,) = told["members"]
    assigned = one["member_assignment"]["assigned_partitions"]
    require(one["client_id"] == "the-member" and [len(each["partitions"]) for each in assigned] == [PARTITIONS], f"{one}")
    require(admin.delete_groups([group]) == {group: "NonEmptyGroupError"}, "a group with a member was deleted")
    member.leave()
    until("the group is empty", lambda: admin.describe_groups([group])[group]["group_state"] == "Empty")

    def offsets() -> dict[int, int]:
        return {part.partition: at.offset for part, at in admin.list_group_offsets(group)[group].items()}

    require(offsets() == {p: 10 for p in range(PARTITIONS)}, f"{offsets()}")
    part = TopicPartition(topic, 2)
    told = admin.alter_group_offsets(group, {part: OffsetAndMetadata(4, "by hand", -1)})
    require(told == {part: errors.NoError} and offsets()[2] == 4, f"{told}, {offsets()}")
    told = admin.reset_group_offsets(group, {part: OffsetSpec.EARLIEST})
    require(told[part]["offset"] == 0 and offsets()[2] == 0, f"{told}, {offsets()}")
    told = admin.delete_group_offsets(group, [part])
    require(told == {part: errors.NoError} and 2 not in offsets(), f"{told}, {offsets()}")
    require(admin.delete_groups([group]) == {group: "OK"}, "the empty group was not deleted")
    require(group not in {one["group_id"] for one in admin.list_groups()}, "the group is still listed")
    require(admin.delete_groups([group]) == {group: "GroupIdNotFoundError"}, "a deleted group was deleted again")


def offsets_and_delete_records(client: Client):
    client.create_topic("trimmed")
    produce_numbers(client, "trimmed", 0, 600)

    def bound(spec, partition: int = 0) -> int:
        part = TopicPartition("trimmed", partition)
        return client.admin.list_partition_offsets({part: spec})[part].offset

    part = TopicPartition("trimmed", 0)
    require((bound(OffsetSpec.EARLIEST), bound(OffsetSpec.LATEST)) == (0, 100), "bounds before")
    require(bound(OffsetSpec.MAX_TIMESTAMP) >= 0, "no record has the largest timestamp")
    told = client.admin.delete_records({part: 40})
    require(told[part]["low_watermark"] == 40, f"{told}")
    require((bound(OffsetSpec.EARLIEST), bound(OffsetSpec.LATEST)) == (40, 100), "bounds after")
    require(bound(OffsetSpec.EARLIEST, 1) == 0, "another partition was trimmed too")
    refused(errors.OffsetOutOfRangeError, client.admin.delete_records, {part: 101})
    reader = KafkaConsumer(bootstrap_servers=BROKER, auto_offset_reset="earliest", enable_auto_commit=False)
    reader.assign([part])
    reader.seek(part, 0)
    first = reader.poll(timeout_ms=WAIT_SECONDS * 1000, max_records=1)[part][0]
    require(first.offset == 40, f"reading from 0 begins at {first.offset}")
    reader.close()


def log_dirs(client: Client):
    client.create_topic("sized", 1)
    (told,) = client.admin.describe_log_dirs({"sized": [0]})
    known = [topic["name"] for one in told["log_dirs"] for topic in one["topics"]]
    require(known == ["sized"], f"{told}")
