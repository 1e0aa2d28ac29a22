"""One connection of a client that sends what it is told, right or wrong, and says what came back. One thread."""

import socket
import struct

from raw import codec

CLOSED, LATE = "closed", "no answer"
CLIENT_ID = "raw"


class Connection:
    def __init__(self, port: int):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=20)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sent = 0

    def close(self):
        self.socket.close()

    def send_bytes(self, data: bytes):
        """A broker that has closed already is found out by the next receive."""
        try:
            self.socket.sendall(data)
        except OSError:
            pass

    def send(self, api: str, version: int, body: bytes) -> int:
        """The correlation id, which counts up from 1."""
        self.sent += 1
        payload = codec.request_header(api, version, self.sent, CLIENT_ID) + body
        self.send_bytes(struct.pack(">i", len(payload)) + payload)
        return self.sent

    def receive(self, seconds: float) -> bytes | str:
        """A frame without its size, or CLOSED, or LATE; after LATE the connection is of no more use."""
        self.socket.settimeout(seconds)
        try:
            size = self._read(4)
            return self._read(struct.unpack(">i", size)[0])
        except TimeoutError:
            return LATE
        except (EOFError, ConnectionError):
            return CLOSED

    def _read(self, count: int) -> bytes:
        data = bytearray()
        while len(data) < count:
            part = self.socket.recv(count - len(data))
            if not part:
                raise EOFError
            data += part
        return bytes(data)

    def call(self, api: str, version: int, body: dict, seconds: float = 20) -> dict:
        """For what must go well: settling and warming up, not for what is compared."""
        sent = self.send(api, version, codec.encode(api + "Request", version, body))
        frame = self.receive(seconds)
        if isinstance(frame, str):
            raise ConnectionError(f"{api} v{version}: {frame}")
        correlation, answer = codec.split_answer(api, version, frame)
        if correlation != sent:
            raise ConnectionError(f"{api} v{version}: answer {correlation} to request {sent}")
        return codec.decode(api + "Response", version, answer)
