"""Topics and settings: made, changed, described and deleted, rightly and wrongly."""

from raw.story import (BROKER, TOPIC, change_configs, create, delete, describe_configs, id_of, metadata, more_partitions, produce, replace_configs, step,
                       topic)

NIL = "00000000000000000000000000000001"


def _assigned(*partitions, count: int = -1, replicas: int = -1) -> dict:
    given = [{"PartitionIndex": index, "BrokerIds": brokers} for index, brokers in partitions]
    return create("@a", count, replicas=replicas, Assignments=given)


def _topics(*names, v: int = 7) -> dict:
    return step("CreateTopics", v, Topics=[{"Name": name, "NumPartitions": 1, "ReplicationFactor": 1} for name in names], timeoutMs=20_000)


def _key(name: str, *keys: str, kind: int = TOPIC, v: int = 4, **rest) -> dict:
    return describe_configs(kind, name, list(keys), v, **rest)


def cases() -> dict:
    return {
        "create_topics": [
            *((f"v{v}", create(f"@v{v}", 2, v=v)) for v in range(2, 8)),
            ("again", create("@v7")), ("replication 3", create("@x", replicas=3)), ("replication 0", create("@x", replicas=0)),
            ("no partitions", create("@x", 0)), ("-2 partitions", create("@x", -2)), ("too many partitions", create("@x", 20_000)),
            ("defaults", create("@d", -1, replicas=-1)), ("defaults before version 4", create("@e", -1, replicas=-1, v=3)),
            ("an illegal name", create("a b")), ("two dots", create("..")), ("an empty name", create("")), ("a long name", create("a" * 250)),
            ("just checked", create("@x", validate=True)), ("not made", metadata(["@x"])), ("just checked, wrong", create("@x", 0, validate=True)),
            ("a topic of the broker's", create("__consumer_offsets")),
            ("with a dot", create("@col.a")), ("with an underscore", create("@col_a")),
            ("twice in one", _topics("@x", "@x")), ("two", _topics("@x1", "@x2")), ("one good, one bad", _topics("@x3", "a b")), ("none", _topics()),
        ],
        "create_topics_with_configs": [
            ("one", create("@a", configs={"retention.ms": "1000"})), ("unknown", create("@x", configs={"bogus": "1"})),
            ("a bad value", create("@x", configs={"retention.ms": "x"})), ("out of its range", create("@x", configs={"retention.ms": "-2"})),
            ("null", create("@x", configs={"retention.ms": None})), ("an empty key", create("@x", configs={"": "1"})),
            ("a key twice", create("@b", Configs=[{"Name": "retention.ms", "Value": "1"}, {"Name": "retention.ms", "Value": "2"}])),
            ("the later counts", _key("@b", "retention.ms")), ("many", create("@c", configs={
                "cleanup.policy": "compact,delete", "min.insync.replicas": "1", "compression.type": "zstd", "segment.bytes": "1048576"})),
            ("a bad policy", create("@x", configs={"cleanup.policy": "bogus"})), ("a bad codec", create("@x", configs={"compression.type": "bogus"})),
        ],
        "create_topics_assigned": [
            ("one", _assigned((0, [1]))), ("with a count", _assigned((0, [1]), count=2)), ("with a factor", _assigned((0, [1]), replicas=1)),
            ("not from 0", _assigned((1, [1]))), ("a gap", _assigned((0, [1]), (2, [1]))), ("an unknown broker", _assigned((0, [9]))),
            ("a broker twice", _assigned((0, [1, 1]))), ("no brokers", _assigned((0, []))), ("a partition twice", _assigned((0, [1]), (0, [1]))),
        ],
        "create_partitions": [
            ("make", create("@t")), *((f"v{v}", more_partitions("@t", 2 + v, v=v)) for v in range(4)), ("the same", more_partitions("@t", 5)),
            ("fewer", more_partitions("@t", 2)), ("0", more_partitions("@t", 0)), ("-1", more_partitions("@t", -1)), ("of nobody", more_partitions("@nobody", 2)),
            ("just checked", more_partitions("@t", 6, validate=True)), ("still five", metadata(["@t"])),
            ("assigned", more_partitions("@t", 6, assignments=[{"BrokerIds": [1]}])), ("too few assigned", more_partitions("@t", 8, assignments=[{"BrokerIds": [1]}])),
            ("an unknown broker", more_partitions("@t", 7, assignments=[{"BrokerIds": [9]}])), ("none assigned", more_partitions("@t", 7, assignments=[])),
            ("twice in one", step("CreatePartitions", Topics=[{"Name": "@t", "Count": 7, "Assignments": None}] * 2, TimeoutMs=5000)),
            ("none", step("CreatePartitions", TimeoutMs=5000)),
        ],
        "delete_topics": [
            *((f"make {v}", create(f"@v{v}")) for v in range(1, 7)), *((f"v{v}", delete(f"@v{v}", v=v)) for v in range(1, 7)),
            ("again", delete("@v6")), ("of nobody in an old version", delete("@nobody", v=1)), ("an unknown id", step("DeleteTopics", Topics=[{"Name": None, "TopicId": NIL}], TimeoutMs=5000)),
            ("make", create("@t")), ("id and name", step("DeleteTopics", Topics=[{"Name": "@t", "TopicId": id_of("@t")}], TimeoutMs=5000)),
            ("neither", step("DeleteTopics", Topics=[{"Name": None}], TimeoutMs=5000)), ("twice in one", delete("@t", "@t")), ("twice in version 5", delete("@t", "@t", v=5)),
            ("by id", step("DeleteTopics", Topics=[{"Name": None, "TopicId": id_of("@t")}], TimeoutMs=5000)),
            ("make again", create("@t")), ("one good, one bad", delete("@t", "@nobody")), ("produce to what is gone", produce("@t", {}, v=12)), ("none", delete()),
        ],
        "describe_configs": [
            ("make", create("@t", configs={"retention.ms": "1000"})),
            *((f"v{v}", _key("@t", "retention.ms", "cleanup.policy", v=v, IncludeSynonyms=True)) for v in range(1, 5)),
            ("all", describe_configs(TOPIC, "@t")), ("all by an empty list", describe_configs(TOPIC, "@t", [])), ("an unknown key", _key("@t", "bogus")),
            ("with synonyms", describe_configs(TOPIC, "@t", ["retention.ms", "segment.bytes", "max.message.bytes"], IncludeSynonyms=True)),
            ("a key twice", _key("@t", "retention.ms", "retention.ms")),
            ("of nobody", describe_configs(TOPIC, "@nobody")), ("of an illegal name", describe_configs(TOPIC, "a b")), ("of an empty name", describe_configs(TOPIC, "")),
            ("of another broker", describe_configs(BROKER, "9")), ("of a broker that is no number", describe_configs(BROKER, "abc")),
            ("of an unknown kind", describe_configs(3, "x")),
            ("a topic twice", step("DescribeConfigs", Resources=[{"ResourceType": TOPIC, "ResourceName": "@t", "ConfigurationKeys": ["retention.ms"]}] * 2)),
            ("none", step("DescribeConfigs")),
        ],
        "change_configs": [
            ("make", create("@t")), ("set", change_configs(TOPIC, "@t", ("retention.ms", 0, "5000"))), ("it is", _key("@t", "retention.ms")),
            ("v0", change_configs(TOPIC, "@t", ("retention.ms", 0, "6000"), v=0)),
            ("delete", change_configs(TOPIC, "@t", ("retention.ms", 1, None))), ("it is not", _key("@t", "retention.ms")),
            ("delete again", change_configs(TOPIC, "@t", ("retention.ms", 1, None))), ("append", change_configs(TOPIC, "@t", ("cleanup.policy", 2, "compact"))),
            ("both", _key("@t", "cleanup.policy")), ("append again", change_configs(TOPIC, "@t", ("cleanup.policy", 2, "compact"))),
            ("subtract", change_configs(TOPIC, "@t", ("cleanup.policy", 3, "delete"))), ("one", _key("@t", "cleanup.policy")),
            ("subtract what is not there", change_configs(TOPIC, "@t", ("cleanup.policy", 3, "delete"))),
            ("append to what is no list", change_configs(TOPIC, "@t", ("retention.ms", 2, "1"))), ("an unknown operation", change_configs(TOPIC, "@t", ("retention.ms", 7, "1"))),
            ("null", change_configs(TOPIC, "@t", ("retention.ms", 0, None))), ("a key twice", change_configs(TOPIC, "@t", ("retention.ms", 0, "1"), ("retention.ms", 0, "2"))),
            ("a bad value", change_configs(TOPIC, "@t", ("retention.ms", 0, "x"))), ("an unknown key", change_configs(TOPIC, "@t", ("bogus", 0, "1"))),
            ("of nobody", change_configs(TOPIC, "@nobody", ("retention.ms", 0, "1"))), ("nothing", change_configs(TOPIC, "@t")),
            ("just checked", change_configs(TOPIC, "@t", ("retention.ms", 0, "7"), validate=True)), ("not changed", _key("@t", "retention.ms")),
            ("a good and a bad one", change_configs(TOPIC, "@t", ("retention.ms", 0, "8"), ("bogus", 0, "1"))), ("neither", _key("@t", "retention.ms")),
            ("a topic twice", step("IncrementalAlterConfigs", Resources=[{"ResourceType": TOPIC, "ResourceName": "@t"}] * 2)),
            ("an empty name", change_configs(TOPIC, "", ("retention.ms", 0, "1"))), ("an unknown kind", change_configs(3, "x", ("a", 0, "1"))), ("none", step("IncrementalAlterConfigs")),
        ],
        "replace_configs": [
            ("make", create("@t", configs={"retention.ms": "1000", "segment.ms": "2000"})), *((f"v{v}", replace_configs(TOPIC, "@t", {"retention.ms": str(v + 10)}, v)) for v in range(3)),
            ("one is left", _key("@t", "retention.ms", "segment.ms")), ("nothing", replace_configs(TOPIC, "@t", {})), ("none is left", _key("@t", "retention.ms")),
            ("null", replace_configs(TOPIC, "@t", {"retention.ms": None})), ("a bad value", replace_configs(TOPIC, "@t", {"retention.ms": "x"})),
            ("an unknown key", replace_configs(TOPIC, "@t", {"bogus": "1"})), ("of nobody", replace_configs(TOPIC, "@nobody", {})),
            ("just checked", replace_configs(TOPIC, "@t", {"retention.ms": "9"}, validate=True)), ("not changed", _key("@t", "retention.ms")),
        ],
        "log_folders": [
            ("make", create("@t", 2)), *((f"v{v}", step("DescribeLogDirs", v, Topics=[{"Topic": "@t", "Partitions": [0, 1]}])) for v in range(1, 6)),
            ("one partition", step("DescribeLogDirs", Topics=[{"Topic": "@t", "Partitions": [1]}])), ("an unknown one", step("DescribeLogDirs", Topics=[{"Topic": "@t", "Partitions": [9]}])),
            ("of nobody", step("DescribeLogDirs", Topics=[{"Topic": "@nobody", "Partitions": [0]}])), ("all", step("DescribeLogDirs", Topics=None)), ("none", step("DescribeLogDirs")),
        ],
        "settings_work": [
            ("make", create("@t")), ("large", produce("@t", {"size": 500}, v=12)), ("smaller", change_configs(TOPIC, "@t", ("max.message.bytes", 0, "300"))),
            ("too large", produce("@t", {"size": 500}, v=12)), ("larger", change_configs(TOPIC, "@t", ("max.message.bytes", 1, None))), ("large again", produce("@t", {"size": 500}, v=12)),
            ("stamp", change_configs(TOPIC, "@t", ("message.timestamp.type", 0, "LogAppendTime"))), ("stamped", produce("@t", {}, v=12)),
            ("both", step("Produce", 12, Acks=-1, TopicData=[topic("@t", PartitionData=[{"Index": 0, "Records": {"batch": {}}}])])),
        ],
    }
