"""Runs franz-go's own broker tests (package kgo, built by setup.sh). A test that skips itself must be in expected_skips.txt."""

import os
import re

from harness import paths
from harness.child import Child
from harness.context import Context
from harness.results import require

RESULT = re.compile(r"--- (PASS|FAIL|SKIP): (\w+) \(([\d.]+)s\)")
SECONDS = 500
OURS = ("skips_are_the_expected_ones", "broker_stops_in_good_order")


def run(context: Context):
    wanted = [name for name in context.expected_passes() if name not in OURS]
    lines = (paths.COMPAT / context.suite / "expected_skips.txt").read_text().splitlines()
    skips = {line.split(" | ")[0] for line in lines if not line.startswith("#")}
    if context.kind == "kafka":
        skips = set()  # there they run; the oracle is asked about what we say passes
    skipped = set()

    def on_line(line: str):
        if found := RESULT.match(line):
            word, name, seconds = found.groups()
            if word == "SKIP":
                skipped.add(name)
            else:
                context.results.report(context.suite, name, word == "PASS", float(seconds))

    with context.broker() as broker:
        log = broker.folder / "client.log"
        environment = os.environ | {"KGO_SEEDS": broker.address, "KGO_TEST_RF": "1", "KGO_LOG_LEVEL": "none",
                                    "KGO_TEST_RECORDS": "500000" if context.full else "100000"}
        names = f"^({'|'.join([*wanted, *sorted(skips)])})$"
        command = [paths.GO_BIN / "kgo_own", "-test.v", f"-test.timeout={SECONDS}s", "-test.run", names]
        client = Child(command, log, env=environment, watch=on_line)
        client.wait(SECONDS + 30)
        if context.kind == "weir":
            with context.test("skips_are_the_expected_ones"):
                require(skipped == skips, f"skipped without a reason {sorted(skipped - skips)}, not skipped {sorted(skips - skipped)}")
