"""bench/run counts: how often calls ask storage and the other ranks for something, with nothing timed.

    bench/run counts [--quick] [--build DIR] [--markdown FILE]

Reads, flushes, renames, unlinks, lists and agreements of each call, summed over 4 ranks (but each takes part in every
agreement), for 1, 100 and 1,000 arrays (--quick: 1 and 100) whose shards have 16 and 4,096 chunks. The program is that of
the test counts_soak_4, and fails where the test would.
"""
import os
import subprocess
import sys


class Counts:
    def __init__(self, options):
        self.options = options

    def run(self):
        program = os.path.join(self.options.build, "tests", "parallel", "parallel_counts")
        arrays = ["1", "100"] if self.options.quick else ["1", "100", "1000"]
        result = subprocess.run(["mpiexec.mpich", "-n", "4", program, *arrays], stdout=subprocess.PIPE, text=True)
        table = "".join(line + "\n" for line in result.stdout.splitlines() if line.startswith("|"))
        print(table, end="")
        if self.options.markdown:
            with open(self.options.markdown, "w", encoding="utf-8") as out:
                out.write(table)
        print("counts: " + ("no call takes more than it may" if result.returncode == 0 else "a call takes more than it may"))
        sys.exit(result.returncode)
