"""A broker under test: start, stop, kill -9, start again on the same port and folder. Two kinds: weir and kafka.

A broker owns its temp folder (data and logs). It is used from one thread; only its log is read by others.
"""

import abc
import pathlib
import re
import shutil
import socket
import struct
import tempfile
import time

from harness import paths
from harness.child import Child, Deadline
from harness.ports import free_port

# Generous, for a machine that does much else: a broker that hangs is told from one that is slow soon enough.
START_SECONDS = 120
STOP_SECONDS = 60
# Kafka's names, so both kinds take them. Without the first, each first join of a group would wait three seconds.
DEFAULTS = {"group.initial.rebalance.delay.ms": 0}


class Broker(abc.ABC):
    kind: str

    def __init__(self, name: str, settings: dict):
        self.settings = DEFAULTS | settings
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"weir-compat-{name}-"))
        self.data = self.folder / "data"
        self.log = self.folder / "broker.log"
        self.port = free_port()
        self.child: Child | None = None
        self.kills = 0

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self):
        """Returns when the broker answers ApiVersions. The first start takes another port if ours was snatched."""
        for attempt in range(3):
            self.child = self._spawn()
            if self._await_answer(Deadline(START_SECONDS)):
                return
            self.child.kill9()
            if self.kills or attempt == 2:
                break
            self.port = free_port()
        raise RuntimeError(f"{self.kind} did not start on {self.address}\n{self.child.tail()}")

    def stop(self):
        """An orderly stop; the exit code must be 0 (Kafka ends with 143 after SIGTERM, as Java programs do)."""
        code = self.child.terminate(STOP_SECONDS)
        if code not in self._clean_exits:
            raise RuntimeError(f"{self.kind} ended with {code} after SIGTERM\n{self.child.tail()}")

    def kill9(self):
        self.child.kill9()
        self.kills += 1

    def restart(self):
        """After stop() or kill9(): the same folder and the same port."""
        self.kills = max(self.kills, 1)
        self.start()

    def remove(self):
        if self.child and self.child.running():
            self.child.kill9()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _await_answer(self, deadline: Deadline) -> bool:
        while not deadline.passed and self.child.running():
            if answers_api_versions(self.port):
                return True
            try:
                self.child.process.wait(0.05)
            except Exception:  # still running, which is what we hope for
                continue
        return False

    @abc.abstractmethod
    def _spawn(self) -> Child: ...

    _clean_exits = (0,)


class WeirBroker(Broker):
    kind = "weir"

    def __init__(self, name: str, binary: pathlib.Path, settings: dict, *, descriptors: int | None = None):
        """`descriptors`: how many it may open at most; else what this process may."""
        super().__init__(name, settings)
        self.binary, self.descriptors = binary, descriptors
        self.environment: dict | None = None  # else this process's

    def _spawn(self) -> Child:
        command = [self.binary, "serve", "--data", self.data, "--listen", self.address]
        for name, value in ({"mq.http.listen": "127.0.0.1:0"} | self.settings).items():
            command += ["--set", f"{name}={value}"]
        if self.descriptors is not None:
            command = ["sh", "-c", f'ulimit -n {self.descriptors} && exec "$@"', "sh", *command]
        return Child(command, self.log, env=self.environment)

    def start(self):
        """Its log must name the address too; that line may come a moment after the first answer."""
        super().start()
        deadline = Deadline(10)
        while not re.search(rf"listening on {re.escape(self.address)}\b", self.log.read_text(errors="replace")):
            if deadline.passed or not self.child.running():
                raise RuntimeError(f"weir answers on {self.address} but its log does not say so\n{self.child.tail()}")
            time.sleep(0.02)


class KafkaBroker(Broker):
    kind = "kafka"
    _clean_exits = (0, 143)

    def __init__(self, name: str, settings: dict):
        super().__init__(name, settings)
        from oracle import kafka

        self._kafka = kafka
        self.controller_port = 0

    def _spawn(self) -> Child:
        if self.kills == 0:
            self.controller_port = free_port()
        config = self._kafka.write_config(self.folder, self.data, self.port, self.controller_port, self.settings)
        if not (self.data / "meta.properties").exists():
            self._kafka.format_storage(config, self.log)
        return Child(self._kafka.server_command(config), self.log)


def answers_api_versions(port: int) -> bool:
    """ApiVersions v0 with correlation id 7: any answer with that id and error 0 counts."""
    body = struct.pack(">hhih", 18, 0, 7, -1)
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=2) as connection:
            connection.sendall(struct.pack(">i", len(body)) + body)
            with connection.makefile("rb") as answers:
                head = answers.read(10)
    except OSError:
        return False
    return len(head) == 10 and struct.unpack(">iih", head)[1:] == (7, 0)


def make_broker(kind: str, name: str, weir: pathlib.Path, settings: dict) -> Broker:
    return WeirBroker(name, weir, settings) if kind == "weir" else KafkaBroker(name, settings)


def check_installed(kind: str, weir: pathlib.Path):
    if kind == "weir" and not weir.exists():
        raise SystemExit(f"no weir binary at {weir}: build it with ./dev build, or give --weir PATH or WEIR_BIN")
    if kind == "kafka" and not any(paths.ORACLE_JARS.glob("kafka_2.13-*.jar")):
        raise SystemExit("the oracle's jars are missing: run compat_tests/setup.sh")
