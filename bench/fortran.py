"""bench/run fortran: what a collective call costs from Fortran beyond the same call from C.

    bench/run fortran [--build DIR] [--memory DIR] [--markdown FILE]

One process has a store in its memory, four ranks one in a directory in memory. Calls from both languages take turns, 1,000
of each; judged is the median of the differences of each turn.
"""
import os
import shutil
import subprocess
import sys

MOST_MICROSECONDS = 5.0


class Fortran:
    def __init__(self, options):
        self.options = options
        self.program = os.path.join(options.build, "bench", "bench_fortran_calls")
        if not os.path.exists(self.program):
            sys.exit(f"bench: {self.program} is not there: the build has no Fortran compiler")

    def measure(self, ranks, url, calls):
        """Yields (what, ranks, C, Fortran, more), in microseconds."""
        command = ["mpiexec.mpich", "-n", str(ranks), self.program, url, str(calls)]
        for line in subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines():
            name, *figures = line.split()
            yield name, ranks, *map(float, figures)

    def run(self):
        folder = os.path.join(self.options.memory, "fortran")
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(self.options.memory, exist_ok=True)
        rows = [*self.measure(1, "memory:bench", 1000), *self.measure(4, folder, 1000)]
        shutil.rmtree(folder, ignore_errors=True)
        lines = ["| call | ranks | C, us | Fortran, us | more, us |", "|---|---|---|---|---|"]
        lines += [f"| {name} | {ranks} | {c:.1f} | {fortran:.1f} | {more:+.1f} |" for name, ranks, c, fortran, more in rows]
        print("\n".join(lines))
        if self.options.markdown:
            with open(self.options.markdown, "w") as out:
                out.write("\n".join(lines) + "\n")
        held = sum(row[-1] <= MOST_MICROSECONDS for row in rows)
        print(f"fortran: {held} of {len(rows)} are within {MOST_MICROSECONDS:.0f} us")
        sys.exit(0 if held == len(rows) else 1)
