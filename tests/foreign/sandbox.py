"""The program that reads HDF5 can do nothing but read, once it has the file: a library that is loaded into it tries other
things, before and after.

    sandbox.py PLACES LIBRARY
"""
import errno
import os
import subprocess
import sys
import tempfile
from pathlib import Path


def tried(places, library):
    """{when: {what: number of the error}}"""
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "file"
        file.write_bytes(b"x" * 100)
        done = subprocess.run([places, file], cwd=name, env={**os.environ, "LD_PRELOAD": library}, capture_output=True,
                              text=True, timeout=60)
        left = [path.name for path in Path(name).iterdir()]
    found = {"before": {}, "after": {}}
    for line in done.stdout.splitlines():
        when, what, number = line.split()
        found[when][what] = int(number)
    return found, left


def main():
    places, library = sys.argv[1:]
    if b"__asan_init" in Path(places).read_bytes():
        print("skipped: with sanitizers nothing is forbidden")
        return 77
    found, left = tried(places, library)
    # The library itself is right: all of that can be done elsewhere.
    assert len(found["before"]) == 7 and not any(found["before"].values()), found
    assert found["after"].keys() == found["before"].keys(), found
    assert set(found["after"].values()) == {errno.EPERM}, found
    assert left == ["file"], left
    print(f"{len(found['after'])} calls, each of which is refused: {', '.join(found['after'])}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
