"""Makes docs/COMPATIBILITY.md of what the tests passed and of what brokers say they serve. Nothing in it is written by hand.

A line of the page is made again from each run and compared (`stale_clients`, and suite.py for the APIs), so it cannot go
stale; only the date is as old as the last `run.py --write-compatibility`.
"""

import json
import platform
import re
import subprocess

from harness import paths
from harness.context import expected_passes
from raw import codec
from raw.client import Connection

PAGE = paths.ROOT / "docs" / "COMPATIBILITY.md"
RECORDED = paths.COMPAT / "probes" / "recorded.json"
NOT_SERVED = paths.COMPAT / "compatibility" / "not_served.txt"
EXTENSIONS = paths.ROOT / "protocol" / "schemas" / "ext"
OUR_FIRST_KEY = 19000

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
COLUMNS = ("metadata", *CODECS, "records", "groups", "admin", "kill -9")
AREAS = (  # the first that matches a test's name; the group is a codec
    (re.compile(r"metadata|Metadata\."), "metadata"),
    (re.compile(r"(?:check_)?codec[-_](\w+)|Records\.ComeBackAsTheyWereSentWith(?:out)?A?(\w+)"), None),
    (re.compile(r"crash"), "kill -9"),
    (re.compile(r"group|Group\."), "groups"),
    (re.compile(r"admin_|Admin\.|Offsets\."), "admin"),
    (re.compile(r"program_ends|broker_stops"), "ends"),
    (re.compile(""), "records"),
)


def _found(file: str, pattern: str):
    return lambda: re.search(pattern, (paths.COMPAT / file).read_text())[1]


def _printed(command: list, pattern: str):
    return lambda: re.search(pattern, subprocess.run(command, capture_output=True, text=True, check=True).stdout)[1]


_JAR = r"<artifactId>kafka-clients</artifactId>\s*<version>([\d.]+)"
CLIENTS = {  # the suite's folder: (name, version)
    "java": ("kafka-clients (Java)", _found("java/pom.xml", _JAR)),
    "librdkafka": ("librdkafka (C++)", _printed(["pkg-config", "--modversion", "rdkafka"], r"([\d.]+)")),
    "kcat": ("kcat", _printed(["kcat", "-V"], r"Version ([\d.]+)")),
    "confluent_python": ("confluent-kafka-python", _found("confluent_python/requirements.lock", r"confluent-kafka==([\d.]+)")),
    "kafka_python": ("kafka-python", _found("kafka_python/requirements.lock", r"kafka-python==([\d.]+)")),
    "aiokafka_python": ("aiokafka (Python)", _found("aiokafka_python/requirements.lock", r"aiokafka==([\d.]+)")),
    "franz_go": ("franz-go (Go)", _found("go/go.mod", r"twmb/franz-go v([\d.]+)")),
    "sarama": ("sarama (Go)", _found("go/go.mod", r"sarama v([\d.]+)")),
    "kafka_go": ("kafka-go (Go)", _found("go/go.mod", r"kafka-go v([\d.]+)")),
    "kafkajs": ("kafkajs (Node)", _found("node/package.json", r'"kafkajs": "([\d.]+)')),
    "platformatic_kafka": ("@platformatic/kafka (Node)", _found("node/package.json", r'"@platformatic/kafka": "([\d.]+)')),
    "old_java": ("kafka-clients (Java), old", _found("old_java/pom.xml", _JAR)),
    "old_librdkafka": ("librdkafka (C++), old", _found("old_librdkafka/requirements.lock", r"confluent-kafka==([\d.]+)")),
    "old_kafka_python": ("kafka-python, old", _found("old_kafka_python/requirements.lock", r"kafka-python==([\d.]+)")),
}
MACHINES_OWN = ("librdkafka", "kcat")  # their versions are those of the machine's packages
OTHERS = {
    "console_tools": "Kafka's console tools 4.4.0: what they print is what they print against Kafka",
    "franz_go_own": "the broker tests of franz-go 1.22.3 itself, but for those of transactions, share groups and KIP-848",
    "probes": "cases over raw sockets: field by field what Kafka 4.4.0 answered, or a line that says why not",
    "differ": "random requests of one seed to Weir and to a running Kafka 4.4.0, and all cases in which the two once differed",
    "kill_loop": "producers, groups and topics made, through kill -9 after kill -9: all that was answered, audited after each",
    "server_properties": "people's server.properties, each listener's own address, limits on connections, batches of 100 MB",
    "memory": "memory that runs out: one allocation after the other fails, in the start and under load",
    "outages": "failing syncs, no descriptors, a full disk, a hanging one under load, then a stop and a start: each ends as its message says",
    "hostile": "broken frames and batches, bombs, slow senders",
    "scale": "5,000 connections, 10,000 partitions, 200,000 names, 2,000 members, each with its limit",
    "real_input": "50 MB of package lists through kcat and a kill -9 to Java, byte for byte",
    "cli": "Weir's own command line",
}
SUITES = (*CLIENTS, *OTHERS)


def _count(suite: str, passed: set) -> dict:
    """Tests by area; of those that every run has, so not the ones of --full."""
    counts = dict.fromkeys((*COLUMNS, "ends"), 0)
    for name in passed & set(expected_passes(suite, {"weir", platform.machine()})):
        found, area = next((found, area) for pattern, area in AREAS if (found := pattern.match(name)))
        counts[area or (found[1] or found[2]).lower().replace("codec", "none")] += 1
    return counts


def _name(suite: str) -> str:
    return CLIENTS[suite][0] if suite in CLIENTS else f"`{suite}`"


def _row(suite: str, passed: set) -> str:
    counts = _count(suite, passed)
    total = sum(counts.values())
    if suite in OTHERS:
        return f"| {_name(suite)} | {OTHERS[suite]} | {total} |"
    return f"| {_name(suite)} | {CLIENTS[suite][1]()} | " + " | ".join(str(counts[area] or "-") for area in COLUMNS) + f" | {total} |"


def stale_clients(passed: dict[str, set]) -> list[str]:
    """What of the client tables is not what these tests tell. `passed` holds the suites that ran, none with a failure."""
    told = PAGE.read_text().partition("## APIs")[0]
    stale = [f"{suite}: neither a client nor in OTHERS of page.py" for suite in passed if suite not in SUITES]
    rows = [_row(suite, names) for suite, names in passed.items() if suite in SUITES and not _not_comparable(suite)]
    stale += [row for row in rows if row not in told]
    names = {_name(suite) for suite in SUITES}
    return stale + sorted(set(re.findall(r"^\| (.+?) \| .*\| \d+ \|$", told, re.MULTILINE)) - names)


def _not_comparable(suite: str) -> bool:
    """The page is made on x86-64 and Debian 12: elsewhere the machine's packages are others, and one old library is missing."""
    other = suite in MACHINES_OWN and platform.freedesktop_os_release().get("VERSION_CODENAME") != "bookworm"
    return other or not expected_passes(suite, {"weir", platform.machine()})


def served(port: int) -> dict[int, tuple[int, int]]:
    """What a running broker's ApiVersions tells: key to versions."""
    connection = Connection(port)
    try:
        told = connection.call("ApiVersions", 4, {"ClientSoftwareName": "compatibility", "ClientSoftwareVersion": "1"})
    finally:
        connection.close()
    return {one["ApiKey"]: (one["MinVersion"], one["MaxVersion"]) for one in told["ApiKeys"]}


def recorded_of_kafka() -> dict[int, tuple[int, int]]:
    """The same of Apache Kafka 4.4.0, out of the recording of the probes."""
    fields = json.loads(RECORDED.read_text())["api_versions"]["v4"]
    stems = [path.removesuffix("ApiKey") for path in fields if path.startswith("ApiKeys[") and path.endswith("].ApiKey")]
    return {fields[stem + "ApiKey"]: (fields[stem + "MinVersion"], fields[stem + "MaxVersion"]) for stem in stems}


def reasons() -> dict[int, str]:
    """Key to reason, in the order of the file."""
    why = {}
    for line in NOT_SERVED.read_text().splitlines():
        if line.startswith("#"):
            continue
        keys, reason = line.split(" | ")
        for part in keys.split():
            first, _, last = part.partition("-")
            why |= dict.fromkeys(range(int(first), int(last or first) + 1), reason)
    return why


def _api_name(key: int) -> str:
    if key < OUR_FIRST_KEY:
        return codec.api_name(key)
    texts = (file.read_text() for file in sorted(EXTENSIONS.glob("*.msg")))
    return next(found[1] for text in texts if (found := re.search(rf"^msg (\w+)Request request key={key}\b", text, re.MULTILINE)))


def stale_apis(ours: dict, kafkas: dict) -> list[str]:
    """Lines that are on the page and should not be, and the other way round."""
    told = [line for line in PAGE.read_text().partition("## APIs")[2].splitlines() if line.startswith("|")]
    return sorted(set(told) ^ set(line for line in api_lines(ours, kafkas) if line))


def api_lines(ours: dict, kafkas: dict) -> list[str]:
    def versions(of: dict, key: int) -> str:
        first, last = of.get(key, ("-", "-"))
        return str(first) if first == last else f"{first} to {last}"

    why = reasons()
    lines = ["| key | API | Weir | Kafka 4.4.0 |", "| --- | --- | --- | --- |"]
    lines += [f"| {key} | {_api_name(key)} | {versions(ours, key)} | {versions(kafkas, key)} |" for key in sorted(ours)]
    lines += ["", "| served by Kafka 4.4.0 alone | why |", "| --- | --- |"]
    for reason in dict.fromkeys(why.values()):
        names = [f"{_api_name(key)} ({key})" for key in sorted(why) if why[key] == reason]
        lines.append(f"| {', '.join(names)} | {reason} |")
    return lines


def _kept(suite: str, old: str) -> str:
    """The row of a suite that did not run now."""
    found = re.search(rf"^\| {re.escape(_name(suite))} \| .*$", old, re.MULTILINE)
    if not found:
        raise SystemExit(f"docs/COMPATIBILITY.md has no row of {suite} yet: run it too")
    return found[0]


def make(date: str, passed: dict[str, set], ours: dict, kafkas: dict) -> str:
    """`passed` holds the suites that ran; the rows of the others stay as they are."""
    old = PAGE.read_text() if PAGE.exists() else ""
    rows = {suite: _row(suite, passed[suite]) if suite in passed else _kept(suite, old) for suite in SUITES}
    head = ["client", "version", *COLUMNS, "all"]
    shown = (
        "# Compatibility",
        f"Made by the tests on {date} (`compat_tests/run.py --write-compatibility`) and compared with them in every run.",
        "",
        "## Clients",
        "How many tests of each area passed, against one node with its default settings; `-`: the client cannot do it, or an old",
        "release runs a shorter round. Under a codec: sent and read back by the client, then checked from outside for loss,",
        "duplicates and order. *kill -9*: 100,000 records through a killed broker, nothing lost, nothing twice. *all* counts the",
        "orderly end of client and broker too. What each client needs and does is in `compat_tests/*/FINDINGS.md`.",
        "",
        f"| {' | '.join(head)} |",
        "|" + " --- |" * len(head),
        *(rows[suite] for suite in CLIENTS),
        "",
        "| beside them | what | passed |",
        "| --- | --- | --- |",
        *(rows[suite] for suite in OTHERS),
        "",
        "## APIs",
        "Versions as the running broker's ApiVersions tells them, and as Apache Kafka 4.4.0 does; keys from 19000 on are our own.",
        "",
        *api_lines(ours, kafkas),
    )
    return "\n".join(shown) + "\n"
