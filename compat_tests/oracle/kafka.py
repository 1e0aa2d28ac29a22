"""Formats and runs one KRaft node of Apache Kafka on loopback, straight from the jars (no shell tools come with them).

`python3 compat_tests/oracle/kafka.py` runs one in the foreground until Ctrl-C, for a look at what Kafka would answer.
"""

import base64
import pathlib
import subprocess
import sys
import uuid

if __package__ in (None, ""):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from harness import paths  # noqa: E402


def write_config(folder: pathlib.Path, data: pathlib.Path, port: int, controller_port: int, settings: dict):
    """Defaults wherever one node allows it; the internal topics need replication 1, and few partitions start faster."""
    config = folder / "server.properties"
    config.write_text(
        f"""process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller_port}
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller_port}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
log.dirs={data}
offsets.topic.num.partitions=4
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.num.partitions=4
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
"""
        + "".join(f"{name}={value}\n" for name, value in settings.items())
    )
    return config


def format_storage(config: pathlib.Path, log: pathlib.Path):
    cluster_id = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
    with open(log, "ab") as out:
        subprocess.run(
            [*paths.JAVA, "-cp", f"{paths.ORACLE_JARS}/*", "kafka.tools.StorageTool", "format", f"--cluster-id={cluster_id}", "-c", config],
            stdout=out, stderr=out, check=True, timeout=180,
        )


def server_command(config: pathlib.Path) -> list:
    return [*paths.JAVA, "-cp", f"{paths.ORACLE_JARS}/*", "kafka.Kafka", config]


def main():
    from harness.broker import KafkaBroker

    broker = KafkaBroker("oracle", {})
    try:
        broker.start()
        print(f"Apache Kafka listening on {broker.address}, log {broker.log}; Ctrl-C ends it", flush=True)
        broker.child.process.wait()
    except KeyboardInterrupt:
        broker.stop()
    finally:
        broker.remove()


if __name__ == "__main__":
    main()
