"""Starts of Weir: people's files, and command lines that cannot work. Each starts, or ends with sentences that say what to do."""

import dataclasses
import pathlib
import re
import subprocess
import tempfile

from harness.context import Context
from harness.ports import free_port
from harness.results import require
from server_properties.broker import FILES, FromFile, fill, told_addresses

SECONDS = 60
SECRET = "swordfish"  # every password in the files


@dataclasses.dataclass
class Expected:
    refused: tuple = ()  # what the sentences on stderr say; empty: it starts
    said: tuple = ()  # a line of the log for each
    unsaid: tuple = ()
    told: dict = dataclasses.field(default_factory=dict)  # port: what its clients are told


PEOPLE = {
    "apache_combined": Expected(said=("CONTROLLER belongs to a controller",), unsaid=("change nothing", "unknown"), told={"{A}": "localhost:{A}"}),
    "apache_broker": Expected(said=("default.replication.factor is 3", "change nothing.*min.insync.replicas", "joins no cluster")),
    "apache_controller": Expected(refused=("no address that clients can use",)),
    "zookeeper_days": Expected(said=("zookeeper.connect is ignored", "inter.broker.protocol.version is ignored", "port is ignored", "node 7"),
                               unsaid=("did you mean",)),
    "bitnami_like": Expected(unsaid=("unknown", "GUARDED"), told={"{A}": "127.0.0.1:{A}"}),
    "bitnami_like_sasl": Expected(refused=("protocol SASL_PLAINTEXT is not served yet",)),
    "acls_on_plaintext": Expected(refused=("authorizer.class.name", "no ACLs")),
    "keystores_without_tls": Expected(said=("NOTHING IS GUARDED.*sasl.enabled.mechanisms.*ssl.keystore.location.*super.users",)),
    "confluent_like": Expected(said=("unknown configuration keys, ignored: confluent.license",), unsaid=("did you mean", "jmx.hostname;"),
                               told={"{A}": "broker:29092", "{B}": "localhost:{B}"}),
    "strimzi_like": Expected(refused=("protocol SSL is not served yet",)),
    "compose_two_listeners": Expected(said=("node 4",), told={"{A}": "kafka:19092", "{B}": "localhost:{B}"}),
    "large_messages": Expected(unsaid=("unknown",)),
    "several_disks": Expected(refused=("log.dirs must name exactly one folder",)),
    "values_from_a_provider": Expected(refused=("node.id.*no config.providers", "log.dirs.*no config.providers")),
}


def run(context: Context):
    with context.test("each_file_is_expected_to_do_something"):
        files = {path.stem for path in FILES.glob("*.properties")}
        require(files == set(PEOPLE), f"only in one place: {sorted(files ^ set(PEOPLE))}")
    for name, expected in PEOPLE.items():
        with context.test(f"people_{name}"):
            text = (FILES / f"{name}.properties").read_text()
            (_refused if expected.refused else _starts)(context, text, expected)
    for test in (_a_folder_as_config, _letters_that_steer, _addresses, _data_folders, _memory_is_compared):
        with context.test("start" + test.__name__), tempfile.TemporaryDirectory(prefix="weir-compat-starts-") as folder:
            test(context, pathlib.Path(folder))


def _starts(context: Context, text: str, expected: Expected):
    broker = FromFile(context.weir, text)
    try:
        broker.start()
        for port, address in expected.told.items():
            want = fill(address, broker.ports)
            told = {f"{host}:{number}" for host, number in told_addresses(int(fill(port, broker.ports))).values()}
            require(told == {want}, f"port {port} tells {told}, not {want}")
        broker.stop()
        log = broker.log.read_text(errors="replace")
        for pattern in expected.said:
            require(re.search(pattern, log), f"no line says {pattern!r}:\n{log}")
        for pattern in (*expected.unsaid, SECRET):
            require(not re.search(pattern, log), f"a line says {pattern!r}:\n{log}")
    finally:
        broker.remove()


def _refused(context: Context, text: str, expected: Expected):
    with tempfile.TemporaryDirectory(prefix="weir-compat-starts-") as folder:
        words = {"A": free_port(), "B": free_port(), "C": free_port(), "DATA": f"{folder}/data"}
        file = pathlib.Path(folder) / "server.properties"
        file.write_text(fill(text, words))
        said = _serve(context, 2, "--config", file)
        for pattern in (*expected.refused, "(?m)^weir: "):
            require(re.search(pattern, said), f"nothing says {pattern!r}: {said}")
        require(SECRET not in said, f"a secret is told: {said}")
        require(not pathlib.Path(words["DATA"]).exists(), "a start that is refused makes no data folder")


def _serve(context: Context, code: int, *words) -> str:
    """What a start that must fail says on stderr."""
    done = subprocess.run([context.weir, "serve", *map(str, words)], capture_output=True, timeout=SECONDS, check=False)
    said = done.stderr.decode(errors="replace")
    require(done.returncode == code, f"{words} ended with {done.returncode}, not {code}: {said}")
    return said


def _a_folder_as_config(context: Context, folder: pathlib.Path):
    said = _serve(context, 2, "--config", folder)
    require("cannot read" in said and "Is a directory" in said and said.count("\n") == 1, said)
    said = _serve(context, 2, "--config", folder / "nothing")
    require("No such file" in said, said)


def _letters_that_steer(context: Context, folder: pathlib.Path):
    file = folder / "binary.properties"
    file.write_bytes(b"\\u001b[31mred=1\nmq.\x07bell=1\nlog.dirs=" + str(folder / "data").encode() + b"\n")
    done = subprocess.run([context.weir, "serve", "--config", file], capture_output=True, timeout=SECONDS, check=False)
    require(done.returncode == 2 and b"\x1b" not in done.stderr and b"\x07" not in done.stderr, f"{done.stderr!r}")
    require(rb"\x1b[31mred" in done.stderr and rb"mq.\x07bell" in done.stderr, f"{done.stderr!r}")


def _addresses(context: Context, folder: pathlib.Path):
    port = free_port()
    rows = (
        (1, ("--listen", f"192.0.2.1:{port}"), "no interface of this machine has that address"),  # of documentation: nobody's
        (1, ("--listen", f"127.0.0.1:{port}", "--set", f"mq.http.listen=127.0.0.1:{port}"), "another address of this broker"),
        (2, ("--set", f"listeners=PLAINTEXT://127.0.0.1:{port},B://127.0.0.1:{port}", "--set",
             "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,B:PLAINTEXT"), "have the same port"),
        (2, ("--set", "advertised.listeners=PLAINTEXT://0.0.0.0:1"), "must name one host"),
        (2, ("--set", "acks=1"), "unknown configuration key acks\n"),
        (2, ("--set", "num.partition=1"), "did you mean num.partitions?"),
    )
    for code, words, sentence in rows:
        http = () if any("http" in word for word in words) else ("--set", "mq.http.listen=")
        said = _serve(context, code, "--data", folder / "data", *http, *words)
        require(sentence in said, f"{words}: {said}")
        require(not re.search(r"invalid argument|\(-?\d+\)$", said), f"{words}: a number where words should be: {said}")


def _data_folders(context: Context, folder: pathlib.Path):
    file = folder / "file"
    file.write_text("not a folder")
    for path in (file, file / "below"):
        said = _serve(context, 1, "--data", path, "--listen", "127.0.0.1:0", "--set", "mq.http.listen=")
        require(f"cannot make the data folder {path}: there is a file in its place" in said, said)


def _memory_is_compared(context: Context, folder: pathlib.Path):
    """More than any machine has; the port is taken by nobody who listens on it, so the start ends at once."""
    said = _serve(context, 1, "--data", folder / "data", "--listen", "192.0.2.1:9092", "--set", "mq.memory.bytes=1125899906842624",
                  "--set", "mq.http.listen=")
    require(re.search(r"memory: .* allow 1073742\d+ MiB \(mq.memory.bytes", said), said)
    said = _serve(context, 1, "--data", folder / "data", "--listen", "192.0.2.1:9092", "--set", "mq.memory.bytes=1048576",
                  "--set", "mq.http.listen=")
    require("memory:" not in said, said)
