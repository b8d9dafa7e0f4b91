"""bench/run columns: what it costs to read narrow columns of an array that is stored in whole rows.

    bench/run columns [--quick] [--build DIR] [--disk DIR] [--rounds N] [--json FILE] [--markdown FILE] [--verbose]

The last row of the table of the paper about Disk Resident Arrays: 32768^2 doubles (--quick: 8192^2) in strips of whole
rows of 1 MiB, read in blocks of 4096 x 32, which are 4096 runs of 256 bytes each. One process reads block after block,
each with one call, within a sixteenth of the array as memory and beginning with an empty page cache.

    aligned   chunks are the blocks, not checksummed
    bare      the files of "plain", read by one pread for each run: what the system alone takes
    plain     strips, not checksummed: only what is wanted is read
    default   strips with CRC-32C: all of each strip has to be read
    inner     chunks of 256 x 256 with CRC-32C inside the shards, as the guide recommends for rows and columns

Where a reading would be of many times the array in chunks, a sample of evenly spaced blocks is read, and the time is
that of the sample times what it stands for; the table says so. Wanted: "plain" takes at most 3 times as long as
"aligned", as the median of the ratios within a round. With --quick the exit status is 0 if it takes at most 6 times as
long. All take turns, in an order that is rotated each round.
"""
import json
import os
import platform
import shutil
import statistics
import sys
import time

from collective import print_table
from command import Failure, empty_cache, run
from copying import MIB, ROOT, matrix, size
from taken import tell_taken

BLOCK = (4096, 32)
TIMEOUT = 1800
MOST_OF_ALIGNED, QUICK_SLACK = 3.0, 2.0
INNER = 256
COPIES = {"aligned": ["--chunks", "{},{}".format(*BLOCK), "--no-checksum"], "default": [],
          "inner": ["--chunks", f"{INNER},{INNER}"]}
NAMES = ("aligned", "bare", "plain", "default", "inner")


class Columns:
    def __init__(self, options):
        self.options = options
        self.edge = 8192 if options.quick else 32768
        self.rounds = options.rounds or (2 if options.quick else 3)
        self.bytes = self.edge ** 2 * 8
        self.strip = MIB // (self.edge * 8)
        self.shard = 256 * MIB // (self.edge * 8)
        self.most_read = 2 * self.bytes # bytes of chunks that a reading may touch
        self.directory = os.path.join(options.disk, "columns")
        self.tool = os.path.join(options.build, "tool", "parapet")
        self.reader = os.path.join(options.build, "bench", "bench_access")
        self.bare = os.path.join(options.build, "bench", "bench_columns_bare")
        self.seconds = {name: [] for name in NAMES}
        self.taken = []

    def path(self, name):
        return os.path.join(self.directory, name + ".zarr")

    # Measuring

    def make_arrays(self):
        shutil.rmtree(self.directory, ignore_errors=True)
        os.makedirs(self.directory)
        case = dict(matrix(self.edge, self.edge, self.strip, self.shard), codec="none")
        self.execute([self.options.python, os.path.join(ROOT, "bench", "copying_peer.py"), "source-zarr3",
                      json.dumps(case), "-", self.path("plain")])
        for name, words in COPIES.items():
            chunks = [] if "--chunks" in words else ["--chunks", f"{self.strip},{self.edge}"]
            self.execute([self.tool, "copy", self.path("plain"), self.path(name), "--codec", "none", "--max-mem",
                          size(self.bytes // 16)] + words + chunks)

    def execute(self, words):
        if self.options.verbose:
            print(" ".join(words), flush=True)
        done = run(words, TIMEOUT)
        self.taken.append(done["taken"])
        return done["out"]

    def touched(self, name):
        """Bytes of chunks that have to be read for all blocks."""
        return self.bytes * {"default": self.edge // BLOCK[1], "inner": INNER // BLOCK[1]}.get(name, 1)

    def every(self, name):
        """Each so-many-th block is read. Odd, so that a sample has blocks of all columns."""
        every = -(-self.touched(name) // self.most_read)
        return every if every % 2 == 1 else every + 1

    def command(self, name):
        if name == "bare":
            return [self.bare, os.path.join(self.path("plain"), "c"), str(self.edge), str(self.shard),
                    *map(str, BLOCK), str(self.every(name))]
        return [self.reader, self.path(name), "", "{}x{}".format(*BLOCK), size(self.bytes // 16), str(self.every(name))]

    def measure(self):
        self.make_arrays()
        for number in range(self.rounds):
            turn = number * len(NAMES) // self.rounds
            for name in NAMES[turn:] + NAMES[:turn]:
                empty_cache()
                seconds, done, blocks = self.execute(self.command(name)).split()
                self.seconds[name].append(float(seconds) * int(blocks) / int(done))
                print(f"round {number + 1} of {self.rounds}, {name}: {self.seconds[name][-1]:.2f} s", file=sys.stderr,
                      flush=True)

    # Reporting

    def ratio(self, name, other):
        return statistics.median(a / b for a, b in zip(self.seconds[name], self.seconds[other]))

    def row(self, name):
        seconds, every = self.seconds[name], self.every(name)
        return [name, "all" if every == 1 else f"1 in {every}",
                f"{statistics.median(seconds):.2f} ({min(seconds):.2f}-{max(seconds):.2f})",
                f"{self.ratio(name, 'aligned'):.1f}", f"{self.ratio(name, 'bare'):.1f}"]

    def report(self):
        table = [["array", "blocks read", "all blocks, s (range)", "times aligned", "times bare"]]
        table += [self.row(name) for name in NAMES]
        print_table(table)
        print(tell_taken(self.taken))
        if self.options.markdown:
            with open(self.options.markdown, "w") as out:
                for number, row in enumerate(table):
                    out.write("| " + " | ".join(row) + " |\n" + ("|" + "---|" * len(row) + "\n" if number == 0 else ""))
        if self.options.json:
            with open(self.options.json, "w") as out:
                json.dump({"cores": os.cpu_count(), "system": platform.platform(), "edge": self.edge,
                           "taken_by_others": self.taken, "seconds": self.seconds}, out, indent=1)

    def run(self):
        started = time.time()
        for program in (self.tool, self.reader, self.bare):
            if not os.path.exists(program):
                sys.exit(f"bench: {program} is missing; build it first")
        try:
            self.measure()
        except Failure as failure:
            sys.exit(f"bench: {failure}")
        finally:
            shutil.rmtree(self.directory, ignore_errors=True)
        self.report()
        found, most = self.ratio("plain", "aligned"), MOST_OF_ALIGNED * (QUICK_SLACK if self.options.quick else 1)
        print(("holds  " if found <= most else "FAILS  ") + f"plain columns: {found:.1f} times aligned, at most {most:.1f}")
        print(f"columns: the goal of {MOST_OF_ALIGNED:.0f} times is {'met' if found <= MOST_OF_ALIGNED else 'MISSED'} "
              f"({self.edge}^2 doubles, {self.rounds} rounds, {time.time() - started:.0f} s)")
        sys.exit(0 if found <= most else 1)
