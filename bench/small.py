"""bench/run small: what a call costs when there is next to nothing to store.

    bench/run small [--build DIR] [--quick] [--only TEXT] [--markdown FILE]
    bench/run small --before DIR [--build DIR] [--quick] [--case NAME=VALUE,...] [--markdown FILE]

The first is beside zarr-python and TensorStore, which take turns with Parapet in one process, each with a folder of its
own in memory (--memory), one thread that computes and one for files, and no cache; nobody waits for durable data.
Arrays are not compressed, in chunks of 64 KiB, or of 2 MiB with CRC-32C where the row says so. Parapet is to be ahead in
every row. The build must have the package.

Then 4 ranks make 1 MiB durable in one call, a shard each, in memory and on a disk: beside 4 processes that each have
opened the same array alone, and write their shards with the same library, which they are to be ahead of; and beside a
file for each, the limit. --only memory or --only ranks is one part.

The second is before and after a change. DIR is another build of the library, with bench_small in it; one of a version
whose bench_small cannot do the same yet gets it so:

    mpicc.mpich -O2 -D_GNU_SOURCE -IOLD/include bench/small.c bench/case.c -LOLD/build/mpich -lparapet-mpich \\
                -Wl,-rpath,OLD/build/mpich -o OLD/build/mpich/bench/bench_small

Both programs run at the same time and take turns: a few calls of one, the same of the other, who begins changes each
turn, and the one that waits sleeps. Printed are the medians, the median of the differences within a turn, of time
and of time of the cores, and the messages and system calls of one round of calls. What is wanted: at most 3 %, or 0.2
ms more for each call; appending a step is two calls (append, flush), a checkpoint three (begin, put, commit). Reading
an element of a chunk of 2 MiB with CRC-32C, of an array that stays open, in memory, is to take at most 0.8 of the time
before.

    --case work=write+read+element,arrays=1+1000,ranks=1+2+4,fs=tmpfs+ext4,turns=100
"""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

from access import Access
from tables import markdown, markdown_head, markdown_row

WORK = ["write", "read", "attribute", "append", "checkpoint", "element"]
ONLY_ONE = ("attribute", "element")  # of these, however many arrays there are
CALLS = {"append": 2, "checkpoint": 3}  # of the library, in what counts as one above
MOST_PERCENT, MOST_SECONDS = 3.0, 0.0002  # the latter of one call
MOST_OF_BEFORE = {"element": 0.8}  # less is wanted of these than not to become slower


class Program:
    """One bench_small that waits for its turn."""

    def __init__(self, build, work, directory, arrays, ranks, watch=()):
        shutil.rmtree(directory, ignore_errors=True)
        os.makedirs(directory)
        command = [*watch, "mpiexec.mpich", "-n", ranks, os.path.join(build, "bench", "bench_small"), work, directory, arrays]
        self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def calls(self, count):
        self.process.stdin.write(f"{count}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        if len(answer) != 3:
            sys.exit("bench: bench_small failed")
        return [float(word) for word in answer]

    def close(self):
        self.process.stdin.close()
        if self.process.wait() != 0:
            sys.exit("bench: bench_small failed")


def small(options):
    return (BeforeAndAfter if options.before else Beside)(options)


class Beside(Access):
    name = "small"

    def places(self):
        return (("memory", self.options.memory),)

    def tables(self):
        return super().tables() + "\n" + markdown(self.shards.heads, self.shards.rows)

    def finish(self):
        self.shards = Shards(self.options)
        if self.options.only in "ranks":
            self.shards.run()
        self.held += self.shards.held
        super().finish()


class Shards:
    """1 MiB of 4 ranks in one call, and in other ways."""

    ways = ("shards", "alone", "bare")
    heads = ["1 MiB durable, 4 ranks", "one call, ms (range)", "a process each, ms", "a file each, ms",
             "ahead of a process each", "ahead of a file each", "ahead of processes"]

    def __init__(self, options):
        self.options = options
        self.turns = 20 if options.quick else 200
        self.rows, self.held = [], []

    def measure(self, parent):
        """Seconds of each way in each turn."""
        folders = {way: os.path.join(parent, "small-" + way) for way in self.ways}
        programs = {way: Program(self.options.build, way, folders[way], 1, 4) for way in self.ways}
        found = {way: [] for way in self.ways}
        for program in programs.values():
            program.calls(3)
        for turn in range(self.turns):
            first = turn % len(self.ways)
            for way in self.ways[first:] + self.ways[:first]:
                found[way].append(programs[way].calls(1)[0])
        for way, program in programs.items():
            program.close()
            shutil.rmtree(folders[way])
        return found

    def row(self, place, found):
        ratios = [statistics.median(b / a for a, b in zip(found["shards"], found[way])) for way in self.ways[1:]]
        is_held = ratios[0] > 1
        self.held.append(is_held)
        self.rows.append([place] + [f"{1e3 * statistics.median(found[way]):.2f} ({1e3 * min(found[way]):.2f}-"
                                    f"{1e3 * max(found[way]):.2f})" for way in self.ways]
                         + [f"{ratio:.2f}" for ratio in ratios] + ["yes" if is_held else "NO"])
        print(markdown_row(self.rows[-1]), end="", flush=True)

    def run(self):
        print("\n" + markdown_head(self.heads), end="")
        for place, parent in (("memory", self.options.memory), ("disk", self.options.disk)):
            self.row(place, self.measure(parent))


class BeforeAndAfter:
    def __init__(self, options):
        self.options = options
        self.builds = {"before": options.before, "after": options.build}
        self.case = {"work": WORK, "arrays": [1, 1000], "ranks": [1, 2, 4], "fs": ["tmpfs", "ext4"],
                     "turns": [20 if options.quick else 100]}
        self.heads = ["work", "fs", "arrays", "ranks", "before, ms (range)", "after, ms (range)", "more, ms", "more",
                      "of before", "more of the cores, ms", "messages", "file system calls", "holds"]
        for word in (options.case or "").split(","):
            if word:
                name, values = word.split("=")
                self.case[name] = [int(value) if value.isdigit() else value for value in values.split("+")]
        self.places = {"tmpfs": options.memory, "ext4": options.disk}
        self.rows = []

    def place(self, fs, name):
        return os.path.join(self.places[fs], "small-" + name)

    def system_calls(self, work, fs, arrays, ranks):
        """Of one call: what a run with more calls has more."""
        if shutil.which("strace") is None:
            return None
        found = {}
        for name, build in self.builds.items():
            counts = []
            few, many = (3, 8) if arrays > 1 else (10, 60)
            for calls in (few, many):
                with tempfile.NamedTemporaryFile() as out:
                    program = Program(build, work, self.place(fs, name), arrays, ranks,
                                      ["strace", "-f", "-c", "-U", "name,calls", "-e", "trace=file,desc", "-o", out.name])
                    program.calls(calls)
                    program.close()
                    counts.append(sum(int(line.split()[1]) for line in open(out.name)
                                      if len(line.split()) == 2 and line.split()[1].isdigit()
                                      and line.split()[0] not in ("total", "poll", "read", "write", "epoll_wait")))
            found[name] = (counts[1] - counts[0]) / (many - few)
        return found

    def compare(self, work, fs, arrays, ranks):
        programs = {name: Program(build, work, self.place(fs, name), arrays, ranks) for name, build in self.builds.items()}
        calls = 1 if arrays > 1 or work in ("append", "checkpoint") else 4
        turns = self.case["turns"][0] if arrays == 1 else max(5, self.case["turns"][0] // 4)
        seconds, cores, messages = {"before": [], "after": []}, {"before": [], "after": []}, {}
        for program in programs.values():
            program.calls(3)
        for turn in range(turns):
            for name in ("before", "after") if turn % 2 == 0 else ("after", "before"):
                found, used, messages[name] = programs[name].calls(calls)
                seconds[name].append(found)
                cores[name].append(used)
        for name, program in programs.items():
            program.close()
            shutil.rmtree(self.place(fs, name))
        self.row((work, fs, arrays, ranks), seconds, cores, messages)

    def row(self, key, seconds, cores, messages):
        work, fs, arrays, ranks = key
        before = statistics.median(seconds["before"])
        more = statistics.median(b - a for a, b in zip(seconds["before"], seconds["after"]))
        ratio = statistics.median(b / a for a, b in zip(seconds["before"], seconds["after"]))
        holds = (ratio <= MOST_OF_BEFORE[work] if work in MOST_OF_BEFORE else
                 more <= CALLS.get(work, 1) * MOST_SECONDS or 100 * more / before <= MOST_PERCENT)
        system = self.system_calls(work, fs, arrays, ranks) if ranks == 1 and fs == "tmpfs" else None
        cells = [work, fs, str(arrays), str(ranks)] + [
            f"{1e3 * statistics.median(seconds[name]):.3f} ({1e3 * min(seconds[name]):.3f}-{1e3 * max(seconds[name]):.3f})"
            for name in ("before", "after")]
        used = statistics.median(b - a for a, b in zip(cores["before"], cores["after"]))
        cells += [f"{1e3 * more:+.3f}", f"{100 * more / before:+.1f} %", f"{ratio:.2f}", f"{1e3 * used:+.3f}",
                  f"{messages['before']:.0f} / {messages['after']:.0f}",
                  f"{system['before']:.0f} / {system['after']:.0f}" if system else "", "yes" if holds else "NO"]
        self.rows.append(cells)
        print(markdown_row(cells), end="", flush=True)

    @staticmethod
    def is_wanted(work, fs, arrays, ranks):
        """An element: by one rank, and where chunks are in memory."""
        return (arrays == 1 or work not in ONLY_ONE) and (work != "element" or (ranks, fs) == (1, "tmpfs"))

    def run(self):
        print(markdown_head(self.heads), end="")
        for fs in self.case["fs"]:
            for arrays in self.case["arrays"]:
                for work in self.case["work"]:
                    for ranks in self.case["ranks"]:
                        if self.is_wanted(work, fs, arrays, ranks):
                            self.compare(work, fs, arrays, ranks)
        if self.options.markdown:
            with open(self.options.markdown, "w", encoding="utf-8") as out:
                out.write(markdown(self.heads, self.rows))
        held = sum(row[-1] == "yes" for row in self.rows)
        print(f"small: {held} of {len(self.rows)} hold: at most {MOST_PERCENT:.0f} % or {1e3 * MOST_SECONDS} ms a call "
              f"more, and for an element of 2 MiB at most {MOST_OF_BEFORE['element']:.2f} of the time before")
        sys.exit(0 if held == len(self.rows) else 1)
