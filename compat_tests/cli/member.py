"""The smallest member a group can have: old codings, one member, no heartbeats. Alive as long as its session timeout."""

import socket
import struct

JOIN_GROUP, SYNC_GROUP, LEAVE_GROUP, FIND_COORDINATOR = 11, 14, 13, 10
SESSION_MS = 30_000


def _string(text: str) -> bytes:
    return struct.pack(">h", len(text)) + text.encode()


def _bytes(data: bytes) -> bytes:
    return struct.pack(">i", len(data)) + data


class Member:
    """Joins on entry and leaves on exit; it leads a group of one and gives itself the partitions it was told."""

    def __init__(self, address: str, group: str, topic: str, partitions: list[int]):
        host, port = address.rsplit(":", 1)
        self._address = (host, int(port))
        self._group, self._topic, self._partitions = group, topic, partitions
        self._connection = None
        self.member_id = ""

    def __enter__(self):
        self._connection = socket.create_connection(self._address, timeout=30)
        while struct.unpack(">h", self._call(FIND_COORDINATOR, 0, _string(self._group))[:2])[0] != 0:
            pass  # the group's topic is being made
        subscription = struct.pack(">hi", 0, 1) + _string(self._topic) + _bytes(b"")
        body = _string(self._group) + struct.pack(">ii", SESSION_MS, SESSION_MS) + _string("") + _string("consumer")
        answer = self._call(JOIN_GROUP, 2, body + struct.pack(">i", 1) + _string("range") + _bytes(subscription))
        _throttle, error, generation = struct.unpack(">ihi", answer[:10])
        if error != 0:
            raise RuntimeError(f"JoinGroup answered {error}")
        at = 10
        names = []
        for _ in range(3):  # protocol, leader, member id
            (length,) = struct.unpack(">h", answer[at : at + 2])
            names.append(answer[at + 2 : at + 2 + length].decode())
            at += 2 + length
        self.member_id = names[2]
        partitions = struct.pack(f">i{len(self._partitions)}i", len(self._partitions), *self._partitions)
        assignment = struct.pack(">hi", 0, 1) + _string(self._topic) + partitions + _bytes(b"")
        body = _string(self._group) + struct.pack(">i", generation) + _string(self.member_id)
        answer = self._call(SYNC_GROUP, 1, body + struct.pack(">i", 1) + _string(self.member_id) + _bytes(assignment))
        _throttle, error = struct.unpack(">ih", answer[:6])
        if error != 0:
            raise RuntimeError(f"SyncGroup answered {error}")
        return self

    def __exit__(self, *_):
        self._call(LEAVE_GROUP, 1, _string(self._group) + _string(self.member_id))
        self._connection.close()

    def _call(self, key: int, version: int, body: bytes) -> bytes:
        frame = struct.pack(">hhi", key, version, 1) + _string("a-test") + body
        self._connection.sendall(_bytes(frame))
        (length,) = struct.unpack(">i", self._exactly(4))
        return self._exactly(length)[4:]

    def _exactly(self, count: int) -> bytes:
        got = b""
        while len(got) < count:
            more = self._connection.recv(count - len(got))
            if not more:
                raise RuntimeError("the broker closed the connection")
            got += more
        return got
