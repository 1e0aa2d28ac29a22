"""Signals that come while the disk hangs: during the start the first ends the broker, inside a stop the second."""

import re
import signal
import subprocess
import time

from harness.broker import WeirBroker
from harness.child import Deadline
from harness.results import require
from outages.faults import HANG, SYNC, Faults

PATIENCE_SECONDS = 60
AT_ONCE_SECONDS = 5


def signal_during_the_start(context):
    with _hanging_broker(context) as (broker, faults):
        for number in (signal.SIGTERM, signal.SIGINT):
            faults.arm(SYNC, HANG, str(broker.data))
            broker.child = broker._spawn()
            _await(lambda: faults.held > 0, broker, "the start hangs in a sync")
            code = _ends_at_once(broker, number)
            require(code == -number, f"{number.name} during the start: ended with {code}")
            _await(lambda: f"{number.name} during the start: ends at once" in broker.log.read_text(), broker, "it says so")
        faults.disarm()
        broker.start()
        broker.stop()


def second_signal(context):
    with _hanging_broker(context) as (broker, faults):
        broker.start()
        faults.arm(SYNC, HANG, str(broker.data))
        broker.child.process.send_signal(signal.SIGTERM)
        _await(lambda: re.search(r"still stopping, waits for .*; a second SIGTERM or Ctrl-C", broker.log.read_text()), broker, "it says what it waits for")
        code = _ends_at_once(broker, signal.SIGTERM)
        require(code == 1 and "a second signal: ends at once" in broker.log.read_text(), f"ended with {code}\n{broker.child.tail()}")
        faults.disarm()
        broker.restart()
        broker.stop()


def _ends_at_once(broker, number: signal.Signals) -> int:
    began = time.monotonic()
    broker.child.process.send_signal(number)
    try:
        code = broker.child.wait(PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        code = None
    require(time.monotonic() - began < AT_ONCE_SECONDS, f"{number.name}: not at once\n{broker.child.tail()}")
    return code


def _await(condition, broker, what: str):
    deadline = Deadline(PATIENCE_SECONDS)
    while not condition():
        require(not deadline.passed, f"not within {PATIENCE_SECONDS} s: {what}\n{broker.child.tail()}")
        deadline.pause()


class _hanging_broker:
    def __init__(self, context):
        self.broker = WeirBroker("cli-stops", context.weir, {})
        self.faults = Faults(self.broker.folder)
        self.broker.environment = self.faults.environment

    def __enter__(self):
        return self.broker, self.faults

    def __exit__(self, *_):
        self.faults.close()
        self.broker.remove()
