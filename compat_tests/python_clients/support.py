"""The line protocol of harness/program.py for a Python program: settings from the environment, test lines, waiting."""

import os
import pathlib
import time
import traceback

BROKER = os.environ["WEIR_BROKER"]
SEED = int(os.environ["WEIR_SEED"])
COUNT = int(os.environ["WEIR_COUNT"])
OUT = pathlib.Path(os.environ["WEIR_OUT"])
PARTITIONS = 6
WAIT_SECONDS = 60

failures: list[str] = []


class Wrong(Exception):
    """What a test has to say when it fails; anything else is shown with its traceback."""


def require(condition, sentence: str):
    if not condition:
        raise Wrong(sentence)


def run_test(name: str, test, *arguments):
    start = time.monotonic()
    detail = ""
    try:
        test(*arguments)
    except Wrong as wrong:
        detail = str(wrong)
    except Exception:
        detail = traceback.format_exc(limit=-3).replace("\n", " | ")
    if detail:
        failures.append(name)
    print(f"TEST {name} {'FAIL' if detail else 'PASS'} {time.monotonic() - start:.1f} {detail}".rstrip(), flush=True)


def until(sentence: str, condition, work=lambda: time.sleep(0.05)):
    """Repeats `work` until the condition holds; too late is a failure that says the sentence."""
    end = time.monotonic() + WAIT_SECONDS
    while not condition():
        require(time.monotonic() < end, f"not within {WAIT_SECONDS} s: {sentence}")
        work()
