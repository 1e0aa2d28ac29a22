"""Runs the Java client (setup.sh compiles it): producer, consumer with group.protocol=classic, and admin."""

from harness import paths
from harness.context import Context
from harness.program import run_program


def run(context: Context):
    java = ["java", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", f"{paths.JAVA_CLASSES}:{paths.JAVA_JARS}/*", "Main"]
    with context.broker() as broker:
        run_program(context, broker, [*java, "tests"], [*java, "crash"])
