"""A fresh Kafka makes its coordinators at the first question, and a partition of its offsets topic shows a group that has no
record (a refused JoinGroup makes one) only once anything was written there; a case must not see either."""

import time

from raw.client import Connection

_AGAIN = {14, 15, 16}


def warm_up(port: int, seconds: float = 60):
    connection = Connection(port)
    groups = [f"warm-{index}" for index in range(64)]  # enough to meet each partition of the offsets topic
    end = time.monotonic() + seconds
    while True:
        connection.call("FindCoordinator", 0, {"Key": "warm"})
        described = connection.call("DescribeGroups", 0, {"Groups": groups})["Groups"]
        producer = connection.call("InitProducerId", 0, {"TransactionalId": None, "TransactionTimeoutMs": 60_000})
        if not _AGAIN & {group["ErrorCode"] for group in described} and producer["ErrorCode"] == 0:
            break
        if time.monotonic() > end:
            raise TimeoutError("the coordinators did not come up")
        time.sleep(0.05)
    for group in groups:
        connection.call("JoinGroup", 0, {"GroupId": group, "SessionTimeoutMs": 10_000, "MemberId": "", "ProtocolType": "consumer",
                                         "Protocols": []})
    connection.call("DeleteGroups", 0, {"GroupsNames": groups})  # this writes
    connection.close()
