"""Disks made of files, file systems on them, and power that can be cut.

All mounts are made in a name space of this process, and loop devices let go of their file with the last mount: even
if this process is killed, nothing is left mounted or attached.
"""

import ctypes
import errno
import fcntl
import os
import shutil
import struct
import subprocess
import sys
import time
from pathlib import Path

SKIPPED = 77
DISK_BYTES = 16 << 20
PATIENCE = 120

CLONE_NEWNS = 0x20000
MS_REC, MS_PRIVATE = 0x4000, 0x40000
MNT_DETACH = 2
LOOP_CTL_GET_FREE, LOOP_CONFIGURE = 0x4C82, 0x4C0A
LO_FLAGS_AUTOCLEAR, LO_FLAGS_DIRECT_IO = 4, 16
EXT4_IOC_SHUTDOWN = 0x8004587D

# What the file system still does before it is gone: write everything, write its journal, nothing.
CUTS = {"all written": 0, "journal written": 1, "nothing written": 2}

library = ctypes.CDLL(None, use_errno=True)


def call(function, *arguments):
    if function(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{function.__name__}: {os.strerror(number)}")


def skip(reason):
    print(f"skipped: {reason}", flush=True)
    sys.exit(SKIPPED)


def enter(needs_fuse):
    """Makes sure that all this is possible here, or skips the test; from then on, mounts are seen by nobody else."""
    if os.geteuid() != 0:
        skip("only root may mount")
    for device in ["/dev/loop-control"] + ["/dev/fuse"] * needs_fuse:
        if not os.path.exists(device):
            skip(f"there is no {device}")
    if shutil.which("mkfs.ext4") is None:
        skip("there is no mkfs.ext4")
    try:
        call(library.unshare, CLONE_NEWNS)
        call(library.mount, b"none", b"/", None, MS_REC | MS_PRIVATE, None)
        os.close(attach(__file__, os.O_RDONLY)[0])
    except OSError as failure:
        skip(f"loop devices or mounts are not permitted ({failure})")


def configure(device, backing):
    # struct loop_config: the file, the block size, and of struct loop_info64 only the flags
    flags = LO_FLAGS_AUTOCLEAR | LO_FLAGS_DIRECT_IO
    fcntl.ioctl(device, LOOP_CONFIGURE, struct.pack("<II52xI176x64x", backing, 0, flags))


def attach(path, mode):
    """A loop device on this file that lets go with its last user: descriptor and path."""
    backing = os.open(path, mode)
    control = os.open("/dev/loop-control", os.O_RDWR)
    try:
        while True:
            name = f"/dev/loop{fcntl.ioctl(control, LOOP_CTL_GET_FREE)}"
            device = os.open(name, mode)
            try:
                configure(device, backing)
                return device, name
            except OSError as failure:
                os.close(device)
                if failure.errno != errno.EBUSY:  # somebody else was faster
                    raise
    finally:
        os.close(control)
        os.close(backing)


def mount(image, folder):
    device, name = attach(image, os.O_RDWR)
    try:
        call(library.mount, name.encode(), str(folder).encode(), b"ext4", 0, b"")
    finally:
        os.close(device)


def unmount(folder):
    """Waits for those that still look at it."""
    for _ in range(PATIENCE * 20):
        if library.umount2(str(folder).encode(), 0) == 0:
            return
        if ctypes.get_errno() != errno.EBUSY:
            break
        time.sleep(0.05)
    raise OSError(ctypes.get_errno(), f"cannot unmount {folder}")


def cut_power(folder, how):
    directory = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.ioctl(directory, EXT4_IOC_SHUTDOWN, struct.pack("<I", CUTS[how]))
    finally:
        os.close(directory)


def make_file_system(image, size=DISK_BYTES):
    """Nothing is set aside for root, who runs the tests."""
    with open(image, "wb") as file:
        file.truncate(size)
    subprocess.run(["mkfs.ext4", "-q", "-F", "-m", "0", "-b", "4096", "-E",
                    "lazy_itable_init=0,lazy_journal_init=0,nodiscard", str(image)], check=True)


class LoggedDisk:
    """An image that is served by power_disk for as long as the context lasts."""

    def __init__(self, program, image, log, folder):
        self.folder = Path(folder)
        self.process = subprocess.Popen([program, str(folder), str(image), str(log)])
        self.disk, self.marks = self.folder / "disk", self.folder / "mark"

    def __enter__(self):
        end = time.monotonic() + PATIENCE
        while not self.disk.exists():
            if self.process.poll() is not None or time.monotonic() > end:
                self.stop()
                skip("a file system in user space cannot be mounted")
            time.sleep(0.002)
        return self

    def fail(self, what, number):
        """The write or flush of that number, counted from now, fails once."""
        descriptor = os.open(self.folder / "fail", os.O_WRONLY)
        os.write(descriptor, f"{what} {number}".encode())
        os.close(descriptor)

    def stop(self):
        library.umount2(str(self.folder).encode(), MNT_DETACH)
        try:
            self.process.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def __exit__(self, *_):
        self.stop()
