"""Sequences of requests from a seed: mostly right, sometimes slightly wrong, each with topics and groups of its own.

Pure: the same seed and index make the same steps. A sequence knows roughly what it has made (Story), so that most steps
meet something: offsets near the end, the member that is in the group, the sequence that comes next.
"""

import hashlib
import random

from differ import mutate
from raw import codec, story
from raw.batches import GOOD_FORMS, NOW
from raw.story import TOPIC, step

NIL = "00000000000000000000000000000001"
BAD_FORMS = ("gzip garbage", "snappy garbage", "lz4 garbage", "zstd garbage", "gzip two members", "zstd two frames", "lz4 two frames",
             "snappy framed", "lz4 linked", "lz4 wrong header check", "gzip cut", "zstd cut", "lz4 without end", "codec 5")
LIES = ({"crc": 1}, {"magic": 1}, {"magic": 3}, {"count": 9}, {"count": 0}, {"last_delta": 7}, {"base_offset": 5}, {"cut": 1}, {"tail": "00"},
        {"attrs": 0x20}, {"attrs": 0x40}, {"attrs": 8}, {"attrs": 0x200}, {"max_ts": 5}, {"base_ts": 7_258_118_400_000}, {"length": 20},
        {"leader_epoch": 7}, {"magic": 0}, {"length": -1})
CONFIGS = (("retention.ms", "1000000000000"), ("retention.ms", "x"), ("retention.ms", "-1"), ("max.message.bytes", "150"), ("max.message.bytes", "1000"),
           ("cleanup.policy", "compact"), ("cleanup.policy", "delete"), ("cleanup.policy", "compact,delete"), ("cleanup.policy", "bogus"),
           ("message.timestamp.type", "LogAppendTime"), ("message.timestamp.type", "CreateTime"), ("compression.type", "uncompressed"),
           ("compression.type", "bogus"), ("min.insync.replicas", "1"), ("min.insync.replicas", "0"), ("segment.bytes", "1048576"), ("segment.bytes", "1"),
           ("bogus", "1"), ("retention.bytes", None), ("message.timestamp.before.max.ms", "1000"), ("delete.retention.ms", "5"), ("flush.messages", "1"),
           ("min.cleanable.dirty.ratio", "0.5"), ("min.cleanable.dirty.ratio", "2"), ("preallocate", "true"), ("preallocate", "maybe"))
CONFIG_KEYS = ("retention.ms", "cleanup.policy", "max.message.bytes", "segment.bytes", "bogus", "message.timestamp.type", "")
STEPS_LEAST, STEPS_MOST = 8, 24
WRONG = 0.12  # how often a step is not what a client would send


class Story:
    def __init__(self, seed: int, index: int, served: dict):
        self.random = random.Random(f"{seed}-{index}")
        self.index, self.served = index, served
        self.steps: list[dict] = []
        self.topics: dict[str, dict] = {}   # name to {"ends": [offset per partition]}
        self.producers: list[dict] = []     # {"name": variable, "next": {(topic, partition): sequence}}
        self.members: dict[str, str] = {}   # group to its member's variable
        self.sessions: dict[str, int] = {}  # session variable to its next epoch
        self._uses: dict[str, int] = {}
        self._offset = int(hashlib.sha256(f"{seed}".encode()).hexdigest()[:8], 16)

    # ------------------------------------------------------------------------------------------ choices
    def v(self, api: str) -> int:
        """The versions in turn, over the sequences and within one: some hundred sequences send them all."""
        low, high = self.served[api]
        uses = self._uses[api] = self._uses.get(api, -1) + 1
        return low + (self._offset + self.index * 19 + uses) % (high - low + 1)

    def chance(self, part: float) -> bool:
        return self.random.random() < part

    def wrong(self) -> bool:
        return self.chance(WRONG)

    def pick(self, *values):
        return self.random.choice(values)

    def topic(self) -> str:
        if not self.topics or self.chance(0.04):
            return "@nobody"
        return self.pick(*self.topics)

    def partition(self, name: str) -> int:
        count = len(self.topics[name]["ends"]) if name in self.topics else 1
        return self.pick(-1, count, 7) if self.chance(0.05) else self.random.randrange(count)

    def end(self, name: str, partition: int) -> int:
        ends = self.topics.get(name, {"ends": []})["ends"]
        return ends[partition] if 0 <= partition < len(ends) else 0

    def group(self) -> str:
        return self.pick("@g", "@g", "@h", "@none")

    def add(self, *steps: dict):
        for one in steps:
            if "api" in one:
                one = _with_ids(one)
                if self.wrong():
                    one = mutate.mutated(self.random, one)
            self.steps.append(one)


def _with_ids(value):
    """The topic that is not there has an id that is not there: the id of none is a case of its own (mutate)."""
    if isinstance(value, dict):
        return {key: _with_ids(child) for key, child in value.items()}
    if isinstance(value, list):
        return [_with_ids(child) for child in value]
    return NIL if value == "$id_nobody" else value


# -------------------------------------------------------------------------------------------------------------- topics
def make_topic(s: Story):
    name = s.pick("@a", "@b", "@c.c", "@c_c") if s.chance(0.9) else s.pick("a b", "", ".", "@" + "l" * 240, "__consumer_offsets")
    count = s.pick(1, 1, 2, 3, 3) if s.chance(0.93) else s.pick(0, -1, -2, 20_000)
    configs = dict([s.pick(*CONFIGS)]) if s.chance(0.35) else {}
    version = s.v("CreateTopics")
    rest = {}
    if s.chance(0.06):
        rest = {"Assignments": [{"PartitionIndex": s.pick(0, 0, 1), "BrokerIds": s.pick([1], [1], [9], [], [1, 1])}]}
    made = story.create(name, count, configs, version, s.pick(1, 1, 1, -1, 1, 2, 0) if s.chance(0.2) else 1, s.chance(0.04), **rest)
    if rest and s.chance(0.8):
        made["body"]["Topics"][0] |= {"NumPartitions": -1, "ReplicationFactor": -1}
    s.add(made)
    if name.startswith("@") and 0 < count < 10:
        s.topics.setdefault(name, {"ends": [0] * count})
        if version < 7:
            s.steps.append(story.bind_id(name))


def more_partitions(s: Story):
    name = s.topic()
    count = len(s.topics.get(name, {"ends": [0]})["ends"]) + s.pick(1, 1, 2, 0, -1)
    assigned = s.pick(None, None, None, [], [{"BrokerIds": [1]}], [{"BrokerIds": [9]}])
    validate = s.chance(0.2)
    s.add(story.more_partitions(name, count, s.v("CreatePartitions"), assigned, validate))
    if name in s.topics and not validate and assigned is None and count > len(s.topics[name]["ends"]):
        s.topics[name]["ends"] += [0] * (count - len(s.topics[name]["ends"]))


def delete_topic(s: Story):
    name = s.topic()
    version = s.v("DeleteTopics")
    if s.chance(0.3) and version >= 6:
        s.add(step("DeleteTopics", version, Topics=[{"Name": s.pick(None, None, name), "TopicId": s.pick(story.id_of(name), NIL)}], TimeoutMs=20_000))
    else:
        s.add(story.delete(name, *s.pick((), (), ("@nobody",), (name,)), v=version))
        s.topics.pop(name, None)


def describe_topics(s: Story):
    names = [s.topic() for _ in range(s.pick(0, 1, 1, 2))]
    if s.chance(0.3):
        cursor = s.pick(None, None, {"TopicName": s.topic(), "PartitionIndex": s.pick(0, 1, 5, -1)})
        s.add(step("DescribeTopicPartitions", Topics=[{"Name": n} for n in names] or [{"Name": s.topic()}], ResponsePartitionLimit=s.pick(2000, 1, 2, 0, -1), Cursor=cursor))
        return
    version = s.v("Metadata")
    entries = [{"Name": n} for n in names]
    if version >= 10 and s.chance(0.4):
        entries = [{"Name": s.pick(None, None, n), "TopicId": s.pick(story.id_of(n), NIL)} for n in names]
    s.add(story.metadata(entries or (None if version else []), version, IncludeTopicAuthorizedOperations=s.chance(0.3),
                         IncludeClusterAuthorizedOperations=s.chance(0.3)))


def configs(s: Story):
    name = s.topic()
    what = s.random.randrange(8)
    if what == 7:
        return s.add(step("ListConfigResources", s.v("ListConfigResources"), ResourceTypes=s.pick([], [], [2], [32, 2], [16], [4, 8], [3])))
    if what == 6:
        return _other_configs(s)
    if what == 0:
        s.add(story.replace_configs(TOPIC, name, dict(s.pick(*CONFIGS) for _ in range(s.pick(0, 1, 2))), s.v("AlterConfigs"), s.chance(0.2)))
    elif what == 1:
        s.add(story.describe_configs(s.pick(4, 3, 99), s.pick("9", "x"), None, s.v("DescribeConfigs")))
    elif what < 4:
        changes = [(key, s.pick(0, 0, 0, 1, 2, 3), value) for key, value in (s.pick(*CONFIGS) for _ in range(s.pick(1, 1, 2)))]
        s.add(story.change_configs(TOPIC, name, *changes, v=s.v("IncrementalAlterConfigs"), validate=s.chance(0.2)))
    else:
        keys = s.pick(None, [], [s.pick(*CONFIG_KEYS)], [s.pick(*CONFIG_KEYS), s.pick(*CONFIG_KEYS)])
        s.add(story.describe_configs(TOPIC, name, keys, s.v("DescribeConfigs"), IncludeSynonyms=s.chance(0.5)))


# Names of steps: the second column of accepted.txt.
RESOURCES = {story.BROKER: "brokers", 8: "loggers", 16: "client metrics", 32: "groups"}
TRANSACTIONS = "transactions"


def _other_configs(s: Story):
    """Of a broker, a group, a logger, a metrics subscription. Only groups change: what a broker has, all cases have."""
    kind, name, (key, value) = s.pick((story.BROKER, "1", ("log.cleaner.threads", "2")), (story.BROKER, "", ("log.cleaner.threads", "2")), (story.BROKER, "7", ("x", "1")),
                                (8, "1", ("root", "INFO")), (8, "7", ("root", "INFO")), (16, "@m", ("interval.ms", "1000")),
                                (32, "@g", ("consumer.session.timeout.ms", "50000")), (32, "@g", ("consumer.session.timeout.ms", "1")), (32, "", ("bogus", "1")))
    what = s.random.randrange(3)
    validate = name != "@g"
    value = s.pick(value, value, value, None)
    if what == 0:
        made = story.describe_configs(kind, name, s.pick(None, [key]), s.v("DescribeConfigs"), IncludeSynonyms=s.chance(0.5), IncludeDocumentation=s.chance(0.2))
    elif what == 1:
        changes = [(key, s.pick(0, 0, 1, 2, 3), value), *s.pick((), (), ((key, 0, value),), (("bogus", s.pick(0, 1), "1"),))]
        made = story.change_configs(kind, name, *changes, v=s.v("IncrementalAlterConfigs"), validate=validate)
    else:
        made = story.replace_configs(kind, name, s.pick({key: value}, {key: value}, {}, {key: value, "bogus": "1"}), s.v("AlterConfigs"), validate)
    s.steps.append(made | {"named": RESOURCES[kind]})


def log_folders(s: Story):
    topics = None if s.chance(0.3) else [{"Topic": name, "Partitions": [s.partition(name) for _ in range(s.pick(0, 1, 2))]} for name in [s.topic() for _ in range(s.pick(0, 1, 2))]]
    s.add(step("DescribeLogDirs", s.v("DescribeLogDirs"), Topics=topics))


# -------------------------------------------------------------------------------------------------------------- records
def _spec(s: Story, name: str, partition: int) -> tuple[dict, int]:
    n = s.pick(1, 1, 2, 3, 5)
    spec: dict = {"n": n}
    if s.chance(0.5):
        spec["form"] = s.pick(*GOOD_FORMS)
    if s.chance(0.2):
        spec |= s.pick({"size": 100}, {"size": 400}, {"null_keys": [0]}, {"null_values": [0]}, {"headers": [["h", None], ["h", "x"]]}, {"step": 1000}, {"base_ts": NOW + 5_000},
                       {"base_ts": NOW - 9_000_000}, {"base_ts": 0}, {"base_ts": -1, "max_ts": -1})
    if s.chance(0.13):
        spec |= s.pick(*LIES)
    if s.chance(0.05):
        spec["form"] = s.pick(*BAD_FORMS)
    if s.producers and s.chance(0.6):
        producer = s.pick(*s.producers)
        following = producer["next"].get((name, partition), 0)
        seq = following if s.chance(0.6) else s.pick(following - n, following - 2 * n, following + 1, 0, 2**31 - 1, following - 1, -1)
        epoch = s.pick(0, 0, 0, 0, 0, 0, 1, -1)
        spec |= {"pid": f"${producer['name']}", "epoch": f"${producer['name']}e{epoch:+d}", "seq": seq}
        if seq == following and epoch == 0:
            producer["next"][(name, partition)] = following + n
    return spec, n


def produce(s: Story):
    name = s.topic()
    partition = s.partition(name)
    version = s.v("Produce")
    spec, n = _spec(s, name, partition)
    if s.chance(0.08):
        other = s.topic()
        places = ((name, partition), (other, s.partition(other)))
        specs = [_spec(s, t, p)[0] for t, p in places]
        if places[0] == places[1]:  # of a partition that is named twice Kafka takes the last, but answers a refusal of the first
            specs[0] = specs[1]
        parts = [story.topic(t, PartitionData=[{"Index": p, "Records": story.records(of)}]) for (t, p), of in zip(places, specs)]
        s.add(step("Produce", version, Acks=-1, TimeoutMs=20_000, TopicData=parts))
        return
    specs = s.pick([spec, spec], {"hex": ""}, {"hex": "00" * 70}) if s.chance(0.04) else spec
    s.add(story.produce(name, specs, partition, version, acks=s.pick(1, -1, 2) if s.chance(0.2) else -1))
    if name in s.topics and 0 <= partition < len(s.topics[name]["ends"]):
        s.topics[name]["ends"][partition] += n


def _offset(s: Story, name: str, partition: int) -> int:
    end = s.end(name, partition)
    return s.pick(0, 0, 0, max(end - 1, 0), end // 2, end, end + 1 if s.chance(0.3) else 0, s.pick(-1, 1 << 40) if s.chance(0.2) else 0)


def fetch(s: Story):
    version = s.v("Fetch")
    if s.chance(0.4) and version >= 7:
        return _fetch_in_session(s, version)
    topics = []
    for name in {s.topic() for _ in range(s.pick(1, 1, 2))}:
        parts = []
        for partition in {s.partition(name) for _ in range(s.pick(1, 1, 2))}:
            parts.append({"Partition": partition, "FetchOffset": _offset(s, name, partition), "PartitionMaxBytes": s.pick(1 << 20, 1 << 20, 0, 1, 100, 200, 500),
                          "CurrentLeaderEpoch": s.pick(-1, -1, -1, 0, 3), "LastFetchedEpoch": s.pick(-1, -1, -1, 0, 4)})
        topics.append(story.topic(name, "Topic", Partitions=sorted(parts, key=lambda p: p["Partition"])))
    topics.sort(key=lambda t: t["Topic"])
    s.add(step("Fetch", version, ReplicaId=-1, MaxWaitMs=s.pick(0, 0, 0, 20), MinBytes=s.pick(0, 1, 1, 10_000), MaxBytes=s.pick(1 << 20, 1 << 20, 1, 0, 300),
               IsolationLevel=s.pick(0, 0, 1), Topics=topics))


def _fetch_in_session(s: Story, version: int):
    name = s.topic()
    if s.chance(0.06):
        unknown = {"SessionId": s.pick(12_345, 1), "SessionEpoch": s.pick(1, 5, -1, 0)}
        parts = [{"Partition": 0, "FetchOffset": 0, "PartitionMaxBytes": 100}]
        return s.add(step("Fetch", version, ReplicaId=-1, MaxWaitMs=0, MinBytes=1, MaxBytes=1 << 20, Topics=[story.topic(name, "Topic", Partitions=parts)], **unknown))
    variable = s.pick(*s.sessions) if s.sessions and s.chance(0.8) else ""
    body = {"ReplicaId": -1, "MaxWaitMs": 0, "MinBytes": 1, "MaxBytes": 1 << 20, "Topics": []}
    parts = [{"Partition": p, "FetchOffset": _offset(s, name, p), "PartitionMaxBytes": s.pick(1 << 20, 100)} for p in {s.partition(name) for _ in range(2)}]
    if s.chance(0.5) or not variable:
        body["Topics"] = [story.topic(name, "Topic", Partitions=sorted(parts, key=lambda p: p["Partition"]))]
    bind = None
    if not variable:
        variable = f"s{len(s.sessions)}"
        body |= {"SessionId": 0, "SessionEpoch": 0}
        bind = {variable: "SessionId"}
        s.sessions[variable] = 1
    else:
        epoch = s.sessions[variable]
        body |= {"SessionId": f"${variable}", "SessionEpoch": epoch if s.chance(0.85) else s.pick(-1, 0, epoch + 1, 1)}
        if body["SessionEpoch"] == epoch:
            s.sessions[variable] += 1
        if s.chance(0.25):
            body["ForgottenTopicsData"] = [story.topic(name, "Topic", Partitions=[s.partition(name)])]
    s.add(step("Fetch", version, bind=bind, **body))


def offsets(s: Story):
    name = s.topic()
    partition = s.partition(name)
    what = s.random.randrange(4)
    if what == 0:
        s.add(story.epoch_end(name, s.pick(0, 0, -1, 5), partition, s.pick(-1, -1, 0, 3, -4), s.v("OffsetForLeaderEpoch")))
    elif what == 1 and s.chance(0.6):
        s.add(story.delete_records(name, s.pick(0, 1, s.end(name, partition), -1, 99, -2, s.end(name, partition) // 2), partition, s.v("DeleteRecords")))
    else:
        s.add(story.list_offsets(name, s.pick(-1, -1, -2, -2, -3, -4, -5, -6, 0, NOW, NOW + 1, NOW + 1000, NOW + 5_001, NOW - 9_000_000, -9), partition,
                                 s.v("ListOffsets"), s.pick(0, 0, 1), s.pick(-1, -1, 0, 2)))


def many(s: Story):
    """Two topics with some partitions each, in the requests that otherwise name one."""
    places = [(name, sorted({s.partition(name) for _ in range(2)})) for name in (s.topic(), s.topic())]
    what = s.random.randrange(6)
    if what == 0:
        topics = [{"Name": name, "Partitions": [{"PartitionIndex": p, "Timestamp": s.pick(-1, -2, NOW), "CurrentLeaderEpoch": -1} for p in parts]} for name, parts in places]
        s.add(step("ListOffsets", s.v("ListOffsets"), ReplicaId=-1, IsolationLevel=s.pick(0, 1), TimeoutMs=5_000, Topics=topics))
    elif what == 1:
        topics = [{"Topic": name, "Partitions": [{"Partition": p, "CurrentLeaderEpoch": -1, "LeaderEpoch": s.pick(0, 1)} for p in parts]} for name, parts in places]
        s.add(step("OffsetForLeaderEpoch", s.v("OffsetForLeaderEpoch"), ReplicaId=-1, Topics=topics))
    elif what == 2:
        topics = [{"Name": name, "Partitions": [{"PartitionIndex": p, "Offset": s.pick(0, 1, -1)} for p in parts]} for name, parts in places]
        s.add(step("DeleteRecords", s.v("DeleteRecords"), Topics=topics, TimeoutMs=20_000))
    elif what == 3:
        topics = [story.topic(name, Partitions=[{"PartitionIndex": p, "CommittedOffset": s.pick(1, 2), "CommittedMetadata": ""} for p in parts]) for name, parts in places]
        s.add(step("OffsetCommit", s.v("OffsetCommit"), GroupId="@none", GenerationIdOrMemberEpoch=-1, MemberId="", Topics=topics))
    elif what == 4:
        topics = [story.topic(name, PartitionIndexes=parts) for name, parts in places]
        groups = [{"GroupId": group, "Topics": topics} for group in ("@none", s.group())]
        old = [{"Name": name, "PartitionIndexes": parts} for name, parts in places]
        s.add(step("OffsetFetch", s.v("OffsetFetch"), GroupId="@none", Topics=old, Groups=groups, RequireStable=s.chance(0.3)))
    else:
        s.add(step("OffsetDelete", 0, GroupId="@none", Topics=[{"Name": name, "Partitions": [{"PartitionIndex": p} for p in parts]} for name, parts in places]))


def producer(s: Story):
    name = f"p{len(s.producers)}"
    rest = {"ProducerId": s.pick(5, -1, 7), "ProducerEpoch": s.pick(0, -1, 3)} if s.chance(0.15) else {}
    s.add(story.init_producer(s.v("InitProducerId"), name, **rest))
    s.producers.append({"name": name, "next": {}})


# -------------------------------------------------------------------------------------------------------------- groups
JOIN = {"SessionTimeoutMs": 30_000, "RebalanceTimeoutMs": 4_000}


def join(s: Story):
    """Into an empty group, or of the member that is in it: a stranger would have to wait for the others."""
    group = s.pick("@g", "@h")
    version = s.v("JoinGroup")
    topics = list(s.topics)[:2] or ["@t"]
    protocols = s.pick(("range",), ("range", "sticky"))
    member = s.members.get(group)
    if member is None:
        member = "m" + group[1:]
        instance = {"GroupInstanceId": "i" + group[1:]} if version >= 5 and s.chance(0.3) else {}
        s.add(story.join(group, "", version, topics, protocols, bind=member, **JOIN, **instance))
        if version >= 4 and not instance:
            s.steps.append(story.join(group, f"${member}", version, topics, protocols, bind=member, **JOIN))
        s.members[group] = member
    else:
        s.add(story.join(group, f"${member}", version, topics, protocols, bind=member, **JOIN))
    if s.chance(0.85):
        sync(s, group)


def refused_join(s: Story):
    group = s.group()
    version = s.v("JoinGroup")
    wrong = s.pick({"SessionTimeoutMs": 1}, {"kind": ""}, {"protocols": ()}, {"kind": "connect"}, {"protocols": ("other",)}, {"member": "nobody"})
    if version < 4 and "member" not in wrong and "SessionTimeoutMs" not in wrong:
        version = 4
    s.add(story.join(group, wrong.pop("member", ""), version, bind="x", **({"RebalanceTimeoutMs": 4_000} | wrong)))


def _member(s: Story, group: str) -> str:
    return f"${s.members[group]}" if group in s.members and s.chance(0.9) else s.pick("nobody", "")


def _generation(s: Story):
    return "$g" if s.chance(0.85) else s.pick("$g+1", "$g-1", -1, 0)


def sync(s: Story, group: str | None = None):
    group = group or s.group()
    member = _member(s, group)
    version = s.v("SyncGroup")
    s.add(story.sync(group, member, _generation(s), s.pick(((member, "abc"),), ((member, "abc"), ("other", "x")), ()), version,
                     s.pick("consumer", "consumer", "consumer", None, "connect"), s.pick("range", "range", "range", None, "other")))


def heartbeat(s: Story):
    group = s.group()
    s.add(story.heartbeat(group, _member(s, group), _generation(s), s.v("Heartbeat"), GroupInstanceId=s.pick(None, None, None, "ig", "j")))


def leave(s: Story):
    group = s.group()
    member = _member(s, group)
    s.add(story.leave(group, member, s.v("LeaveGroup"), s.pick(None, None, None, None, "ig", "j")))
    if member.startswith("$"):
        s.members.pop(group, None)


def two_members(s: Story):
    """A second member comes and the first one follows: the only way to see a rebalance without waiting for a timeout."""
    if "@g" not in s.members or not s.topics:
        return join(s)
    first = f"${s.members['@g']}"
    version = max(s.v("JoinGroup"), 4)
    given = ((first, "one"), ("$n", "two"))
    s.add(story.join("@g", "", version, bind="n", **JOIN))
    s.steps += [
        story.join("@g", "$n", version, bind="n", how={"conn": 1, "later": "second"}, **JOIN),
        story.until_group_is("PreparingRebalance", "@g"),
        story.heartbeat("@g", first, "$g", s.v("Heartbeat")),
        story.join("@g", first, version, bind=s.members["@g"], **JOIN),
        {"collect": "second"},
        story.sync("@g", first, "$g", given, s.v("SyncGroup")),
        story.sync("@g", "$n", "$g", (), s.v("SyncGroup")),
        story.describe_groups("@g", v=s.v("DescribeGroups")),
    ]
    s.add(story.leave("@g", "$n", s.v("LeaveGroup")))


def commit(s: Story):
    group, name = s.group(), s.topic()
    version = s.v("OffsetCommit")
    bare = group not in s.members and s.chance(0.8)
    member, generation = ("", -1) if bare else (_member(s, group), _generation(s))
    s.add(story.commit(group, name, s.pick(0, 3, 10, -1), s.partition(name), member, generation, s.pick("", "text", None, "x" * 5000 if s.chance(0.2) else ""), version,
                       s.pick(-1, 0, 4), GroupInstanceId=s.pick(None, None, None, None, "ig")))


def committed(s: Story):
    group = s.group()
    version = s.v("OffsetFetch")
    name = s.topic()
    everything = version >= 2 and s.chance(0.3)
    if version >= 8 and s.chance(0.2):
        s.add(step("OffsetFetch", version, Groups=[{"GroupId": g, "Topics": None} for g in (group, s.group())], RequireStable=s.chance(0.3)))
    else:
        s.add(story.committed(group, None if everything else name, [s.partition(name) for _ in range(s.pick(0, 1, 2))], version, s.chance(0.2)))


def group_admin(s: Story):
    group, name = s.group(), s.topic()
    what = s.random.randrange(5)
    if what == 0:
        s.add(story.describe_groups(group, *s.pick((), (), ("@none",), (group,)), v=s.v("DescribeGroups"), IncludeAuthorizedOperations=s.chance(0.3)))
    elif what == 1:
        s.add(step("ListGroups", s.v("ListGroups"), StatesFilter=s.pick([], [], ["Stable"], ["empty", "Dead"], ["bogus"]), TypesFilter=s.pick([], [], ["classic"], ["Consumer"], ["bogus"])))
    elif what == 2:
        s.add(story.delete_groups(group, *s.pick((), (), ("@none",), (group,)), v=s.v("DeleteGroups")))
    elif what == 3:
        s.add(story.delete_offsets(group, name, [s.partition(name) for _ in range(s.pick(1, 1, 2))]))
    else:
        made = step("FindCoordinator", s.v("FindCoordinator"), Key=group, KeyType=s.pick(0, 0, 0, 0, 1, 2, 9), CoordinatorKeys=[group, *s.pick((), ("@none",), (group,))])
        s.add(made | ({"named": TRANSACTIONS} if made["body"]["KeyType"] == 1 and made["v"] else {}))


def cluster(s: Story):
    if s.chance(0.5):
        s.add(step("DescribeCluster", s.v("DescribeCluster"), IncludeClusterAuthorizedOperations=s.chance(0.5), EndpointType=s.pick(1, 1, 1, 2, 9)))
    else:
        s.add(step("ApiVersions", s.v("ApiVersions"), ClientSoftwareName=s.pick("differ", "differ", "a b", ""), ClientSoftwareVersion=s.pick("1.0", "1.0", "-1", "1 0"),
                   NodeId=s.pick(-1, -1, -1, 1), ClusterId=s.pick(None, None, None, "another")))


def broken_frame(s: Story):
    """A body cut short, bytes behind one, or a version that nobody has."""
    if not s.steps or "api" not in s.steps[-1]:
        return cluster(s)
    last = {key: value for key, value in s.steps[-1].items() if key in ("api", "v", "body")}
    if last["api"] in ("JoinGroup", "Produce"):
        return cluster(s)
    s.steps.append(last | s.pick({"cut": 1}, {"cut": 3}, {"more": "00"}, {"more": "ff" * 9}, {"v": max(codec.apis()[last["api"]].valid) + 7}))


ACTIONS = ((make_topic, 5), (more_partitions, 2), (delete_topic, 2), (describe_topics, 5), (configs, 5), (log_folders, 1), (produce, 16), (fetch, 13), (offsets, 8), (many, 5),
           (producer, 4), (join, 7), (refused_join, 2), (sync, 3), (heartbeat, 4), (leave, 2), (two_members, 2), (commit, 7), (committed, 6), (group_admin, 6),
           (cluster, 2), (broken_frame, 1))


def sequence(seed: int, index: int, served: dict) -> list[dict]:
    """`served`: API name to (lowest, highest version)."""
    s = Story(seed, index, served)
    make_topic(s)
    actions, weights = zip(*ACTIONS)
    wanted = s.random.randint(STEPS_LEAST, STEPS_MOST)
    while len(s.steps) < wanted:
        s.random.choices(actions, weights)[0](s)
    return s.steps
