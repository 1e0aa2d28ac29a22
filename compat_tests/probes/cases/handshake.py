"""First contact: frames that nobody may send, versions, and what Metadata and its kin say about the cluster."""

import struct

from raw import codec
from raw.story import bind_id, create, id_of, list_offsets, metadata, produce, step, topic

NIL = "00000000000000000000000000000001"  # an id that no topic has


def _frame(api: str, version: int, body: bytes = b"", client: str | None = "raw") -> dict:
    payload = codec.request_header(api, version, 1, client) + body
    return {"raw": (struct.pack(">i", len(payload)) + payload).hex()}


def _bytes(data: bytes) -> dict:
    return {"raw": data.hex()}


def _hello(v: int, name: str = "probe", version: str = "1.0", **rest) -> dict:
    return step("ApiVersions", v, ClientSoftwareName=name, ClientSoftwareVersion=version, **rest)


def cases() -> dict:
    names = [f"v{v}" for v in range(6)]
    return {
        "frames_that_end_the_connection": [
            ("a size of 0", _bytes(struct.pack(">i", 0))),
            ("a size of -1", _bytes(struct.pack(">i", -1))),
            ("a size above socket.request.max.bytes", _bytes(struct.pack(">i", 104_857_601))),
            ("a key that does not exist", _bytes(struct.pack(">ihhih", 10, 12_345, 0, 1, 0))),
            ("a version that is too new", _frame("Metadata", 99)),
            ("a version that is too old", _frame("Produce", 2, struct.pack(">hii", 1, 1000, 0))),
            ("a removed key", _bytes(struct.pack(">ihhih", 10, 4, 0, 1, 0))),
            ("a key for controllers", _frame("Vote", 0, bytes(40))),
            ("a body that ends early", _frame("Metadata", 4, struct.pack(">i", 1))),
            ("a list longer than the frame", _frame("Metadata", 4, struct.pack(">i", 1 << 30))),
            ("a null topic list where null is not allowed", _frame("Metadata", 0, struct.pack(">i", -1))),
        ],
        "frames_that_are_answered": [
            ("bytes behind the body", step("Heartbeat", 0, extra={"more": b"junk".hex()}, GroupId="@g", MemberId="m", GenerationId=1)),
            ("a null client id", _frame("Heartbeat", 0, struct.pack(">h", 1) + b"g" + struct.pack(">ih", 1, 1) + b"m", client=None)),
            ("an unknown tag", step("Heartbeat", 4, GroupId="@g", MemberId="m", GenerationId=1, _tags={77: "aa"})),
        ],
        "api_versions": [
            *((name, _hello(index)) for index, name in enumerate(names)),
            ("a version that is too new", _hello(9)),
            ("a name with a blank", _hello(3, name="a b")),
            ("an empty name", _hello(3, name="")),
            ("an empty version", _hello(4, version="")),
            ("a name with all that is allowed", _hello(3, name="A-z.0-9")),
            ("another cluster", _hello(5, ClusterId="another", NodeId=1)),
            ("a node without a cluster", _hello(5, NodeId=7)),
        ],
        "metadata_by_name": [
            ("make", create("@t", 2)),
            *((f"v{v}", metadata(["@t"], v)) for v in range(14)),
            ("a name twice", metadata(["@t", "@t"])),
            ("a name that nobody has", metadata(["@nobody"])),
            ("an illegal name", metadata(["a b"])),
            ("an empty name", metadata([""])),
            ("a name of one dot", metadata(["."])),
            ("no names", metadata([])),
            ("all", metadata(None)),
            ("all in version 0", metadata([], 0)),
            ("what a client may do", metadata(["@t"], 10, IncludeTopicAuthorizedOperations=True, IncludeClusterAuthorizedOperations=True)),
        ],
        "metadata_by_id": [
            ("make", create("@t")),
            ("id", metadata([{"TopicId": id_of("@t"), "Name": None}], 12)),
            ("an id that nobody has", metadata([{"TopicId": NIL, "Name": None}], 12)),
            ("no id and no name", metadata([{"Name": None}], 12)),
            ("id and another name", metadata([{"TopicId": id_of("@t"), "Name": "@x"}], 13)),
            ("a wrong id and a right name", metadata([{"TopicId": NIL, "Name": "@t"}], 13)),
            ("id before version 12", metadata([{"TopicId": id_of("@t"), "Name": "@t"}], 11)),
            ("the same id twice", metadata([{"TopicId": id_of("@t"), "Name": None}] * 2, 13)),
        ],
        "describe_topic_partitions": [
            ("make", create("@t", 3)),
            ("both", step("DescribeTopicPartitions", Topics=[{"Name": "@t"}, {"Name": "@nobody"}])),
            ("limit 2", step("DescribeTopicPartitions", Topics=[{"Name": "@t"}], ResponsePartitionLimit=2)),
            ("limit 0", step("DescribeTopicPartitions", Topics=[{"Name": "@t"}], ResponsePartitionLimit=0)),
            ("cursor", step("DescribeTopicPartitions", Topics=[{"Name": "@t"}], Cursor={"TopicName": "@t", "PartitionIndex": 1})),
            ("cursor at the end", step("DescribeTopicPartitions", Topics=[{"Name": "@t"}], Cursor={"TopicName": "@t", "PartitionIndex": 3})),
            ("a negative cursor", step("DescribeTopicPartitions", Topics=[{"Name": "@t"}], Cursor={"TopicName": "@t", "PartitionIndex": -1})),
            ("a name twice", step("DescribeTopicPartitions", Topics=[{"Name": "@t"}, {"Name": "@t"}])),
            ("an illegal name", step("DescribeTopicPartitions", Topics=[{"Name": "a b"}])),
        ],
        "describe_cluster": [
            *((f"v{v}", step("DescribeCluster", v)) for v in range(3)),
            ("what a client may do", step("DescribeCluster", IncludeClusterAuthorizedOperations=True)),
            ("controllers", step("DescribeCluster", EndpointType=2)),
            ("an unknown kind", step("DescribeCluster", EndpointType=9)),
        ],
        "find_coordinator": [
            *((f"v{v}", step("FindCoordinator", v, Key="@g", CoordinatorKeys=["@g", "@h"])) for v in range(6)),
            ("an empty key", step("FindCoordinator", 4, CoordinatorKeys=[""])),
            ("no keys", step("FindCoordinator", 4, CoordinatorKeys=[])),
            ("a key twice", step("FindCoordinator", 4, CoordinatorKeys=["@g", "@g"])),
            ("an unknown kind", step("FindCoordinator", 4, KeyType=9, CoordinatorKeys=["@g"])),
            ("an unknown kind in an old version", step("FindCoordinator", 3, KeyType=9, Key="@g")),
        ],
        "answers_come_in_order": [
            ("make", create("@t")),
            ("a fetch that waits", step("Fetch", 12, extra={"later": "slow"}, ReplicaId=-1, MaxWaitMs=300, MinBytes=1, MaxBytes=1000, Topics=[
                topic("@t", "Topic", Partitions=[{"Partition": 0, "FetchOffset": 0, "PartitionMaxBytes": 1000}])])),
            ("then another", step("Metadata", 9, extra={"later": "fast"}, Topics=[{"Name": "@t"}])),
            ("the first", {"collect": "slow"}),
            ("the second", {"collect": "fast"}),
        ],
        "acks_0_has_no_answer": [
            ("make", create("@t")),
            ("id", bind_id("@t")),
            ("a good one", produce("@t", {"n": 2}, acks=0)),
            ("the next answer", metadata(["@t"])),
            {"until": list_offsets("@t", -1, v=4), "path": "Topics.0.Partitions.0.Offset", "is": 2},
            ("it is there", list_offsets("@t", -1)),
            ("a bad one", produce("@t", {"n": 2}, partition=9, acks=0)),
            ("the next answer after it", metadata(["@t"])),
        ],
    }
