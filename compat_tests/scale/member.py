"""A member of a classic group as a consumer is one: join (twice, for the member id), sync, heartbeat; again when told to.

The leader gives partitions out the sticky way: everybody keeps what he holds up to his fair share, the rest is dealt.
"""

import struct
import time

from harness.results import Failure
from raw import codec
from scale.flock import Channel, Flock, answer_body, frame

JOIN, SYNC, HEARTBEAT = 9, 5, 4  # the newest version of each, as new clients send them
NONE, REBALANCING, MEMBER_ID_REQUIRED = 0, 27, 79
PROTOCOL = "sticky"


def subscription(topics: list[str], owned: dict[str, list[int]]) -> bytes:
    body = {"Topics": topics, "OwnedPartitions": [{"Topic": t, "Partitions": p} for t, p in owned.items()]}
    return struct.pack(">h", 1) + codec.encode("ConsumerProtocolSubscription", 1, body)


def assignment(parts: dict[str, list[int]]) -> bytes:
    body = {"AssignedPartitions": [{"Topic": t, "Partitions": p} for t, p in parts.items()]}
    return struct.pack(">h", 1) + codec.encode("ConsumerProtocolAssignment", 1, body)


def partitions_in(data: bytes, message: str, field: str) -> dict[str, list[int]]:
    if len(data) < 2:
        return {}
    return {t["Topic"]: t["Partitions"] for t in codec.decode(message, 1, data[2:])[field]}


def deal(owned: dict[str, dict[str, list[int]]], topics: dict[str, int]) -> dict[str, dict[str, list[int]]]:
    """Member id to topic to partitions; `topics` says how many partitions each has."""
    everything = [(topic, index) for topic, count in topics.items() for index in range(count)]
    members = sorted(owned)
    least, more = divmod(len(everything), len(members))
    share = {member: least + (place < more) for place, member in enumerate(members)}
    kept: dict[str, list] = {}
    taken = set()
    for member in members:
        held = [(t, i) for t, indexes in owned[member].items() for i in indexes if (t, i) not in taken]
        kept[member] = held[:share[member]]
        taken.update(kept[member])
    free = iter([one for one in everything if one not in taken])
    given: dict[str, dict[str, list[int]]] = {}
    for member in members:
        parts: dict[str, list[int]] = {}
        for topic, index in [*kept[member], *(next(free) for _ in range(share[member] - len(kept[member])))]:
            parts.setdefault(topic, []).append(index)
        given[member] = parts
    return given


class Member:
    """`heartbeat_seconds`: the pause before each heartbeat, also before the first behind a SyncGroup answer."""

    def __init__(self, flock: Flock, group: str, topics: dict[str, int], *, session_ms: int, heartbeat_seconds: float):
        self.flock, self.group, self.topics = flock, group, topics
        self.session_ms, self.heartbeat_seconds = session_ms, heartbeat_seconds
        self.channel: Channel | None = None
        self.member_id = ""
        self.generation = -1
        self.parts: dict[str, list[int]] = {}
        self.assigned_at = 0.0  # when the assignment of `generation` came; 0: not yet
        self.confirmed = False  # a heartbeat of `generation` was answered with 0
        self.next_heartbeat_at = 0.0
        self.rebalances = 0  # how often a heartbeat was answered with 27
        self.worst_heartbeat_ms = 0.0
        self._heartbeat = b""

    def start(self):
        self.channel = self.flock.open()
        self._join()

    def start_on(self, channel: Channel):
        """On a connection that is there already."""
        self.channel = channel
        self._join()

    def _ask(self, api: str, version: int, body: dict, then):
        self.channel.ask(frame(api, version, body), lambda answer: then(answer_body(api, version, answer)))

    def _join(self):
        self.assigned_at, self.confirmed = 0.0, False
        self._ask("JoinGroup", JOIN, {
            "GroupId": self.group, "SessionTimeoutMs": self.session_ms, "RebalanceTimeoutMs": 300_000,
            "MemberId": self.member_id, "ProtocolType": "consumer",
            "Protocols": [{"Name": PROTOCOL, "Metadata": subscription(list(self.topics), self.parts)}],
        }, self._joined)

    def _joined(self, answer: dict):
        if answer["ErrorCode"] == MEMBER_ID_REQUIRED:
            self.member_id = answer["MemberId"]
            return self._join()
        if answer["ErrorCode"] == REBALANCING:
            return self._join()
        if answer["ErrorCode"] != NONE:
            return self._fail("JoinGroup", answer["ErrorCode"])
        self.member_id, self.generation = answer["MemberId"], answer["GenerationId"]
        given = {}
        if answer["Leader"] == self.member_id:
            owned = {m["MemberId"]: partitions_in(m["Metadata"], "ConsumerProtocolSubscription", "OwnedPartitions")
                     for m in answer["Members"]}
            given = deal(owned, self.topics)
        self._ask("SyncGroup", SYNC, {
            "GroupId": self.group, "GenerationId": self.generation, "MemberId": self.member_id,
            "ProtocolType": "consumer", "ProtocolName": PROTOCOL,
            "Assignments": [{"MemberId": m, "Assignment": assignment(parts)} for m, parts in given.items()],
        }, self._synced)

    def _synced(self, answer: dict):
        if answer["ErrorCode"] == REBALANCING:
            return self._join()
        if answer["ErrorCode"] != NONE:
            return self._fail("SyncGroup", answer["ErrorCode"])
        self.parts = partitions_in(answer["Assignment"], "ConsumerProtocolAssignment", "AssignedPartitions")
        self.assigned_at = time.monotonic()
        self._heartbeat = frame("Heartbeat", HEARTBEAT, {
            "GroupId": self.group, "GenerationId": self.generation, "MemberId": self.member_id})
        self._beat_later()

    def _beat_later(self):
        self.next_heartbeat_at = time.monotonic() + self.heartbeat_seconds
        self.flock.at(self.next_heartbeat_at, lambda: self.channel.ask(self._heartbeat, self._beaten))

    def _beaten(self, answer: bytes):
        code = answer_body("Heartbeat", HEARTBEAT, answer)["ErrorCode"]
        self.worst_heartbeat_ms = max(self.worst_heartbeat_ms, self.channel.took * 1000)
        if code == REBALANCING:
            self.rebalances += 1
            return self._join()
        if code != NONE:
            return self._fail("Heartbeat", code)
        self.confirmed = True
        self._beat_later()

    def _fail(self, api: str, code: int):
        raise Failure(f"{api} answered {code} to {self.member_id or 'a new member'} of {self.group} "
                      f"in generation {self.generation}")


class Settled:
    """True once all hold an assignment of one generation. Asked very often, so it begins with the member that was not
    ready the last time."""

    def __init__(self, members: list[Member]):
        self._members, self._last = members, 0

    def __call__(self) -> bool:
        generation = self._members[0].generation
        for step in range(len(self._members)):
            place = (self._last + step) % len(self._members)
            member = self._members[place]
            if not member.assigned_at or member.generation != generation:
                self._last = place
                return False
        return True


def each_partition_once(members: list[Member], topics: dict[str, int]) -> bool:
    held = [(topic, index) for member in members for topic, indexes in member.parts.items() for index in indexes]
    return len(held) == len(set(held)) == sum(topics.values())
