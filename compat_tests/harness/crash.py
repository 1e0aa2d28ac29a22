"""The crash run: kill -9 after some acknowledgements were seen and before the last send, then start again and go on.

The client sends up to the gate, says `ACKED n` on its stdout now and then, and sends the rest only after it has read
`KILLED` from its stdin. So the kill lies before the last send whatever the speed of client and broker.
"""

import threading

from harness.broker import Broker
from harness.child import Child, Deadline
from harness.results import require

CLIENT_SECONDS = 180


class AckWatch:
    """Counts what a client says was acknowledged. Written by the reader thread of the child, waited for by the test."""

    def __init__(self):
        self._changed = threading.Condition()
        self.acknowledged = 0

    def set(self, acknowledged: int):
        with self._changed:
            self.acknowledged = max(self.acknowledged, acknowledged)
            self._changed.notify_all()

    def add(self, acknowledged: int):
        self.set(self.acknowledged + acknowledged)

    def wait_for(self, wanted: int, client: Child, seconds: float) -> int:
        deadline = Deadline(seconds)
        with self._changed:
            while self.acknowledged < wanted:
                require(client.running(), f"the client ended after {self.acknowledged} acknowledgements\n{client.tail()}")
                require(not deadline.passed, f"only {self.acknowledged} acknowledgements in {seconds} s\n{client.tail()}")
                self._changed.wait(0.5)
            return self.acknowledged


def kill_and_restart(broker: Broker, client: Child, watch: AckWatch, kill_after: int, total: int) -> str:
    """Kills at the wanted count, lets the client go on into the dead broker, starts it again. Says what happened."""
    watch.wait_for(kill_after, client, CLIENT_SECONDS)
    broker.kill9()
    at_kill = watch.acknowledged
    require(at_kill < total, "the client had all acknowledgements before the kill: the run shows nothing")
    broker.restart()
    return f"killed after {at_kill} of {total} acknowledgements"
