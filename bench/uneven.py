"""bench/run uneven: servers that are not equally fast (paper 003: Parallel Input/Output with Heterogeneous Disks).

    bench/run uneven [--quick] [--build DIR] [--memory DIR] [--case NAME=VALUE,...] [--json FILE] [--markdown FILE]

Every server has a throttled store of 16 MB/s over a directory in memory; a slow one has half of that. What is printed is
the fraction of the sum of the servers' speeds that calls reached: the median over the calls and the range, without
launching and opening. An array of float32, uncompressed, at least 8 ranks, a block each; in the full form 512^3 in 256
shards of 2 MiB, 8 calls that write and 3 that read, some forty minutes for each strategy; in the quick form 16 shards
of 256 KiB for each server, 3 calls and 1, some forty seconds for each.

    equal    2, 4, 8 and 16 servers, none of them slow: what stealing costs, compared with the nearest owners
    steady   2, 4, 8 and 16 servers, of which none, one, half or all are slow; writing and reading
    change   all are equal at first; in the fifth call (quick: the second) one becomes slow, half-way
    quarter  one of 4 servers has a quarter of the speed: time compared with the ideal
    holding  one rank holds seven eighths of the array: compared with even data
    copy     on 4 ranks, all of them servers, of which none or one is slow; it reads and writes, and takes no strategy

    --case strategy=nearest+in_turn,servers=4+16,part=steady+change     only these

A row for each strategy: in_turn, nearest, weights and stealing (owners=in_turn and so on, sharing=stealing). Goals are
judged for the latter two, and do not decide the exit status.
"""
import json
import statistics
import sys
import time

from servers import STRATEGIES, Page, Servers, middle

PARTS = ("equal", "steady", "change", "quarter", "holding", "copy")
FULL = {"calls": 8, "reads": 3, "change": 5, "change_calls": 8, "shards": "64x64x128", "chunks": "64x64x64",
        "shapes": dict.fromkeys((2, 4, 8, 16), "512x512x512")}
QUICK = {"calls": 3, "reads": 1, "change": 2, "change_calls": 4, "shards": "32x32x64", "chunks": "32x32x32",
         "shapes": {2: "128x128x128", 4: "128x128x256", 8: "128x256x256", 16: "256x256x256"}}
ADAPTS = ("weights", "stealing") # judged
EQUAL_LEAST, STEADY_LEAST, CHANGE_LEAST, LATER_LEAST, QUARTER_MOST, HOLDING_LEAST = 0.98, 0.92, 0.90, 0.92, 1.12, 0.80


class Uneven:
    def __init__(self, options):
        self.options = options
        self.form = QUICK if options.quick else FULL
        self.servers = Servers(options, "uneven")
        self.page = Page(options)
        self.case = {"strategy": list(STRATEGIES), "servers": [2, 4, 8, 16], "part": list(PARTS)}
        for word in filter(None, (options.case or "").split(",")):
            name, _, values = word.partition("=")
            if name not in self.case:
                sys.exit(f"bench: {name}: strategy, servers or part")
            self.case[name] = [int(value) if value.isdigit() else value for value in values.split("+")]
        self.verdicts, self.found, self.off = [], [], []

    def run_case(self, part, servers, strategy, *words):
        ranks = 4 if part == "copy" else max(8, servers)
        run = self.servers.run(ranks, self.form["shapes"][servers], f"servers={servers}",
                               STRATEGIES[strategy], "durability=leave", f"shards={self.form['shards']}",
                               f"chunks={self.form['chunks']}", *words, f"calls={self.form['calls']}",
                               f"reads={self.form['reads']}") # the first of two words counts
        self.found.append({"part": part, "servers": servers, "strategy": strategy, "words": words,
                           "calls": [call._asdict() for call in run.calls],
                           "speeds": [speed._asdict() for speed in run.speeds]})
        return run

    def judge(self, holds, sentence):
        self.verdicts.append((holds, sentence))

    # The parts

    @staticmethod
    def slow_counts(servers):
        return sorted({0, 1, servers // 2, servers})

    def equal(self):
        """Whatever strategies are asked for: one alone says nothing."""
        rows = []
        for servers in self.case["servers"]:
            plain, taking = (self.run_case("equal", servers, strategy, "slow=0") for strategy in ("nearest", "stealing"))
            for work in ("write", "read"):
                ratio = statistics.median(taking.fractions(work)) / statistics.median(plain.fractions(work))
                rows.append([str(servers), work, middle(plain.fractions(work)), middle(taking.fractions(work)), f"{ratio:.3f}"])
                self.judge(ratio >= EQUAL_LEAST, f"{work}, {servers} equal servers: stealing {ratio:.3f} of nearest, at least {EQUAL_LEAST}")
        self.page.table("All servers are equal: fraction of the sum of their speeds, and stealing compared with nearest",
                        ["servers", "work", "nearest", "stealing", "ratio"], rows)

    def steady(self):
        rows = []
        for servers in self.case["servers"]:
            counts = self.slow_counts(servers)
            runs = {strategy: self.run_case("steady", servers, strategy, "slow=" + "+".join(str(slow) for slow in counts))
                    for strategy in self.case["strategy"]}
            for slow in counts:
                for strategy, run in runs.items():
                    rows.append([f"{slow}/{servers}", strategy, middle(run.fractions("write", slow)),
                                 middle(run.fractions("read", slow))])
                    self.judge_steady(run, strategy, slow, servers)
            self.off += [abs(speed.measured / speed.given - 1) for run in runs.values() for speed in run.speeds
                         if speed.measured > 0]
        self.page.table("Steady: fraction of the sum of the servers' speeds", ["slow servers", "strategy", "writing", "reading"], rows)

    @staticmethod
    def learning(strategy, work):
        """Calls that do not count: with weights, one has to meet a server before it knows how fast it is."""
        return 1 if strategy == "weights" and work == "write" else 0

    def judge_steady(self, run, strategy, slow, servers):
        for work in ("write", "read"):
            fractions = run.fractions(work, slow)[self.learning(strategy, work):]
            if strategy in ADAPTS and fractions:
                found = statistics.median(fractions)
                self.judge(found >= STEADY_LEAST, f"{work}, {slow}/{servers} slow, {strategy}: {found:.2f}, at least {STEADY_LEAST:.2f}")

    def change(self):
        at, rows = self.form["change"], []
        for servers in self.case["servers"]:
            for strategy in self.case["strategy"]:
                run = self.run_case("change", servers, strategy, f"change={at}", "reads=0",
                                    f"calls={self.form['change_calls']}")
                fractions = run.fractions("write")
                rows.append([str(servers), strategy] + [f"{fraction:.2f}" for fraction in fractions])
                if strategy == "stealing":
                    self.judge(fractions[at - 1] >= CHANGE_LEAST,
                               f"{servers} servers, one becomes slow: stealing {fractions[at - 1]:.2f}, at least {CHANGE_LEAST:.2f}")
                if strategy in ADAPTS and len(fractions) > at + 1:
                    self.judge(fractions[at + 1] >= LATER_LEAST, f"{servers} servers, two calls after one became slow: "
                               f"{strategy} {fractions[at + 1]:.2f}, at least {LATER_LEAST:.2f}")
        heads = ["servers", "strategy"] + [f"call {number}" for number in range(1, self.form["change_calls"] + 1)]
        self.page.table(f"One server becomes half as fast, half-way through call {at}: fraction", heads, rows)

    def quarter(self):
        rows = []
        for strategy in self.case["strategy"]:
            run = self.run_case("quarter", 4, strategy, "slow=1", "factor=0.25")
            times = {work: [1 / fraction for fraction in run.fractions(work)] for work in ("write", "read")}
            rows.append([strategy, middle(times["write"]), middle(times["read"])])
            for work, found in times.items():
                found = found[self.learning(strategy, work):]
                if strategy in ADAPTS and found:
                    self.judge(statistics.median(found) <= QUARTER_MOST, f"{work}, one of 4 at a quarter: {strategy} "
                               f"{statistics.median(found):.2f} of the ideal time, at most {QUARTER_MOST:.2f}")
        self.page.table("One of 4 servers at a quarter of the speed: time, 1 is ideal", ["strategy", "writing", "reading"], rows)

    def holding(self):
        rows = []
        for strategy in self.case["strategy"]:
            even = self.run_case("holding", 4, strategy, "holds=even")
            most = self.run_case("holding", 4, strategy, "holds=most")
            cells = [strategy]
            for work in ("write", "read"):
                ratio = statistics.median(most.fractions(work)) / statistics.median(even.fractions(work))
                cells += [middle(even.fractions(work)), middle(most.fractions(work)), f"{ratio:.2f}"]
                if strategy in ADAPTS + ("nearest",):
                    self.judge(ratio >= HOLDING_LEAST, f"{work}, one rank holds 7/8: {strategy} {ratio:.2f} of even data, "
                               f"at least {HOLDING_LEAST:.2f}")
            rows.append(cells)
        self.page.table("One rank holds seven eighths of the array, 4 equal servers: fraction, and compared with even data",
                        ["strategy", "write even", "write 7/8", "ratio", "read even", "read 7/8", "ratio"], rows)

    def copy(self):
        run = self.run_case("copy", 4, "nearest", "slow=0+1", "calls=1", "reads=0", f"copies={self.form['calls']}")
        rows = [[str(slow), middle(run.fractions("copy", slow))] for slow in (0, 1)]
        self.page.table("A copy on 4 ranks: fraction of the sum of their speeds, reading and writing", ["slow ranks", "fraction"], rows)
        found = statistics.median(run.fractions("copy", 1))
        self.judge(found >= STEADY_LEAST, f"copy, one of 4 ranks slow: {found:.2f}, at least {STEADY_LEAST:.2f}")

    def run(self):
        started = time.time()
        for part in PARTS:
            if part in self.case["part"]:
                getattr(self, part)()
        self.page.text("")
        for holds, sentence in self.verdicts:
            self.page.text(("- met: " if holds else "- MISSED: ") + sentence)
        if self.off:
            self.judge_measure()
        if self.options.json:
            with open(self.options.json, "w") as out:
                json.dump({"form": "quick" if self.options.quick else "full", "runs": self.found,
                           "goals": [{"holds": holds, "text": text} for holds, text in self.verdicts]}, out, indent=1)
        met = sum(holds for holds, _ in self.verdicts)
        self.page.text(f"\nuneven: {met} of {len(self.verdicts)} goals are met ({time.time() - started:.0f} s)")
        sys.exit(0)

    def judge_measure(self):
        """What parapet_statistics say about the speeds; a server that got nothing to do says nothing."""
        self.page.text(f"\nThe speeds of the servers as parapet_statistics tell them are off by {100 * statistics.median(self.off):.1f} % "
                       f"(median; at most {100 * max(self.off):.1f} %) in the steady runs.")
