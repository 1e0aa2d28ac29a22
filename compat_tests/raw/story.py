"""Steps in short: create(), produce(), fetch() ... with the newest version and harmless values unless told otherwise.

A topic is named twice in a body, by name and by the id that create() has bound: the codec drops what the version lacks.
"""

from raw.codec import apis


def newest(api: str) -> int:
    message = apis()[api]
    return max(message.valid) - message.unstable


def step(api: str, v: int | None = None, bind: dict | None = None, extra: dict | None = None, **body) -> dict:
    """`extra` is what of a step is not the request: conn, later."""
    made = {"api": api, "v": newest(api) if v is None else v, "body": body}
    return made | ({"bind": bind} if bind else {}) | (extra or {})


def id_of(topic: str) -> str:
    """The variable with a topic's id: "@t.0" has "$id_t_0"."""
    return "$id_" + "".join(c if c.isalnum() else "_" for c in topic.lstrip("@"))


def topic(name: str, key: str = "Name", **rest) -> dict:
    return {key: name, "TopicId": id_of(name), **rest}


def create(name: str, partitions: int = 1, configs: dict | None = None, v: int | None = None, replicas: int = 1,
           validate: bool = False, **rest) -> dict:
    entry = {"Name": name, "NumPartitions": partitions, "ReplicationFactor": replicas,
             "Configs": [{"Name": key, "Value": value} for key, value in (configs or {}).items()], **rest}
    return step("CreateTopics", v, bind={id_of(name)[1:]: "Topics.0.TopicId"}, Topics=[entry], timeoutMs=20_000, validateOnly=validate)


def records(specs) -> dict | None:
    if specs is None or "hex" in specs:
        return specs
    return {"batches": specs} if isinstance(specs, list) else {"batch": specs}


def produce(name: str, spec, partition: int = 0, v: int | None = None, acks: int = -1, transaction=None, **how) -> dict:
    """`spec` as raw.batches.from_spec, a list of them, {"hex": ...}, or None."""
    data = [topic(name, PartitionData=[{"Index": partition, "Records": records(spec)}])]
    return step("Produce", v, extra=how, TransactionalId=transaction, Acks=acks, TimeoutMs=20_000, TopicData=data)


def fetch(name: str, offset=0, partition: int = 0, v: int | None = None, partition_bytes: int = 1 << 20, wait_ms: int = 0,
          min_bytes: int = 1, max_bytes: int = 1 << 25, bind: dict | None = None, partition_fields: dict | None = None, **rest) -> dict:
    part = {"Partition": partition, "FetchOffset": offset, "PartitionMaxBytes": partition_bytes} | (partition_fields or {})
    return step("Fetch", v, bind=bind, **{"ReplicaId": -1, "MaxWaitMs": wait_ms, "MinBytes": min_bytes, "MaxBytes": max_bytes,
                                          "Topics": [topic(name, "Topic", Partitions=[part])]} | rest)


def list_offsets(name: str, timestamp: int, partition: int = 0, v: int | None = None, isolation: int = 0, epoch: int = -1) -> dict:
    part = {"PartitionIndex": partition, "Timestamp": timestamp, "CurrentLeaderEpoch": epoch}
    return step("ListOffsets", v, ReplicaId=-1, IsolationLevel=isolation, TimeoutMs=5_000, Topics=[{"Name": name, "Partitions": [part]}])


def epoch_end(name: str, epoch: int, partition: int = 0, current: int = -1, v: int | None = None) -> dict:
    part = {"Partition": partition, "CurrentLeaderEpoch": current, "LeaderEpoch": epoch}
    return step("OffsetForLeaderEpoch", v, ReplicaId=-1, Topics=[{"Topic": name, "Partitions": [part]}])


def delete_records(name: str, offset: int, partition: int = 0, v: int | None = None) -> dict:
    parts = [{"PartitionIndex": partition, "Offset": offset}]
    return step("DeleteRecords", v, Topics=[{"Name": name, "Partitions": parts}], TimeoutMs=20_000)


def metadata(names, v: int | None = None, create_missing: bool = False, bind: dict | None = None, **rest) -> dict:
    """`names`: None for all, or a list of names or entries."""
    entries = None if names is None else [{"Name": name} if isinstance(name, str) else name for name in names]
    return step("Metadata", v, bind=bind, Topics=entries, AllowAutoTopicCreation=create_missing, **rest)


def bind_id(name: str) -> dict:
    return metadata([name], 12, bind={id_of(name)[1:]: "Topics.0.TopicId"})


def delete(*names: str, v: int | None = None) -> dict:
    return step("DeleteTopics", v, Topics=[{"Name": name} for name in names], TopicNames=list(names), TimeoutMs=20_000)


def init_producer(v: int | None = None, name: str = "p", **rest) -> dict:
    return step("InitProducerId", v, bind={name: "ProducerId", name + "e": "ProducerEpoch"},
                **{"TransactionalId": None, "TransactionTimeoutMs": 60_000} | rest)


# ------------------------------------------------------------------------------------------------------------ groups
def join(group: str, member: str = "", v: int | None = None, topics=("@t",), protocols=("range",), kind: str = "consumer",
         bind: str = "m", how: dict | None = None, **rest) -> dict:
    """Binds the member id, the generation as g and the leader as leader."""
    wanted = [{"Name": name, "Metadata": {"subscription": list(topics)}} for name in protocols]
    return step("JoinGroup", v, bind={bind: "MemberId", "g": "GenerationId", "leader": "Leader"}, extra=how,
                **{"GroupId": group, "SessionTimeoutMs": 10_000, "RebalanceTimeoutMs": 4_000, "MemberId": member,
                   "ProtocolType": kind, "Protocols": wanted} | rest)


def sync(group: str, member: str = "$m", generation="$g", assignments=(("$m", "abc"),), v: int | None = None,
         kind: str | None = "consumer", protocol: str | None = "range", how: dict | None = None, **rest) -> dict:
    given = [{"MemberId": of, "Assignment": {"text": text}} for of, text in assignments]
    return step("SyncGroup", v, extra=how, **{"GroupId": group, "GenerationId": generation, "MemberId": member, "ProtocolType": kind,
                                              "ProtocolName": protocol, "Assignments": given} | rest)


def heartbeat(group: str, member: str = "$m", generation="$g", v: int | None = None, **rest) -> dict:
    return step("Heartbeat", v, GroupId=group, GenerationId=generation, MemberId=member, **rest)


def leave(group: str, member: str = "$m", v: int | None = None, instance: str | None = None) -> dict:
    return step("LeaveGroup", v, GroupId=group, MemberId=member, Members=[{"MemberId": member, "GroupInstanceId": instance}])


def commit(group: str, name: str, offset: int = 5, partition: int = 0, member: str = "", generation=-1, text: str | None = "x",
           v: int | None = None, epoch: int = -1, **rest) -> dict:
    part = {"PartitionIndex": partition, "CommittedOffset": offset, "CommittedLeaderEpoch": epoch, "CommittedMetadata": text}
    return step("OffsetCommit", v, GroupId=group, GenerationIdOrMemberEpoch=generation, MemberId=member,
                Topics=[topic(name, Partitions=[part])], **rest)


def committed(group: str, name: str | None, partitions=(0,), v: int | None = None, stable: bool = False, **rest) -> dict:
    """`name` None: all offsets of the group."""
    old = None if name is None else [{"Name": name, "PartitionIndexes": list(partitions)}]
    new = None if name is None else [topic(name, PartitionIndexes=list(partitions))]
    return step("OffsetFetch", v, GroupId=group, Topics=old, Groups=[{"GroupId": group, "Topics": new, **rest}], RequireStable=stable)


def until_group_is(state: str, group: str) -> dict:
    return {"until": {"api": "DescribeGroups", "v": 4, "body": {"Groups": [group]}}, "path": "Groups.0.GroupState", "is": state}


def delete_groups(*groups: str, v: int | None = None) -> dict:
    return step("DeleteGroups", v, GroupsNames=list(groups))


def describe_groups(*groups: str, v: int | None = None, **rest) -> dict:
    return step("DescribeGroups", v, Groups=list(groups), **rest)


def delete_offsets(group: str, name: str, partitions=(0,)) -> dict:
    return step("OffsetDelete", 0, GroupId=group, Topics=[{"Name": name, "Partitions": [{"PartitionIndex": p} for p in partitions]}])


# ------------------------------------------------------------------------------------------------------------ admin
TOPIC, BROKER = 2, 4


def describe_configs(kind: int, name: str, keys=None, v: int | None = None, **rest) -> dict:
    return step("DescribeConfigs", v, Resources=[{"ResourceType": kind, "ResourceName": name, "ConfigurationKeys": keys}], **rest)


def change_configs(kind: int, name: str, *changes, v: int | None = None, validate: bool = False) -> dict:
    """Changes are (key, operation, value): 0 set, 1 delete, 2 append, 3 subtract."""
    configs = [{"Name": key, "ConfigOperation": operation, "Value": value} for key, operation, value in changes]
    return step("IncrementalAlterConfigs", v, ValidateOnly=validate,
                Resources=[{"ResourceType": kind, "ResourceName": name, "Configs": configs}])


def replace_configs(kind: int, name: str, configs: dict, v: int | None = None, validate: bool = False) -> dict:
    given = [{"Name": key, "Value": value} for key, value in configs.items()]
    return step("AlterConfigs", v, Resources=[{"ResourceType": kind, "ResourceName": name, "Configs": given}], ValidateOnly=validate)


def more_partitions(name: str, count: int, v: int | None = None, assignments=None, validate: bool = False) -> dict:
    return step("CreatePartitions", v, Topics=[{"Name": name, "Count": count, "Assignments": assignments}], TimeoutMs=20_000,
                ValidateOnly=validate)
