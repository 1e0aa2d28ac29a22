"""Classic groups and committed offsets: members right and wrong, static members, two members, and the end of a group."""

from raw.story import (commit, committed, create, delete, delete_groups, delete_offsets, describe_groups, heartbeat, id_of, join, leave, step, sync,
                       until_group_is)

G = "@g"
NIL = "00000000000000000000000000000001"


def _one_member(*more) -> list:
    return [("make", create("@t", 2)), ("asks for an id", join(G)), ("joins", join(G, "$m")), ("syncs", sync(G)), *more]


def _static(v: int = 9, **rest) -> dict:
    return join("@s", v=v, GroupInstanceId="i", **rest)


def cases() -> dict:
    return {
        "join_versions": [("make", create("@t")), *((f"v{v}", join(f"@g{v}", v=v)) for v in range(10)),
                          *((f"v{v} with its id", join(f"@g{v}", "$m", v=v)) for v in (9,))],
        "join_refused": [
            ("make", create("@t")), ("asks for an id", join(G)),
            ("an empty group", join("", bind="x")), ("too short a session", join(G, bind="x", SessionTimeoutMs=1)),
            ("too long a session", join(G, bind="x", SessionTimeoutMs=10**8)), ("a member that nobody knows", join(G, "nobody", bind="x")),
            ("no protocols", join(G, "$m", bind="x", protocols=())), ("no kind", join(G, "$m", bind="x", kind="")),
            ("a new member without protocols", join(G, bind="x", protocols=())),
            ("a member of a group that does not exist", join("@other", "nobody", bind="x")),
        ],
        "one_member": _one_member(
            ("heartbeat", heartbeat(G)), ("a wrong generation", heartbeat(G, generation="$g+1")), ("an old generation", heartbeat(G, generation="$g-1")),
            ("a wrong member", heartbeat(G, "nobody")), ("a wrong group", heartbeat("@other")), ("an empty group", heartbeat("")),
            ("a wrong instance", heartbeat(G, GroupInstanceId="i")),
            ("sync again", sync(G, assignments=())), ("another kind", sync(G, kind="connect")), ("another protocol", sync(G, protocol="other")),
            ("no kind", sync(G, kind=None)), ("no protocol", sync(G, protocol=None)), ("no kind before version 5", sync(G, kind=None, protocol=None, v=4)),
            ("sync of a wrong generation", sync(G, generation="$g+1")), ("sync of a stranger", sync(G, "nobody")), ("sync of no group", sync("@other")),
            *((f"sync v{v}", sync(G, v=v)) for v in range(5)), *((f"heartbeat v{v}", heartbeat(G, v=v)) for v in range(4)),
            ("a stranger of another kind", join(G, bind="x", kind="connect")), ("a stranger with other protocols", join(G, bind="x", protocols=("other",))),
            ("describe", describe_groups(G)), ("joins again", join(G, "$m")), ("describe while it rebalances", describe_groups(G)), ("syncs again", sync(G)),
            ("rejoins with other metadata", join(G, "$m", topics=("@t", "@u"))), ("heartbeat before sync", heartbeat(G)),
            ("syncs nothing", sync(G, assignments=())), ("leaves", leave(G)), ("heartbeat after that", heartbeat(G)), ("describe at the end", describe_groups(G)),
            ("deleted", delete_groups(G)), ("described", describe_groups(G)),
        ),
        "leave": _one_member(
            ("a stranger", leave(G, "nobody")), ("a stranger in version 2", leave(G, "nobody", v=2)), ("no group", leave("@other")),
            ("a wrong instance", leave(G, instance="i")), ("nobody", step("LeaveGroup", GroupId=G)),
            ("twice in one request", step("LeaveGroup", GroupId=G, Members=[{"MemberId": "$m"}, {"MemberId": "$m"}])),
            *((f"v{v}", leave(G, v=v)) for v in range(6)),
        ),
        "two_members": _one_member(
            ("the second asks", join(G, bind="n")),
            ("the second joins", join(G, "$n", bind="n", how={"conn": 1, "later": "second"})), until_group_is("PreparingRebalance", G),
            ("the first hears of it", heartbeat(G)), ("the first rejoins", join(G, "$m", bind="m")), ("the second is in", {"collect": "second"}),
            ("describe", describe_groups(G)),
            ("the second waits", sync(G, "$n", assignments=(), how={"conn": 1, "later": "sync"})),
            ("the first gives", sync(G, assignments=(("$m", "one"), ("$n", "two")))), ("the second gets", {"collect": "sync"}),
            ("described", describe_groups(G)), ("commits of the second", commit(G, "@t", member="$n", generation="$g")),
            ("the second leaves", leave(G, "$n")), ("the first hears", heartbeat(G)), ("and is alone", join(G, "$m")), ("done", sync(G)),
        ),
        "static_members": [
            ("make", create("@t")), ("joins at once", _static(bind="m")), ("syncs", sync("@s", GroupInstanceId="i")),
            ("again with a new id", _static(bind="n")), ("the old id", heartbeat("@s", "$m", GroupInstanceId="i")), ("the old id alone", heartbeat("@s", "$m")),
            ("the new id", heartbeat("@s", "$n", GroupInstanceId="i")), ("an unknown instance", heartbeat("@s", "$n", GroupInstanceId="j")),
            ("commit of the old", commit("@s", "@t", member="$m", generation="$g", GroupInstanceId="i")),
            ("commit of the new", commit("@s", "@t", member="$n", generation="$g", GroupInstanceId="i")),
            ("sync of the old", sync("@s", "$m", GroupInstanceId="i")), ("join with the old id", join("@s", "$m", bind="x", GroupInstanceId="i")),
            ("a known id under another instance", join("@s", "$n", bind="x", GroupInstanceId="j")),
            ("described", describe_groups("@s")), ("an unknown instance leaves", leave("@s", "", instance="j")),
            ("leaves by instance", leave("@s", "", instance="i")), ("gone", heartbeat("@s", "$n", GroupInstanceId="i")),
            ("in version 8", _static(8, bind="m")), ("in version 5", _static(5, bind="m")),
        ],
        "commits": _one_member(
            ("of a member", commit(G, "@t", member="$m", generation="$g")), ("a wrong generation", commit(G, "@t", member="$m", generation="$g+1")),
            ("a wrong member", commit(G, "@t", member="nobody", generation="$g")), ("of nobody", commit(G, "@t")),
            ("a generation without a member", commit(G, "@t", generation="$g")), ("a member without a generation", commit(G, "@t", member="$m")),
            ("into a group of its own", commit("@own", "@t", 7)), ("with a generation into no group", commit("@none", "@t", member="a", generation=1)),
            ("with a generation into a group without members", commit("@own", "@t", member="a", generation=1)),
            ("an unknown topic", commit("@own", "@nobody", v=9)), ("an unknown partition", commit("@own", "@t", partition=9)),
            ("a negative partition", commit("@own", "@t", partition=-1)),
            ("a negative offset", commit("@own", "@t", -1, 1, text=None)), ("a long text", commit("@own", "@t", text="x" * 5000)),
            ("the longest text", commit("@own", "@t", text="x" * 4096)), ("an empty group", commit("", "@t")), ("no topics", step("OffsetCommit", GroupId="@own")),
            ("an unknown id", step("OffsetCommit", 10, GroupId="@own", Topics=[{"TopicId": NIL, "Partitions": [{"PartitionIndex": 0, "CommittedOffset": 1, "CommittedMetadata": ""}]}])),
            *((f"v{v}", commit("@own", "@t", 10 + v, epoch=0, v=v)) for v in range(2, 11)),
            ("a retention of its own", commit("@own", "@t", 3, v=3, RetentionTimeMs=3_600_000)),
            ("a retention that is over", commit("@over", "@t", 3, v=3, RetentionTimeMs=-5)), ("it is there until the next check", committed("@over", "@t")),
            ("all in version 8", committed("@own", None, v=8)), ("all in version 2", committed("@own", None, v=2)),
            *((f"fetch v{v}", committed("@own", "@t", (0, 1, 9), v=v)) for v in range(1, 11)),
            ("no such group", committed("@none", "@t")), ("no such group, all", committed("@none", None)), ("no such topic", committed("@own", "@nobody", v=9)),
            ("stable only", committed("@own", "@t", stable=True)), ("an empty group's", committed("", "@t", v=7)),
            ("as a member", committed(G, "@t", v=9, MemberId="$m", MemberEpoch="$g")), ("as a stranger", committed(G, "@t", v=9, MemberId="nobody", MemberEpoch=1)),
            ("two groups", step("OffsetFetch", 8, Groups=[{"GroupId": "@own", "Topics": None}, {"GroupId": "@none", "Topics": None}])),
            ("a partition twice", committed("@own", "@t", (0, 0), v=7)),
            ("the group without a name goes", delete_groups("")),
        ),
        # Texts are limited in Java's characters, which are UTF-16 units; names of groups and instances only by what a request carries.
        "lengths": [
            ("make", create("@t")),
            *((f"{count} times {text}", commit("@own", "@t", text=text * count))
              for text, counts in (("\u00fc", (4097, 4096, 2049)), ("\u20ac", (4097, 4096)), ("\U0001f600", (2049, 2048))) for count in counts),
            ("the last is whole", committed("@own", "@t")),
            ("a group of 300", commit("@" + "g" * 300, "@t")), ("a group that is no word", commit("@ \u00fc/", "@t")),
            ("an instance of 300", join("@i", GroupInstanceId="i" * 300)), ("an instance that is no word", join("@j", GroupInstanceId=" \u00fc/")),
            ("an instance without a name", join("@k", GroupInstanceId="")), ("a longer kind", join("@l", kind="k" * 300)),
            ("a topic of 250", create("x" * 250)), ("a topic of 200 and 400 bytes", create("\u00fc" * 200)),
        ],
        "deleted_offsets": _one_member(
            ("commit", commit("@own", "@t")), ("one of them", delete_offsets("@own", "@t", (0, 9))), ("it is gone", committed("@own", "@t")),
            ("again", delete_offsets("@own", "@t")), ("of a topic that is read", delete_offsets(G, "@t")), ("of no group", delete_offsets("@none", "@t")),
            ("of an empty name", delete_offsets("", "@t")), ("of an unknown topic", delete_offsets("@own", "@nobody")), ("of nothing", step("OffsetDelete", GroupId="@own")),
        ),
        "group_lists": _one_member(
            ("commit", commit("@own", "@t")),
            *((f"v{v}", step("ListGroups", v)) for v in range(6)), ("stable ones", step("ListGroups", StatesFilter=["stable"])),
            ("empty ones", step("ListGroups", StatesFilter=["Empty"])), ("of an unknown state", step("ListGroups", StatesFilter=["bogus"])),
            ("classic ones", step("ListGroups", TypesFilter=["Classic"])), ("of the new kind", step("ListGroups", TypesFilter=["consumer"])),
            ("of an unknown kind", step("ListGroups", TypesFilter=["bogus"])),
            *((f"described v{v}", describe_groups(G, "@own", "@none", v=v)) for v in range(7)),
            ("what a client may do", describe_groups(G, IncludeAuthorizedOperations=True)), ("a group twice", describe_groups(G, G)),
            ("an empty name", describe_groups("")), ("nothing", describe_groups()),
            *((f"deleted v{v}", delete_groups(G, "@none", f"@x{v}", v=v)) for v in range(4)), ("deleted", delete_groups("@own", G, "@own")),
            ("deleted without a name", delete_groups("")), ("its offsets are gone", committed("@own", "@t")),
        ),
        "offsets_go_with_their_topic": [
            ("make", create("@t")), ("commit", commit("@own", "@t")), ("delete", delete("@t")), ("make again", create("@t")),
            ("nothing is left", committed("@own", "@t")), ("nothing at all", committed("@own", None)),
            ("by the new id", step("OffsetFetch", 10, Groups=[{"GroupId": "@own", "Topics": [{"TopicId": id_of("@t"), "PartitionIndexes": [0]}]}])),
        ],
    }
