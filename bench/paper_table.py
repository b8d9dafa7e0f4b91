"""bench/run paper-table: is it worth converting an array before reading it in blocks that its chunks do not match?

A square array of doubles is stored in strips of whole rows. For every block shape from the strip to a column of the
same size, three things are timed, each with an empty page cache:

    skewed       reading all of it block by block, as it is stored
    conversion   parapet copy into chunks of the block's shape
    aligned      reading all of the copy block by block

Where a skewed reading would take many times the array in chunks, only a sample of evenly spaced blocks is read, and
the time is that of the sample times what it stands for; the table says so. Blocks are read one at a time by
bench_access within the same memory limit as the copy, a sixteenth of the array.
"""
import json
import math
import os
import platform
import shutil
import statistics
import sys
import time

from command import Failure, empty_cache, run
from copying import MIB, ROOT, find_number, matrix, size

BLOCK_ELEMENTS = 1 << 17 # 1 MiB
TIMEOUT = 900
MEASURES = ("skewed", "conversion", "aligned")
COLOURS = {"skewed": "#a33c2a", "conversion": "#5b5346", "aligned": "#3f7a55", "both": "#5a4fa3"}


class PaperTable:
    def __init__(self, options):
        self.options = options
        self.edge = 4096 if options.quick else 32768
        self.rounds = options.rounds or (1 if options.quick else 3)
        self.bytes = self.edge ** 2 * 8
        self.memory = self.bytes // 16
        self.most_read = MIB << (9 if options.quick else 14) # bytes of chunks that a skewed reading may touch
        self.strip = BLOCK_ELEMENTS // self.edge
        self.blocks = [(rows, BLOCK_ELEMENTS // rows) for rows in self.heights()]
        self.directory = os.path.join(options.disk, "paper-table")
        self.tool = os.path.join(options.build, "tool", "parapet")
        self.reader = os.path.join(options.build, "bench", "bench_access")
        self.found = {block: {measure: [] for measure in MEASURES} for block in self.blocks}
        self.passes = {}
        self.failures = []
        self.svg = options.svg or (None if options.quick else os.path.join(ROOT, "docs", "results", "copy-table.svg"))

    def heights(self):
        rows = self.strip
        while BLOCK_ELEMENTS // rows >= 32:
            yield rows
            rows *= 2

    def path(self, name):
        return os.path.join(self.directory, name)

    # Measuring

    def every(self, block):
        """Each so-many-th block is read. Odd, so that a sample has blocks of all columns."""
        touched = self.bytes // MIB * (block[0] // self.strip) * MIB
        every = -(-touched // self.most_read)
        return every if every % 2 == 1 else every + 1

    def command(self, words):
        if self.options.verbose:
            print(" ".join(words), flush=True)
        empty_cache()
        return run(words, TIMEOUT)

    def read(self, store, block, every):
        words = [self.reader, self.path(store), "", f"{block[0]}x{block[1]}", size(self.memory), str(every)]
        seconds, done, blocks = self.command(words)["out"].split()
        return float(seconds) * int(blocks) / int(done)

    def convert(self, block):
        shutil.rmtree(self.path("target.zarr"), ignore_errors=True)
        done = self.command([self.tool, "copy", self.path("source.zarr"), self.path("target.zarr"), "--chunks",
                             f"{block[0]},{block[1]}", "--codec", "none", "--no-checksum", "--max-mem",
                             size(self.memory), "--json"])
        self.passes[block] = find_number(json.loads(done["out"]), "passes")
        return done["seconds"]

    def make_source(self):
        shutil.rmtree(self.directory, ignore_errors=True)
        os.makedirs(self.directory)
        shard = min(self.edge, (256 * MIB) // (self.edge * 8))
        case = dict(matrix(self.edge, self.edge, self.strip, shard), codec="none")
        run([self.options.python, os.path.join(ROOT, "bench", "copying_peer.py"), "source-zarr3", json.dumps(case), "-",
             self.path("source.zarr")], TIMEOUT)

    def measure_block(self, block):
        skewed = self.read("source.zarr", block, self.every(block))
        conversion = self.convert(block)
        aligned = self.read("target.zarr", block, 1)
        for name, seconds in zip(MEASURES, (skewed, conversion, aligned)):
            self.found[block][name].append(seconds)

    def measure(self):
        self.make_source()
        for number in range(self.rounds):
            turn = number * len(self.blocks) // self.rounds
            for block in self.blocks[turn:] + self.blocks[:turn]:
                title = f"round {number + 1}, {block[0]}x{block[1]}: "
                try:
                    self.measure_block(block)
                    title += ", ".join(f"{name} {self.found[block][name][-1]:.2f} s" for name in MEASURES)
                except (Failure, ValueError) as failure:
                    title += str(failure)
                    self.failures.append(title)
                print(title, file=sys.stderr, flush=True)
        self.blocks = [block for block in self.blocks if self.found[block]["aligned"]]

    # Reporting

    def median(self, block, measure):
        return statistics.median(self.found[block][measure])

    def readings(self, block):
        """After how many readings a conversion has paid, or None."""
        gain = self.median(block, "skewed") - self.median(block, "aligned")
        return max(1, math.ceil(self.median(block, "conversion") / gain)) if gain > 0 else None

    def row(self, block):
        readings, every = self.readings(block), self.every(block)
        times = [f"{self.median(block, name):.2f} ({min(self.found[block][name]):.2f}-"
                 f"{max(self.found[block][name]):.2f})" for name in MEASURES]
        return [f"{block[0]}x{block[1]}", "all" if every == 1 else f"1 in {every}"] + times + [
            str(self.passes[block] or ""), "never" if readings is None else str(readings)]

    def table(self):
        return [["block", "blocks read", "skewed, s (range)", "conversion, s", "aligned, s", "passes",
                 "pays after readings"]] + [self.row(block) for block in self.blocks]

    def report(self):
        table = self.table()
        widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
        for row in table:
            print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
        for text in self.failures:
            print("Failed: " + text)
        if self.options.markdown:
            with open(self.options.markdown, "w") as out:
                for number, row in enumerate(table):
                    out.write("| " + " | ".join(row) + " |\n" + ("|" + "---|" * len(row) + "\n" if number == 0 else ""))
        if self.options.json:
            with open(self.options.json, "w") as out:
                json.dump({"cores": os.cpu_count(), "system": platform.platform(), "edge": self.edge,
                           "memory": self.memory, "failures": self.failures, "blocks": [
                               {"block": block, "every": self.every(block), "passes": self.passes[block],
                                "readings": self.readings(block), **self.found[block]} for block in self.blocks]},
                          out, indent=1)
        if self.svg:
            with open(self.svg, "w") as out:
                out.write(Figure(self).text())

    def run(self):
        started = time.time()
        for program in (self.tool, self.reader):
            if not os.path.exists(program):
                sys.exit(f"bench: {program} is missing; build it first")
        try:
            self.measure()
        except Failure as failure:
            sys.exit(f"bench: {failure}")
        finally:
            shutil.rmtree(self.directory, ignore_errors=True)
        if not self.blocks:
            sys.exit(f"bench: {self.failures[0]}")
        self.report()
        pays = sum(self.readings(block) == 1 for block in self.blocks)
        print(f"paper-table: conversion pays for a single reading of {pays} of {len(self.blocks)} block shapes "
              f"({self.edge}^2 doubles, {self.rounds} rounds, {len(self.failures)} failed, "
              f"{time.time() - started:.0f} s)")
        sys.exit(1 if self.failures else 0)


class Figure:
    """Seconds over block shapes, with a logarithmic scale; behind them, where conversion pays for one reading."""

    left, top, width, height = 62, 56, 640, 320

    def __init__(self, table):
        self.table = table
        seconds = [table.median(block, name) for block in table.blocks for name in MEASURES]
        both = [sum(self.both(block)) for block in table.blocks]
        self.low = math.floor(math.log10(min(seconds)))
        self.high = max(math.ceil(math.log10(max(seconds + both))), self.low + 1)
        self.step = self.width / len(table.blocks)

    def both(self, block):
        return [self.table.median(block, name) for name in ("conversion", "aligned")]

    def x(self, number):
        return self.left + (number + 0.5) * self.step

    def y(self, seconds):
        return self.top + self.height * (self.high - math.log10(seconds)) / (self.high - self.low)

    def scale(self):
        for power in range(self.low, self.high + 1):
            y = self.y(10 ** power)
            yield f'<path class="grid" d="M{self.left},{y:.1f} h{self.width}"/>'
            yield f'<text class="note" x="{self.left - 8}" y="{y + 4:.1f}" text-anchor="end">{10.0 ** power:g} s</text>'

    def shade(self):
        paying = [number for number, block in enumerate(self.table.blocks) if self.table.readings(block) == 1]
        for number in paying:
            yield (f'<rect fill="#f4f1ea" x="{self.x(number) - self.step / 2:.1f}" y="{self.top}" '
                   f'width="{self.step + 0.5:.1f}" height="{self.height}"/>')
        if paying:
            yield (f'<text class="note" x="{self.x(paying[0]) - self.step / 2 + 6:.1f}" y="{self.top + 16}">'
                   'conversion pays for a single reading</text>')

    def line(self, name, seconds, label, is_dashed=False):
        points = " ".join(f"{self.x(number):.1f},{self.y(value):.1f}" for number, value in enumerate(seconds))
        dashes = ' stroke-dasharray="5 4"' if is_dashed else ""
        yield f'<polyline points="{points}" fill="none" stroke="{COLOURS[name]}" stroke-width="2"{dashes}/>'
        for number, value in enumerate(seconds):
            yield f'<circle cx="{self.x(number):.1f}" cy="{self.y(value):.1f}" r="2.6" fill="{COLOURS[name]}"/>'
        self.labels.append([self.y(seconds[-1]) + 4, COLOURS[name], label])

    def lines(self):
        self.labels = []
        blocks = self.table.blocks
        for name, label in zip(MEASURES, ("skewed reading", "conversion", "aligned reading")):
            yield from self.line(name, [self.table.median(block, name) for block in blocks], label)
        yield from self.line("both", [sum(self.both(block)) for block in blocks], "conversion + aligned", True)

    def names(self):
        """Each line is named at its end; names that would overlap move apart."""
        below = 0
        for y, colour, label in sorted(self.labels):
            below = max(y, below + 15)
            x = self.x(len(self.table.blocks) - 1) + 10
            yield f'<text x="{x:.1f}" y="{below:.1f}" fill="{colour}">{label}</text>'

    def axis(self):
        for number, (rows, columns) in enumerate(self.table.blocks):
            x, y = self.x(number), self.top + self.height + 18
            yield f'<text class="note" x="{x:.1f}" y="{y}" text-anchor="middle">{rows}</text>'
            yield f'<text class="note" x="{x:.1f}" y="{y + 13}" text-anchor="middle">x {columns}</text>'
        yield (f'<text class="note" x="{self.left + self.width / 2}" y="{self.top + self.height + 54}" '
               'text-anchor="middle">block that is read at a time, 1 MiB each</text>')

    def text(self):
        edge, strip = self.table.edge, self.table.strip
        head = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.left + self.width + 120} '
                f'{self.top + self.height + 70}" font-family="sans-serif" font-size="13">',
                "<style>.note { fill: #5b5346; font-size: 11px } .grid { stroke: #d8d3c8; stroke-width: 0.8 }</style>",
                '<rect width="100%" height="100%" fill="#fff"/>',
                f'<text x="{self.left}" y="24" font-weight="bold" font-size="15">Reading {edge} x {edge} doubles in '
                f'blocks, stored in strips of {strip} x {edge}</text>',
                f'<text class="note" x="{self.left}" y="42">as it is, or converted by parapet copy first; '
                f'memory {size(self.table.memory)}, cold cache, medians</text>']
        body = [*self.shade(), *self.scale(), *self.lines(), *self.names(), *self.axis()]
        return "\n".join(head + ["  " + line for line in body] + ["</svg>", ""])
