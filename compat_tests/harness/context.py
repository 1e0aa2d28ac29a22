"""What a suite is given: the kind of broker, the seed, the amounts, and where its results go. One per suite, one thread."""

import contextlib
import dataclasses
import pathlib
import platform
import random

from harness import paths
from harness.broker import Broker, make_broker
from harness.results import Results

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
CRASH_COUNT = 100_000
CRASH_TOPIC_PARTITIONS = 6
# The name under which a suite reports that it broke outside of any test.
SUITE_ITSELF = "suite"
# The last tenth of a crash run is sent only when the broker was killed: "before the last send" by construction.
CRASH_GATE = CRASH_COUNT - CRASH_COUNT // 10


@dataclasses.dataclass
class Context:
    suite: str
    kind: str
    weir: pathlib.Path
    seed: int
    full: bool
    results: Results

    @property
    def count(self) -> int:
        """Records per codec: 10,000, or 100,000 with --full."""
        return 100_000 if self.full else 10_000

    def kill_after(self) -> int:
        """After how many acknowledgements the broker dies: anywhere in the first 60 %, by the seed."""
        return random.Random(f"{self.suite}-{self.seed}").randrange(CRASH_COUNT // 20, CRASH_COUNT * 6 // 10)

    def test(self, name: str):
        return self.results.test(self.suite, name)

    @contextlib.contextmanager
    def broker(self, **settings):
        """A started broker with an empty folder. Its end is a test of its own: SIGTERM must stop it in good order."""
        broker = make_broker(self.kind, self.suite, self.weir, settings)
        clean = False
        try:
            broker.start()
            yield broker
            with self.test("broker_stops_in_good_order"):
                broker.stop()
            clean = True
        finally:
            if not clean and broker.child:
                print(f"---- the end of the {self.kind} log of {self.suite}:\n{broker.child.tail(30)}", flush=True)
            broker.remove()

    def expected_passes(self) -> list[str]:
        return expected_passes(self.suite, {self.kind, platform.machine(), "full" if self.full else ""})


def expected_passes(suite: str, facts: set[str]) -> list[str]:
    """The names in expected_passes.txt; a line `NAME full` counts only with --full, `NAME kafka` only for the oracle,
    and `NAME x86_64` only on such a machine."""
    lines = (paths.COMPAT / suite / "expected_passes.txt").read_text().splitlines()
    words = [line.split() for line in lines if line and not line.startswith("#")]
    return [name for name, *when in words if facts.issuperset(when)]


def check_expected(context: Context):
    """The list of expected passes is exact: a test that did not run and one that nobody listed are both failures."""
    expected = set(context.expected_passes())
    seen = context.results.seen(context.suite) - {SUITE_ITSELF}
    missing = sorted(expected - seen)
    if missing:
        context.results.report(context.suite, "all_expected_tests_ran", False, 0, f"missing {len(missing)}: {', '.join(missing)}")
    for name in sorted(seen - expected):
        context.results.report(context.suite, f"{name} (listed)", False, 0, "ran but is not in expected_passes.txt")
