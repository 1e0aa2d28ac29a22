"""Others: clients of good will beside the crowd, each on a connection and a thread of its own. They note the slowest
answer. There are as many as the broker has network threads by default, and it deals connections in turn: whichever thread
the crowd keeps busy, one of them is on it."""

import threading
import time

from hostile.wire import Wire
from raw.batches import batch, record
from scale.flock import answer_body, frame

TOPIC = "others"
CLIENTS = 3
PAUSE_SECONDS = 0.005
_RECORD = batch(record(0, b"good"))


class Others:
    """Each in turn: Produce (acks=all), Metadata of one topic, ListOffsets of its partition."""

    def __init__(self, port: int):
        self.port = port
        self._slowest = [(0.0, "")] * CLIENTS  # of each: milliseconds, and of what
        self._failure = None
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(number,)) for number in range(CLIENTS)]
        self._frames = {
            "Produce": frame("Produce", 7, {"Acks": -1, "TimeoutMs": 30_000, "TopicData": [
                {"Name": TOPIC, "PartitionData": [{"Index": 0, "Records": _RECORD}]}]}),
            "Metadata": frame("Metadata", 9, {"Topics": [{"Name": TOPIC}], "AllowAutoTopicCreation": False}),
            "ListOffsets": frame("ListOffsets", 4, {"ReplicaId": -1, "Topics": [
                {"Name": TOPIC, "Partitions": [{"PartitionIndex": 0, "Timestamp": -1}]}]}),
        }

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        for thread in self._threads:
            thread.join(60)

    def _run(self, number: int):
        try:
            with Wire(self.port) as wire:
                while not self._stop.is_set():
                    for api, data in self._frames.items():
                        begun = time.monotonic()
                        wire.send(data)
                        answer = wire.answer()
                        took_ms = (time.monotonic() - begun) * 1000
                        self._slowest[number] = max(self._slowest[number], (took_ms, api))
                        if api == "Produce":
                            self._check(answer)
                    self._stop.wait(PAUSE_SECONDS)
        except Exception as failure:  # told by slowest()
            self._failure = failure

    @staticmethod
    def _check(answer: bytes):
        code = answer_body("Produce", 7, answer)["Responses"][0]["PartitionResponses"][0]["ErrorCode"]
        if code != 0:
            raise RuntimeError(f"a good batch got error {code}")

    def slowest(self) -> tuple[float, str]:
        """(milliseconds, API). Call it behind the `with`."""
        if self._failure is not None:
            raise RuntimeError(f"others failed: {self._failure!r}")
        if not all(api for _, api in self._slowest):
            raise RuntimeError("one of the others got no answer")
        return max(self._slowest)
