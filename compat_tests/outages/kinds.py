"""The kinds of outage: how each begins, what the broker must say of it, and how it ends. Drawn by loop.py, which is `world`
here: one thread."""

import errno

from outages.faults import ALL_TIMES, ALLOCATE, CREATE, HANG, OPEN, RENAME, SYNC, WRITE, Descriptors
from outages.load import STORAGE_ERROR

# Whatever the errno, a failed sync is one (docs/internals/ERRNO.md).
SYNC_ERRNOS = (errno.EIO, errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.ENOMEM, errno.EROFS)
FAILURE_ERRNOS = (errno.EIO, errno.EIO, errno.EROFS, errno.EACCES, errno.ENXIO)
SHORTAGES = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN)
BACK_SECONDS = 10
READ_ONLY_NOW = r"read-only from now on, after a restart too\. Look at the disk; then stop the broker, run `(weir log allow-writes [^`]+)`"


class Outage:
    """`state`: what the broker is in while it lasts. `fails`: it ends with a stop and a start only."""

    state = "healthy"
    fails = False

    def __init__(self, world):
        self.world = world

    def begin(self):
        pass

    def told(self):
        """Returns when the broker has said what it must and clients feel it."""

    def heal(self):
        self.world.faults.disarm()

    def healed(self):
        """Returns when all is as before, without a restart."""
        self.world.await_writes(BACK_SECONDS)
        self.world.require_health(200, "ok")

    def __str__(self):
        return self.state


class Nothing(Outage):
    def told(self):
        self.world.require_health(200, "ok")


class ReadOnly(Outage):
    """A failed sync or write: read-only, after a restart too, until somebody allows writes."""

    state = "read-only"
    fails = True
    may_be_forgotten = False  # by the manifest

    def told(self):
        world = self.world
        world.await_that(lambda: world.faults.hits > 0, "the fault strikes")
        world.await_said(READ_ONLY_NOW)
        world.await_that(lambda: world.health()[0] == 503, "/healthz says 503")
        world.require_health(503, "read-only")
        world.require_metric("weir_log_read_only", 1)
        self.heal()  # the disk is well again: the log must not be
        world.await_refusals(STORAGE_ERROR)
        world.await_reads()
        world.require_health(503, "read-only")


class SyncFails(ReadOnly):
    def begin(self):
        draw = self.world.random
        part, ending = draw.choice((("/commitlog/", ".log"),) * 4 + (("/commitlog/", ".index.tmp"), ("/manifest", ""), ("/commitlog", "")))
        self.may_be_forgotten = part == "/manifest"
        self.number, self.part = draw.choice(SYNC_ERRNOS), part + ending
        self.world.failed_lives.add(self.world.load.gate.life)
        self.world.faults.arm(SYNC, self.number, part, ending, skip=draw.randrange(4), times=draw.choice((1, ALL_TIMES)))

    def __str__(self):
        return f"a sync of {self.part} fails with {errno.errorcode[self.number]}"


class WriteFails(ReadOnly):
    """Or what makes a file, or gives it its name."""

    WAYS = (
        (WRITE, "/commitlog/", ".log", "a write"), (WRITE, "/commitlog/", ".log", "a write"),
        (WRITE, "/commitlog/", ".index.tmp", "a write of an index file"), (WRITE, "/manifest", "", "a write of the manifest"),
        (CREATE, "/commitlog/", ".log", "making a segment"), (CREATE, "/commitlog/", ".index.tmp", "making an index file"),
        (RENAME, "/commitlog/", ".index", "naming an index file"),
    )

    def begin(self):
        draw = self.world.random
        self.number = draw.choice(FAILURE_ERRNOS)
        operation, part, ending, self.what = draw.choice(self.WAYS)
        self.may_be_forgotten = part == "/manifest"
        self.world.faults.arm(operation, self.number, part, ending, skip=draw.randrange(4), times=draw.choice((1, ALL_TIMES)))

    def __str__(self):
        return f"{self.what} fails with {errno.errorcode[self.number]}"


class MetadataSyncFails(Outage):
    """No metadata change and no record until the next start: what was refused may be true after a power cut."""

    state = "metadata read-only"
    fails = True

    def begin(self):
        self.number = self.world.random.choice(SYNC_ERRNOS)
        self.world.faults.arm(SYNC, self.number, "/metadata/", ".log", times=1)

    def told(self):
        world = self.world
        world.await_said(r"metadata log: write failed .* no metadata changes and no writes until the next start")
        self.heal()
        world.await_more("refused topics", lambda: sum(sum(m.heard.values()) for m in world.load.makers), 2)
        world.await_refusals(STORAGE_ERROR)
        world.await_reads()
        world.require_health(503, "read-only")

    def __str__(self):
        return f"a sync of the metadata log fails with {errno.errorcode[self.number]}"


class Shortage(Outage):
    """Of descriptors or memory: the next segment waits, producers are refused when the open one is full."""

    state = "no descriptors"
    WAITS = r"commitlog: .* waits \(.*\) and is tried again twice a second; .* Raise the limit of the process"

    def told(self):
        world = self.world
        world.await_said(self.WAITS)
        world.await_refusals(STORAGE_ERROR)
        self.judge_health()

    def judge_health(self):
        self.world.require_health(200, "ok")
        self.world.require_metric("weir_log_read_only", 0)

    def healed(self):
        self.world.await_said(r"commitlog: what had to wait for files or memory goes on", BACK_SECONDS)
        super().healed()


class DescriptorsTaken(Shortage):
    def begin(self):
        self.limit = Descriptors(self.world.broker.child.pid)
        self.limit.take_away(self.world.random.randrange(3))

    def judge_health(self):
        """Nobody can connect to ask."""

    def heal(self):
        self.limit.give_back()

    def healed(self):
        super().healed()
        super().judge_health()

    def __str__(self):
        return "descriptors are taken away"


class OpensFail(Shortage):
    def begin(self):
        self.number = self.world.random.choice(SHORTAGES)
        self.world.faults.arm(OPEN, self.number, "/commitlog/")

    def __str__(self):
        return f"files cannot be opened: {errno.errorcode[self.number]}"


class NoRoom(Outage):
    """Producers are refused and reads go on; `REFUSES`: the log line that must say so."""

    REFUSES = ""

    def told(self):
        world = self.world
        world.await_said(self.REFUSES)
        world.await_refusals(STORAGE_ERROR)
        world.await_reads()
        world.require_health(200, "nearly full")
        world.require_metric("weir_log_read_only", 0)

    def healed(self):
        self.world.await_said(r"commitlog: the disk of .* has room again", BACK_SECONDS)
        super().healed()


class DiskFull(NoRoom):
    """Another program fills the disk, into the reserve or wholly."""

    state = "disk full"
    REFUSES = (r"commitlog: (the disk of .* has \d+ bytes free and must keep a reserve of \d+.*|the next segment takes \d+ bytes, the disk of .*)"
               r": producers are refused")

    def begin(self):
        reserve = self.world.place.reserve
        self.left = self.world.random.choice((0, reserve // 2, reserve // 2))
        self.world.place.fill(self.left)

    def told(self):
        super().told()
        if self.left:
            self.what_goes_on()

    def what_goes_on(self):
        load = self.world.load
        for workers in (load.committers, load.makers, load.changers):
            self.world.await_more(f"{workers[0].name} answered beside a reserve that is being used",
                                  lambda of=workers: min(w.answered for w in of), 2)

    def heal(self):
        self.world.place.heal()

    def __str__(self):
        return f"the disk is filled up to {self.left} bytes"


class NoSegment(NoRoom):
    """What is written finds room, a new segment does not."""

    state = "no room for a segment"
    REFUSES = r"gives no room, though it tells \d+ bytes free \(a quota\?\): producers are refused until it does"
    operations, ending = CREATE | ALLOCATE, ".log"

    def begin(self):
        self.number = self.world.random.choice((errno.ENOSPC, errno.EDQUOT))
        self.world.faults.arm(self.operations, self.number, "/commitlog/", self.ending)

    def __str__(self):
        return f"no room for a segment: {errno.errorcode[self.number]}"


class Quota(NoSegment):
    """Writes themselves find no room."""

    state = "no room for a write"
    operations = WRITE

    def __str__(self):
        return f"no room for a write: {errno.errorcode[self.number]}"


class Hang(Outage):
    """The disk does not answer. Nothing is said of it until somebody stops the broker."""

    state = "hanging disk"
    # (operations, part and ending of the path, what the stop says that it waits for)
    PLACES = (
        (SYNC, "/commitlog/", ".log", r"a sync of the log|sealing a full segment|making the next segment"),
        (WRITE, "/commitlog/", ".log", r"a write to the log|making the next segment"),
        (SYNC | WRITE, "", ".log", r"\S.*"),
        (SYNC, "/metadata/", ".log", r"\S.*"),
    )

    def begin(self):
        operations, self.part, ending, self.waits_for = self.world.random.choice(self.PLACES)
        self.operations = operations
        self.world.faults.arm(operations, HANG, self.part, ending)

    def told(self):
        self.world.await_that(lambda: self.world.faults.held > 0, "a call hangs")

    def __str__(self):
        what = {SYNC: "syncs", WRITE: "writes"}.get(self.operations, "syncs and writes")
        return f"{what} of {self.part or '/'}*.log hang"


PASSING = (DescriptorsTaken, OpensFail, DiskFull, NoSegment, Quota)
KINDS = (Nothing, SyncFails, WriteFails, MetadataSyncFails, *PASSING, Hang)
# What --each takes, which must be short: where writes find no room a producer hears of it after five seconds only.
SHORT = tuple(kind for kind in KINDS if kind is not Quota)
# How often each is drawn; a hang takes seconds, for the stop must speak first.
WEIGHTS = {Nothing: 2, SyncFails: 5, WriteFails: 4, MetadataSyncFails: 1, DescriptorsTaken: 3, OpensFail: 2, DiskFull: 4, NoSegment: 2,
           Quota: 1, Hang: 2}
