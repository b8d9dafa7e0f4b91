"""bench/run renames: what it costs that a shard is written in one directory of the store and renamed into another one.

    bench/run renames [--quick] [--disk DIR] [--memory DIR] [--rounds N] [--markdown FILE]

Files of 64 KiB are written, flushed and renamed into 1 or 100 directories, which are flushed in the end: from one
directory for all, as the library does, or from the directory they go to. Both take turns. Nothing is judged.
"""
import os
import shutil
import statistics
import sys
import time

BYTES = bytes(65536)
WAYS = ("from one for all", "from the same")


def flush(directory):
    handle = os.open(directory, os.O_RDONLY)
    os.fsync(handle)
    os.close(handle)


def write_file(path):
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    os.write(handle, BYTES)
    os.fsync(handle)
    os.close(handle)


class Renames:
    def __init__(self, options):
        self.options = options
        self.files = 200 if options.quick else 1000
        self.rounds = options.rounds or (3 if options.quick else 9)

    def once(self, place, directories, way):
        """Seconds in all, and those in rename."""
        shutil.rmtree(place, ignore_errors=True)
        names = [os.path.join(place, "a", str(i)) for i in range(directories)]
        for name in [os.path.join(place, "tmp")] + names:
            os.makedirs(name)
        os.sync()
        renaming, started = 0.0, time.perf_counter()
        for i in range(self.files):
            directory = names[i % directories]
            written = os.path.join(directory if way == WAYS[1] else os.path.join(place, "tmp"), f"t{i}")
            write_file(written)
            before = time.perf_counter()
            os.rename(written, os.path.join(directory, str(i)))
            renaming += time.perf_counter() - before
        for directory in names:
            flush(directory)
        return time.perf_counter() - started, renaming

    def run(self):
        lines = ["| where | directories | staged | us for each file | of these in rename | of the same directory |",
                 "|---|---|---|---|---|---|"]
        for name, place in (("disk", self.options.disk), ("memory", self.options.memory)):
            place = os.path.join(place, "renames")
            for directories in (1, 100):
                found = {way: [] for way in WAYS}
                for number in range(self.rounds):
                    for way in WAYS if number % 2 == 0 else WAYS[::-1]:
                        found[way].append(self.once(place, directories, way))
                for way in WAYS:
                    ratio = statistics.median(own[0] / other[0] for own, other in zip(found[way], found[WAYS[1]]))
                    whole, renaming = (statistics.median(one[i] for one in found[way]) * 1e6 / self.files
                                       for i in range(2))
                    lines.append(f"| {name} | {directories} | {way} | {whole:.0f} | {renaming:.1f} | x{ratio:.2f} |")
            shutil.rmtree(place, ignore_errors=True)
        print("\n".join(lines))
        if self.options.markdown:
            with open(self.options.markdown, "w", encoding="utf-8") as out:
                out.write("\n".join(lines) + "\n")
        sys.exit(0)
