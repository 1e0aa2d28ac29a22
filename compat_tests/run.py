#!/usr/bin/env python3
"""Runs the tests with real clients against Weir, or against Apache Kafka as the oracle.

Two suites run at a time, each with a broker of its own; those that measure run alone behind them. One line per test; the last line is `N passed, N failed`.
"""

import argparse
import concurrent.futures
import datetime
import importlib
import os
import pathlib
import random
import signal
import sys
import time
import traceback
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import compatibility.suite  # noqa: E402
from compatibility import page  # noqa: E402
from harness import paths  # noqa: E402
from harness.broker import check_installed  # noqa: E402
from harness.child import kill_all  # noqa: E402
from harness.context import SUITE_ITSELF, Context, check_expected  # noqa: E402
from harness.results import Results  # noqa: E402

# The longest first, so that the two lanes end at about the same time.
SUITES = ("java", "franz_go_own", "real_input", "kafka_python", "aiokafka_python", "console_tools", "confluent_python", "kafka_go",
          "sarama", "franz_go", "kafkajs", "platformatic_kafka", "old_kafka_python", "old_java", "librdkafka", "old_librdkafka",
          "kcat", "cli", "differ", "kill_loop", "memory", "outages", "hostile", "server_properties", "probes", "compatibility", "scale")
ALONE = ("scale",)
LANES = 2


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--broker", choices=("weir", "kafka"), default="weir")
    parser.add_argument("--weir", type=pathlib.Path, default=pathlib.Path(os.environ.get("WEIR_BIN", paths.WEIR_DEFAULT)),
                        help="the weir binary; else WEIR_BIN, else build/release/weir")
    parser.add_argument("--only", nargs="+", choices=SUITES, default=SUITES, metavar="NAME", help=", ".join(SUITES))
    parser.add_argument("--full", action="store_true", help="100,000 records per codec instead of 10,000")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--write-compatibility", action="store_true", help="write docs/COMPATIBILITY.md when all has passed; with --only the rows of these")
    args = parser.parse_args()
    if args.write_compatibility and args.broker != "weir":
        parser.error("--write-compatibility is for Weir")
    return args


def run_harness_tests(results: Results):
    """The checker and the codec are trusted by everything below, so they are tested first, in the same run."""
    outcome = unittest.TestResult()
    for folder in ("harness", "raw", "compatibility"):
        unittest.defaultTestLoader.discover(str(paths.COMPAT / folder), "*_test.py", str(paths.COMPAT)).run(outcome)
    bad = outcome.failures + outcome.errors
    ok = not bad and outcome.testsRun > 0
    results.report("harness", "unit_tests", ok, 0, bad[0][1] if bad else f"{outcome.testsRun} cases")


def run_suite(context: Context):
    start = time.monotonic()
    try:
        importlib.import_module(f"{context.suite}.suite").run(context)
    except Exception:
        context.results.report(context.suite, SUITE_ITSELF, False, time.monotonic() - start, "\n" + traceback.format_exc())
    check_expected(context)
    print(f"---- {context.suite}: {time.monotonic() - start:.0f} s", flush=True)


def check_page(results: Results, suites):
    """The clients on docs/COMPATIBILITY.md are those that ran, and passed what it says."""
    passed = {suite: {test for of, test in results.passed if of == suite} for suite in suites if suite != "compatibility"}
    stale = page.stale_clients(passed)
    results.report("harness", "compatibility_page", not stale, 0, "run --write-compatibility; not so:\n" + "\n".join(stale) if stale else "")


def main() -> int:
    args = arguments()
    check_installed(args.broker, args.weir.resolve())
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda n, _: (kill_all(), os._exit(128 + n)))
    seed = random.randrange(1_000_000) if args.seed is None else args.seed
    print(f"compat_tests: broker {args.broker}, seed {seed} (again with --seed {seed})", flush=True)
    results = Results()
    run_harness_tests(results)
    names = [name for name in args.only if name != "compatibility" or not args.write_compatibility]
    contexts = [Context(name, args.broker, args.weir.resolve(), seed, args.full, results) for name in names]
    with concurrent.futures.ThreadPoolExecutor(LANES) as lanes:
        for context in contexts:
            if context.suite not in ALONE:
                lanes.submit(run_suite, context)
    for context in contexts:
        if context.suite in ALONE:
            run_suite(context)
    if args.write_compatibility and not results.failed:
        compatibility.suite.write(args.weir.resolve(), str(datetime.date.today()), results.passed)
    if args.broker == "weir" and not results.failed:
        check_page(results, args.only)
    print(results.closing_line(), flush=True)
    return 1 if results.failed else 0


if __name__ == "__main__":
    sys.exit(main())
