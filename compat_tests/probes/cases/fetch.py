"""Reading: Fetch with its limits, epochs and sessions; ListOffsets; OffsetForLeaderEpoch; DeleteRecords."""

from raw.story import TOPIC, change_configs, create, delete_records, epoch_end, fetch, list_offsets, produce, step, topic

NIL = "00000000000000000000000000000001"


def _filled(*more) -> list:
    """Offsets 0-2 plain, 3-4 gzip, 5 with a later time, 6 with an earlier one."""
    return [("make", create("@t", 2)), ("three", produce("@t", {"n": 3})), ("two packed", produce("@t", {"n": 2, "form": "gzip"})),
            ("later", produce("@t", {"base_ts": 1_700_000_005_000})), ("earlier", produce("@t", {"base_ts": 1_600_000_000_000})), *more]


def _session(epoch: int, wanted=(), forgotten=(), session="$s", v: int = 12, **rest) -> dict:
    topics = [topic("@t", "Topic", Partitions=[{"Partition": p, "FetchOffset": offset, "PartitionMaxBytes": 1000} for p, offset in wanted])]
    gone = [topic("@t", "Topic", Partitions=list(forgotten))]
    return step("Fetch", v, bind={"s": "SessionId"} if epoch == 0 else None, **{
        "ReplicaId": -1, "MaxWaitMs": 0, "MinBytes": 1, "MaxBytes": 10_000, "SessionId": 0 if epoch == 0 else session, "SessionEpoch": epoch,
        "Topics": topics if wanted else [], "ForgottenTopicsData": gone if forgotten else []} | rest)


def _epochs(**fields) -> dict:
    return fetch("@t", v=12, partition_fields=fields)


def cases() -> dict:
    specials = (-1, -2, -3, -4, -5, -6, -7, 0, 1_600_000_000_000, 1_700_000_000_000, 1_700_000_000_001, 1_700_000_005_001, 1 << 60)
    return {
        "fetch_versions": _filled(*((f"v{v}", fetch("@t", v=v)) for v in range(4, 19))),
        "fetch_limits": _filled(
            ("from within a batch", fetch("@t", 1, partition_bytes=1)),
            ("one byte", fetch("@t", partition_bytes=1, max_bytes=1)),
            ("no bytes", fetch("@t", partition_bytes=0, max_bytes=0)),
            ("negative limits", fetch("@t", partition_bytes=-1, max_bytes=-1)),
            ("a batch and a bit", fetch("@t", partition_bytes=150)),
            ("at the end", fetch("@t", 7)),
            ("at the end, more wanted than there is", fetch("@t", 7, wait_ms=50)),
            ("less than is wanted", fetch("@t", 0, wait_ms=50, min_bytes=1 << 20)),
        ),
        "fetch_two_partitions_share_the_limit": _filled(
            ("the other", produce("@t", {"n": 2}, partition=1)),
            ("both", step("Fetch", 12, ReplicaId=-1, MinBytes=1, MaxBytes=1, Topics=[topic("@t", "Topic", Partitions=[
                {"Partition": p, "FetchOffset": 0, "PartitionMaxBytes": 1} for p in (1, 0)])])),
            ("the same twice", step("Fetch", 12, ReplicaId=-1, MinBytes=1, MaxBytes=1000, Topics=[topic("@t", "Topic", Partitions=[
                {"Partition": 0, "FetchOffset": offset, "PartitionMaxBytes": 1000} for offset in (0, 3)])])),
            ("nothing wanted", step("Fetch", 12, ReplicaId=-1, MinBytes=1, MaxBytes=1000)),
        ),
        "fetch_out_of_range": _filled(
            ("behind the end", fetch("@t", 8)), ("far behind", fetch("@t", 1 << 62)), ("-1", fetch("@t", -1)),
            ("behind the end, waiting", fetch("@t", 8, wait_ms=50)),
            ("an unknown partition", fetch("@t", partition=9)), ("an unknown topic", fetch("@nobody", v=12)),
            ("an unknown topic in an old version", fetch("@nobody", v=4)),
            ("an unknown id", step("Fetch", 13, MinBytes=1, MaxBytes=1000, Topics=[{"TopicId": NIL, "Partitions": [{"Partition": 0, "FetchOffset": 0}]}])),
            ("a zero id", step("Fetch", 13, MinBytes=1, MaxBytes=1000, Topics=[{"Partitions": [{"Partition": 0, "FetchOffset": 0}]}])),
        ),
        "fetch_epochs": _filled(
            ("current", _epochs(CurrentLeaderEpoch=0)), ("newer", _epochs(CurrentLeaderEpoch=5)), ("older", _epochs(CurrentLeaderEpoch=-2)),
            ("last fetched 0", _epochs(CurrentLeaderEpoch=0, LastFetchedEpoch=0)), ("last fetched 5", _epochs(CurrentLeaderEpoch=0, LastFetchedEpoch=5)),
            ("committed only", fetch("@t", IsolationLevel=1)), ("committed only, out of range", fetch("@t", 99, IsolationLevel=1)),
            ("an isolation that does not exist", fetch("@t", IsolationLevel=2)),
        ),
        "fetch_sessions": _filled(
            ("open", _session(0, [(0, 0), (1, 0)])),
            ("nothing new", _session(1)),
            ("another offset", _session(2, [(0, 5)])),
            ("a wrong epoch", _session(9)),
            ("more records", produce("@t", {}, partition=1)),
            ("only the new ones", _session(3)),
            ("an unknown partition", _session(4, [(7, 0)])),
            ("it stays", _session(5)),
            ("one forgotten", _session(6, forgotten=[0])),
            ("without the forgotten", _session(7)),
            ("an unknown session", _session(1, session=123_456_789)),
            ("closed", _session(-1, [(0, 0)])),
            ("after the close", _session(8)),
            ("no session at all", _session(-1, [(0, 0)], session=0)),
            ("epoch 5 of nothing", _session(5, session=0)),
            ("open again", _session(0, [(0, 7)])),
            ("all forgotten", _session(1, forgotten=[0])),
            ("an empty session", _session(2)),
        ),
        "fetch_sessions_by_id": _filled(
            ("open", _session(0, [(0, 0), (1, 0)], v=15)), ("nothing new", _session(1, v=15)), ("one forgotten", _session(2, forgotten=[0], v=16)),
            ("closed", _session(-1, v=17)),
        ),
        "list_offsets": _filled(
            *((f"v{v}", list_offsets("@t", -1, v=v)) for v in range(1, 12)),
            *((f"time {time}", list_offsets("@t", time)) for time in specials),
            *((f"time {time} of nothing", list_offsets("@t", time, partition=1)) for time in (-1, -2, -3, 5)),
            ("-3 in version 6", list_offsets("@t", -3, v=6)), ("-4 in version 7", list_offsets("@t", -4, v=7)), ("-5 in version 8", list_offsets("@t", -5, v=8)),
            ("an unknown partition", list_offsets("@t", -1, partition=9)), ("an unknown topic", list_offsets("@nobody", -1)),
            ("epoch 0", list_offsets("@t", -1, epoch=0)), ("epoch 3", list_offsets("@t", -1, epoch=3)), ("epoch -5", list_offsets("@t", -1, epoch=-5)),
            ("committed only", list_offsets("@t", -1, isolation=1)),
            ("a partition twice", step("ListOffsets", ReplicaId=-1, Topics=[{"Name": "@t", "Partitions": [
                {"PartitionIndex": 0, "Timestamp": -1}, {"PartitionIndex": 0, "Timestamp": -2}]}])),
            ("as a replica", step("ListOffsets", ReplicaId=5, Topics=[{"Name": "@t", "Partitions": [{"PartitionIndex": 0, "Timestamp": -1}]}])),
        ),
        "ends_of_epochs": _filled(
            *((f"v{v}", epoch_end("@t", 0, v=v)) for v in range(2, 5)),
            ("epoch 9", epoch_end("@t", 9)), ("epoch -1", epoch_end("@t", -1)), ("a newer current epoch", epoch_end("@t", 0, current=4)),
            ("an older current epoch", epoch_end("@t", 0, current=-3)), ("an unknown partition", epoch_end("@t", 0, partition=9)),
            ("an unknown topic", epoch_end("@nobody", 0)), ("of nothing", epoch_end("@t", 0, partition=1)),
        ),
        "delete_records": _filled(
            ("two", delete_records("@t", 2)), ("below the start", fetch("@t", 0)), ("at the start, within a batch", fetch("@t", 2)),
            ("back", delete_records("@t", 1)), ("again", delete_records("@t", 2)), ("beyond the end", delete_records("@t", 99)),
            ("-2", delete_records("@t", -2)), ("first", list_offsets("@t", -2)), ("by time", list_offsets("@t", 0)),
            ("produce says where it starts", produce("@t", {})), ("all", delete_records("@t", -1, v=0)), ("first of nothing", list_offsets("@t", -2)),
            ("the end stays", list_offsets("@t", -1)), ("epoch of nothing", epoch_end("@t", 0)), ("largest time of nothing", list_offsets("@t", -3)),
            ("an unknown partition", delete_records("@t", 0, partition=9)), ("an unknown topic", delete_records("@nobody", 0)),
            ("a partition twice", step("DeleteRecords", TimeoutMs=5000, Topics=[{"Name": "@t", "Partitions": [{"PartitionIndex": 1, "Offset": 0}] * 2}])),
            ("make compact", create("@compact", configs={"cleanup.policy": "compact"})), ("of a compacted topic", delete_records("@compact", 0)),
            *(step for policy, name in (("", "@kept"), ("compact,delete", "@both")) for step in (
                (f"make {name}", create(name, configs={"cleanup.policy": policy})), (f"fill {name}", produce(name, {"n": 3})),
                (f"two of {name}", delete_records(name, 2)), (f"first of {name}", list_offsets(name, -2)))),
            ("keep the first for ever", change_configs(TOPIC, "@t", ("cleanup.policy", 0, ""))), ("still", delete_records("@t", -1)),
            ("compact it", change_configs(TOPIC, "@t", ("cleanup.policy", 0, "compact"))), ("no more", delete_records("@t", -1)),
            ("nothing", step("DeleteRecords", TimeoutMs=5000)),
        ),
    }
