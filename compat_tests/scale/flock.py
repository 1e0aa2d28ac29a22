"""Very many connections, driven by one thread and one epoll. Frames come ready to send; times are taken at the socket."""

import heapq
import itertools
import resource
import select
import socket
import struct
import time

from raw import codec

CLIENT_ID = "scale"
CORRELATION = 1  # a channel has one request under way at most, so all may carry the same
_WAVE = 50  # connections that are not greeted yet: Kafka's listener has a queue of 50, and beyond it seconds are lost
_READ_BYTES = 256 * 1024


class Broken(Exception):
    """The broker ended a connection, or did not answer in time."""


def raise_descriptor_limit():
    """As many as this user may have. What is started later inherits it."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def frame(api: str, version: int, body: dict) -> bytes:
    payload = codec.request_header(api, version, CORRELATION, CLIENT_ID) + codec.encode(api + "Request", version, body)
    return struct.pack(">i", len(payload)) + payload


HELLO = frame("ApiVersions", 3, {"ClientSoftwareName": "scale", "ClientSoftwareVersion": "1"})


def answer_body(api: str, version: int, answer: bytes) -> dict:
    correlation, raw = codec.split_answer(api, version, answer)
    if correlation != CORRELATION:
        raise Broken(f"{api}: an answer to another request ({correlation})")
    return codec.decode(api + "Response", version, raw)


class Channel:
    """One connection: sends a frame, hands its answer (without the size) to whom it was told to."""

    def __init__(self, flock: "Flock"):
        self.flock = flock
        self.socket = socket.socket()
        self.socket.setblocking(False)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.connected = False
        self.sent_at = 0.0
        self.took = 0.0  # seconds from the send to the last byte of the answer; of the last answer
        self._out = b""
        self._in = bytearray()
        self._on_answer = None

    def ask(self, data: bytes, on_answer):
        if self._on_answer is not None:
            raise Broken("two requests at a time on one channel")
        self._on_answer, self._out = on_answer, data
        self.sent_at = time.monotonic()
        if self.connected:
            self.on_writable()

    @property
    def waits(self) -> bool:
        return self._on_answer is not None

    def on_writable(self):
        if not self.connected:
            code = self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if code != 0:
                raise Broken(f"connecting failed with errno {code}")
            self.connected = True
        if self._out:
            try:
                self._out = self._out[self.socket.send(self._out):]
            except BlockingIOError:
                pass
        self.flock.watch(self, bool(self._out))

    def on_readable(self):
        try:
            part = self.socket.recv(_READ_BYTES)
        except BlockingIOError:
            return
        except ConnectionError as failure:
            raise Broken(str(failure)) from None
        if not part:
            raise Broken("the broker closed a connection")
        self._in += part
        if len(self._in) < 4 or len(self._in) < 4 + struct.unpack_from(">i", self._in)[0]:
            return
        self.took = time.monotonic() - self.sent_at
        answer, self._in = bytes(self._in[4:]), bytearray()
        on_answer, self._on_answer = self._on_answer, None
        on_answer(answer)

    def vanish(self):
        """A reset: no farewell, and no port that this machine must remember for a minute."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


class Flock:
    def __init__(self, port: int):
        self.port = port
        self.channels: list[Channel] = []
        self._epoll = select.epoll()
        self._by_descriptor: dict[int, Channel] = {}
        self._timers: list = []
        self._numbers = itertools.count()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for channel in self.channels:
            channel.vanish()
        self._epoll.close()

    def open(self) -> Channel:
        """Begins to connect; what is asked meanwhile leaves when the connection is there."""
        channel = Channel(self)
        self.channels.append(channel)
        self._by_descriptor[channel.socket.fileno()] = channel
        self._epoll.register(channel.socket.fileno(), select.EPOLLIN | select.EPOLLOUT)
        channel.socket.connect_ex(("127.0.0.1", self.port))
        return channel

    def open_many(self, count: int, hello: bytes, seconds: float = 60) -> list[Channel]:
        """Each has sent `hello` and has its answer."""
        opened: list[Channel] = []
        while len(opened) < count:
            wave = [self.open() for _ in range(min(_WAVE, count - len(opened)))]
            self.ask_all(wave, hello, seconds)
            opened += wave
        return opened

    def ask_all(self, channels: list[Channel], data: bytes, seconds: float = 60) -> list[bytes]:
        """The same request on each, all at once; the answers in the order of the channels."""
        answers = {}
        for channel in channels:
            channel.ask(data, lambda answer, key=channel: answers.__setitem__(key, answer))
        self.run(lambda: len(answers) == len(channels), seconds)
        return [answers[channel] for channel in channels]

    def watch(self, channel: Channel, for_room: bool):
        self._epoll.modify(channel.socket.fileno(), select.EPOLLIN | (select.EPOLLOUT if for_room else 0))

    def at(self, when: float, do):
        heapq.heappush(self._timers, (when, next(self._numbers), do))

    def run(self, until, seconds: float):
        """Serves sockets and timers until `until()` is true."""
        end = time.monotonic() + seconds
        while not until():
            now = time.monotonic()
            if now > end:
                raise Broken(f"not done after {seconds:.0f} s")
            while self._timers and self._timers[0][0] <= now:
                heapq.heappop(self._timers)[2]()
            ahead = self._timers[0][0] - time.monotonic() if self._timers else 1.0
            for descriptor, events in self._epoll.poll(min(max(ahead, 0.0), 0.2)):
                channel = self._by_descriptor[descriptor]
                if events & ~(select.EPOLLIN | select.EPOLLOUT):
                    raise Broken("a connection broke")
                if events & select.EPOLLOUT:
                    channel.on_writable()
                if events & select.EPOLLIN:
                    channel.on_readable()
