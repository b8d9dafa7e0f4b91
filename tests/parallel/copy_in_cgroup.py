#!/usr/bin/env python3
"""Copies an array that is far larger than the memory of the control group in which the ranks run.

    copy_in_cgroup.py MPIEXEC PROGRAM FOLDER PLANES RANKS MIB

The source, of PLANES times 256 KiB, is made outside. The group has, for every rank, MIB and the documented overhead,
page cache included: what takes more is killed. Exit code 77: there is no way to limit memory here.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

OVERHEAD_MIB = 48
SKIPPED = 77


def skip(why):
    """Ends the test as one that could not be made."""
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def memory_mount():
    """(directory, unified) of a hierarchy of control groups that limits memory; (None, False) when there is none."""
    for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        point, kind, options = before.split()[4], after.split()[0], after.split()[-1].split(",")
        if kind == "cgroup" and "memory" in options:
            return pathlib.Path(point), False
        controllers = pathlib.Path(point, "cgroup.subtree_control")
        if kind == "cgroup2" and controllers.exists() and "memory" in controllers.read_text().split():
            return pathlib.Path(point), True
    return None, False


def mount_memory():
    """Mounts the controller of version 1 at a directory of its own."""
    point = pathlib.Path(tempfile.mkdtemp(prefix="parapet-cgroup-"))
    made = subprocess.run(["mount", "-t", "cgroup", "-o", "memory", "none", point], capture_output=True, text=True)
    if made.returncode == 0:
        return point
    point.rmdir()
    return None


class Group:
    """A control group with a limit of memory, for as long as the block runs."""

    def __init__(self, limit_bytes):
        self.limit_bytes = limit_bytes
        self.mounted = None

    def __enter__(self):
        root, self.is_unified = memory_mount()
        if root is None:
            root = self.mounted = mount_memory()
        if root is None:
            skip("no control groups that limit memory are mounted, and none can be")
        self.path = root / f"parapet-copy-{os.getpid()}"
        try:
            self.path.mkdir()
            name = "memory.max" if self.is_unified else "memory.limit_in_bytes"
            (self.path / name).write_text(str(self.limit_bytes))
        except OSError as error:
            skip(f"cannot make a control group: {error}")
        return self

    def __exit__(self, *_):
        self.path.rmdir()
        if self.mounted:
            subprocess.run(["umount", self.mounted], check=True)
            self.mounted.rmdir()

    def enter(self):
        """Called in the child: it and all that it starts belong to the group."""
        (self.path / "cgroup.procs").write_text("0")

    def most_bytes(self):
        """The most that was ever in use."""
        name = self.path / ("memory.peak" if self.is_unified else "memory.max_usage_in_bytes")
        return int(name.read_text()) if name.exists() else 0


def main():
    mpiexec, program, folder, planes, ranks, mib = sys.argv[1:]
    array_bytes, limit = int(planes) << 18, int(ranks) * (int(mib) + OVERHEAD_MIB) << 20
    if os.geteuid() != 0:
        skip("making control groups takes root")
    folder = pathlib.Path(folder)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if shutil.disk_usage(folder).free < 3.2 * array_bytes:  # an intermediate array may lie beside both
        skip(f"{folder} has no room for three arrays of {array_bytes >> 30} GiB")
    launch = [mpiexec, "-n", ranks, program, planes]
    try:
        with Group(limit) as group:
            subprocess.run([*launch, "make", folder], check=True)
            code = subprocess.run([*launch, "copy", folder, mib], preexec_fn=group.enter, check=False).returncode
            most = group.most_bytes() / 2**20
            print(f"limit of the group {limit >> 20} MiB, most in use {most:.1f} MiB with page cache")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(code)


if __name__ == "__main__":
    main()
