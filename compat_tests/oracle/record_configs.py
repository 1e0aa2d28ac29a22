"""Records what the oracle answers to DescribeConfigs, for coordinator/metadata/kafka_configs_test.cpp to compare with.

`python3 compat_tests/oracle/record_configs.py` starts a Kafka node and writes coordinator/testdata/kafka_configs.tsv.
Only what does not depend on the node's own settings is kept: names, types, defaults, and the synonyms that are defaults.
"""

import pathlib
import socket
import struct
import sys
import time

if __package__ in (None, ""):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from harness import paths  # noqa: E402
from harness.broker import KafkaBroker  # noqa: E402
from harness.child import Deadline  # noqa: E402

TARGET = paths.ROOT / "coordinator" / "testdata" / "kafka_configs.tsv"
CREATE_TOPICS, DESCRIBE_CONFIGS = 19, 32
TOPIC, BROKER, CLIENT_METRICS, GROUP = 2, 4, 16, 32
DEFAULT_SOURCE = 5
TYPES = ("UNKNOWN", "BOOLEAN", "STRING", "INT", "SHORT", "LONG", "DOUBLE", "LIST", "CLASS", "PASSWORD")
HEAD = "resource\tname\ttype\tdefault\tread_only\tsensitive\tsynonyms"
ABSENT = "(null)"


def text(value: str) -> bytes:
    return struct.pack(">h", len(value)) + value.encode()


def call(port: int, key: int, version: int, body: bytes) -> bytes:
    request = struct.pack(">hhi", key, version, 1) + text("recorder") + body
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(struct.pack(">i", len(request)) + request)
        with connection.makefile("rb") as answers:
            (size,) = struct.unpack(">i", answers.read(4))
            return answers.read(size)[4:]  # without the correlation id


class Reader:
    def __init__(self, data: bytes):
        self.data = data
        self.at = 0

    def number(self, form: str) -> int:
        (value,) = struct.unpack_from(">" + form, self.data, self.at)
        self.at += struct.calcsize(">" + form)
        return value

    def text(self) -> str | None:
        size = self.number("h")
        if size < 0:
            return None
        self.at += size
        return self.data[self.at - size:self.at].decode()

    def list(self, read) -> list:
        return [read() for _ in range(self.number("i"))]


def read_config(answer: Reader) -> dict:
    config = {"name": answer.text(), "value": answer.text(), "read_only": answer.number("b"), "source": answer.number("b"),
              "sensitive": answer.number("b")}
    config["synonyms"] = answer.list(lambda: (answer.text(), answer.text(), answer.number("b")))
    config["type"] = TYPES[answer.number("b")]
    answer.text()  # documentation: ours is in our own words
    return config


def describe(port: int, resource: int, name: str) -> list[dict]:
    """DescribeConfigs version 3, the newest old coding: one resource, all keys, with synonyms and documentation."""
    body = struct.pack(">ib", 1, resource) + text(name) + struct.pack(">i??", -1, True, True)
    answer = Reader(call(port, DESCRIBE_CONFIGS, 3, body))
    answer.number("i"), answer.number("i")
    if answer.number("h") != 0:
        return []
    answer.text(), answer.number("b"), answer.text()
    return sorted(answer.list(lambda: read_config(answer)), key=lambda config: config["name"])


def create_topic(port: int, name: str):
    body = struct.pack(">i", 1) + text(name) + struct.pack(">ihii", 1, 1, 0, 0) + struct.pack(">i?", 30_000, False)
    call(port, CREATE_TOPICS, 4, body)


def shown(value: str | None) -> str:
    return ABSENT if value is None else value


def line(kind: str, config: dict) -> str:
    defaults = [(name, value) for name, value, source in config["synonyms"] if source == DEFAULT_SOURCE]
    own = [value for name, value in defaults if name == config["name"]]
    default = config["value"] if config["source"] == DEFAULT_SOURCE else own[0] if own else None
    synonyms = ",".join(f"{name}={shown(value)}" for name, value in defaults)
    flags = ["yes" if config[flag] else "no" for flag in ("read_only", "sensitive")]
    return "\t".join([kind, config["name"], config["type"], shown(default), *flags, synonyms])


def record(port: int) -> str:
    create_topic(port, "recorded")
    deadline = Deadline(30)
    while not describe(port, TOPIC, "recorded"):  # Kafka's controller has answered, but its broker may learn of it later
        if deadline.passed:
            raise SystemExit("the oracle does not know its topic")
        time.sleep(0.05)
    lines = [HEAD]
    for kind, resource, name in (("broker", BROKER, "1"), ("client_metrics", CLIENT_METRICS, "recorded"),
                                 ("group", GROUP, "recorded"), ("topic", TOPIC, "recorded")):
        lines += [line(kind, config) for config in describe(port, resource, name)]
    return "\n".join(lines) + "\n"


def main():
    broker = KafkaBroker("record-configs", {})
    try:
        broker.start()
        TARGET.parent.mkdir(exist_ok=True)
        TARGET.write_text(record(broker.port))
    finally:
        broker.remove()


if __name__ == "__main__":
    main()
