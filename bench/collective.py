"""bench/run collective: many ranks of one node, against the bare limits and against other parallel libraries.

The array is N^3 doubles on a mesh of ranks, one block each, as plain C-order memory. What is timed: writing up to
durable data, and reading with a cold page cache, each from the first rank's start to the last rank's end. The
limits are a file per process (fpp) and the same with O_DIRECT (fpp_direct, ext4 only); they are timed several
times in a round. Everything else is timed once in a round, in an order that is rotated each round. "crossed" is
the share of the array that went from rank to rank: where it is 0, the transports are the same work. "stored" is what the
chunks hold as a multiple of the array, since those at its edge are stored whole: goals against the limits are of the
same bytes, goals against peers of the same array.

Goals are judged by the median of the ratios within a round: in the full form at least 9 of them, and the exit status is
0 only if all are met but those that are called wishes. With --quick it is 0 if lower thresholds hold.

    --case ranks=16,fs=ext4,layout=natural,transport=1,mpi=mpich,rounds=5     only these; 4+16 means both
    --case ...,peers=none      without peers; peers=dra+romio321 those whose names contain such a word
    --case ...,layout=none     without Parapet
    --case ...,edge=256        another size
    --case ...,servers=8       any other name is an option of the store; chunks= and shards= replace the layout's
"""
import collections
import itertools
import json
import math
import os
import platform
import shutil
import statistics
import subprocess
import sys
import time

from taken import Watch, is_quiet, tell_taken

MESHES = {1: (1, 1, 1), 2: (1, 1, 2), 4: (1, 2, 2), 8: (2, 2, 2), 16: (2, 2, 4)}
LAUNCHERS = {"mpich": ["mpiexec.mpich"],
             "openmpi": ["mpiexec.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]}
TRANSPORTS = {"1": "direct", "2": "messages"}
METHODS_BETWEEN_LIMITS = 6
LIMIT_SECONDS = 180 # more than that is reported as such
ACTIONS = ("write", "read")
# What is wanted, by layout and action: of fpp_direct on ext4, and of fpp on tmpfs, where writing is a wish.
OF_DIRECT = {("natural", "write"): 0.90, ("natural", "read"): 0.90, ("slabs", "write"): 0.80, ("slabs", "read"): 0.75,
             ("misaligned", "write"): 0.75, ("misaligned", "read"): 0.75}
OF_MEMORY = {("natural", "write"): 0.66, ("natural", "read"): 0.65, ("slabs", "write"): 0.58, ("slabs", "read"): 0.65}
OF_MEMORY_16 = {("natural", "read"): 0.46, ("slabs", "read"): 0.48}
OF_FPP_BY_MESSAGES = 0.75 # on ext4
OF_FEWER_RANKS = 0.8 # 16 to 4
OF_PEERS, OF_PEERS_MISALIGNED_MEMORY = 1.5, 1.0
RATIOS = ("crossed", "stored", "of_fpp", "of_fpp_direct", "of_best_peer")

# What --quick must reach for the exit status to be 0: at least this much of fpp, by file system and action: half of
# the lowest median on a quiet machine, since small arrays on a shared one vary by that much. The goals are higher.
FLOORS = {("ext4", "write"): 0.30, ("ext4", "read"): 0.25, ("tmpfs", "write"): 0.17, ("tmpfs", "read"): 0.08}


Goal = collections.namedtuple("Goal", "name found least is_wish", defaults=(False,))


def triple(numbers):
    return "x".join(str(number) for number in numbers)


def print_table(lines):
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())


class Method:
    """One way to write and read the array: a limit, a peer, or Parapet with a layout and a transport."""

    def __init__(self, kind, name, mpi, program, arguments, flags=(), **more):
        self.kind, self.name, self.mpi, self.program = kind, name, mpi, program
        self.arguments, self.flags = arguments, list(flags)
        self.layout, self.transport = more.get("layout"), more.get("transport")
        self.is_slow = more.get("is_slow", False)


def romio(name, program, arguments):
    return Method("peer", name + ", Open MPI romio321", "openmpi", program, arguments, ["--mca", "io", "romio321"])


def ompio(name, program, arguments):
    return Method("peer", name + ", Open MPI ompio", "openmpi", program, arguments, ["--mca", "io", "ompio"])


def mpich(name, program, arguments):
    """MPICH's own collectives spin when ranks outnumber cores: tens of MB/s, so one round says enough."""
    return Method("peer", name + ", MPICH", "mpich", program, arguments, is_slow=True)


def all_peers():
    return [
        romio("MPI-IO", "bench_mpiio", ["collective"]),
        Method("peer", "MPI-IO, 2 aggregators, Open MPI romio321", "openmpi", "bench_mpiio",
               ["collective", "aggregators=2"], ["--mca", "io", "romio321"]),
        ompio("MPI-IO", "bench_mpiio", ["collective"]),
        romio("HDF5 contiguous", "bench_hdf5", ["contiguous"]),
        romio("HDF5 chunked", "bench_hdf5", ["chunked"]),
        ompio("HDF5 contiguous", "bench_hdf5", ["contiguous"]),
        ompio("HDF5 chunked", "bench_hdf5", ["chunked"]),
        romio("PnetCDF", "bench_pnetcdf", ["collective"]),
        ompio("PnetCDF", "bench_pnetcdf", ["collective"]),
        Method("peer", "DRA, Open MPI", "openmpi", "bench_dra", ["dra"]),
        Method("peer", "ADIOS2 BP5, Open MPI", "openmpi", "bench_adios2", ["aggregated"]),
        Method("peer", "ADIOS2 BP5, a file for each rank, Open MPI", "openmpi", "bench_adios2", ["everyone"]),
        mpich("MPI-IO", "bench_mpiio", ["collective"]),
        mpich("HDF5 contiguous", "bench_hdf5", ["contiguous"]),
        mpich("HDF5 chunked", "bench_hdf5", ["chunked"]),
    ]


def layout_words(layout, edge, ranks):
    """Chunks and shards of a layout. Natural: a shard is what a rank holds."""
    if layout == "misaligned":
        return ["chunks=60x60x60", "shards=180x180x180"]
    block = [edge // places for places in MESHES[ranks]]
    shards = block if layout == "natural" else (edge // 4, edge, edge)
    return ["chunks=64x64x64", "shards=" + triple(shards)]


def stored_share(method, edge):
    """What the chunks of Parapet hold, as a multiple of what the array of so many elements a side does."""
    chunks = next((word.partition("=")[2] for word in method.arguments if word.startswith("chunks=")), None)
    if chunks is None:
        return None
    return math.prod(-(-edge // extent) * extent / edge for extent in map(int, chunks.split("x")))


class Selection:
    """What is to be run: the full form, the quick one, or what --case says."""

    layouts = ["natural", "slabs", "misaligned"]

    def __init__(self, options):
        self.quick = options.quick
        self.fs = ["tmpfs", "ext4"]
        self.mpi = ["mpich"] if self.quick else ["mpich", "openmpi"]
        self.transport = ["1", "2"]
        self.words = []
        self.set_defaults()
        self.rounds = options.rounds or self.rounds
        for word in filter(None, (options.case or "").split(",")):
            self.narrow(*word.partition("=")[::2])

    def set_defaults(self):
        self.edge = 256 if self.quick else 512
        self.rounds = 3 if self.quick else 9
        self.ranks = [4] if self.quick else [4, 8, 16]
        self.layout = self.layouts
        self.peers = ["MPI-IO, Open MPI romio321", "HDF5 chunked, Open MPI romio321"] if self.quick else [""]

    def narrow(self, name, value):
        if name in ("rounds", "edge"):
            setattr(self, name, int(value))
        elif name == "ranks":
            self.ranks = [int(number) for number in value.split("+")]
            if not set(self.ranks) <= set(MESHES):
                sys.exit(f"bench: ranks may be {', '.join(str(ranks) for ranks in MESHES)}")
        elif name in ("fs", "mpi", "layout", "transport"):
            known = {"fs": ["tmpfs", "ext4"], "mpi": list(LAUNCHERS), "transport": list(TRANSPORTS),
                     "layout": self.layouts}[name]
            if value != "none" and not set(value.split("+")) <= set(known):
                sys.exit(f"bench: {name} may be {' or '.join(known)}, not {value}")
            setattr(self, name, [] if value == "none" else value.split("+"))
        elif name == "peers":
            self.peers = {"none": [], "all": [""]}.get(value, value.split("+"))
        else:
            self.words.append(f"{name}={value}")

    def parapet(self, ranks):
        for mpi, layout, transport in itertools.product(self.mpi, self.layout, self.transport):
            if self.quick and layout != "slabs" and transport == "2":
                continue # natural: on 4 ranks nothing goes from rank to rank; misaligned: to be done in time
            words = self.words + layout_words(layout, self.edge, ranks) + ["transport=" + transport]
            name = f"parapet {layout}, {TRANSPORTS[transport]}, {'MPICH' if mpi == 'mpich' else 'Open MPI'}"
            yield Method("parapet", name, mpi, "bench_collective", ["parapet"] + words, layout=layout,
                         transport=transport)

    def wanted_peers(self):
        return [peer for peer in all_peers() if any(text in peer.name for text in self.peers)]

    def limits(self, fs):
        names = ["fpp", "fpp_direct"] if fs == "ext4" else ["fpp"]
        return [Method("limit", name, self.mpi[0], "bench_collective", [name]) for name in names]


class Collective:
    name, floors, choose = "collective", FLOORS, Selection

    def __init__(self, options):
        self.options = options
        self.selection = self.choose(options)
        self.bytes = self.selection.edge ** 3 * 8
        self.builds = {"mpich": options.build, "openmpi": options.build_openmpi}
        self.places = {"ext4": os.path.join(options.disk, self.name),
                       "tmpfs": os.path.join(options.memory, self.name)}
        self.seconds = {} # (fs, ranks, action) -> method's name -> one entry a round
        self.absent = set() # peers that are not built
        self.failures = []
        self.rows, self.checks = [], []
        self.crossed = {} # (fs, ranks, method's name) -> share of the array that went from rank to rank
        self.taken = [] # the share of the cores that others had during each run

    # Running

    def program(self, method):
        return os.path.join(self.builds[method.mpi], "bench", method.program)

    def command(self, method, fs, ranks):
        return (LAUNCHERS[method.mpi] + ["-n", str(ranks)] + method.flags
                + [self.program(method), method.arguments[0], self.places[fs], str(self.selection.edge),
                   triple(MESHES[ranks])] + method.arguments[1:])

    def start_empty(self, fs):
        """What an earlier program left is gone, from the disk too, before the next one starts."""
        shutil.rmtree(self.places[fs], ignore_errors=True)
        os.makedirs(self.places[fs])
        os.sync()

    def run_program(self, method, fs, ranks):
        """The words that it printed, or None."""
        command = self.command(method, fs, ranks)
        if self.options.verbose:
            print(" ".join(command), flush=True)
        self.start_empty(fs)
        watch = Watch()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            out, err = process.communicate(timeout=LIMIT_SECONDS)
        except subprocess.TimeoutExpired:
            process.terminate()
            process.communicate()
            return self.failed(method, fs, ranks, f"not done in {LIMIT_SECONDS} s")
        self.taken.append(watch.taken())
        if process.returncode != 0 or len(out.split()) < 3:
            lines = [line for line in err.splitlines() if line.startswith("bench:")] or err.splitlines() or [""]
            return self.failed(method, fs, ranks, lines[0])
        return out.split()

    def run_once(self, method, fs, ranks):
        """Seconds of writing and of reading, or None."""
        words = self.run_program(method, fs, ranks)
        if words is None:
            return None
        if int(words[2]) >= 0:
            self.crossed[fs, ranks, method.name] = int(words[2]) / self.bytes
        return [float(word) for word in words[:2]]

    def failed(self, method, fs, ranks, why):
        failure = (method.kind, f"{method.name}, {fs}, {ranks} ranks: {why}")
        if failure not in self.failures:
            print("failed " + failure[1], flush=True)
        self.failures.append(failure)
        return None

    def record(self, method, fs, ranks, number):
        found = self.run_once(method, fs, ranks) or (None, None)
        for action, seconds in zip(ACTIONS, found):
            rounds = self.seconds.setdefault((fs, ranks, action), {}).setdefault(method.name, {})
            if seconds is not None:
                rounds.setdefault(number, []).append(seconds)

    def available(self, methods):
        for method in methods:
            if os.path.exists(self.program(method)):
                yield method
            elif method.kind == "peer":
                self.absent.add(method.name)
            else:
                sys.exit(f"bench: {self.program(method)} is missing; build it first")

    def one_round(self, fs, ranks, number):
        limits = list(self.available(self.selection.limits(fs)))
        methods = list(self.available(list(self.selection.parapet(ranks)) + self.selection.wanted_peers()))
        turn = number * len(methods) // self.selection.rounds
        methods = [m for m in methods[turn:] + methods[:turn] if number == 0 or not m.is_slow]
        for index, method in enumerate(methods):
            if index % METHODS_BETWEEN_LIMITS == 0:
                for limit in limits if (number + index) % 2 == 0 else reversed(limits):
                    self.record(limit, fs, ranks, number)
            self.record(method, fs, ranks, number)

    def measure(self):
        for fs in self.selection.fs:
            for limit in self.available(self.selection.limits(fs)): # the first run of all is never typical
                self.run_once(limit, fs, self.selection.ranks[0])
            for number in range(self.selection.rounds):
                turn = number % len(self.selection.ranks)
                for ranks in self.selection.ranks[turn:] + self.selection.ranks[:turn]:
                    started = time.time()
                    self.one_round(fs, ranks, number)
                    print(f"round {number + 1} of {self.selection.rounds}, {fs}, {ranks} ranks: "
                          f"{time.time() - started:.0f} s", file=sys.stderr, flush=True)
                self.judge() # what a long run has found is kept, should it be ended
                self.write_json()

    # Judging

    def in_round(self, key, name):
        """Round -> seconds; of a limit, which runs several times in a round, the median."""
        rounds = self.seconds.get(key, {}).get(name, {})
        return {number: statistics.median(seconds) for number, seconds in rounds.items()}

    def ratio(self, key, name, other, other_key=None):
        """How fast a method is, as a multiple of another one: the median over the rounds that both have."""
        own, others = self.in_round(key, name), self.in_round(other_key or key, other)
        ratios = [others[number] / own[number] for number in own if number in others]
        return statistics.median(ratios) if ratios else None

    def best_peer(self, key):
        peers = [(statistics.median(rounds.values()), peer.name) for peer in self.selection.wanted_peers()
                 for rounds in [self.in_round(key, peer.name)] if rounds]
        return min(peers)[1] if peers else None

    @staticmethod
    def of_same_bytes(row, name):
        return None if row[name] is None else row[name] * (row["stored"] or 1)

    def limit_goals(self, method, key, row):
        fs, ranks, action = key
        case = (method.layout, action)
        if fs == "ext4" and method.transport != "1":
            yield Goal("of fpp", self.of_same_bytes(row, "of_fpp"), OF_FPP_BY_MESSAGES, True)
        elif fs == "ext4" and case in OF_DIRECT:
            yield Goal("of fpp_direct", self.of_same_bytes(row, "of_fpp_direct"), OF_DIRECT[case])
        elif fs == "tmpfs" and case in OF_MEMORY:
            least = OF_MEMORY_16.get(case, OF_MEMORY[case]) if ranks == 16 else OF_MEMORY[case]
            yield Goal("of fpp", self.of_same_bytes(row, "of_fpp"), least, action == "write")

    def goals(self, method, key, row):
        """What is wanted of Parapet."""
        fs, ranks, action = key
        yield from self.limit_goals(method, key, row)
        if is_quiet(self.taken):
            is_least = fs == "tmpfs" and method.layout == "misaligned"
            yield Goal("of the best peer", row["of_best_peer"], OF_PEERS_MISALIGNED_MEMORY if is_least else OF_PEERS)
        if ranks == 16 and 4 in self.selection.ranks:
            yield Goal("of 4 ranks", self.ratio(key, method.name, method.name, (fs, 4, action)), OF_FEWER_RANKS, True)

    def judged_goals(self, method, key, row):
        found = self.goals(method, key, row) if method.kind == "parapet" else ()
        return [{"goal": goal.name, "found": goal.found, "least": goal.least, "holds": goal.found >= goal.least,
                 "is_wish": goal.is_wish} for goal in found if goal.found is not None]

    def row(self, method, key):
        fs, ranks, action = key
        samples = sorted(itertools.chain(*self.seconds[key].get(method.name, {}).values()))
        if not samples:
            return
        rates = [self.bytes / 1e6 / seconds for seconds in samples]
        peer = self.best_peer(key)
        row = {"fs": fs, "ranks": ranks, "action": action, "kind": method.kind, "method": method.name,
               "mpi": method.mpi, "layout": method.layout, "transport": method.transport, "seconds": samples,
               "median": statistics.median(rates), "low": min(rates), "high": max(rates),
               "stored": stored_share(method, self.selection.edge) if method.kind == "parapet" else None,
               "of_fpp": self.ratio(key, method.name, "fpp"),
               "of_fpp_direct": self.ratio(key, method.name, "fpp_direct"),
               "of_best_peer": self.ratio(key, method.name, peer), "best_peer": peer,
               "crossed": self.crossed.get((fs, ranks, method.name))}
        row["goals"] = self.judged_goals(method, key, row)
        self.rows.append(row)
        if method.kind == "parapet":
            self.checks += self.judged_row(row)

    def judged_row(self, row):
        """What decides the exit status: the floors of the quick form, and else the goals."""
        where = f"{row['action']} {row['fs']}, {row['ranks']} ranks, {row['method']}: "
        found, least = self.of_same_bytes(row, "of_fpp"), self.floors[row["fs"], row["action"]]
        if not self.selection.quick:
            return [(goal["holds"], f"{where}{goal['found']:.2f} {goal['goal']}, at least {goal['least']:.2f}")
                    for goal in row["goals"] if not goal["is_wish"]]
        return [] if found is None else [(found >= least, f"{where}{found:.2f} of fpp, at least {least:.2f}")]

    def judge(self):
        self.rows, self.checks = [], []
        for key in sorted(self.seconds, key=lambda key: (key[0], key[1], ACTIONS.index(key[2]))):
            fs, ranks, _ = key
            methods = self.selection.limits(fs) + list(self.selection.parapet(ranks)) + self.selection.wanted_peers()
            for method in methods:
                self.row(method, key)

    # Reporting

    @staticmethod
    def ratio_text(value):
        return "" if value is None else f"{value:.2f}"

    def goal_text(self, row):
        return ", ".join(f"{'met' if goal['holds'] else 'not met' if goal['is_wish'] else 'MISSED'} "
                         f"{goal['least']:.2f} {goal['goal']}{', a wish' if goal['is_wish'] else ''} "
                         f"({goal['found']:.2f})" for goal in row["goals"])

    def tell_goals(self, are_wishes):
        goals = [goal["holds"] for row in self.rows for goal in row["goals"] if goal["is_wish"] == are_wishes]
        return f"{sum(goals)} of {len(goals)}"

    def cells(self, row):
        return [row["fs"], str(row["ranks"]), row["action"], row["method"],
                f"{row['median']:.0f} ({row['low']:.0f}-{row['high']:.0f})"] + [
                    self.ratio_text(row[name]) for name in RATIOS] + [self.goal_text(row)]

    def report(self):
        heads = ["fs", "ranks", "work", "method", "MB/s, median (range)", "crossed", "stored", "fpp", "direct", "best peer",
                 "goals"]
        lines = [heads] + [self.cells(row) for row in self.rows]
        print_table(lines)
        print(tell_taken(self.taken)
              + ("" if is_quiet(self.taken) else ": do not use ratios to peers; goals against them are not judged"))
        for name in sorted(self.absent):
            print(f"not available: {name}")
        if self.options.markdown:
            self.write_markdown(lines)
        self.write_json()

    def write_markdown(self, lines, mode="w"):
        with open(self.options.markdown, mode) as out:
            for number, line in enumerate(lines):
                out.write("| " + " | ".join(line) + " |\n")
                if number == 0:
                    out.write("|" + "---|" * len(line) + "\n")

    def more_found(self):
        """What else goes into the JSON document."""
        return {}

    def write_json(self):
        if not self.options.json:
            return
        with open(self.options.json, "w") as out:
            json.dump({"cores": os.cpu_count(), "system": platform.platform(), "taken_by_others": self.taken,
                       "edge": self.selection.edge, "bytes": self.bytes, "rounds": self.selection.rounds,
                       "rows": self.rows, **self.more_found(),
                       "not_available": sorted(self.absent), "failures": [text for _, text in self.failures],
                       "thresholds": [{"holds": holds, "text": text} for holds, text in self.checks]}, out, indent=1)

    def run(self):
        started = time.time()
        try:
            self.measure()
        finally:
            for place in self.places.values():
                shutil.rmtree(place, ignore_errors=True)
        self.judge()
        self.report()
        for holds, sentence in self.checks:
            print(("holds  " if holds else "FAILS  ") + sentence)
        held = sum(holds for holds, _ in self.checks)
        print(f"{self.name}: {held} of {len(self.checks)} thresholds hold, {self.tell_goals(False)} goals and "
              f"{self.tell_goals(True)} wishes are met, {len(self.failures)} runs failed ({self.selection.edge}^3 doubles, "
              f"{self.selection.rounds} rounds, {time.time() - started:.0f} s)")
        has_failed = any(kind != "peer" for kind, _ in self.failures)
        sys.exit(1 if has_failed or held < len(self.checks) else 0)
