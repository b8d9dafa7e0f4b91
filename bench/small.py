"""bench/run small: what a call costs when there is next to nothing to store.

    bench/run small [--build DIR] [--quick] [--markdown FILE]
    bench/run small --before DIR [--build DIR] [--quick] [--case NAME=VALUE,...] [--markdown FILE]

The first is beside zarr-python and TensorStore, which take turns with Parapet in one process, each with a folder of its
own in memory (--memory), one thread that computes and one for files, and no cache; nobody waits for durable data.
Arrays are not compressed, in chunks of 64 KiB. Parapet is to be ahead in every row. The build must have the package.

The second is before and after a change. DIR is another build of the library, with bench_small in it; one of a version that did not have that program yet gets it so:

    mpicc -O2 -D_GNU_SOURCE -IOLD/include bench/small.c bench/case.c -LOLD/build/mpich -lparapet-mpich \\
          -Wl,-rpath,OLD/build/mpich -o OLD/build/mpich/bench/bench_small

Both programs run at the same time and take turns: a few calls of one, the same of the other, who begins changes each
turn, and the one that waits sleeps. Printed are the medians, the median of the differences within a turn, of time
and of time of the cores, and the messages and system calls of one round of calls. What is wanted: at most 3 %, or 0.2
ms more for each call; appending a step is two calls (append, flush), a checkpoint three (begin, put, commit).

    --case work=write+read,arrays=1+1000,ranks=1+2+4,fs=tmpfs+ext4,turns=100
"""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

from access import Access
from collective import print_table

WORK = ["write", "read", "attribute", "append", "checkpoint"]
CALLS = {"append": 2, "checkpoint": 3}  # of the library, in what counts as one above
MOST_PERCENT, MOST_SECONDS = 3.0, 0.0002  # the latter of one call


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


class BeforeAndAfter:
    def __init__(self, options):
        self.options = options
        self.builds = {"before": options.before, "after": options.build}
        self.case = {"work": WORK, "arrays": [1, 1000], "ranks": [1, 2, 4], "fs": ["tmpfs", "ext4"],
                     "turns": [20 if options.quick else 100]}
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
        before, after = (statistics.median(seconds[name]) for name in ("before", "after"))
        more = statistics.median(b - a for a, b in zip(seconds["before"], seconds["after"]))
        holds = more <= CALLS.get(work, 1) * MOST_SECONDS or 100 * more / before <= MOST_PERCENT
        system = self.system_calls(work, fs, arrays, ranks) if ranks == 1 and fs == "tmpfs" else None
        cells = [work, fs, str(arrays), str(ranks)] + [
            f"{1e3 * statistics.median(seconds[name]):.3f} ({1e3 * min(seconds[name]):.3f}-{1e3 * max(seconds[name]):.3f})"
            for name in ("before", "after")]
        used = statistics.median(b - a for a, b in zip(cores["before"], cores["after"]))
        cells += [f"{1e3 * more:+.3f}", f"{100 * more / before:+.1f} %", f"{1e3 * used:+.3f}", f"{messages['before']:.0f} / {messages['after']:.0f}",
                  f"{system['before']:.0f} / {system['after']:.0f}" if system else "", "yes" if holds else "NO"]
        self.rows.append(cells)
        print("  ".join(cells), flush=True)

    def run(self):
        for fs in self.case["fs"]:
            for arrays in self.case["arrays"]:
                for work in self.case["work"]:
                    for ranks in self.case["ranks"]:
                        if work != "attribute" or arrays == 1:
                            self.compare(work, fs, arrays, ranks)
        heads = ["work", "fs", "arrays", "ranks", "before, ms (range)", "after, ms (range)", "more, ms", "more",
                 "more of the cores, ms", "messages", "file system calls", "holds"]
        print_table([heads] + self.rows)
        if self.options.markdown:
            with open(self.options.markdown, "w") as out:
                for number, line in enumerate([heads] + self.rows):
                    out.write("| " + " | ".join(line) + " |\n" + ("|" + "---|" * len(line) + "\n" if number == 0 else ""))
        held = sum(row[-1] == "yes" for row in self.rows)
        print(f"small: {held} of {len(self.rows)} are within {MOST_PERCENT:.0f} % or {1e3 * MOST_SECONDS} ms a call")
        sys.exit(0 if held == len(self.rows) else 1)
