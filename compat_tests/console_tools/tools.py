"""Drives the JVM that runs Kafka's console tools (src/Tools.java), and makes what they print comparable."""

import pathlib
import queue
import re

from harness import paths
from harness.child import Child

COMMAND_SECONDS = 60
PACKAGE = "org.apache.kafka.tools."
GROUP_PACKAGE = {"ConsumerGroupCommand": "consumer.group.", "ConsoleConsumer": "consumer."}

# What differs from run to run, or between the machines: one name instead. Error texts are each broker's own, so an error is
# compared by its class.
SAME = [(re.compile(pattern, re.MULTILINE), to) for pattern, to in (
    (r"^\s+at .*\n|^Caused by: .*\n|^The consumer rebalance protocol .*\n|^\[.*\] WARN .*\n", ""),
    (r"^\[.*?\] ERROR \S+ - ", ""),
    (r"(org\.apache\.kafka\.common\.errors\.\w+): .*", r"\1"),
    (r"(Error while executing topic command :) .*", r"\1"),
    (r"^(console|perf)-consumer-\d+\b.*\n", ""),  # groups that the tools make for themselves
    (r"(adminclient-)\d+", r"\1N"),
    (r"-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "-UUID"),
    (r"(TopicId: |Cluster ID: )\S+", r"\1ID"),
    (r'("topicId":)"[^"]+"', r'\1"ID"'),
    (r'("(?:commit|currentState)Timestamp":)\d+', r"\1TIME"),
    (r'("size":)\d+', r"\1SIZE"),
    (r"  +", "  "),
    (r"[ \t]+$", ""),
    (r"\n\n+", "\n"),
)]
# Known differences: a cluster of Apache Kafka is formatted with this as a dynamic default of all brokers; and our own configs.
KNOWN = [(re.compile(pattern, re.MULTILINE), to) for pattern, to in (
    (r"(Configs: )min\.insync\.replicas=1,?", r"\1"),
    (r"DYNAMIC_DEFAULT_BROKER_CONFIG:min\.insync\.replicas=1, ", ""),
    (r"^ +min\.insync\.replicas=1 sensitive=false synonyms=\{DYNAMIC_DEFAULT_BROKER_CONFIG:min\.insync\.replicas=1\}\n", ""),
    (r"^ +mq\.\S+=.*\n", ""),
)]


class Tools:
    """Commands one at a time. FOLDER in an argument is the broker's folder; BROKER is its address."""

    def __init__(self, broker):
        self._names = {"BROKER": broker.address, "FOLDER": str(broker.folder)}
        self._out = pathlib.Path(broker.folder) / "tool.txt"
        self._done: queue.Queue = queue.Queue()
        self._jvm = Child(paths.TOOLS_JVM, broker.folder / "tools.log", stdin=True, watch=self._done.put)

    def run(self, command: str) -> tuple[int, str]:
        """The exit code and what was printed. The broker is added to a command that does not name it."""
        tool, *arguments = command.split()
        if "BROKER" not in command:
            arguments = ["--bootstrap-server", "BROKER", *arguments]
        for name, value in self._names.items():
            arguments = [argument.replace(name, value) for argument in arguments]
        self._jvm.say("\t".join([str(self._out), PACKAGE + GROUP_PACKAGE.get(tool, "") + tool, *arguments]))
        try:
            code = int(self._done.get(timeout=COMMAND_SECONDS).split()[1])
        except queue.Empty:
            raise TimeoutError(f"not done after {COMMAND_SECONDS} s: {command}\n{self._jvm.tail()}") from None
        return code, self._out.read_text(errors="replace")

    def transcript(self, commands: str) -> str:
        """A command a line; each as a line, what it printed without what may differ, and its exit code if it is not 0."""
        told = []
        for command in commands.strip().splitlines():
            code, text = self.run(command.strip())
            told += [f"$ {command.strip()}", self.comparable(text), f"exit {code}" if code else ""]
        return "".join(f"{text}\n" for text in told if text)

    def comparable(self, text: str) -> str:
        for name, value in self._names.items():
            text = text.replace(value, name)
        for pattern, to in SAME + KNOWN:
            text = pattern.sub(to, text)
        return text.strip("\n")

    def close(self):
        self._jvm.close_stdin()
        self._jvm.wait(COMMAND_SECONDS)

    def kill(self):
        self._jvm.kill9()
