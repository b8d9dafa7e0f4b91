"""Runs bench_servers: calls in a row on servers whose disks have given speeds, or keep nothing; see bench/servers.c."""
import collections
import contextlib
import os
import shutil
import statistics
import subprocess
import sys

MESHES = {2: "2x1x1", 4: "2x2x1", 8: "2x2x2", 16: "4x2x2"}
LIMIT_SECONDS = 3600
STRATEGIES = {"in_turn": "owners=in_turn", "nearest": "owners=nearest", "weights": "sharing=weights",
              "stealing": "sharing=stealing"}

Call = collections.namedtuple("Call", "work slow number seconds ideal")
Speed = collections.namedtuple("Speed", "work slow server measured given")


class Run:
    """What one start of the program printed."""

    def __init__(self, text):
        lines = [line.split() for line in text.splitlines()]
        self.calls = [Call(words[1], int(words[2]), int(words[3]), float(words[4]), float(words[5]))
                      for words in lines if words[0] == "call"]
        self.speeds = [Speed(words[1], int(words[2]), int(words[3]), float(words[4]), float(words[5]))
                       for words in lines if words[0] == "speed"]

    def seconds(self, work):
        return [call.seconds for call in self.calls if call.work == work]

    def fractions(self, work, slow=None):
        """Of the sum of the servers' speeds, for each call."""
        return [call.ideal / call.seconds for call in self.calls
                if call.work == work and slow in (None, call.slow) and call.ideal > 0]


class Servers:
    def __init__(self, options, place):
        self.options = options
        self.program = os.path.join(options.build, "bench", "bench_servers")
        self.place = os.path.join(options.memory, place)
        if not os.path.exists(self.program):
            sys.exit(f"bench: {self.program} is missing; build it first")

    def clear(self):
        """Removes what is there, and the folder around it if nothing else is in it."""
        shutil.rmtree(self.place, ignore_errors=True)
        with contextlib.suppress(OSError):
            os.rmdir(os.path.dirname(self.place))

    def run(self, ranks, shape, *words):
        self.clear()
        os.makedirs(self.place)
        command = ["mpiexec.mpich", "-n", str(ranks), self.program, self.place, shape, MESHES[ranks], *words]
        if self.options.verbose:
            print(" ".join(command), file=sys.stderr, flush=True)
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=LIMIT_SECONDS)
        finally:
            self.clear()
        if done.returncode != 0:
            sys.exit("bench: bench_servers failed: " + " ".join(command))
        return Run(done.stdout)


def middle(values, digits=2):
    """The median and the range."""
    return (f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f}-{max(values):.{digits}f})"
            if values else "")


class Page:
    """Tables, printed as markdown when they are complete, so that scripts/record can keep them."""

    def __init__(self, options):
        self.options = options
        if options.markdown:
            open(options.markdown, "w").close()

    def text(self, line):
        print(line, flush=True)
        if self.options.markdown:
            with open(self.options.markdown, "a") as out:
                out.write(line + "\n")

    def table(self, title, heads, rows):
        widths = [max(len(line[i]) for line in [heads, *rows]) for i in range(len(heads))]
        self.text(f"\n### {title}\n")
        for number, line in enumerate([heads, *rows]):
            self.text("| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |")
            if number == 0:
                self.text("|" + "|".join("-" * (width + 2) for width in widths) + "|")
