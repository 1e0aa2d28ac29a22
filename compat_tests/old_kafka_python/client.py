"""kafka-python 2.0.2 under test, over the adapter of the new one; run by suite.py."""

import pathlib
import sys

# The folder of this file would hide the standard library's and our own names; the folder above is the root we import from.
sys.path[0] = str(pathlib.Path(__file__).resolve().parent.parent)

import kafka  # noqa: E402
from kafka.admin import ConfigResource, ConfigResourceType, NewPartitions  # noqa: E402

from kafka_python import adapter  # noqa: E402
from python_clients import tests  # noqa: E402
from python_clients.support import PARTITIONS, failures, require, run_test, until  # noqa: E402


class Client(adapter.Client):
    idempotent = False

    def settings(self, idempotent):
        return {"retries": 5, "max_in_flight_requests_per_connection": 1}  # it has no idempotence, and by default no retries


def metadata(client: Client):
    require(kafka.__version__ == "2.0.2", f"this is {kafka.__version__}")
    client.create_topic("metadata", 3)
    require(client.partitions_of("metadata") == 3 and client.admin.describe_cluster()["cluster_id"], "no cluster id")


def admin_topics_and_configs(client: Client):
    admin, topic = client.admin, "admin-topic"
    client.create_topic(topic, 3, {"retention.ms": "86400000"})
    admin.create_partitions({topic: NewPartitions(5)})
    until("the topic has 5 partitions", lambda: client.partitions_of(topic) == 5)

    def described() -> dict:
        (told,) = admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, topic)])
        return {entry[0]: entry[1] for entry in told.resources[0][4]}

    require(described()["retention.ms"] == "86400000", f"{described()}")
    admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, topic, {"max.message.bytes": "2000000"})])
    until("the new value is told", lambda: described()["max.message.bytes"] == "2000000")
    admin.delete_topics([topic])
    until("the topic is gone", lambda: client.partitions_of(topic) == 0)


def admin_groups(client: Client):
    admin, topic, group = client.admin, "admin-grouped", "admin-group"
    client.create_topic(topic)
    tests.produce_numbers(client, topic, 0, 60)
    member = client.member(group, topic, client_id="the-member")
    until("all is read", lambda: len(member.reads) == 60, member.poll)
    require(group in {one[0] for one in admin.list_consumer_groups()}, "the group is not listed")
    (told,) = admin.describe_consumer_groups([group])
    require(told.state == "Stable" and [one.client_id for one in told.members] == ["the-member"], f"{told}")
    member.leave()
    offsets = {part.partition: at.offset for part, at in admin.list_consumer_group_offsets(group).items()}
    require(offsets == {p: 10 for p in range(PARTITIONS)}, f"{offsets}")


if __name__ == "__main__":
    client = Client()
    run_test("metadata", metadata, client)
    tests.run_all(client)
    run_test("admin_topics_and_configs", admin_topics_and_configs, client)
    run_test("admin_groups", admin_groups, client)
    sys.exit(1 if failures else 0)
