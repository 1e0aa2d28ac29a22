"""What of an answer may differ between two brokers or two runs, each by name and with its reason.

The first row that fits decides; `*` fits any API, and a path fits when it ends with the row's path. What has no row is
compared as it is, so a field that Kafka adds is compared from the first day.
"""

import dataclasses
import functools

# What a row does with the value:
TOKEN = "token"    # made by the broker: named by order of appearance, so that "the same as before" is still compared
TEXT = "text"      # a sentence for people: only null, empty or not is compared
NOW = "now"        # a time of the broker's clock: any time near now is as good
PORT = "port"      # the broker's own port
DROP = "drop"      # not compared
BATCHES = "batches"  # record batches: taken apart
SORT = "sort"      # a list whose order says nothing: its entries are compared by name
OWN = "own"        # the same, and a list of all there is: only what this case made, or asked for by name, is compared


@dataclasses.dataclass(frozen=True)
class Mask:
    api: str
    path: str
    does: str
    reason: str
    names: str = ""  # OWN and SORT: the field that names an entry, or the next where it is empty; TOKEN: the kind of name

    @property
    def keys(self) -> list[str]:
        return self.names.split("|")


ROWS = (
    Mask("*", "TopicId", TOKEN, "topic ids are random", "topic id"),
    Mask("*", "ClusterId", TOKEN, "each cluster has an id of its own", "cluster"),
    Mask("*", "MemberId", TOKEN, "member ids end with a random uuid", "member"),
    Mask("JoinGroup", "Leader", TOKEN, "a member id", "member"),
    Mask("*", "ProducerId", TOKEN, "producer ids count up over the life of a cluster", "producer"),
    Mask("Fetch", "SessionId", TOKEN, "session ids are random", "session"),
    Mask("*", "ErrorMessage", TEXT, "the sentences are our own"),
    Mask("DescribeConfigs", "Documentation", TEXT, "the sentences are our own"),
    Mask("*", "BatchIndexErrorMessage", TEXT, "the sentences are our own"),
    Mask("*", "Port", PORT, "each broker has its own port"),
    Mask("Produce", "LogAppendTimeMs", NOW, "the broker's clock"),
    Mask("Fetch", "Records", BATCHES, "record by record"),
    Mask("Fetch", "Responses", SORT, "Kafka puts errors last; who was served first shows in the records", "Topic|TopicId"),
    Mask("Fetch", "Responses.Partitions", SORT, "Kafka puts errors last; who was served first shows in the records", "PartitionIndex"),
    Mask("Fetch", "Records.MaxTimestamp", NOW, "the broker's clock where a topic wants LogAppendTime"),
    Mask("Fetch", "Records.BaseTimestamp", NOW, "the broker's clock where a topic wants LogAppendTime"),
    Mask("ListOffsets", "Timestamp", NOW, "the broker's clock where a topic wants LogAppendTime"),
    Mask("ListOffsets", "OldStyleOffsets", DROP, "version 0 only"),
    Mask("Metadata", "Topics", OWN, "other cases have topics too; Kafka lists them in the order of a hash", "Name|TopicId"),
    Mask("Metadata", "Topics.Partitions", SORT, "Kafka lists them in the order of a hash", "PartitionIndex"),
    Mask("DescribeTopicPartitions", "Topics", OWN, "other cases have topics too", "Name"),
    Mask("ListGroups", "Groups", OWN, "other cases have groups too", "GroupId"),
    Mask("ListConfigResources", "ConfigResources", OWN, "other cases have topics and groups too", "ResourceName"),
    Mask("DescribeLogDirs", "Results.Topics", OWN, "other cases have topics too", "Name"),
    Mask("DescribeLogDirs", "Results.Topics.Partitions", SORT, "in the order of a hash", "PartitionIndex"),
    Mask("DescribeLogDirs", "PartitionSize", DROP, "Weir keeps all partitions in one log: the share of one is an estimate"),
    Mask("DescribeLogDirs", "LogDir", DROP, "a folder of this machine"),
    Mask("DescribeLogDirs", "TotalBytes", DROP, "the machine's disk"),
    Mask("DescribeLogDirs", "UsableBytes", DROP, "the machine's disk"),
    Mask("DescribeConfigs", "Results.Configs", SORT, "Kafka lists them in the order of a hash", "Name"),
    Mask("CreateTopics", "Topics", SORT, "Kafka answers in the order of a hash", "Name"),
    Mask("DeleteTopics", "Responses", SORT, "Kafka answers in a random order, on purpose", "Name|TopicId"),
    Mask("CreatePartitions", "Results", SORT, "Kafka answers in the order of a hash", "Name"),
    Mask("DeleteRecords", "Topics", SORT, "Kafka answers in the order of a hash", "Name"),
    Mask("DeleteRecords", "Topics.Partitions", SORT, "Kafka answers in the order of a hash", "PartitionIndex"),
    Mask("AlterConfigs", "Responses", SORT, "Kafka answers in the order of a hash", "ResourceName"),
    Mask("IncrementalAlterConfigs", "Responses", SORT, "Kafka answers in the order of a hash", "ResourceName"),
    Mask("Produce", "Responses", SORT, "Kafka answers in the order of a hash", "Name|TopicId"),
    Mask("Produce", "Responses.PartitionResponses", SORT, "Kafka answers in the order of a hash", "Index"),
    Mask("ListOffsets", "Topics", SORT, "Kafka answers in the order of a hash", "Name"),
    Mask("ListOffsets", "Topics.Partitions", SORT, "Kafka answers in the order of a hash", "PartitionIndex"),
    Mask("OffsetForLeaderEpoch", "Topics", SORT, "Kafka answers in the order of a hash", "Topic"),
    Mask("OffsetFetch", "Topics", SORT, "all offsets of a group come in the order of a hash", "Name"),
    Mask("OffsetFetch", "Topics.Partitions", SORT, "all offsets of a group come in the order of a hash", "PartitionIndex"),
    Mask("OffsetDelete", "Topics.Partitions", SORT, "Kafka answers in the order of a hash", "PartitionIndex"),
    Mask("OffsetDelete", "Topics", SORT, "Kafka answers in the order of a hash", "Name"),
    Mask("DescribeGroups", "Groups", SORT, "groups come in the order of a hash", "GroupId"),
    Mask("DeleteGroups", "Results", SORT, "groups come in the order of a hash", "GroupId"),
    Mask("DescribeGroups", "Groups.Members", SORT, "members come in the order of a hash", "MemberId"),
    Mask("JoinGroup", "Members", SORT, "members come in the order of a hash", "MemberId"),
    Mask("CreateTopics", "Topics.Configs", SORT, "a set", "Name"),
    Mask("ApiVersions", "ApiKeys", SORT, "a set", "ApiKey"),
    Mask("ApiVersions", "SupportedFeatures", SORT, "a set", "Name"),
    Mask("ApiVersions", "FinalizedFeatures", SORT, "a set", "Name"),
    Mask("ApiVersions", "FinalizedFeaturesEpoch", DROP, "an offset of the metadata log"),
)


# A last batch that is cut at a limit: Kafka sends it, Weir never does, and every client drops it. raw.side leaves it out.


@functools.cache
def find(api: str, path: str) -> Mask | None:
    for row in ROWS:
        if row.api in ("*", api) and (path == row.path or path.endswith("." + row.path)):
            return row
    return None
