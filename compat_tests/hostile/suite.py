"""What an enemy or a broken client sends: each gets the close or the error that Kafka gives, memory stays in its budget,
others are served meanwhile, and nothing acknowledged is lost."""

import pathlib
import socket
import struct
import subprocess
import threading
import time

from harness.child import Deadline
from harness.context import Context
from harness.ports import free_port
from harness.results import Failure, require
from hostile import wire
from hostile.wire import Wire

TOPIC = "hostile"
GOOD = wire.batch(wire.record(0, b"good"))
MAX_FRAME = 104_857_600
OTHERS_MS = 50
ATTEMPTS = 3
RSS_BUDGET_MIB = 400  # request memory (128), image (64), and what a broker is at rest
INVALID_RECORD, CORRUPT, UNKNOWN = 87, 2, -1


def run(context: Context):
    with context.broker() as broker:
        _make_topic(broker.port)
        for name, data in _unanswerable().items():
            with context.test(f"closes_on_{name}"):
                _closes(broker.port, data)
        with context.test("what_came_before_is_answered"):
            for data in (*_unanswerable().values(), _BAD_PRODUCE):
                _answers_then_closes(broker.port, data)
        for name, (records, codes) in _lies().items():
            with context.test(f"refuses_{name}"):
                _refuses(broker.port, records, codes)
        with context.test("half_frames_then_gone"):
            _half_frames(broker.port)
        for codec, bomb in (("gzip", wire.gzip_bomb), ("zstd", wire.zstd_bomb), ("snappy", wire.snappy_bomb),
                            ("lz4", wire.lz4_bomb)):
            with context.test(f"bomb_{codec}") as notes:
                notes.append(_within_attempts(lambda: _bomb(context, broker, codec, bomb)))
        with context.test("hundred_announce_90_mb_and_drip") as notes:
            notes.append(_within_attempts(lambda: _drip(context, broker)))
        with context.test("large_frames_refused_behind_an_unread_answer_hold_no_memory"):
            _refused_and_unread(broker.port)
        with context.test("nothing_acknowledged_was_lost"):
            _all_there(broker.port)
        if context.kind == "weir":
            with context.test("a_used_port_ends_the_start_with_a_sentence") as notes:
                notes.append(_second_start(context, broker, ["--listen", broker.address], "listeners"))
            with context.test("a_folder_in_use_ends_the_start_with_a_sentence") as notes:
                notes.append(_second_start(context, broker, ["--data", broker.data], str(broker.child.pid)))


_acknowledged: list[int] = []  # offsets


class Late(Failure):
    """Others waited too long. A busy machine can do that once; a broker that blocks does it each time."""


def _within_attempts(attempt) -> str:
    for left in range(ATTEMPTS - 1, -1, -1):
        try:
            return attempt()
        except Late:
            if left == 0:
                raise


def _make_topic(port: int):
    deadline = Deadline(20)
    with Wire(port) as wire_to:
        while not deadline.passed:
            wire_to.send(wire.metadata(TOPIC))
            wire_to.answer()
            code, offset = wire_to.produce_error(TOPIC, GOOD)
            if code == 0:
                _acknowledged[:] = [offset]
                return
            time.sleep(0.05)
    raise TimeoutError("the topic did not appear")


def _good(port: int):
    """The broker still takes and keeps a good batch."""
    with Wire(port) as wire_to:
        code, offset = wire_to.produce_error(TOPIC, GOOD)
        require(code == 0, f"a good batch got error {code}")
        _acknowledged.append(offset)


def _unanswerable() -> dict[str, bytes]:
    return {
        "frame_size_0": struct.pack(">i", 0),
        "frame_size_negative": struct.pack(">i", -1),
        "frame_size_over_the_maximum": struct.pack(">i", MAX_FRAME + 1),
        "an_http_request": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "a_tls_hello": bytes.fromhex("16030100a5010000a10303") + bytes(160),
        "a_frame_of_one_byte": wire.frame(b"\0"),
        "an_unknown_key": wire.frame(wire.header(999, 0, 1)),
        "an_unknown_version": wire.frame(wire.header(wire.METADATA, 99, 1)),
        "an_old_produce": wire.frame(wire.header(wire.PRODUCE, 2, 1) + bytes(20)),
        "a_controller_api": wire.frame(wire.header(52, 0, 1) + bytes(40)),
        "a_body_that_ends_early": wire.frame(wire.header(wire.METADATA, 4, 1) + struct.pack(">i", 1)),
        "an_array_of_two_billion": wire.frame(wire.header(wire.METADATA, 4, 1) + struct.pack(">i", 2**31 - 1)),
        "a_string_longer_than_the_frame": wire.frame(
            wire.header(wire.METADATA, 4, 1) + struct.pack(">ih", 1, 32767) + b"x"),
    }


_BAD_PRODUCE = wire.frame(wire.header(wire.PRODUCE, 7, 1) + bytes(6))


def _closes(port: int, data: bytes):
    with Wire(port) as wire_to:
        wire_to.send(data)
        require(wire_to.is_closed(), "the broker answered or kept the connection")
    _good(port)


def _answers_then_closes(port: int, bad: bytes):
    """All in one packet: the broker meets what is bad in the turn in which it answers, or while it still writes."""
    with Wire(port) as wire_to:
        wire_to.send(wire.metadata(TOPIC) + wire.end_offset(TOPIC) + 3 * wire.produce(TOPIC, GOOD) + bad)
        wire_to.answer()
        wire_to.answer()
        for _ in range(3):
            code, offset = wire_to.produce_answer(TOPIC)
            require(code == 0, f"a good batch got error {code}")
            _acknowledged.append(offset)
        require(wire_to.is_closed(), "the broker kept the connection")


def _lies() -> dict[str, tuple[bytes, tuple[int, ...]]]:
    one = wire.record(0, b"lie")
    return {
        "a_wrong_crc": (wire.batch(one, crc=1), (CORRUPT,)),
        "a_count_too_high": (wire.batch(one, count=2), (INVALID_RECORD,)),
        "a_count_of_two_billion": (wire.batch(one, count=2**31 - 1), (INVALID_RECORD, CORRUPT)),
        "a_negative_count": (wire.batch(one, count=-1), (INVALID_RECORD, CORRUPT)),
        "a_wrong_last_delta": (wire.batch(one, last_delta=5), (INVALID_RECORD,)),
        "a_length_beyond_the_frame": (wire.batch(one, length=1 << 30), (INVALID_RECORD, CORRUPT)),
        "a_length_below_the_header": (wire.batch(one, length=10), (INVALID_RECORD, CORRUPT)),
        "a_negative_length": (wire.batch(one, length=-5), (INVALID_RECORD, CORRUPT)),
        "magic_3": (wire.batch(one, magic=3), (CORRUPT,)),
        "magic_1": (wire.batch(one, magic=1), (INVALID_RECORD,)),
        "junk_behind_the_record": (wire.batch(one + b"junk"), (INVALID_RECORD, UNKNOWN)),
        "a_record_longer_than_the_batch": (wire.batch(wire.varint(1 << 28) + b"x"), (INVALID_RECORD, UNKNOWN)),
        "two_batches": (GOOD + GOOD, (INVALID_RECORD,)),
        "no_batch": (b"", (INVALID_RECORD,)),
        "a_codec_that_does_not_exist": (wire.batch(one, codec=7), (UNKNOWN, INVALID_RECORD)),
        "a_payload_that_does_not_decode": (wire.batch(one, codec=4), (UNKNOWN, INVALID_RECORD)),
    }


def _refuses(port: int, records: bytes, codes: tuple[int, ...]):
    with Wire(port) as wire_to:
        before = wire_to.end_offset(TOPIC)
        code, offset = wire_to.produce_error(TOPIC, records)
        require(code in codes, f"error {code}, expected one of {codes}")
        require(offset == -1, f"refused, but with base offset {offset}")
        require(wire_to.end_offset(TOPIC) == before, "refused, but the log has grown")
    _good(port)


def _half_frames(port: int):
    whole = wire.produce(TOPIC, GOOD)
    for cut in range(1, len(whole), 7):
        with Wire(port) as wire_to:
            wire_to.send(whole[:cut])
    _good(port)


class Others:
    """A client of good will beside the enemy: produces and asks for metadata, and notes the longest answer."""

    def __init__(self, port: int):
        self.port, self.stop, self.worst_ms, self.calls, self.failure = port, threading.Event(), 0.0, 0, None
        self.thread = threading.Thread(target=self._run)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join(30)

    def _run(self):
        try:
            with Wire(self.port) as wire_to:
                while not self.stop.is_set():
                    start = time.monotonic()
                    code, offset = wire_to.produce_error(TOPIC, GOOD)
                    wire_to.send(wire.metadata(TOPIC))
                    wire_to.answer()
                    self.worst_ms = max(self.worst_ms, (time.monotonic() - start) * 1000)
                    require(code == 0, f"a good batch got error {code}")
                    _acknowledged.append(offset)
                    self.calls += 1
                    self.stop.wait(0.005)
        except Exception as failure:  # told by check()
            self.failure = failure

    def check(self, context: Context):
        require(self.failure is None, f"others failed: {self.failure}")
        require(self.calls > 0, "others made no call")
        if context.kind == "weir":
            if self.worst_ms > OTHERS_MS:
                raise Late(f"others waited {self.worst_ms:.0f} ms, at most {OTHERS_MS} is promised")


def _resident_mib(broker) -> float:
    for line in pathlib.Path(f"/proc/{broker.child.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0


def _bomb(context: Context, broker, codec: str, make) -> str:
    size = {"snappy": 16 << 20, "lz4": 240 << 20}.get(codec, 768 << 20)  # as much as fits into message.max.bytes
    number = {"gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}[codec]
    records = wire.batch(make(size), codec=number)
    require(len(records) < 1_048_588, f"the bomb has {len(records)} bytes: message.max.bytes would refuse it")
    peak = 0.0
    with Others(broker.port) as others, Wire(broker.port, 60) as wire_to:
        wire_to.send(wire.produce(TOPIC, records))
        wire_to.socket.settimeout(0.02)
        deadline = Deadline(60)
        while True:
            peak = max(peak, _resident_mib(broker))
            try:
                answer = wire_to.socket.recv(4096, socket.MSG_PEEK)
                break
            except TimeoutError:
                require(not deadline.passed, "no answer to the bomb within 60 s")
        require(len(answer) > 0, "the connection was closed")
    others.check(context)
    if context.kind == "weir":
        require(peak <= RSS_BUDGET_MIB, f"{peak:.0f} MiB resident")
    _good(broker.port)
    return f"{len(records)} bytes to {size >> 20} MiB; peak {peak:.0f} MiB; others at most {others.worst_ms:.1f} ms"


def _drip(context: Context, broker) -> str:
    before = _resident_mib(broker)
    peak = before
    connections = [Wire(broker.port) for _ in range(100)]
    try:
        with Others(broker.port) as others:
            for connection in connections:
                connection.send(struct.pack(">i", 90_000_000) + wire.header(wire.PRODUCE, 7, 1))
            for _ in range(20):
                for connection in connections:
                    connection.send(bytes(100))
                peak = max(peak, _resident_mib(broker))
        others.check(context)
    finally:
        for connection in connections:
            connection.socket.close()
    if context.kind == "weir":
        require(peak - before <= 64, f"grew from {before:.0f} to {peak:.0f} MiB")
    _good(broker.port)
    return f"{before:.0f} -> {peak:.0f} MiB; others at most {others.worst_ms:.1f} ms in {others.calls} calls"


def _refused_and_unread(port: int):
    """Their connections stay until somebody reads; meanwhile large batches of others are taken. More than the memory for
    requests is sent, where the broker reads it at all."""
    large = wire.batch(wire.record(0, bytes(900_000)))
    with Wire(port) as wire_to:
        for _ in range(8):  # an answer larger than what two sockets hold
            code, offset = wire_to.produce_error(TOPIC, large)
            require(code == 0, f"a good batch got error {code}")
            _acknowledged.append(offset)
    silent = [Wire(port, 3) for _ in range(3)]
    try:
        for wire_to in silent:
            wire_to.send(wire.fetch(TOPIC, 8 << 20))
            try:
                wire_to.send(wire.frame(wire.header(999, 0, 1) + bytes(60 << 20)))
            except TimeoutError:
                pass  # Kafka reads nothing while an answer is on its way
        with Wire(port) as wire_to:
            code, offset = wire_to.produce_error(TOPIC, large)
            require(code == 0, f"a good batch got error {code}")
            _acknowledged.append(offset)
    finally:
        for wire_to in silent:
            wire_to.socket.close()


def _all_there(port: int):
    """Each acknowledged good batch has one record of its own: offsets are distinct and below the end."""
    with Wire(port) as wire_to:
        end = wire_to.end_offset(TOPIC)
    require(len(set(_acknowledged)) == len(_acknowledged), "an offset was acknowledged twice")
    require(max(_acknowledged) < end, f"acknowledged {max(_acknowledged)}, but the end is {end}")


def _second_start(context: Context, broker, options, must_name: str) -> str:
    folder = broker.folder / "second"
    command = [context.weir, "serve", "--set", "mq.http.listen=127.0.0.1:0"]
    if "--data" not in options:
        command += ["--data", folder]
    if "--listen" not in options:
        command += ["--listen", f"127.0.0.1:{free_port()}"]
    done = subprocess.run([str(word) for word in [*command, *options]], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=30)
    require(done.returncode == 1, f"ended with {done.returncode}: {done.stdout}")
    sentence = done.stdout.strip().splitlines()[-1]
    require(must_name in sentence, f"the sentence does not name {must_name}: {sentence}")
    _good(broker.port)
    return sentence
