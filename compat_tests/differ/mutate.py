"""One field of a request changed to something at the edge of its type, by the schema. What would make a case depend on
time, on other cases or on the whole broker is left alone."""

import copy
import random

from raw import codec

LEFT_ALONE = {
    "SessionTimeoutMs", "RebalanceTimeoutMs", "MaxWaitMs", "TimeoutMs", "timeoutMs", "RetentionTimeMs",  # would wait, or expire
    "AllowAutoTopicCreation",  # Kafka's first answer is then a matter of time
    "TransactionalId", "TransactionTimeoutMs", "KeyType",  # transactions are not served yet
    "ResourceType", "ResourceName", "SessionId", "ConfigOperation",  # the generator has its own ways; Kafka's exceptions in FINDINGS.md
    "ReplicaId", "ReplicaState", "ReplicaEpoch",  # settings of the whole broker; not a client
    "NumPartitions", "Count",  # thousands of partitions
    "Records", "Metadata", "Acks",  # the generator has its own ways
    "ValidateOnly", "validateOnly",
    "GroupId", "GroupsNames", "Key", "CoordinatorKeys",  # the group without a name is everybody's
    "ClusterId", "NodeId",
    "MaxBytes", "PartitionMaxBytes",  # below 0 Kafka fails by an exception
    "Protocols", "IsolationLevel",  # named twice, or unknown: Kafka fails by an exception, or never answers
}
# Lists that are never named twice, and never empty: Kafka answers no AlterConfigs that names a resource twice, and pages of all
# topics hold those of other cases.
NOT_TWICE = {("AlterConfigs", "Resources")}
NOT_EMPTY = {("DescribeTopicPartitions", "Topics")}
_EDGES = {"bool": (True, False), "int8": (0, 1, -1, 5, 127), "int16": (0, 1, -1, 5, 32_767), "int32": (0, 1, -1, 2, 7, 2**31 - 1, -2**31),
          "int64": (0, 1, -1, 2, 7, 2**62, -2**62), "string": ("", "@zz", "a b", "@" + "y" * 260), "uuid": (codec.ZERO_UUID, "0" * 31 + "1")}


def mutated(rng: random.Random, step: dict) -> dict:
    message = codec.plan(step["api"] + "Request", step["v"])
    changed = copy.deepcopy(step)
    places = list(_places(message, changed["body"]))
    if places:
        holder, slot = rng.choice(places)
        value = holder.get(slot.name, slot.default)
        other = _other(rng, slot, value)
        place = (step["api"], slot.name)
        if not (place in NOT_TWICE and len(other or ()) > len(value or ()) or place in NOT_EMPTY and not other):
            holder[slot.name] = other
    return changed


def _places(plan: codec.Plan, body: dict):
    """(dict, slot) of each field that may change, in this body and the structs below it."""
    for slot in plan.all_slots:
        if slot.name in LEFT_ALONE:
            continue
        value = body.get(slot.name, slot.default)
        yield body, slot
        if slot.plan and slot.name in body:
            for child in value if slot.is_list and value else [value]:
                if isinstance(child, dict):
                    yield from _places(slot.plan, child)


def _other(rng: random.Random, slot: codec.Slot, value):
    if slot.nullable and rng.random() < 0.25:
        return None
    if slot.is_list:
        ways = [[], list(value or ()) * 2, list(value or ())[:-1], list(reversed(value or ()))]
        if slot.type in _EDGES:
            ways.append([*(value or ()), rng.choice(_EDGES[slot.type])])
        return rng.choice(ways)
    if slot.type == "bytes":
        return {"hex": rng.choice(("", "00", "ffff"))}
    return rng.choice(_EDGES[slot.type]) if slot.type in _EDGES else value
