"""Where the data lie, and how the disk under them is filled: an ext4 of its own on a loop device where that is allowed
(root), else a folder whose file system says through the preloaded library that it is full."""

import errno
import os
import pathlib
import subprocess

from kill_loop.volume import Volume
from outages.faults import ALLOCATE, CREATE, STATVFS, WRITE, Faults


class LoopPlace:
    """Room is taken by a file beside the data."""

    kind = "ext4 on a loop device"

    def __init__(self):
        self.volume = Volume("-m", "0")
        self.ballast = self.volume.path / "ballast"

    @property
    def reserve(self) -> int:
        """What the broker keeps by default."""
        volume = os.statvfs(self.volume.path)
        return volume.f_frsize * volume.f_blocks // 32

    def new_data(self, number: int) -> pathlib.Path:
        return self.volume.path / f"data-{number}"

    def fill(self, left: int):
        """Until `left` bytes are free; what others write meanwhile is theirs."""
        with open(self.ballast, "ab") as file:
            while (free := self._free()) > left:
                size = os.fstat(file.fileno()).st_size
                try:
                    os.posix_fallocate(file.fileno(), size, free - left)
                except OSError as error:
                    if error.errno != errno.ENOSPC:
                        raise
                    return

    def _free(self) -> int:
        volume = os.statvfs(self.volume.path)
        return volume.f_frsize * volume.f_bavail

    def heal(self):
        self.ballast.unlink(missing_ok=True)

    def remove(self):
        self.volume.remove()


class PlainPlace:
    kind = "a folder"
    reserve = 0

    def __init__(self, folder: pathlib.Path, faults: Faults):
        self.folder, self.faults = folder, faults

    def new_data(self, number: int) -> pathlib.Path:
        return self.folder / f"data-{number}"

    def fill(self, left: int):
        """`left`: any, then writes still find room, but the volume says that it has none."""
        operations = STATVFS if left else STATVFS | WRITE | CREATE | ALLOCATE
        self.faults.arm(operations, errno.ENOSPC, "/data-")

    def heal(self):
        self.faults.disarm()

    def remove(self):
        pass


def make_place(folder: pathlib.Path, faults: Faults, plain: bool):
    try:
        return PlainPlace(folder, faults) if plain or os.geteuid() != 0 else LoopPlace()
    except (OSError, subprocess.CalledProcessError):  # no loop devices here
        return PlainPlace(folder, faults)
