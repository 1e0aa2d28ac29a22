"""Compares what a client was told (acknowledged ids) with what a reader saw. Pure: lists in, a report out.

An id is the number of a record in the order in which it was sent, so within a partition the ids must rise. An
acknowledgement names the partition and the offset it was given; a reader must find the id exactly there.
"""

import dataclasses
import pathlib
from collections import defaultdict

_EXAMPLES = 5


@dataclasses.dataclass(frozen=True)
class Seen:
    """One line of an acks file or a reads file. Offset -1 in an ack: the client was not told."""

    partition: int
    offset: int
    record_id: int


@dataclasses.dataclass
class Report:
    acknowledged: int
    read: int
    lost: list
    misplaced: list
    duplicated: list
    reordered: list
    gaps: list
    far_duplicates: list

    def faults(self, *, duplicates_allowed: bool) -> list[str]:
        """Sentences, empty when all is well. Duplicates are a fault only where idempotence was on."""
        found = []
        for name, items in (("lost", self.lost), ("not at its acknowledged offset", self.misplaced),
                            ("reordered", self.reordered), ("offset not the next one", self.gaps)):
            if items:
                found.append(f"{len(items)} {name}: {items[:_EXAMPLES]}")
        bad = self.far_duplicates if duplicates_allowed else self.duplicated
        if bad:
            found.append(f"{len(bad)} duplicated{' far from the first' if duplicates_allowed else ''}: {bad[:_EXAMPLES]}")
        return found

    def summary(self) -> str:
        return f"{self.acknowledged} acknowledged, {self.read} read, {len(self.lost)} lost, {len(self.duplicated)} duplicated"


def check(acks: list[Seen], reads: list[Seen], *, window: int = 0) -> Report:
    """`window` is how many records of one partition a retry may repeat: with idempotence off a duplicate must begin
    at most that far behind the newest record, else it is not the echo of a retry but old data come back."""
    places = {(seen.partition, seen.offset): seen.record_id for seen in reads}
    times = defaultdict(int)
    for seen in reads:
        times[seen.record_id] += 1
    report = Report(len(acks), len(reads), [], [], sorted(i for i, n in times.items() if n > 1), [], [], [])
    for ack in acks:
        if ack.record_id not in times:
            report.lost.append(ack)
        elif ack.offset >= 0 and places.get((ack.partition, ack.offset)) != ack.record_id:
            report.misplaced.append(ack)
    by_partition = defaultdict(list)
    for seen in reads:
        by_partition[seen.partition].append(seen)
    for seen_here in by_partition.values():
        _check_partition(seen_here, window, report)
    return report


def _check_partition(reads: list[Seen], window: int, report: Report):
    first_index: dict[int, int] = {}
    highest = -1
    for index, seen in enumerate(reads):
        if index and seen.offset != reads[index - 1].offset + 1:
            report.gaps.append(seen)
        if seen.record_id in first_index:
            if index - first_index[seen.record_id] > window:
                report.far_duplicates.append(seen)
            continue
        if seen.record_id < highest:
            report.reordered.append(seen)
        first_index[seen.record_id] = index
        highest = max(highest, seen.record_id)


def read_file(path: pathlib.Path) -> list[Seen]:
    """Lines of `partition offset id`, in the order in which the client saw them."""
    with open(path, encoding="ascii") as lines:
        return [Seen(*map(int, line.split())) for line in lines]
