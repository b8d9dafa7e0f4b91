"""What the shim says of a directory into which a name is moved before, while and after it is flushed: only what was
moved before is durable, although the flush succeeds.

    test_kill_shim.py SHIM BUSY_FLUSH
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "harness"))
from kill_bed import place_of_tests  # noqa: E402

MOVES = """
import os, sys
place = os.open(sys.argv[1], os.O_RDONLY)
for word in sys.argv[2:]:
    if word == "flush":
        os.fsync(place)
    else:
        os.rename("first", "last", src_dir_fd=place, dst_dir_fd=place)
"""


def report(folder, shims, names, words):
    """What is unflushed after these steps in a directory that has these names."""
    place = folder / "store/c"
    place.mkdir(parents=True)
    for name in names:
        (place / name).touch()
    settings = {"LD_PRELOAD": ":".join(shims), "PARAPET_SHIM_FOLDER": str(folder), "PMI_RANK": "0"}
    subprocess.run([sys.executable, "-c", MOVES, str(place), *words], env=os.environ | settings, check=True)
    return [line for line in (folder / "report.0").read_text().splitlines() if line.startswith("unflushed")]


def main():
    shims = sys.argv[1:]
    for number, (names, words, is_durable) in enumerate((
            (["first"], ["move", "flush"], True), (["first"], ["flush", "move"], False),
            (["first", "moving"], ["move", "flush"], False), (["moving"], ["flush", "flush"], True))):
        with tempfile.TemporaryDirectory(prefix="parapet-shim-", dir=place_of_tests()) as folder:
            told = report(Path(folder), shims, names, words)
            assert (told == []) == is_durable, f"case {number}: {names}, {words}: {told}"
    print("4 cases")


if __name__ == "__main__":
    main()
