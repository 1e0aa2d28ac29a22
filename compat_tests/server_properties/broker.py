"""A broker that is started from a server.properties: Weir by --config, Kafka by the same lines behind the harness's own."""

import pathlib

from harness.broker import DEFAULTS, KafkaBroker, WeirBroker
from harness.child import Child
from harness.context import Context
from harness.ports import free_port
from raw.client import Connection

FILES = pathlib.Path(__file__).resolve().parent / "files"


class FromFile(WeirBroker):
    """Weir with a file alone: its listeners, its folder. `port` is that of {A}; {B} and {C} are others."""

    def __init__(self, binary: pathlib.Path, text: str):
        super().__init__("server-properties", binary, {})
        self.ports = {"A": self.port, "B": free_port(), "C": free_port()}
        self.file = self.folder / "server.properties"
        self.file.write_text(fill(text, self.ports | {"DATA": self.data}))

    def _spawn(self) -> Child:
        return Child([self.binary, "serve", "--config", self.file, "--set", "mq.http.listen=127.0.0.1:0"], self.log)

    def start(self):
        super(WeirBroker, self).start()  # its log names an address without a host otherwise than we do


def fill(text: str, words: dict) -> str:
    for name, value in words.items():
        text = text.replace("{" + name + "}", str(value))
    return text


def start_with(context: Context, lines: dict):
    """A broker of the context's kind with these keys; {A}, {B} stand for ports. Call remove() at the end."""
    if context.kind == "weir":
        settings = {"listeners": "PLAINTEXT://127.0.0.1:{A}", "log.dirs": "{DATA}"} | DEFAULTS | lines
        broker = FromFile(context.weir, "".join(f"{name}={value}\n" for name, value in settings.items()))
    else:
        broker = KafkaBroker("server-properties", {})
        broker.ports = {"A": broker.port, "B": free_port()}
        controller = free_port()
        own = {"listeners": "PLAINTEXT://127.0.0.1:{A}"} | lines
        own["listeners"] += f",CONTROLLER://127.0.0.1:{controller}"
        own["controller.quorum.voters"] = f"{lines.get('node.id', 1)}@127.0.0.1:{controller}"
        own.setdefault("advertised.listeners", "PLAINTEXT://127.0.0.1:{A}")
        broker.settings |= {name: fill(value, broker.ports) for name, value in own.items()}
    broker.start()
    return broker


def call(port: int, api: str, version: int, body: dict) -> dict:
    connection = Connection(port)
    try:
        return connection.call(api, version, body)
    finally:
        connection.close()


def told_addresses(port: int) -> dict:
    """What a client of this port is told as the broker's address, by the request that asks."""
    metadata = call(port, "Metadata", 9, {"Topics": []})["Brokers"][0]
    cluster = call(port, "DescribeCluster", 1, {})["Brokers"][0]
    found = call(port, "FindCoordinator", 4, {"KeyType": 0, "CoordinatorKeys": ["g"]})["Coordinators"][0]
    told = {"Metadata": (metadata["Host"], metadata["Port"]), "DescribeCluster": (cluster["Host"], cluster["Port"])}
    if found["ErrorCode"] == 0:  # 15 while the topic of offsets is made
        told["FindCoordinator"] = (found["Host"], found["Port"])
    return told

