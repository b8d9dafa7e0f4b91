"""bench/run hidden: how much of a write is hidden behind a computation, by thread level and number of ranks.

    bench/run hidden [--quick] [--build DIR] [--disk DIR] [--memory DIR] [--rounds N] [--markdown FILE]

A write of 512 MiB through disks of 100 MB/s on each server, beside 1 s of computation:

    hidden = (compute + write - both) / min(compute, write)

Then steps of a series that are rows of their own, made and appended one by one, against making all and writing them at
once; and what a rank that only serves would gain (4 ranks, 400 MB/s in all: four servers that compute, or one that does
not, while the other three compute its share). --quick: one round, fewer steps.
"""
import os
import shutil
import statistics
import subprocess
import sys

from collective import print_table

LEVELS = {"multiple": "MPI_THREAD_MULTIPLE", "funneled": "MPI_THREAD_FUNNELED", "single": "MPI_THREAD_SINGLE"}
MOST_SERIES = 1.2


class Hidden:
    def __init__(self, options):
        self.options = options
        self.rounds = options.rounds or (1 if options.quick else 5)
        self.program = os.path.join(options.build, "bench", "bench_hidden")

    def start(self, ranks, directory, *words):
        """The median of each column."""
        shutil.rmtree(directory, ignore_errors=True)
        os.makedirs(directory)
        command = ["mpiexec.mpich", "-n", ranks, self.program, words[0], directory, *words[1:]]
        result = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True)
        shutil.rmtree(directory, ignore_errors=True)
        if result.returncode != 0:
            sys.exit("bench: " + " ".join(str(word) for word in command) + " failed")
        rows = [[float(word) for word in line.split()] for line in result.stdout.splitlines()]
        return [statistics.median(column) for column in zip(*rows)]

    def write(self):
        rows = [["512 MiB beside 1 s", "ranks", "compute, s", "write, s", "both, s", "hidden"]]
        for level, name in LEVELS.items():
            for ranks in (1, 2, 4):
                compute, write, both = self.start(ranks, self.options.memory, "write", 512, 100e6, level, self.rounds)
                share = (compute + write - both) / min(compute, write)
                rows.append([name, str(ranks), f"{compute:.2f}", f"{write:.2f}", f"{both:.2f}", f"{100 * share:.0f} %"])
        return rows

    def series(self):
        steps = 48 if self.options.quick else 192
        rows = [["steps of 32 MiB, rows of 1", "at once, s", "appended, s", "started, s", "appended", "started"]]
        ratios = []
        for level, name in LEVELS.items():
            once, appended, started = self.start(4, self.options.disk, "series", steps, 2048, level, self.rounds)
            ratios.append(started / once)
            rows.append([name, f"{once:.2f}", f"{appended:.2f}", f"{started:.2f}", f"{appended / once:.2f}",
                         f"{started / once:.2f}"])
        return rows, ratios[0]

    def servers(self):
        rows = [["512 MiB beside 1 s, 4 ranks", "compute, s", "write, s", "both, s", "more than the longer"]]
        for name, words in (("all serve and compute", [100e6]), ("one only serves", [400e6])):
            extra = ["dedicated"] if words[0] > 100e6 else []
            compute, write, both = self.start(4, self.options.memory, "write", 512, *words, "multiple", self.rounds, *extra)
            rows.append([name, f"{compute:.2f}", f"{write:.2f}", f"{both:.2f}", f"{both - max(compute, write):.2f} s"])
        return rows

    def write_markdown(self, tables):
        with open(self.options.markdown, "w", encoding="utf-8") as out:
            for rows in tables:
                for number, row in enumerate(rows):
                    out.write("| " + " | ".join(row) + " |\n" + ("|" + "---|" * len(row) + "\n" if number == 0 else ""))
                out.write("\n")

    def run(self):
        tables = []
        for table in (self.write(), self.servers()):
            tables.append(table)
            print_table(table)
        series, ratio = self.series()
        tables.append(series)
        print_table(series)
        if self.options.markdown:
            self.write_markdown(tables)
        holds = ratio <= MOST_SERIES
        print(f"hidden: a series of rows of 1 takes {ratio:.2f} times as long as at once: {'holds' if holds else 'FAILS'}")
        sys.exit(0 if holds else 1)
