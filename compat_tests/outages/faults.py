"""Faults of a running broker: what faults.c (preloaded) does to its file operations, by a mapped file, and the limit of its
descriptors, by the kernel. One thread."""

import mmap
import os
import pathlib
import resource
import struct
import subprocess

SYNC, WRITE, OPEN, CREATE, ALLOCATE, STATVFS, RENAME = (1 << bit for bit in range(7))
ALL_TIMES = -1
HANG = 0
_LAYOUT = "<IIiiiIII64s32s"  # struct control of faults.c
_HITS, _HELD = 20, 24


def build_library(folder: pathlib.Path) -> pathlib.Path:
    library = folder / "faults.so"
    source = pathlib.Path(__file__).with_name("faults.c")
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return library


class Faults:
    def __init__(self, folder: pathlib.Path):
        self.library = build_library(folder)
        self.path = folder / "faults"
        self.path.write_bytes(bytes(mmap.PAGESIZE))
        with open(self.path, "r+b") as file:
            self.memory = mmap.mmap(file.fileno(), mmap.PAGESIZE)

    @property
    def environment(self) -> dict:
        return os.environ | {"LD_PRELOAD": str(self.library), "OUTAGE_FAULTS": str(self.path)}

    def arm(self, operations: int, number: int, part: str, ending: str = "", skip: int = 0, times: int = ALL_TIMES):
        """`number`: an errno, or HANG. `part` and `ending` are of the path. `skip`: so many go well before the first."""
        self.disarm()
        body = struct.pack(_LAYOUT, 0, operations, number, skip, times, 0, 0, 0, part.encode(), ending.encode())
        self.memory[4:len(body)] = body[4:]
        self.memory[0:4] = struct.pack("<I", 1)

    def disarm(self):
        self.memory[0:4] = bytes(4)

    @property
    def hits(self) -> int:
        return self._number(_HITS)

    @property
    def held(self) -> int:
        """Threads that wait in a call right now."""
        return self._number(_HELD)

    def _number(self, at: int) -> int:
        return struct.unpack_from("<I", self.memory, at)[0]

    def close(self):
        self.disarm()
        self.memory.close()


class Descriptors:
    """The limit of the descriptors of one process, lowered to those that it uses."""

    def __init__(self, pid: int):
        self.pid = pid
        self.before = resource.prlimit(pid, resource.RLIMIT_NOFILE)

    def take_away(self, spare: int):
        used = len(os.listdir(f"/proc/{self.pid}/fd"))
        resource.prlimit(self.pid, resource.RLIMIT_NOFILE, (used + spare, self.before[1]))

    def give_back(self):
        try:
            resource.prlimit(self.pid, resource.RLIMIT_NOFILE, self.before)
        except ProcessLookupError:
            pass
