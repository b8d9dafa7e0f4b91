"""bench/run cache: what owners that last gain, by what they remember of the data and of who holds what.

    bench/run cache [--quick] [--build DIR] [--memory DIR] [--rounds N] [--markdown FILE] [--svg FILE]

The sliding window: all ranks read, update and write each of 8 x 8 tiles in turn, of 3 MB (--quick: 128 KiB), through disks of 200
MB/s on each server. Without a cache; with owners that last; with a cache that holds the array, and with one that holds a
sixteenth of it, each writing through and writing back, with a flush in the end; and by layout alone, where every tile is
a shard. Then steps that are written and read again, as in BTIO, on 4, 9 and 16 ranks, and 24 arrays that are written
once, as in a checkpoint of FLASH. Hits are those of chunks, and MB those that went from and to storage. Then 100 writes
(--quick: 40) of the same 8 arrays on 16 ranks.

Ways take turns, and the best of three rounds of each is printed: it is disturbed least; without --quick there is one, of
about a quarter of an hour, and it is drawn. What is wanted: writing back into a cache
that holds the window at least 4 times the speed without a cache; with one that is too small, at least 0.95 of it.
"""
import os
import shutil
import subprocess
import sys

from bars import BLUE, RED, Picture
from collective import print_table

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
KEPT = "keep_descriptions=yes"
BACK = "write_back=yes"
LEAST_TOO_SMALL = 0.95
LEAST_BACK = 4


class Cache:
    def __init__(self, options):
        self.options = options
        self.program = os.path.join(options.build, "bench", "bench_cache")
        self.directory = os.path.join(options.memory, "cache")
        self.rounds = options.rounds or (3 if options.quick else 1)
        self.svg = options.svg or (None if options.quick else os.path.join(ROOT, "docs", "results", "cache.svg"))
        self.edge = 128 if options.quick else 612
        whole = 8 * 8 * self.edge * self.edge * 8
        large, small = (f"cache_bytes={size}" for size in (2 * whole, whole // 16))
        memory = f"memory_bytes={max(6 * whole, 256 << 20)}"
        self.ways = {
            "no cache": ["default", memory],
            "descriptions kept": ["default", memory, KEPT],
            "cache that holds the array": ["default", memory, KEPT, large],
            "cache that holds it, write-back": ["default", memory, KEPT, large, BACK],
            "cache of a sixteenth": ["default", memory, KEPT, small],
            "cache of a sixteenth, write-back": ["default", memory, KEPT, small, BACK],
            "tiles are shards": ["tiles", memory],
            "tiles are shards, cache": ["tiles", memory, KEPT, large],
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

    def best(self, ways):
        """Of each way, which is how many ranks do what: the round that took least."""
        found = {name: [] for name in ways}
        for _ in range(self.rounds):
            for name, words in ways.items():
                found[name].append(self.start(*words))
        return {name: min(rows) for name, rows in found.items()}

    @staticmethod
    def row(name, base, found):
        seconds, read, written, hits, misses = found
        return [name, f"{seconds:.2f}", f"{base / seconds:.2f}", f"{read / 1e6:.0f}", f"{written / 1e6:.0f}",
                f"{100 * hits / (hits + misses):.0f} %" if hits + misses else ""]

    def slide(self):
        best = self.best({name: [4, "window", 8, self.edge, 200e6, *words] for name, words in self.ways.items()})
        base = best["no cache"][0]
        rows = [["sliding window", "seconds", "times as fast", "MB read", "MB written", "hits"]]
        rows += [self.row(name, base, found) for name, found in best.items()]
        too_small = max(best[name][0] for name in best if name.startswith("cache of a sixteenth"))
        return rows, base / too_small, base / best["cache that holds it, write-back"][0]

    def alternate(self):
        edge, steps = (64, 20) if self.options.quick else (102, 40)
        rows = [["write and read in turn", "seconds", "times as fast", "MB read", "MB written", "hits"]]
        for ranks in (4, 9, 16):
            work = [ranks, "alternate", steps, edge, 200e6]
            rows += self.compare(f"{ranks} ranks, ", work)
        return rows

    def compare(self, prefix, work):
        cache = [KEPT, "cache_bytes=256MiB", "memory_bytes=512MiB"]
        best = self.best({"no cache": work, "cache": [*work, *cache], "write-back": [*work, *cache, BACK]})
        return [self.row(prefix + name, best["no cache"][0], found) for name, found in best.items()]

    def checkpoint(self):
        blocks = 20 if self.options.quick else 80
        rows = [["24 arrays once, 4 ranks", "seconds", "times as fast", "MB read", "MB written", "hits"]]
        return rows + self.compare("", [4, "flash", 24, blocks, 200e6])

    def repeat(self):
        calls = 40 if self.options.quick else 100
        rows = [["the same 8 arrays again, 16 ranks", "buffers", "transport", "ms a call", "messages, first", "later"]]
        for transport in ("direct", "messages"):
            for buffers in (1, 2):
                for kept in ("not kept", "kept"):
                    words = ["repeat", 8, calls, buffers, "owners=in_turn", "transport=" + transport]
                    words += [KEPT] if kept == "kept" else []
                    ms, first, later = min(self.start(16, *words) for _ in range(self.rounds))
                    rows.append([kept, str(buffers), transport, f"{ms:.1f}", f"{first:.0f}", f"{later:.0f}"])
        return rows

    def write(self, tables):
        with open(self.options.markdown, "w", encoding="utf-8") as out:
            for rows in tables:
                for number, row in enumerate(rows):
                    out.write("| " + " | ".join(row) + " |\n" + ("|" + "---|" * len(row) + "\n" if number == 0 else ""))
                out.write("\n")

    @staticmethod
    def picture(tables):
        """Each way beside the first one of its work, which has no cache."""
        return Picture("Times as fast as without a cache",
                       [(rows[0][0], [(row[0], float(row[2])) for row in rows[1:]]) for rows in tables],
                       {"write-back": RED, "cache": BLUE})

    def run(self):
        window, too_small, back = self.slide()
        print_table(window)
        alternated = self.alternate()
        print_table(alternated)
        checkpoint = self.checkpoint()
        print_table(checkpoint)
        repeated = self.repeat()
        print_table(repeated)
        if self.options.markdown:
            self.write([window, alternated, checkpoint, repeated])
        if self.svg:
            with open(self.svg, "w", encoding="utf-8") as out:
                out.write(self.picture([window, alternated, checkpoint]).draw())
        word = {True: "holds", False: "FAILS"}
        holds = [too_small >= LEAST_TOO_SMALL, back >= LEAST_BACK]
        print(f"cache: one that is too small reaches {too_small:.2f} of the speed without: {word[holds[0]]}")
        print(f"cache: write-back that holds the window is {back:.2f} times as fast as without: {word[holds[1]]}")
        sys.exit(0 if all(holds) else 1)
