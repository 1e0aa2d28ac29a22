"""The APIs on docs/COMPATIBILITY.md are those that the running broker tells, and those of Kafka that are missing have a reason.

Against Kafka: its own are those of the recording. The client rows of the page are compared by run.py, when all suites are done.
"""

from compatibility import page
from harness.broker import make_broker
from harness.results import require


def run(context):
    with context.broker() as broker:
        told, kafkas = page.served(broker.port), page.recorded_of_kafka()
        if context.kind == "kafka":
            with context.test("kafkas_versions_are_the_recorded_ones"):
                require(told == kafkas, f"other versions: {sorted(told.items() ^ kafkas.items())}")
            return
        with context.test("what_kafka_serves_alone_has_a_reason"):
            missing, why = kafkas.keys() - told.keys(), page.reasons().keys()
            require(missing == why, f"keys without a reason {sorted(missing - why)}, keys that are served {sorted(why - missing)}")
        with context.test("the_page_tells_the_served_versions"):
            stale = page.stale_apis(told, kafkas)
            require(not stale, "run compat_tests/run.py --write-compatibility; on the page or served, not both:\n" + "\n".join(stale))


def write(weir, date: str, passed: set[tuple[str, str]]):
    """The page anew, of a run in which nothing failed: `passed` has (suite, test)."""
    by_suite = {suite: {test for of, test in passed if of == suite} for suite, _ in passed if suite in page.SUITES}
    broker = make_broker("weir", "compatibility", weir, {})
    try:
        broker.start()
        page.PAGE.write_text(page.make(date, by_suite, page.served(broker.port), page.recorded_of_kafka()))
        broker.stop()
    finally:
        broker.remove()
