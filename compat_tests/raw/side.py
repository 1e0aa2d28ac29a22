"""One broker during one case: sends steps, binds what later steps need, and says what came back as a flat dict.

A step is a dict that JSON can carry:
  {"api": "Heartbeat", "v": 4, "body": {...}}     a request; the answer is compared
  "bind": {"m": "MemberId"}                       keeps a field of the answer; later bodies write it "$m", numbers "$m+1"
  "conn": 1                                       another connection than 0
  "cut": 3, "more": "hex"                         bytes that are missing at the end of the body, or too many
  "later": "label"                                is not waited for; {"collect": "label"} does that
  {"raw": "hex"}                                  bytes as they are, on a connection of their own
  {"until": {a request}, "path": "Groups.0.GroupState", "is": "Stable"}   asks until it is so; not compared
In a body "@t" is a name of this case alone, {"batch": {...}} and {"batches": [...]} are raw.batches.from_spec,
{"subscription": ["@t"]} is a consumer's metadata, {"hex": ""} and {"text": ""} are bytes.
"""

import re
import struct
import time

from raw import batches, codec, masks
from raw.client import CLOSED, LATE, Connection

ANSWER_SECONDS = 8
_VARIABLE = re.compile(r"\$(\w+)([+-]\d+)?")
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_NEAR_MS = 3_600_000


class Side:
    def __init__(self, kind: str, port: int, prefix: str, patience: float = 1):
        self.kind, self.port, self.prefix, self.patience = kind, port, prefix, patience
        self.variables: dict = {}
        self._tokens: dict = {}
        self._connections: dict[int, Connection] = {}
        self._sent: dict = {}  # step number or label to (connection number, api, version, correlation, names asked for)
        self._settling: Connection | None = None
        self._with_offsets: set[str] = set()  # groups that this case committed offsets to

    def close(self):
        for connection in [*self._connections.values(), *filter(None, [self._settling])]:
            connection.close()
        self._connections.clear()
        self._settling = None

    # ---------------------------------------------------------------------------------------------- steps
    def send(self, step: dict):
        """The first half of a step, so that two brokers can work at the same time."""
        if "raw" in step:
            self._drop(-1)
            self._connection(-1).send_bytes(bytes.fromhex(step["raw"]))
        elif "api" in step:
            api, version, number = step["api"], step["v"], step.get("conn", 0)
            valid = version in codec.apis()[api].valid
            body = self._resolve_body(api, version, step.get("body", {})) if valid else {}
            data = codec.encode(api + "Request", version, body) if valid else b""
            data = data[:len(data) - step.get("cut", 0)] + bytes.fromhex(step.get("more", ""))
            correlation = self._connection(number).send(api, version, data)
            silent = api == "Produce" and valid and body.get("Acks", 0) == 0
            self._sent[step.get("later", "")] = None if silent else (number, api, version, correlation, step)

    def receive(self, step: dict) -> dict:
        """The second half: path to value, `outcome` first. A step that is not compared gives {}."""
        if "until" in step:
            return self._until(step)
        if "raw" in step:
            frame = self._connection(-1).receive(ANSWER_SECONDS * self.patience)
            return {"outcome": frame} if isinstance(frame, str) else {"outcome": "answer", "bytes": frame.hex()}
        if "later" in step:
            return {}
        sent = self._sent.pop(step.get("collect", ""), None)
        return {} if sent is None else self._answer(*sent)

    def _answer(self, number: int, api: str, version: int, correlation: int, step: dict) -> dict:
        frame = self._connection(number).receive(ANSWER_SECONDS * self.patience)
        if isinstance(frame, str):
            self._drop(number)
            return {"outcome": frame}
        try:
            if version not in codec.apis()[api].valid:  # ApiVersions answers in version 0
                version = 0
            came, raw = codec.split_answer(api, version, frame)
            body = codec.decode(api + "Response", version, raw)
        except codec.CodecError as wrong:
            self._drop(number)
            return {"outcome": f"cannot be decoded: {wrong}"}
        if came != correlation:
            self._drop(number)
            return {"outcome": "an answer to another request"}
        for name, path in step.get("bind", {}).items():
            self._bind(name, body, path)
        if api == "Fetch":
            body["Responses"] = _joined(body["Responses"])
        if self.kind == "kafka":
            self._settle(api, step, body)
        elif api == "Produce" and step["body"].get("Acks") == 1:
            self._await_visible(step["body"]["TopicData"], body)
        flat = {"outcome": "answer"}
        self._flatten(flat, api, "", "", body, _names_in(step.get("body", {})))
        return flat

    def _connection(self, number: int) -> Connection:
        if number not in self._connections:
            self._connections[number] = Connection(self.port)
        return self._connections[number]

    def _drop(self, number: int):
        if number in self._connections:
            self._connections.pop(number).close()

    def _bind(self, name: str, body: dict, path: str):
        value = lookup(body, path)
        if value is not None:
            self.variables[name] = value

    def _until(self, step: dict) -> dict:
        """For states that come by themselves. A case goes on when the time is over: the next step will show it."""
        request = step["until"]
        end = time.monotonic() + ANSWER_SECONDS * self.patience
        connection = self._helper()
        while time.monotonic() < end:
            body = connection.call(request["api"], request["v"], self._resolve_body(request["api"], request["v"], request["body"]))
            if lookup(body, step["path"]) == step["is"]:
                break
            time.sleep(0.005)
        return {}

    # ---------------------------------------------------------------------------------------------- bodies
    def _resolve_body(self, api: str, version: int, body: dict) -> dict:
        return self._resolve_struct(codec.plan(api + "Request", version), body)

    def _resolve_struct(self, plan: codec.Plan, body: dict) -> dict:
        out = {name: body[name] for name in body if name not in {slot.name for slot in plan.all_slots}}
        if codec.UNKNOWN_TAGS in out:
            out[codec.UNKNOWN_TAGS] = {int(tag): bytes.fromhex(data) for tag, data in out[codec.UNKNOWN_TAGS].items()}
        for slot in plan.all_slots:
            if slot.name in body:
                value = body[slot.name]
                if slot.is_list:
                    out[slot.name] = None if value is None else [self._resolve_one(slot, item) for item in value]
                else:
                    out[slot.name] = self._resolve_one(slot, value)
        return out

    def _resolve_one(self, slot: codec.Slot, value):
        if slot.plan:
            return None if value is None else self._resolve_struct(slot.plan, value)
        if slot.type in ("bytes", "records"):
            return self._bytes(value)
        return self._value(value, slot.type)

    def _value(self, value, type_name: str = "int64"):
        if isinstance(value, str):
            found = _VARIABLE.fullmatch(value)
            if found:
                empty = codec.ZERO_UUID if type_name == "uuid" else "" if type_name == "string" else 0
                known = self.variables.get(found[1], empty)
                if isinstance(known, str):
                    return known
                low, high = _RANGES.get(type_name, _RANGES["int64"])
                return min(max(known + int(found[2] or 0), low), high)
            if value.startswith("@"):
                return self.prefix + value[1:]
        return value

    def _bytes(self, value):
        if value is None or isinstance(value, bytes):
            return value
        if "hex" in value:
            return bytes.fromhex(value["hex"])
        if "text" in value:
            return value["text"].encode()
        if "subscription" in value:
            names = [self._value(name, "string") for name in value["subscription"]]
            version = value.get("v", 1)
            return struct.pack(">h", version) + codec.encode("ConsumerProtocolSubscription", version, {"Topics": names})
        specs = [value["batch"]] if "batch" in value else value["batches"]
        return b"".join(batches.from_spec({k: self._value(v) for k, v in spec.items()}) for spec in specs)

    # ---------------------------------------------------------------------------------------------- answers
    def _flatten(self, out: dict, api: str, path: str, shown: str, value, asked: set):
        """`path` has no indexes and finds the mask; `shown` has them and names the value."""
        mask = masks.find(api, path)
        if mask and mask.does == masks.DROP:
            return
        if mask and mask.does == masks.BATCHES and isinstance(value, bytes):
            value = [batch for index, batch in enumerate(batches.parse(value)) if index == 0 or "CutTo" not in batch]
        if isinstance(value, dict):
            for name, child in value.items():
                self._flatten(out, api, f"{path}.{name}".lstrip("."), f"{shown}.{name}".lstrip("."), child, asked)
        elif isinstance(value, list):
            for index, child in self._entries(api, mask, value, asked):
                self._flatten(out, api, path, f"{shown}[{index}]", child, asked)
            if not value:
                out[shown] = "[]"
        else:
            out[shown] = self._shown(mask, value)

    def _entries(self, api: str, mask: masks.Mask | None, value: list, asked: set):
        """(what stands between the brackets, entry): the index, or for a list without order the name of the entry."""
        if mask is None or mask.does not in (masks.OWN, masks.SORT):
            return enumerate(value)
        if mask.does == masks.OWN:
            value = [entry for entry in value if self._is_own(entry.get(mask.keys[0]), asked)]
        seen: dict = {}
        named = []
        for entry in value:
            key = next((key for key in mask.keys if entry.get(key)), mask.keys[0])
            name = str(self._shown(masks.find(api, key), entry.get(key)))
            seen[name] = seen.get(name, 0) + 1
            named.append((name if seen[name] == 1 else f"{name} #{seen[name]}", entry))
        return sorted(named, key=lambda pair: pair[0])

    def _is_own(self, name, asked: set) -> bool:
        return name is None or name.startswith(self.prefix) or name in asked

    def _shown(self, mask: masks.Mask | None, value):
        does = mask.does if mask else None
        if does == masks.TEXT:
            return "<text>" if value else value
        if does == masks.PORT:
            return "<port>" if value == self.port else value
        if does == masks.NOW:
            return "<now>" if abs(value - time.time() * 1000) < _NEAR_MS else value
        if does == masks.TOKEN and self._is_made(mask.keys[0], value):
            known = self._tokens.setdefault(mask.keys[0], {})
            return f"<{mask.keys[0]} {known.setdefault(value, len(known) + 1)}>"
        if isinstance(value, bytes):
            return value.replace(self.prefix.encode(), b"@").hex()
        return value.replace(self.prefix, "@") if isinstance(value, str) else value

    @staticmethod
    def _is_made(kind: str, value) -> bool:
        """Not what stands for nothing, and not a member id that the case itself made up."""
        if isinstance(value, int):
            return value > 0 or (value == 0 and kind == "producer")
        return bool(value) and value != codec.ZERO_UUID and (len(value) in (22, 32) or bool(_UUID.search(value)))

    # ---------------------------------------------------------------------------------------------- settling
    def _helper(self) -> Connection:
        if self._settling is None:
            self._settling = Connection(self.port)
        return self._settling

    def _settle(self, api: str, step: dict, answer: dict):
        """Kafka's controller answers before its broker part has taken a change up; Weir answers after. So we wait."""
        body = step.get("body", {})
        if body.get("ValidateOnly") or body.get("validateOnly"):
            return
        if api == "CreateTopics":
            self._await_topics([t["Name"] for t in answer["Topics"] if t["ErrorCode"] == 0], 1)
        elif api == "CreatePartitions":
            good = {t["Name"] for t in answer["Results"] if t["ErrorCode"] == 0}
            for topic in body.get("Topics", ()):
                name = self._value(topic["Name"], "string")
                if name in good:
                    self._await_topics([name], topic["Count"])
        elif api == "DeleteTopics":
            for topic in answer["Responses"]:
                if topic["ErrorCode"] == 0 and topic["Name"]:
                    self._await_gone(topic["Name"])
        elif api == "OffsetCommit":
            self._with_offsets.add(self._value(body.get("GroupId", ""), "string"))
        elif api in ("AlterConfigs", "IncrementalAlterConfigs") and any(r["ErrorCode"] == 0 for r in answer["Responses"]):
            time.sleep(0.03 * self.patience)

    def _metadata(self, name: str) -> dict:
        return self._helper().call("Metadata", 9, {"Topics": [{"Name": name}], "AllowAutoTopicCreation": False})["Topics"][0]

    def _await_topics(self, names: list[str], partitions: int):
        end = time.monotonic() + 10
        for name in names:
            while time.monotonic() < end:
                found = self._metadata(name)["Partitions"]
                if len(found) >= partitions and all(p["ErrorCode"] == 0 for p in found) and self._has_offsets(name, len(found)):
                    break
                time.sleep(0.004)

    def _has_offsets(self, name: str, count: int) -> bool:
        wanted = [{"PartitionIndex": index, "Timestamp": -1} for index in range(count)]
        answer = self._helper().call("ListOffsets", 4, {"ReplicaId": -1, "Topics": [{"Name": name, "Partitions": wanted}]})
        return all(p["ErrorCode"] == 0 for p in answer["Topics"][0]["Partitions"])

    def _await_visible(self, asked: list, answer: dict):
        """acks=1 says written; Weir shows what is synced, which is a moment later. Kafka shows it at once."""
        end = time.monotonic() + 2
        for topic, answered in zip(asked, answer["Responses"]):
            for part in answered["PartitionResponses"]:
                wanted = [{"PartitionIndex": part["Index"], "Timestamp": -1}]
                while part["ErrorCode"] == 0 and time.monotonic() < end:
                    listed = self._helper().call("ListOffsets", 4, {"ReplicaId": -1, "Topics": [
                        {"Name": self._value(topic["Name"], "string"), "Partitions": wanted}]})["Topics"][0]["Partitions"][0]
                    if listed["ErrorCode"] or listed["Offset"] > part["BaseOffset"]:
                        break
                    time.sleep(0.002)

    def _await_gone(self, name: str):
        end = time.monotonic() + 10
        while time.monotonic() < end and self._metadata(name)["ErrorCode"] == 0:
            time.sleep(0.004)
        for group in self._with_offsets:  # Kafka drops the topic's offsets some time later
            while time.monotonic() < end and self._offsets_of(group, name):
                time.sleep(0.004)
        time.sleep(0.02 * self.patience)

    def _offsets_of(self, group: str, topic: str) -> bool:
        answer = self._helper().call("OffsetFetch", 8, {"Groups": [{"GroupId": group, "Topics": None}]})
        return any(one["Name"] == topic for one in answer["Groups"][0]["Topics"])


_RANGES = {"int8": (-2**7, 2**7 - 1), "int16": (-2**15, 2**15 - 1), "int32": (-2**31, 2**31 - 1), "int64": (-2**63, 2**63 - 1),
           "uint16": (0, 2**16 - 1), "uint32": (0, 2**32 - 1)}


def _joined(topics: list[dict]) -> list[dict]:
    """Kafka puts errors last, so it may name a topic once more for them."""
    found: dict = {}
    for topic in topics:
        known = found.setdefault((topic.get("Topic"), topic.get("TopicId")), topic)
        if known is not topic:
            known["Partitions"] += topic["Partitions"]
    return list(found.values())


def lookup(body, path: str):
    """`Groups.0.GroupState` in a decoded body, or None."""
    for word in path.split("."):
        try:
            body = body[int(word)] if word.isdigit() else body[word]
        except (KeyError, IndexError, TypeError):
            return None
    return body


def _names_in(value) -> set:
    """All strings that a request wrote out: entries with these names were asked for."""
    if isinstance(value, str):
        return {value}
    if isinstance(value, dict):
        return set().union(*map(_names_in, value.values()), set())
    return set().union(*map(_names_in, value), set()) if isinstance(value, list) else set()


def run_case(side: Side, steps: list[dict]) -> list[dict]:
    """One broker, all steps: the outcome of each."""
    outcomes = []
    try:
        for step in steps:
            side.send(step)
            outcomes.append(side.receive(step))
    finally:
        side.close()
    return outcomes


def differences(of_kafka: dict, of_weir: dict) -> list[tuple]:
    """(path, Kafka's value, Weir's value); a path that one of them lacks has the value <none>."""
    paths = list(of_kafka) + [path for path in of_weir if path not in of_kafka]
    found = [(path, of_kafka.get(path, "<none>"), of_weir.get(path, "<none>")) for path in paths]
    return [row for row in found if row[1] != row[2]]
