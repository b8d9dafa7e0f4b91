"""bench/run access: how long it takes one process to read a little, beside other libraries.

    bench/run access [--quick] [--build DIR] [--disk DIR] [--memory DIR] [--only TEXT] [--markdown FILE]

An array of doubles on one process, sharded, in chunks of 512 KiB: as it is in memory without a checksum ("plain"), and
with zstd and CRC-32C. What is read: one element, a box of 64 KiB, a whole column, and 1,000 elements from all over the
array in one call. Parapet reads with read_local; zarr-python and TensorStore read the same files, with what they need
open before, one thread that computes and one for files, and no cache.

warm: a directory in memory (--memory). cold: a directory on a disk (--disk), whose files the system drops from its page
cache before each call. Libraries take turns in one process and read the same places in each turn; judged is the median
of the ratios of each turn. Parapet is to be ahead in every row. The build must have the package: cmake --preset mpich
-DPARAPET_PYTHON=ON.
"""
import os
import shutil
import subprocess
import sys

from tables import markdown, markdown_head, markdown_row


class Access:
    name = "access"
    heads = ["cache", "what", "Parapet, us", "zarr-python, us", "TensorStore, us", "ahead of zarr-python",
             "ahead of TensorStore", "ahead of both"]

    def __init__(self, options):
        self.options = options
        self.package = os.path.join(options.build, "python")
        self.rows, self.held = [], []
        if not os.path.exists(self.package):
            sys.exit(f"bench: {self.package} is not there: configure with -DPARAPET_PYTHON=ON and build")

    def measure(self, folder, *words):
        """Yields what the program prints: a name, microseconds of each library, and ratios to Parapet."""
        program = os.path.join(os.path.dirname(os.path.abspath(__file__)), self.name + "_calls.py")
        command = [self.options.python, program, folder, *words]
        environment = dict(os.environ, PYTHONPATH=self.package)
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout:
                name, *figures = line.rstrip("\n").split("\t")
                yield name, [float(figure) for figure in figures]
        if process.returncode != 0:
            sys.exit(f"bench: {' '.join(command)} failed")

    def row(self, state, name, figures):
        own, zarr, tensorstore, zarr_ratio, tensorstore_ratio = figures
        is_held = min(zarr_ratio, tensorstore_ratio) > 1
        if not self.rows:
            print(markdown_head(self.heads), end="")
        self.rows.append([state, name, f"{own:.0f}", f"{zarr:.0f}", f"{tensorstore:.0f}", f"{zarr_ratio:.2f}",
                          f"{tensorstore_ratio:.2f}", "yes" if is_held else "NO"])
        self.held.append(is_held)
        print(markdown_row(self.rows[-1]), end="", flush=True)

    def places(self):
        return ("warm", self.options.memory), ("cold", self.options.disk)

    def run(self):
        amount = "quick" if self.options.quick else "all"
        for state, parent in self.places():
            if self.options.only not in state:
                continue
            folder = os.path.join(parent, self.name)
            shutil.rmtree(folder, ignore_errors=True)
            os.makedirs(parent, exist_ok=True)
            for name, figures in self.measure(folder, state, amount):
                self.row(state, name, figures)
            shutil.rmtree(folder, ignore_errors=True)
        self.finish()

    def tables(self):
        return markdown(self.heads, self.rows)

    def finish(self):
        if self.options.markdown:
            with open(self.options.markdown, "w", encoding="utf-8") as out:
                out.write(self.tables())
        print(f"{self.name}: {sum(self.held)} of {len(self.held)} hold")
        sys.exit(0 if all(self.held) else 1)
