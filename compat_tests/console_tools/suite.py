"""Kafka's own console tools. What each command prints is compared with what it printed against Apache Kafka 4.4.0:
expected/NAME.txt, written by `WEIR_RECORD=1 compat_tests/run.py --broker kafka --only console_tools`."""

import contextlib
import difflib
import json
import os
import pathlib
import re

from console_tools.tools import PACKAGE, Tools
from harness import paths
from harness.child import Child, Deadline
from harness.context import Context
from harness.results import require

EXPECTED = pathlib.Path(__file__).parent / "expected"
RECORDS = 600

TOPICS = """
TopicCommand --create --topic life --partitions 3 --replication-factor 1 --config retention.ms=86400000
TopicCommand --create --topic life
TopicCommand --create --topic life --if-not-exists
TopicCommand --create --topic no/slash
TopicCommand --create --topic odd --config no.such.key=1
TopicCommand --list
TopicCommand --describe --topic life
TopicCommand --describe --topics-with-overrides
TopicCommand --describe --under-replicated-partitions
TopicCommand --describe --unavailable-partitions
TopicCommand --alter --topic life --partitions 5
TopicCommand --alter --topic life --partitions 2
TopicCommand --describe --topic life
TopicCommand --delete --topic life
TopicCommand --delete --topic life
TopicCommand --describe --topic life
TopicCommand --list
"""
CONFIGS_TOPICS = """
TopicCommand --create --topic configured
ConfigCommand --entity-type topics --entity-name configured --describe
ConfigCommand --entity-type topics --entity-name configured --describe --all
ConfigCommand --entity-type topics --entity-name configured --alter --add-config cleanup.policy=[compact,delete],max.message.bytes=2000000
ConfigCommand --topic configured --describe
ConfigCommand --topic configured --alter --delete-config max.message.bytes
ConfigCommand --topic configured --describe
ConfigCommand --topic configured --alter --add-config max.message.bytes=a-lot
ConfigCommand --topic configured --alter --add-config no.such.key=1
ConfigCommand --topic configured --alter --delete-config max.message.bytes
ConfigCommand --topic not-there --describe
TopicCommand --delete --topic configured
"""
CONFIGS_BROKERS = """
ConfigCommand --entity-type brokers --entity-name 1 --describe
ConfigCommand --entity-type brokers --entity-name 1 --alter --add-config log.retention.ms=1000000
ConfigCommand --entity-type brokers --entity-default --alter --add-config message.max.bytes=2000000
ConfigCommand --entity-type brokers --entity-name 1 --describe
ConfigCommand --entity-type brokers --entity-default --describe
ConfigCommand --entity-type brokers --entity-name 1 --alter --add-config node.id=7
ConfigCommand --entity-type brokers --entity-name 1 --alter --delete-config log.retention.ms
ConfigCommand --entity-type brokers --entity-default --alter --delete-config message.max.bytes
ConfigCommand --entity-type brokers --entity-name 1 --describe
"""
CONFIGS_GROUPS = """
ConfigCommand --entity-type groups --entity-name a-group --alter --add-config consumer.session.timeout.ms=50000
ConfigCommand --entity-type groups --entity-name a-group --describe
ConfigCommand --entity-type groups --entity-name a-group --alter --add-config consumer.session.timeout.ms=1
ConfigCommand --entity-type groups --entity-name a-group --alter --delete-config consumer.session.timeout.ms
ConfigCommand --entity-type groups --entity-name a-group --describe
"""
OFFSETS = """
GetOffsetShell --topic data
GetOffsetShell --topic-partitions data:0-2 --time earliest
GetOffsetShell --topic data --partitions 1 --time latest
GetOffsetShell --topic data --time 1
GetOffsetShell --topic data --time 4102444800000
GetOffsetShell --topic not-there
DeleteRecordsCommand --offset-json-file FOLDER/delete-to-40.json
DeleteRecordsCommand --offset-json-file FOLDER/delete-to-1000000.json
GetOffsetShell --topic data --time earliest
LogDirsCommand --describe --topic-list data
LogDirsCommand --describe --topic-list data --broker-list 1
"""
GROUP = """
ConsumerGroupCommand --list
ConsumerGroupCommand --list --state
ConsumerGroupCommand --list --state Stable
ConsumerGroupCommand --list --type
GroupsCommand --list
ConsumerGroupCommand --describe --group readers
ConsumerGroupCommand --describe --group readers --offsets --verbose
ConsumerGroupCommand --describe --group readers --state
ConsumerGroupCommand --describe --group readers --members
ConsumerGroupCommand --describe --all-groups
ConsumerGroupCommand --describe --group not-there
ConsumerGroupCommand --reset-offsets --group readers --topic data --to-earliest --dry-run
ConsumerGroupCommand --reset-offsets --group readers --topic data --shift-by -5 --execute
ConsumerGroupCommand --reset-offsets --group readers --topic data:1 --to-offset 3 --execute
ConsumerGroupCommand --reset-offsets --group readers --all-topics --to-current --export
ConsumerGroupCommand --reset-offsets --group readers --topic data:2 --to-datetime 2100-01-01T00:00:00.000 --execute
ConsumerGroupCommand --reset-offsets --group readers --topic data:2 --by-duration P1D --dry-run
ConsumerGroupCommand --describe --group readers
ConsumerGroupCommand --delete-offsets --group readers --topic data:0
ConsumerGroupCommand --describe --group readers
"""
GROUP_DELETED = """
ConsumerGroupCommand --delete --group readers
ConsumerGroupCommand --delete --group readers
ConsumerGroupCommand --list
"""
GROUP_WITH_MEMBER = """
ConsumerGroupCommand --list --state
ConsumerGroupCommand --describe --group active
ConsumerGroupCommand --describe --group active --members
ConsumerGroupCommand --describe --group active --members --verbose
ConsumerGroupCommand --describe --group active --state
ConsumerGroupCommand --reset-offsets --group active --topic data --to-earliest --execute
ConsumerGroupCommand --delete-offsets --group active --topic data
ConsumerGroupCommand --delete --group active
"""
OFFSETS_TOPIC = "ConsoleConsumer --topic __consumer_offsets --from-beginning --timeout-ms 3000 --formatter " + PACKAGE + "consumer."


def run(context: Context):
    # The tests that this kind of broker is known not to pass are not run; expected_passes.txt names the other kind.
    wanted = set(context.expected_passes())
    with context.broker() as broker, contextlib.ExitStack() as ends:
        tools = Tools(broker)
        ends.callback(tools.kill)
        for offset in (40, 1_000_000):
            wish = {"version": 1, "partitions": [{"topic": "data", "partition": 0, "offset": offset}]}
            (broker.folder / f"delete-to-{offset}.json").write_text(json.dumps(wish))

        def compared(name: str, commands: str):
            if name in wanted or context.kind == "kafka":
                with context.test(name):
                    _compare(name, tools.transcript(commands))

        compared("topics", TOPICS)
        compared("configs_topics", CONFIGS_TOPICS)
        compared("configs_brokers", CONFIGS_BROKERS)
        compared("configs_groups", CONFIGS_GROUPS)
        with context.test("api_versions") as notes:
            notes.append(_api_versions(tools))
        with context.test("verifiable_producer"):
            tools.run("TopicCommand --create --topic data --partitions 3")
            _verifiable_producer(broker)
        with context.test("console_consumer_commits_and_leaves"):
            code, text = tools.run(f"ConsoleConsumer --topic data --group readers --from-beginning --max-messages {RECORDS} --timeout-ms 30000")
            lines = [line for line in text.splitlines() if line.isdigit()]
            require(code == 0 and sorted(map(int, lines)) == list(range(RECORDS)), f"{code}: {text[-300:]}")
        compared("offsets_and_log_dirs", OFFSETS)
        compared("group", GROUP)
        with context.test("offsets_topic_by_kafkas_formatters"):
            _compare("offsets_topic_by_kafkas_formatters", _offsets_topic(tools))
        compared("group_deleted", GROUP_DELETED)
        with context.test("verifiable_consumer"):
            with _verifiable_consumer(broker):
                compared("group_with_member", GROUP_WITH_MEMBER)
        with context.test("performance") as notes:
            notes.append(_performance(tools))
        tools.close()


def _compare(name: str, told: str):
    file = EXPECTED / f"{name}.txt"
    if os.environ.get("WEIR_RECORD"):
        file.write_text(told)
    wanted = file.read_text()
    diff = difflib.unified_diff(wanted.splitlines(), told.splitlines(), "Apache Kafka 4.4.0", "this broker", lineterm="", n=1)
    require(told == wanted, "\n" + "\n".join(diff))


def _api_versions(tools: Tools) -> str:
    """Where this broker serves an API, the range is Kafka's."""
    told = tools.transcript("BrokerApiVersionsCommand")
    if os.environ.get("WEIR_RECORD"):
        (EXPECTED / "api_versions.txt").write_text(told)
    served = [line for line in told.replace(",\n", "\n").splitlines() if "usable" in line]
    wanted = (EXPECTED / "api_versions.txt").read_text().replace(",\n", "\n").splitlines()
    require(len(served) >= 28 and not set(served) - set(wanted), f"not Kafka's: {sorted(set(served) - set(wanted))}, {told}")
    return f"{len(served)} of {sum('usable' in line for line in wanted)} APIs"


def _events(lines: list[str], name: str) -> list[dict]:
    events = [json.loads(line) for line in lines if line.startswith("{")]
    return [event for event in events if event["name"] == name]


def _service(broker, tool: str, lines: list[str], *options) -> Child:
    """The verifiable clients end their JVM themselves, so each has one of its own."""
    command = [*paths.JAVA, "-cp", paths.CONSOLE_TOOLS, PACKAGE + tool, "--bootstrap-server", broker.address, *options]
    return Child(command, broker.folder / f"{tool}.log", watch=lines.append)


def _verifiable_producer(broker):
    """Keys decide the partitions, so that every run puts the same records at the same places."""
    lines = []
    options = ("--topic", "data", "--max-messages", RECORDS, "--repeating-keys", "20")
    code = _service(broker, "VerifiableProducer", lines, *options).wait(60)
    sent = _events(lines, "producer_send_success")
    require(code == 0 and sorted(int(one["value"]) for one in sent) == list(range(RECORDS)), f"{code}: {lines[-5:]}")
    for partition in range(3):
        offsets = [one["offset"] for one in sent if one["partition"] == partition]
        require(offsets == list(range(len(offsets))), f"partition {partition}: {offsets[:20]}")
    (total,) = _events(lines, "tool_data")
    require((total["sent"], total["acked"]) == (RECORDS, RECORDS), f"{total}")


@contextlib.contextmanager
def _verifiable_consumer(broker):
    """Yields when it has read all and committed; then it must leave in good order."""
    lines = []
    client = _service(broker, "VerifiableConsumer", lines, "--topic", "data", "--group-id", "active", "--session-timeout", "10000")
    try:
        deadline = Deadline(60)
        wanted = RECORDS - 40  # DeleteRecordsCommand took these
        while sum(one["count"] for one in _events(list(lines), "records_consumed")) < wanted or not _committed(list(lines)) == RECORDS:
            require(client.running() and not deadline.passed, f"{lines[-5:]}\n{client.tail()}")
            deadline.pause()
        yield
        client.terminate(30)
        require(_events(lines, "shutdown_complete"), f"no orderly end: {lines[-5:]}\n{client.tail()}")
    finally:
        client.kill9()
    require(sum(one["count"] for one in _events(lines, "records_consumed")) == wanted, "it read another number of records")


def _committed(lines: list[str]) -> int:
    """The sum of the newest committed offset of each partition."""
    newest = {}
    for event in _events(lines, "offsets_committed"):
        require(event["success"], f"{event}")
        newest |= {one["partition"]: one["offset"] for one in event["offsets"]}
    return sum(newest.values())


def _offsets_topic(tools: Tools) -> str:
    """What Kafka's formatters make of our __consumer_offsets, for the one group; a record a line."""
    told = []
    for formatter in ("OffsetsMessageFormatter", "GroupMetadataMessageFormatter"):
        _, text = tools.run(OFFSETS_TOPIC + formatter)
        text = re.sub(r"\}(?=[{[])", "}\n", tools.comparable(text))
        told += [formatter] + [line for line in text.splitlines() if '"group":"readers"' in line]
    return "\n".join(told) + "\n"


def _performance(tools: Tools) -> str:
    code, produced = tools.run("ProducerPerformance --bootstrap-server BROKER --topic perf --num-records 20000 --record-size 100 --throughput -1")
    require(code == 0 and re.search(r"^20000 records sent, ", produced, re.MULTILINE), f"{code}: {produced}")
    code, consumed = tools.run("ConsumerPerformance --bootstrap-server BROKER --topic perf --num-records 20000 --timeout 30000")
    columns = consumed.strip().splitlines()[-1].split(", ")
    require(code == 0 and columns[4] == "20000", f"{code}: {consumed}")
    code, latency = tools.run("EndToEndLatency --bootstrap-server BROKER --topic latency --num-records 100 --producer-acks all --record-size 100")
    found = re.search(r"Avg latency: ([\d.]+) ms", latency)
    require(code == 0 and found, f"{code}: {latency}")
    return f"{produced.splitlines()[-1].split(',')[1].strip()}, read {columns[5]} a second, end to end {found.group(1)} ms"
