"""bench/run files: files of other formats beside the tools that they come with, and beside pread.

    bench/run files [--quick] [--build DIR] [--disk DIR] [--rounds N] [--only TEXT] [--json FILE] [--markdown FILE]
                    [--verbose]

"compressed": a netCDF-4 file of 2 GiB (--quick: 256 MiB) of float32, maps of (time 1, lat 181, lon 360) compressed with
deflate:1 and no shuffle, copied into chunks of (time all, lat 20, lon 20). Parapet has two ranks of one thread each and
a quarter of the array as memory, all ranks together; it makes Zarr with gzip:1, which is the same deflate, and with
zstd:1, which is not: that row says so. nccopy and h5repack have one process, as they are, and write netCDF-4 and HDF5
with deflate:1; nccopy gets the same memory for its caches. Everything starts with an empty page cache and ends when the
copy is durable. Memory is that of the largest process.

"flat": a netCDF classic file and an npy file of doubles, 2 GiB (--quick: 256 MiB), read by two ranks together, each one
half, beside pread of the same ranges by the same ranks, with an empty page cache and with a full one. netCDF is
big-endian, and pread leaves it so.

Wanted: gzip:1 at least 1.7 times as fast as the faster of nccopy and h5repack, zstd:1 at least 3 times; flat at least
0.85 of pread with an empty page cache; medians of the ratios within a round. Methods take turns, in an order that is
rotated each round; one that takes 10 times as long as the fastest runs only once, and is ended after 300 s. The exit
status is 0 if all hold; with --quick, if they hold with a slack of 1.5.
Without nccopy and h5repack, what is measured against them is not judged, and does not hold.
"""
import itertools
import json
import math
import os
import platform
import shutil
import statistics
import sys
import time

from collective import print_table
from command import Failure, empty_cache, run
from taken import tell_taken

MIB = 1 << 20
LEAST_GZIP, LEAST_ZSTD, LEAST_FLAT, QUICK_SLACK = 1.7, 3.0, 0.85, 1.5
TIMEOUT = 300
FAR_BEHIND = 10
LAT, LON, COLUMNS = 181, 360, 4096

MAKE_COMPRESSED = """
import netCDF4, numpy, sys
path, times = sys.argv[1], int(sys.argv[2])
lat, lon = numpy.linspace(-1.5, 1.5, 181)[:, None], numpy.linspace(0, 6.28, 360)[None, :]
noise = numpy.random.default_rng(1)
with netCDF4.Dataset(path, "w") as file:
    for name, length in (("time", times), ("lat", 181), ("lon", 360)):
        file.createDimension(name, length)
    made = file.createVariable("t2m", "f4", ("time", "lat", "lon"), zlib=True, complevel=1, shuffle=False,
                               chunksizes=(1, 181, 360))
    for t in range(times):
        field = 273 + 30 * numpy.cos(lat) * numpy.sin(lon + t / 24) + noise.standard_normal((181, 360))
        made[t] = numpy.round(field, 1)
"""
MAKE_FLAT = """
import netCDF4, numpy, sys
folder, rows, columns = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
data = numpy.arange(rows * columns, dtype="f8").reshape(rows, columns)
numpy.save(folder + "/flat.npy", data)
with netCDF4.Dataset(folder + "/flat.nc", "w", format="NETCDF3_64BIT_DATA") as file:
    file.createDimension("row", rows)
    file.createDimension("column", columns)
    file.createVariable("data", "f8", ("row", "column"))[:] = data
"""


class Files:
    def __init__(self, options):
        self.options = options
        self.rounds = options.rounds or (3 if options.quick else 5)
        self.bytes = (256 if options.quick else 2048) * MIB
        self.times = self.bytes // (4 * LAT * LON)
        self.rows = self.bytes // (8 * COLUMNS)
        self.directory = os.path.join(options.disk, "files")
        self.tool = os.path.join(options.build, "tool", "parapet")
        self.reader = os.path.join(options.build, "bench", "bench_files_read")
        self.results = {} # (work, method) -> entries of the rounds
        self.taken, self.goals = [], []

    def path(self, name):
        return os.path.join(self.directory, name)

    # Measuring

    def execute(self, words):
        if self.options.verbose:
            print(" ".join(words), flush=True)
        found = run(words, TIMEOUT)
        self.taken.append(found["taken"])
        return found

    def interleave(self, work, methods):
        """Each method once a round; who begins changes."""
        names = list(methods)
        for number in range(self.rounds):
            turn = number % len(names)
            for name in names[turn:] + names[:turn]:
                if number > 0 and self.is_far_behind(work, name):
                    continue
                entry = methods[name]()
                self.results.setdefault((work, name), []).append(entry)
                print(f"{work}, round {number + 1} of {self.rounds}, {name}: {entry[0]:.3f} s", file=sys.stderr, flush=True)

    def is_far_behind(self, work, name):
        """Whether the first round was lost by so much that more rounds only take time."""
        first = [entries[0][0] for (of, _), entries in self.results.items() if of == work]
        return self.results[work, name][0][0] > FAR_BEHIND * min(first)

    def copy(self, words, target):
        def once():
            self.clear(target)
            empty_cache()
            try:
                found = self.execute(words)
            except Failure as failure:
                if "not done" not in str(failure):
                    raise
                found = {"seconds": math.inf, "rss_bytes": 0}
            self.clear(target)
            return found["seconds"], found["rss_bytes"]
        return once

    @staticmethod
    def clear(path):
        if os.path.isdir(path):
            shutil.rmtree(path)
        elif os.path.exists(path):
            os.remove(path)

    def measure_compressed(self):
        source, zarr, nc = self.path("source.nc"), self.path("out.zarr"), self.path("out.nc")
        self.execute([self.options.python, "-c", MAKE_COMPRESSED, source, str(self.times)])
        memory = self.bytes // 4
        chunks = f"time/{self.times},lat/20,lon/20"
        def parapet(codec):
            return self.copy(["mpiexec.mpich", "-n", "2", self.tool, "copy", "--quiet", "--threads", "1", "--max-mem",
                              f"{memory // 2 // MIB}MiB", "--chunks", chunks, "--codec", codec, source, zarr], zarr)
        half = str(memory // 2)
        methods = {"parapet, 2 ranks, gzip:1": parapet("gzip:1"), "parapet, 2 ranks, zstd:1": parapet("zstd:1")}
        if shutil.which("nccopy"):
            methods["nccopy, deflate:1"] = self.copy(["nccopy", "-d", "1", "-c", chunks, "-m", half, "-h", half, source, nc], nc)
        if shutil.which("h5repack"):
            methods["h5repack, deflate:1"] = self.copy(["h5repack", "-f", "t2m:GZIP=1", "-l", f"t2m:CHUNK={self.times}x20x20",
                                                        source, nc], nc)
        self.interleave("compressed", methods)
        peers = [name for name in methods if not name.startswith("parapet")]
        for codec, least in (("gzip:1", LEAST_GZIP), ("zstd:1", LEAST_ZSTD)):
            self.judge(f"{codec} against deflate:1 of the faster peer", "compressed", f"parapet, 2 ranks, {codec}", peers, least)

    def read(self, method, file, where, is_cold):
        def once():
            if is_cold:
                empty_cache()
            else:
                with open(self.path(file), "rb") as source:
                    while source.read(64 * MIB):
                        pass
            found = self.execute(["mpiexec.mpich", "-n", "2", self.reader, method, self.path(file), where, str(self.rows),
                                  str(COLUMNS)])
            return float(found["out"].split()[0]), found["rss_bytes"]
        return once

    def offset(self, file):
        """Where the elements begin: both formats have them last."""
        return str(os.path.getsize(self.path(file)) - self.bytes)

    def measure_flat(self):
        self.execute([self.options.python, "-c", MAKE_FLAT, self.directory, str(self.rows), str(COLUMNS)])
        for file, where in (("flat.nc", "data"), ("flat.npy", "")):
            for is_cold in (True, False):
                work = f"{file}, {'empty' if is_cold else 'full'} page cache"
                self.interleave(work, {"parapet": self.read("parapet", file, where, is_cold),
                                       "pread": self.read("pread", file, self.offset(file), is_cold)})
                if is_cold:
                    self.judge(f"{work}, of pread", work, "parapet", ["pread"], LEAST_FLAT)

    # Reporting

    def ratio(self, work, name, others):
        """How many times as fast as the faster of the others."""
        rounds = itertools.zip_longest(*(self.results[work, other] for other in others), fillvalue=(math.inf, 0))
        return statistics.median(min(entry[0] for entry in beside) / own[0]
                                 for own, beside in zip(self.results[work, name], rounds))

    def judge(self, sentence, work, name, others, least):
        found = self.ratio(work, name, others) if others else None
        self.goals.append((sentence, found, least))

    def report(self):
        table = [["work", "method", "s, median (range)", "memory, MiB"]]
        for (work, name), entries in self.results.items():
            seconds = [entry[0] for entry in entries]
            spread = f"{statistics.median(seconds):.3f} ({min(seconds):.3f}-{max(seconds):.3f})"
            table.append([work, name, spread if max(seconds) < math.inf else f"not done in {TIMEOUT} s",
                          f"{max(entry[1] for entry in entries) / MIB:.0f}"])
        print_table(table)
        print(tell_taken(self.taken))
        if self.options.markdown:
            with open(self.options.markdown, "w") as out:
                for number, row in enumerate(table):
                    out.write("| " + " | ".join(row) + " |\n" + ("|" + "---|" * len(row) + "\n" if number == 0 else ""))
        if self.options.json:
            with open(self.options.json, "w") as out:
                json.dump({"cores": os.cpu_count(), "system": platform.platform(), "taken_by_others": self.taken,
                           "results": [[*key, entries] for key, entries in self.results.items()]}, out, indent=1)

    def conclude(self, seconds):
        slack, failed = QUICK_SLACK if self.options.quick else 1, 0
        for sentence, found, least in self.goals:
            if found is None:
                failed += 1
                print(f"not judged  {sentence}, goal {least:.2f}: neither nccopy nor h5repack is installed")
                continue
            holds = found >= least / slack
            failed += not holds
            print(("holds  " if holds else "FAILS  ") + f"{sentence}: {found:.2f} times, goal {least:.2f}"
                  + ("" if found >= least else ", which is MISSED"))
        print(f"files: {len(self.goals) - failed} of {len(self.goals)} hold ({self.bytes // MIB} MiB, {self.rounds} rounds, "
              f"{seconds:.0f} s)")
        sys.exit(1 if failed else 0)

    def run(self):
        started = time.time()
        for program in (self.tool, self.reader):
            if not os.path.exists(program):
                sys.exit(f"bench: {program} is missing; build it first")
        shutil.rmtree(self.directory, ignore_errors=True)
        os.makedirs(self.directory)
        try:
            for name, measure in (("compressed", self.measure_compressed), ("flat", self.measure_flat)):
                if self.options.only in name:
                    measure()
        except Failure as failure:
            sys.exit(f"bench: {failure}")
        finally:
            shutil.rmtree(self.directory, ignore_errors=True)
        self.report()
        self.conclude(time.time() - started)
