"""bench/run strided: how fast boxes of elements move between memories of different strides.

    bench/run strided [--before DIR] [--quick] [--build DIR] [--rounds N] [--markdown FILE]

GB/s for each size of an element and each order of dimensions: the one function that the library has for it, beside
memcpy of as many bytes, and beside a loop over the target that moves an element at a time. DIR is another build of the
library that has bench_strided too; both take turns, a run of all cases each. Nothing is judged.
"""
import os
import statistics
import subprocess
import sys


class Strided:
    def __init__(self, options):
        self.options = options
        self.rounds = str(options.rounds or (3 if options.quick else 9))

    def measure(self, build):
        """{(case, element bytes): [kernel, memcpy, loop]}"""
        program = os.path.join(build, "bench", "bench_strided")
        result = subprocess.run([program, self.rounds], stdout=subprocess.PIPE, text=True)
        if result.returncode != 0:
            sys.exit("bench: bench_strided failed")
        lines = [line.split("\t") for line in result.stdout.splitlines()]
        return {(line[0], line[1]): [float(word) for word in line[2:]] for line in lines}

    def run(self):
        builds = [self.options.build] + ([self.options.before] if self.options.before else [])
        turns = 1 if self.options.quick else 3
        found = [[] for _ in builds]
        for turn in range(turns):
            for i in range(len(builds)):
                at = (i + turn) % len(builds)
                found[at].append(self.measure(builds[at]))
        columns = ["case", "bytes", "kernel", "before"] if self.options.before else ["case", "bytes", "kernel"]
        rows = ["| " + " | ".join(columns + ["loop", "memcpy", "of memcpy"]) + " |", "|" + "---|" * (len(columns) + 3)]
        for key in found[0][0]:
            kernel, memcpy, loop = (statistics.median(one[key][i] for one in found[0]) for i in range(3))
            before = [f"{statistics.median(one[key][0] for one in found[1]):.2f}"] if self.options.before else []
            rows.append("| " + " | ".join([*key, f"**{kernel:.2f}**", *before, f"{loop:.2f}", f"{memcpy:.2f}",
                                           f"{kernel / memcpy:.2f}"]) + " |")
        table = "\n".join(rows) + "\n"
        print(table, end="")
        if self.options.markdown:
            with open(self.options.markdown, "w", encoding="utf-8") as out:
                out.write(table)
        sys.exit(0)
