"""A small ext4 on a loop device, whose power can be cut: the file system forgets what was not synced (its shutdown call
without a flush of the journal), and the next mount replays the journal as after a real cut. Needs root and loop devices.
What O_DIRECT wrote has reached the backing file, so a sync that is missing there is not seen: that is the recording disk's
part (sim/seams/recording_disk)."""

import fcntl
import os
import pathlib
import struct
import subprocess
import tempfile

SIZE = 2 << 30
EXT4_IOC_SHUTDOWN = 0x8004587D
NO_LOG_FLUSH = 2


def run(*command) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout.strip()


class Volume:
    def __init__(self, *mkfs_options: str):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="weir-volume-"))
        self.path = self.home / "mounted"
        self.path.mkdir()
        self.device = ""
        try:
            self._make(self.home / "image", mkfs_options)
        except (OSError, subprocess.CalledProcessError):
            self.remove()
            raise

    def _make(self, image: pathlib.Path, mkfs_options):
        with open(image, "wb") as file:
            file.truncate(SIZE)
        self.device = run("losetup", "--find", "--show", image)
        run("mkfs.ext4", "-q", *mkfs_options, self.device)
        run("mount", self.device, self.path)

    def cut_power(self):
        folder = os.open(self.path, os.O_RDONLY)
        try:
            fcntl.ioctl(folder, EXT4_IOC_SHUTDOWN, struct.pack("I", NO_LOG_FLUSH))
        finally:
            os.close(folder)

    def mount_again(self):
        """Nobody may have files open there. The page cache goes with the old mount."""
        run("umount", self.path)
        run("mount", self.device, self.path)

    def remove(self):
        subprocess.run(["umount", self.path], check=False, capture_output=True)
        if self.device:
            subprocess.run(["losetup", "--detach", self.device], check=False, capture_output=True)
        subprocess.run(["rm", "-rf", self.home], check=False)
