"""bench/run cache: what owners that last gain, by what they remember of the data and of who holds what.

    bench/run cache [--quick] [--build DIR] [--memory DIR] [--rounds N] [--markdown FILE]

The sliding window: all ranks read, update and write each of 8 x 8 tiles in turn, of 3 MB (--quick: 128 KiB), through disks of 200
MB/s on each server. Without a cache; with owners that last; with a cache that holds the array, and with one that holds a
sixteenth of it, each writing through; and by layout alone, where every tile is a shard. Hits are those of chunks, and
MB those that went from and to storage. Then 100 writes (--quick: 40) of the same 8 arrays on 16 ranks. Ways take turns; the
median of the rounds is printed. What is wanted: with a cache that is too small, at least 0.95 of the speed without one.
"""
import os
import shutil
import statistics
import subprocess
import sys

from collective import print_table

LASTING = "ownership=lasting"
LEAST_TOO_SMALL = 0.95


class Cache:
    def __init__(self, options):
        self.options = options
        self.program = os.path.join(options.build, "bench", "bench_cache")
        self.directory = os.path.join(options.memory, "cache")
        self.rounds = options.rounds or 3
        self.edge = 128 if options.quick else 612
        whole = 8 * 8 * self.edge * self.edge * 8
        large, small = (f"cache_bytes={size}" for size in (2 * whole, whole // 16))
        memory = f"memory_bytes={max(6 * whole, 256 << 20)}"
        self.ways = {
            "no cache": ["default", memory],
            "lasting owners": ["default", memory, LASTING],
            "cache that holds the array": ["default", memory, LASTING, large],
            "cache of a sixteenth": ["default", memory, LASTING, small],
            "tiles are shards": ["tiles", memory],
            "tiles are shards, cache": ["tiles", memory, LASTING, large],
        }

    def start(self, ranks, *words):
        shutil.rmtree(self.directory, ignore_errors=True)
        os.makedirs(os.path.dirname(self.directory), exist_ok=True)
        command = ["mpiexec.mpich", "-n", str(ranks), self.program, words[0], self.directory, *map(str, words[1:])]
        result = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        shutil.rmtree(self.directory, ignore_errors=True)
        if result.returncode != 0:
            sys.exit("bench: failed: " + " ".join(command))
        return [float(word) for word in result.stdout.split()]

    def slide(self):
        found = {name: [] for name in self.ways}
        for _ in range(self.rounds):
            for name, words in self.ways.items():
                found[name].append(self.start(4, "window", 8, self.edge, 200e6, *words))
        median = {name: [statistics.median(column) for column in zip(*rows)] for name, rows in found.items()}
        base = median["no cache"][0]
        rows = [["sliding window", "seconds", "times as fast", "MB read", "MB written", "hits"]]
        for name, (seconds, read, written, hits, misses) in median.items():
            rows.append([name, f"{seconds:.2f}", f"{base / seconds:.2f}", f"{read / 1e6:.0f}", f"{written / 1e6:.0f}",
                         f"{100 * hits / (hits + misses):.0f} %" if hits + misses else ""])
        return rows, base / median["cache of a sixteenth"][0]

    def repeat(self):
        calls = 40 if self.options.quick else 100
        rows = [["the same 8 arrays again, 16 ranks", "buffers", "transport", "ms a call", "messages, first", "later"]]
        for transport in ("direct", "messages"):
            for buffers in (1, 2):
                for owners in ("round_robin", "lasting"):
                    found = [self.start(16, "repeat", 8, calls, buffers, "ownership=" + owners, "transport=" + transport)
                             for _ in range(self.rounds)]
                    ms, first, later = (statistics.median(column) for column in zip(*found))
                    rows.append([owners, str(buffers), transport, f"{ms:.1f}", f"{first:.0f}", f"{later:.0f}"])
        return rows

    def write(self, tables):
        with open(self.options.markdown, "w", encoding="utf-8") as out:
            for rows in tables:
                for number, row in enumerate(rows):
                    out.write("| " + " | ".join(row) + " |\n" + ("|" + "---|" * len(row) + "\n" if number == 0 else ""))
                out.write("\n")

    def run(self):
        window, too_small = self.slide()
        print_table(window)
        repeated = self.repeat()
        print_table(repeated)
        if self.options.markdown:
            self.write([window, repeated])
        holds = too_small >= LEAST_TOO_SMALL
        print(f"cache: one that is too small reaches {too_small:.2f} of the speed without: {'holds' if holds else 'FAILS'}")
        sys.exit(0 if holds else 1)
