"""`weir explain group` and the lag of `weir group describe`: each state in which people ask why nothing moves."""

import pathlib
import signal

from cli.member import Member
from cli.weir import Weir
from harness.child import Child, Deadline
from harness.results import require

MEMBER = ["kcat", "-u", "-X", "auto.offset.reset=earliest", "-X", "heartbeat.interval.ms=200", "-X", "session.timeout.ms=6000",
          "-X", "auto.commit.interval.ms=200"]


def member_without_commits(weir: Weir):
    weir.run("topic", "create", "unread", "--partitions", 2)
    weir.run("produce", "unread", "--partition", 0, data=b"a\nb\nc\n")
    with Member(weir.address, "silent", "unread", [0, 1]) as one:
        told = weir.json("explain", "group", "silent")
        require(told["state"] == "Stable" and told["generation"] == 1, f"{told}")
        _says(told, f"Partition unread-0 has no commit: its member {one.member_id} has not committed;")
        require(not any("unread-1" in reason for reason in told["reasons"]), f"an empty partition is no trouble: {told}")
        lags = [(at["partition"], at["committed"], at["end"], at["lag"], at["lag_state"], at["member"]) for at in told["partitions"]]
        require(lags == [(0, None, 3, None, "no_commit", one.member_id), (1, None, 0, None, "no_commit", one.member_id)], f"{lags}")
        text = weir.out("explain", "group", "silent")
        require("has not committed" in text and "last commit" in text, f"{text}")


def stopped_member(weir: Weir, folder: pathlib.Path):
    """One member is stopped, so a second one cannot come in: the stopped one is named, and how long it is waited for."""
    weir.run("topic", "create", "stopping", "--partitions", 2)
    weir.run("produce", "stopping", "--partition", 0, data=b"a\nb\n")
    with _kcat(weir, folder, "first") as first:
        _until(weir, lambda told: any(at["committed"] == 2 for at in told["partitions"]), "a commit")
        told = weir.json("explain", "group", "stoppers")
        require({at["lag"] for at in told["partitions"] if at["committed"] is not None} == {0}, f"{told}")
        first.process.send_signal(signal.SIGSTOP)
        try:
            with _kcat(weir, folder, "second"):
                told = _until(weir, lambda told: told["state"] == "PreparingRebalance", "a rebalance")
                _says(told, "The group waits for 1 of 2 members to join again (member first-")
                _says(told, "client first at /127.0.0.1, last heard of")
                _says(told, "; it goes on without it in ")
                _says(told, "it hangs, is stopped, or cannot reach this broker; its session ends in ")
                told = _until(weir, lambda told: told["state"] == "Stable", "the group to go on")
                require({at["member"][:7] for at in told["partitions"]} == {"second-"}, f"{told}")
        finally:
            first.process.send_signal(signal.SIGCONT)


def _without_ages(told: dict) -> list:
    """Two commands ask at two times."""
    return [{name: value for name, value in at.items() if not name.endswith("_ms")} for at in told["partitions"]]


def empty_and_unknown_group(weir: Weir):
    weir.run("topic", "create", "left")
    weir.run("produce", "left", data=b"a\nb\nc\n")
    with Member(weir.address, "leavers", "left", [0]) as one:
        pass
    told = weir.json("explain", "group", "leavers")
    require(told["state"] == "Empty" and told["partitions"] == [], f"{told}")
    _says(told, f"No member: nobody reads. The last one, {one.member_id}, left 0 s ago: it said goodbye.")
    weir.run("group", "reset", "leavers", "--topic", "left", "--to-offset", 1, "--execute")
    told = weir.json("explain", "group", "leavers")
    require([(at["committed"], at["end"], at["lag"]) for at in told["partitions"]] == [(1, 3, 2)], f"{told}")
    require(told["reasons"][-1] == "2 records wait in 1 partition.", f"{told}")
    described = weir.json("group", "describe", "leavers")
    require(_without_ages(described) == _without_ages(told), f"describe tells {described}, explain {told}")
    require("there is no group 'nobody'" in weir.refused("explain", "group", "nobody"), "an unknown group")


def _kcat(weir: Weir, folder: pathlib.Path, name: str) -> "_Running":
    return _Running(Child([*MEMBER, "-b", weir.address, "-X", f"client.id={name}", "-G", "stoppers", "stopping"], folder / f"{name}.log"))


class _Running:
    """A child that is over when its block is."""

    def __init__(self, child: Child):
        self._child = child

    def __enter__(self) -> Child:
        return self._child

    def __exit__(self, *_):
        self._child.kill9()


def _until(weir: Weir, holds, what: str) -> dict:
    deadline = Deadline(60)
    while True:
        done = weir.bare("explain", "group", "stoppers", "--json", "--server", weir.address)
        if done.returncode == 0 and holds(told := weir.parsed(done)):
            return told
        require(not deadline.passed, f"{what} did not come within 60 s: {done.stdout}")


def _says(told: dict, words: str):
    require(any(words in reason for reason in told["reasons"]), f"nothing says {words!r}: {told['reasons']}")
