"""Where things lie. All that is built or fetched goes below build/compat/, so that a clean tree stays clean."""

import pathlib

COMPAT = pathlib.Path(__file__).resolve().parent.parent
ROOT = COMPAT.parent
BUILD = ROOT / "build" / "compat"

ORACLE_JARS = BUILD / "oracle" / "lib"
JAVA_JARS = BUILD / "java" / "lib"
JAVA_CLASSES = BUILD / "java" / "classes"
# The heap bounds the memory; the cheap compiler and collector start fast, and no speed is measured here.
JAVA = ("java", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn")
JAVA_CLIENT = (*JAVA, "-cp", f"{JAVA_CLASSES}:{JAVA_JARS}/*", "Main")
OLD_JAVA_CLIENT = (*JAVA, "-cp", f"{BUILD}/old_java/classes:{BUILD}/old_java/lib/*", "Main")
OLD_LIBRDKAFKA = BUILD / "old_librdkafka" / "lib"
OLD_KAFKA_PYTHON = BUILD / "old_kafka_python" / "lib"
CONSOLE_TOOLS = f"{BUILD}/console_tools/lib/*:{ORACLE_JARS}/*"
TOOLS_JVM = (*JAVA, "-cp", f"{BUILD}/console_tools/classes:{CONSOLE_TOOLS}", "Tools")
VENV_PYTHON = BUILD / "venv" / "bin" / "python"
LIBRDKAFKA_TEST = BUILD / "cmake" / "compat_librdkafka"
GO_BIN = BUILD / "go"
# A link to compat_tests/node, made by setup.sh.
NODE_SOURCES = BUILD / "node" / "src"
NODE = (BUILD / "node" / "node", "--preserve-symlinks", "--preserve-symlinks-main")
WEIR_DEFAULT = ROOT / "build" / "release" / "weir"
