"""bench/run noncontiguous: boxes that are not contiguous in a file, at the levels of the paper that describes ROMIO.

    bench/run noncontiguous [--quick] [--build-openmpi DIR] [--disk DIR] [--memory DIR] [--rounds N]
                            [--case NAME=VALUE,...] [--json FILE] [--markdown FILE] [--svg FILE] [--verbose]

    dist3d    512^3 doubles, a block for each rank of a mesh
    btio      162^3 cells of 5 doubles, diagonal multipartitioning: on q^2 ranks q boxes each
    unstruc   8 million points of 8 doubles, which a random map deals out to the ranks

What is timed, all under Open MPI: writing up to durable data, and reading with a cold page cache, without opening and
closing, which programs do once. Level 3 is one collective call for all boxes; level 2 one call of each rank for its boxes, without the others;
level 0 one such call for each contiguous run (of unstruc, for 100,000 points in all). Parapet has no independent writes, so its levels 0 and 2 only read;
those of MPI-IO, whose names are romio321 and ompio, also write, for information.

    natural   checksummed chunks of 64^3 (btio: of a third, a half or all of a cell; unstruc: of 8192 points), a shard
              for each box (unstruc: as many shards as ranks)
    default   checksummed, chunks and shards as the library chooses them
    rows      not checksummed, chunks of one plane: the same order of bytes as in the file of MPI-IO, so that there are
              runs with holes. holes=read and holes=skip are forced: "always sieve" and "never sieve"

A file per process (fpp) is timed several times in a round, everything else once, in an order that is rotated each
round. Wanted is, as the median of the ratios within a round:

    level 3              2 times the better of the two MPI-IOs, or, but for unstruc, 0.85 of fpp if that is less
    level 2, holes=...   reading: 0.9 of the better of "always" and "never", and the better of the two MPI-IOs

With --quick (256^3, 102^3, 512 K points, and two rounds) the exit status is 0 if at least half of each of these is reached.

    --case pattern=btio,ranks=4+9,fs=ext4,level=2+3,rounds=5,edge=162      only these; 4+9 means both
    --case ...,peers=none      without MPI-IO; peers=romio321 only that one
    --case ...,servers=4       any other name is an option of the store
"""
import itertools
import json
import os
import platform
import shutil
import statistics
import sys
import time

from bars import BLUE, RED, Picture
from collective import LAUNCHERS, Collective, Method, Selection, print_table, triple
from taken import tell_taken

LEAST_OF_PEERS, LEAST_OF_FPP = 2.0, 0.85 # at level 3, whichever is less
LEAST_OF_FORCED = 0.9 # at level 2, of the better of always and never sieving
QUICK_PART = 0.5 # of a goal: small arrays on a shared machine vary by that much
LEVELS = ("3", "2", "0")
PEERS = ("romio321", "ompio")
ROWS_SHARD_BYTES = 64 << 20
POINT_DOUBLES, POINT_BYTES = 8, 64
FEW_POINTS = 100000 # at level 0
PATTERNS = ("dist3d", "btio", "unstruc")


class Level(Method):
    """A method of one level. Judged together: those of the same group."""

    def __init__(self, kind, name, program, arguments, flags=(), **more):
        super().__init__(kind, name, "openmpi", program, arguments, flags, layout=more.get("layout"))
        self.level, self.holes = more.get("level"), more.get("holes")


def peer_levels(levels):
    for level, io in itertools.product(levels, PEERS):
        yield Level("peer", f"level {level}, {io}", "bench_mpiio_levels", ["level" + level], ["--mca", "io", io],
                    level=level)


class PatternSelection(Selection):
    """What is to be run of one pattern; the subclasses know its shape."""

    known_ranks = (4, 8, 16)

    def __init__(self, options):
        self.level = list(LEVELS)
        self.pattern = list(PATTERNS)
        super().__init__(options)

    def set_defaults(self):
        self.rounds = 2 if self.quick else 5
        self.peers = [""]
        self.set_size()

    def narrow(self, name, value):
        known = {"level": LEVELS, "pattern": PATTERNS, "fs": ("tmpfs", "ext4")}.get(name)
        if known is not None:
            if not set(value.split("+")) <= set(known):
                sys.exit(f"bench: {name} may be {' or '.join(known)}, not {value}")
            setattr(self, name, value.split("+"))
        elif name == "ranks":
            self.ranks = [int(number) for number in value.split("+") if int(number) in self.known_ranks]
        elif name in ("mpi", "layout", "transport"):
            sys.exit(f"bench: no {name} in this benchmark")
        else:
            super().narrow(name, value)

    def extents(self, *numbers):
        return triple(numbers + self.shape[3:])

    def layout_words(self, name, ranks):
        if name == "default":
            return []
        if name == "natural":
            block = self.block(ranks)
            return ["chunks=" + self.extents(*(self.chunk(extent) for extent in block)),
                    "shards=" + self.extents(*block)]
        planes = max(1, min(self.edge, ROWS_SHARD_BYTES // (self.bytes // self.edge)))
        return ["plain=1", "chunks=" + self.extents(1, self.edge, self.edge),
                "shards=" + self.extents(planes, self.edge, self.edge)]

    def one(self, ranks, level, layout, holes=None):
        words = self.words + self.layout_words(layout, ranks) + ["level=" + level] + ([f"holes={holes}"] if holes else [])
        name = f"level {level}, parapet {layout}" + (f", holes={holes}" if holes else "")
        return Level("parapet", name, "bench_noncontiguous", ["parapet"] + words, level=level, layout=layout, holes=holes)

    def parapet(self, ranks):
        if "3" in self.level:
            yield self.one(ranks, "3", "natural")
            if not self.quick:
                yield self.one(ranks, "3", "default")
        if "2" in self.level:
            for holes in ("choose", "read", "skip"):
                yield self.one(ranks, "2", "rows", holes)
            if not self.quick:
                yield self.one(ranks, "2", "natural")
        if "0" in self.level:
            yield self.one(ranks, "0", "rows")

    def wanted_peers(self):
        return [peer for peer in peer_levels(self.level) if any(text in peer.name for text in self.peers)]

    def limits(self, fs):
        return [Level("limit", "fpp", "bench_noncontiguous", ["fpp"])]

    def moved(self, name):
        """Bytes that a method of that name moves."""
        return self.bytes

    def least(self, peers, fpp):
        """Bytes per second that are wanted at level 3."""
        return min(LEAST_OF_PEERS * peers, LEAST_OF_FPP * fpp)


class Dist3dSelection(PatternSelection):
    name = "dist3d"
    meshes = {4: (1, 2, 2), 8: (2, 2, 2), 16: (2, 2, 4)} # as MPI_Dims_create makes them, turned around

    def set_size(self):
        self.edge = 256 if self.quick else 512
        self.ranks = [4] if self.quick else [4, 16]

    @property
    def shape(self):
        return (self.edge,) * 3

    @property
    def bytes(self):
        return self.edge ** 3 * 8

    def block(self, ranks):
        return [-(-self.edge // places) for places in self.meshes[ranks]]

    def chunk(self, extent):
        return 64 if extent % 64 == 0 else extent


class BtioSelection(PatternSelection):
    name = "btio"
    known_ranks = (4, 9, 16, 25)

    def set_size(self):
        self.edge = 102 if self.quick else 162
        self.ranks = [4, 9] if self.quick else [4, 9, 16]

    @property
    def shape(self):
        return (self.edge,) * 3 + (5,)

    @property
    def bytes(self):
        return self.edge ** 3 * 5 * 8

    def block(self, ranks):
        return [-(-self.edge // round(ranks ** 0.5))] * 3

    def chunk(self, extent):
        return next((extent // parts for parts in (3, 2) if extent % parts == 0 and extent // parts >= 17), extent)


class UnstrucSelection(PatternSelection):
    name = "unstruc"
    chunk_points = 8192

    def set_size(self):
        self.edge = 1 << (19 if self.quick else 23)
        self.ranks = [4] if self.quick else [4, 16]

    @property
    def shape(self):
        return (self.edge, POINT_DOUBLES)

    @property
    def bytes(self):
        return self.edge * POINT_BYTES

    def layout_words(self, name, ranks):
        if name == "default":
            return []
        if name == "natural":
            return [f"chunks={self.chunk_points}x{POINT_DOUBLES}", f"shards={self.edge // ranks}x{POINT_DOUBLES}"]
        points = min(self.edge, ROWS_SHARD_BYTES // POINT_BYTES)
        return ["plain=1", f"chunks={points // 32}x{POINT_DOUBLES}", f"shards={points}x{POINT_DOUBLES}"]

    def one(self, ranks, level, layout, holes=None):
        method = super().one(ranks, level, layout, holes)
        return self.only_few(method)

    def wanted_peers(self):
        return [self.only_few(peer) for peer in super().wanted_peers()]

    @staticmethod
    def only_few(method):
        if method.level == "0":
            method.arguments.append(f"few={FEW_POINTS}")
        return method

    def moved(self, name):
        return FEW_POINTS * POINT_BYTES if name.startswith("level 0") else self.bytes

    def least(self, peers, fpp):
        return LEAST_OF_PEERS * peers


class Pattern(Collective):
    """One pattern: run as the collective benchmark is, and judged level by level."""

    def __init__(self, options, choose):
        self.choose, self.name = choose, "noncontiguous-" + choose.name
        super().__init__(options)
        self.bytes = self.selection.bytes

    def command(self, method, fs, ranks):
        return (LAUNCHERS[method.mpi] + ["-n", str(ranks)] + method.flags
                + [self.program(method), method.arguments[0], self.places[fs], self.selection.name,
                   str(self.selection.edge)] + method.arguments[1:])

    def write_json(self):
        """All patterns are written together, at the end."""

    # Judging

    def rates(self, key, name):
        """Round -> bytes per second."""
        moved = self.selection.moved(name)
        return {number: moved / seconds for number, seconds in self.in_round(key, name).items()}

    def best_rates(self, key, names):
        """The same of the fastest in each round, where all are there."""
        found = [self.rates(key, name) for name in names]
        return {number: max(rates[number] for rates in found)
                for number in (found[0] if found else ()) if all(number in rates for rates in found)}

    @staticmethod
    def of(own, wanted):
        ratios = [own[number] / wanted[number] for number in own if number in wanted]
        return statistics.median(ratios) if ratios else None

    def peers_of(self, level):
        return [peer.name for peer in self.selection.wanted_peers() if peer.level == level]

    def goals(self, method, key, row):
        own = self.rates(key, method.name)
        peers = self.best_rates(key, self.peers_of(method.level))
        if method.level == "3":
            fpp = self.rates(key, "fpp")
            wanted = {number: self.selection.least(peers[number], fpp[number]) for number in peers if number in fpp}
            yield "of what is wanted", self.of(own, wanted), 1.0
        elif method.holes == "choose":
            forced = [f"level 2, parapet rows, holes={holes}" for holes in ("read", "skip")]
            yield "of always or never", self.of(own, self.best_rates(key, forced)), LEAST_OF_FORCED
            yield "of MPI-IO", self.of(own, peers), 1.0

    def is_judged(self, method, action):
        return method.kind == "parapet" and (method.level == "3" or action == "read")

    def is_wanted(self, method, action):
        """Parapet's levels 0 and 2 write as level 3 does, and so does MPI-IO where level 0 has too many points."""
        if method.kind != "parapet":
            return action == "read" or not (self.selection.name == "unstruc" and method.level == "0")
        return self.is_judged(method, action)

    def row(self, method, key):
        fs, ranks, action = key
        samples = sorted(itertools.chain(*self.seconds[key].get(method.name, {}).values()))
        if not samples or not self.is_wanted(method, action):
            return
        rates = [self.selection.moved(method.name) / 1e6 / seconds for seconds in samples]
        row = {"pattern": self.selection.name, "fs": fs, "ranks": ranks, "action": action, "kind": method.kind,
               "method": method.name, "level": method.level, "layout": method.layout, "seconds": samples,
               "median": statistics.median(rates), "low": min(rates), "high": max(rates),
               "of_fpp": self.of(self.rates(key, method.name), self.rates(key, "fpp")),
               "of_peers": self.of(self.rates(key, method.name), self.best_rates(key, self.peers_of(method.level))),
               "crossed": self.crossed.get((fs, ranks, method.name)) if action == "write" else None}
        found = self.goals(method, key, row) if self.is_judged(method, action) else ()
        row["goals"] = [{"goal": name, "found": value, "least": least, "holds": value >= least}
                        for name, value, least in found if value is not None]
        self.rows.append(row)
        for goal in row["goals"]:
            least = goal["least"] * (QUICK_PART if self.selection.quick else 1)
            self.checks.append((goal["found"] >= least, f"{self.selection.name} {action} {fs}, {ranks} ranks, "
                                f"{method.name}: {goal['found']:.2f} {goal['goal']}, at least {least:.2f}"))

    # Reporting

    def goal_text(self, row):
        return ", ".join(f"{'met' if goal['holds'] else 'MISSED'}: {goal['found']:.2f} {goal['goal']}"
                         for goal in row["goals"])

    def cells(self, row):
        return [row["pattern"], row["fs"], str(row["ranks"]), row["action"], row["method"],
                f"{row['median']:.0f} ({row['low']:.0f}-{row['high']:.0f})", self.ratio_text(row["crossed"]),
                self.ratio_text(row["of_fpp"]), self.ratio_text(row["of_peers"]), self.goal_text(row)]


class Noncontiguous:
    heads = ["pattern", "fs", "ranks", "work", "method", "MB/s, median (range)", "crossed", "fpp", "better MPI-IO",
             "goals"]

    def __init__(self, options):
        self.options = options
        patterns = [Pattern(options, choose) for choose in (Dist3dSelection, BtioSelection, UnstrucSelection)]
        self.patterns = [one for one in patterns if one.selection.name in one.selection.pattern and one.selection.ranks]
        if not self.patterns:
            sys.exit("bench: dist3d and unstruc run on 4, 8 and 16 ranks, btio on 4, 9, 16 and 25")

    def all_of(self, what):
        return [one for pattern in self.patterns for one in getattr(pattern, what)]

    def measure(self, pattern):
        try:
            pattern.measure()
        finally:
            for place in pattern.places.values():
                shutil.rmtree(place, ignore_errors=True)
        pattern.judge()

    def report(self):
        lines = [self.heads] + [pattern.cells(row) for pattern in self.patterns for row in pattern.rows]
        print_table(lines)
        print(tell_taken(self.all_of("taken")))
        for name in sorted(set().union(*(pattern.absent for pattern in self.patterns))):
            print(f"not available: {name}")
        if self.options.markdown:
            self.patterns[0].write_markdown(lines)
        if self.options.svg:
            with open(self.options.svg, "w", encoding="utf-8") as out:
                out.write(self.draw())

    def draw(self):
        """On the most ranks, beside a file per process; of what was forced, nothing."""
        def tables():
            for pattern in self.patterns:
                most = max(pattern.selection.ranks)
                for fs, action in itertools.product(pattern.selection.fs, ("read", "write")):
                    rows = [(row["method"], row["of_fpp"]) for row in pattern.rows
                            if (row["fs"], row["ranks"], row["action"]) == (fs, most, action) and row["kind"] != "limit"
                            and row["of_fpp"] and "=read" not in row["method"] and "=skip" not in row["method"]]
                    if rows:
                        yield f"{pattern.selection.name}, {action}, {fs}, {most} ranks", rows
        return Picture("Times as fast as a file per process", list(tables()), {"parapet": RED, "romio": BLUE},
                       is_from_one=False).draw()

    def write_json(self):
        if not self.options.json:
            return
        with open(self.options.json, "w") as out:
            json.dump({"cores": os.cpu_count(), "system": platform.platform(), "taken_by_others": self.all_of("taken"),
                       "rows": self.all_of("rows"),
                       "failures": [text for _, text in self.all_of("failures")],
                       "thresholds": [{"holds": holds, "text": text} for holds, text in self.all_of("checks")]},
                      out, indent=1)

    def run(self):
        started = time.time()
        for pattern in self.patterns:
            self.measure(pattern)
        self.report()
        self.write_json()
        checks, goals = self.all_of("checks"), [goal["holds"] for row in self.all_of("rows") for goal in row["goals"]]
        for holds, sentence in checks:
            print(("holds  " if holds else "FAILS  ") + sentence)
        failures = self.all_of("failures")
        held = sum(holds for holds, _ in checks)
        print(f"noncontiguous: {held} of {len(checks)} thresholds hold, {sum(goals)} of {len(goals)} goals are met, "
              f"{len(failures)} runs failed ({time.time() - started:.0f} s)")
        sys.exit(1 if held < len(checks) or any(kind != "peer" for kind, _ in failures) else 0)
