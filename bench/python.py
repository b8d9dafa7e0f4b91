"""bench/run python: what a call costs from Python beyond the same call from C, and beside other libraries.

    bench/run python [--quick] [--build DIR] [--memory DIR] [--only TEXT] [--markdown FILE]

collective: 16 doubles of each of four ranks, in a directory in memory; at most 200 us more than C.
slices: one process, a store in its memory, boxes from one element to 64 MiB; at most 15 us and 5 % more than C.
peers: the same boxes in a directory in memory, with one thread that computes and one for files, no cache, nothing
flushed to a device, and what is read or written open before; Parapet is to be ahead of zarr-python and TensorStore in
every row.

Calls take turns within one process, 1,000 of each (with --quick fewer of large boxes); judged is the median of the
differences of each two turns, or of the ratios of each turn. The calls of C use the handle that Python has opened
(bench/python_calls.c), so they take as long as in a program in C. The build must have the package: cmake --preset mpich -DPARAPET_PYTHON=ON.
"""
import os
import shutil
import subprocess
import sys

MOST_COLLECTIVE, MOST_SLICE, MOST_SLICE_RATIO = 200.0, 15.0, 0.05  # us, us, of C


class Python:
    def __init__(self, options):
        self.options = options
        self.library = os.path.join(options.build, "bench", "bench_python_calls.so")
        self.package = os.path.join(options.build, "python")
        self.folder = os.path.join(options.memory, "python")
        self.rows, self.held = [], []
        for path in (self.library, self.package):
            if not os.path.exists(path):
                sys.exit(f"bench: {path} is not there: configure with -DPARAPET_PYTHON=ON and build")

    def measure(self, launcher, *words):
        """Yields what python_calls.py prints: a name, and figures."""
        program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "python_calls.py")
        link = os.path.join(self.options.build, "tests", "python", "lib")  # MPICH under the name that mpi4py looks for
        environment = dict(os.environ, PYTHONPATH=self.package, MPI4PY_MPIABI="mpich",
                           LD_LIBRARY_PATH=f"{link}:{os.environ.get('LD_LIBRARY_PATH', '')}")
        command = [*launcher, self.options.python, program, *[str(word) for word in words]]
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f"bench: {' '.join(command)} failed")
        for line in done.stdout.splitlines():
            name, *figures = line.split("\t")
            yield name, [float(figure) for figure in figures]

    def row(self, kind, name, cells, is_held):
        self.rows.append([kind, name, *cells, "yes" if is_held else "NO"])
        self.held.append(is_held)
        print("  ".join(self.rows[-1]), flush=True)

    def beyond_c(self, kind, name, figures, most):
        base, own, more = figures
        self.row(kind, name, [f"{base:.1f}", f"{own:.1f}", f"{more:+.1f}", f"at most {most:+.1f}"], more <= most)

    def beside_peers(self, name, figures):
        own, zarr, tensorstore, *ratios = figures
        self.row("peers", name, [f"{own:.0f}", f"zarr {zarr:.0f}, x{ratios[0]:.2f}",
                                 f"TensorStore {tensorstore:.0f}, x{ratios[1]:.2f}", "at least x1"], min(ratios) > 1)

    def run(self):
        calls, amount = 1000, "quick" if self.options.quick else "all"
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.options.memory, exist_ok=True)
        if self.options.only in "collective":
            for name, figures in self.measure(["mpiexec.mpich", "-n", "4"], "collective", self.library, self.folder, amount, calls):
                self.beyond_c("collective", name, figures, MOST_COLLECTIVE)
        if self.options.only in "slices":
            for name, figures in self.measure([], "slices", self.library, "memory:bench", amount, calls):
                self.beyond_c("slices", name, figures, MOST_SLICE + MOST_SLICE_RATIO * figures[0])
        if self.options.only in "peers":
            for name, figures in self.measure([], "peers", self.folder, amount, calls):
                self.beside_peers(name, figures)
        shutil.rmtree(self.folder, ignore_errors=True)
        self.finish()

    def finish(self):
        if self.options.markdown:
            heads = ["work", "what", "C, us; peers: Parapet, us", "Python, us", "more, us", "wanted", "holds"]
            with open(self.options.markdown, "w") as out:
                for number, line in enumerate([heads, *self.rows]):
                    out.write("| " + " | ".join(line) + " |\n" + ("|" + "---|" * len(line) + "\n" if number == 0 else ""))
        print(f"python: {sum(self.held)} of {len(self.held)} hold")
        sys.exit(0 if all(self.held) else 1)
