"""bench/run copy: re-chunking, permuting and recompressing one array, against a bare copy and against other tools.

Every contender gets the same elements in the format it reads best, cold, and ends when the copy is durable; the time is
the wall time of its process, start-up included. Parapet and the peers that can be told so get a sixteenth of the array
as memory, all processes together. Contenders take turns, and who begins changes each round. Every copy is compared
with the source in 66 boxes, once.

Wanted, as medians of the ratios within a round: on 1 rank at most 1.5 times the time of the direct bare copy for the
cases of 2 GiB, and 2.0 for the permuted one; on 2 ranks at most 1.05 times that on 1 rank, unless both are faster than
0.9 of the direct bare copy; and less time than every peer. What else is judged is a wish. The exit status is 0 if all
that is wanted is reached. With --quick it is 0 if the times are within 2.5 times what bare copies allow.

    --only TEXT          cases whose name contains the text, such as climate
    --peers WORDS        none, or such as nccopy+dask; all if not given
"""
import glob
import json
import os
import platform
import resource
import shutil
import statistics
import sys
import time

from command import Failure, empty_cache, run
from taken import tell_taken

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MIB = 1 << 20
ELEMENT_BYTES = {"float64": 8, "float32": 4}
SLOW = 10 # times the bare limit, or Parapet where codecs take the time: a peer is measured once
QUICK_TIMEOUT, TIMEOUT = 30, 900
SOURCES = {"zarr3": "source.zarr", "zarr2": "source.zarr2", "hdf5": "source.nc"}

# Seconds as multiples of the direct bare copy, on 1 rank; and of the buffered one, by the number of passes, where
# nothing is read twice and nothing is wanted of the direct one.
MOST_OF_DIRECT, WISH_OF_DIRECT = 1.5, 1.25
MOST_OF_DIRECT_PERMUTED = 2.0
MOST_OF_BUFFERED = {1: 1.15, 2: 2.3}
QUICK_SLACK = 2.5 # small arrays on a shared machine vary by that much; beyond it the quick form fails
MOST_OF_ONE_RANK = 1.05
AT_THE_LIMIT = 0.9 # of the speed of the direct bare copy: then it does not matter what more ranks would do
LEAST_SCALING = 1.6 # 2 ranks to 1, where the codec takes the time
NO_MEASURE = "TensorStore" # peers that it is only a wish to be ahead of
SLOW_CODEC = "zstd:9"
PREDICTION = 0.30
MEASURES = ("bare buffered", "bare direct", "parapet, 1 rank")


class Case:
    """One copy: what the source is, and how the target differs."""

    def __init__(self, name, source, target, order=None, codec="none", has_peers=True, shards=None, most=None):
        """most: the time on 1 rank that is allowed, as a multiple of that of the direct bare copy."""
        self.name, self.source, self.target, self.codec = name, source, target, codec
        self.has_peers, self.shards, self.most = has_peers, shards, most
        self.order = order or list(range(len(source["shape"])))
        self.is_permuted = self.order != sorted(self.order)
        self.bytes = ELEMENT_BYTES[source["type"]]
        for extent in source["shape"]:
            self.bytes *= extent
        self.memory = self.bytes // 16

    def source_name(self):
        return json.dumps(self.source) + self.codec

    def as_json(self):
        return json.dumps({**self.source, "target": self.target, "order": self.order, "codec": self.codec,
                           "memory": self.memory})

    def names(self):
        return [self.source["names"][d] for d in self.order]


def matrix(rows, columns, strip, shard):
    return {"shape": [rows, columns], "type": "float64", "names": ["row", "column"], "chunks": [strip, columns],
            "shards": [shard, columns], "field": "index"}


def climate(times, levels, shard):
    return {"shape": [times, levels, 181, 360], "type": "float32", "names": ["time", "level", "lat", "lon"],
            "chunks": [1, levels, 181, 360], "shards": [shard, levels, 181, 360], "field": "climate"}


def quick_cases():
    plane, pancakes, few = matrix(8192, 4096, 32, 4096), climate(360, 2, 180), climate(240, 2, 120)
    return [Case("256 MiB to 4096x32", plane, [4096, 32], most=MOST_OF_DIRECT),
            Case("climate to pencils", pancakes, [360, 1, 20, 20]),
            Case("climate to pencils, zstd:9", few, [240, 1, 20, 20], codec=SLOW_CODEC, has_peers=False,
                 shards=[240, 1, 200, 360])]


def full_cases():
    plane, large, pancakes = matrix(32768, 8192, 16, 4096), matrix(32768, 32768, 4, 1024), climate(720, 16, 60)
    return [Case("2 GiB to 4096x32", plane, [4096, 32], most=MOST_OF_DIRECT),
            Case("2 GiB to 362x362", plane, [362, 362], most=MOST_OF_DIRECT),
            Case("2 GiB to 32768x4", plane, [32768, 4], most=MOST_OF_DIRECT),
            Case("8 GiB to 4096x32", large, [4096, 32]),
            Case("climate to pencils", pancakes, [720, 1, 10, 10]),
            Case("climate to pencils, permuted", pancakes, [10, 10, 1, 720], order=[2, 3, 1, 0],
                 most=MOST_OF_DIRECT_PERMUTED),
            Case("climate to pencils, zstd:1", pancakes, [720, 1, 10, 10], codec="zstd:1"),
            Case("climate to pencils, zstd:9", climate(360, 4, 60), [360, 1, 20, 20], codec=SLOW_CODEC,
                 has_peers=False)]


def extents(numbers, between=","):
    return between.join(str(number) for number in numbers)


def size(memory):
    return f"{memory // MIB}MiB" if memory % MIB == 0 else f"{memory // 1024}KiB"


# Contenders

class Contender:
    """A program that makes the copy: what it reads, how it is called, and where its copy can be checked."""

    kind, reads, python = "peer", "zarr2", "main"

    def __init__(self, name, program):
        self.name, self.program = name, program

    def takes(self, case):
        return True

    def is_there(self):
        return shutil.which(self.program) is not None

    def command(self, case, source, target):
        raise NotImplementedError

    def target(self, directory):
        return os.path.join(directory, "target.zarr")


class Bare(Contender):
    """Reads the files that Parapet reads, and writes them again."""

    kind, reads = "limit", "zarr3"

    def __init__(self, method, build):
        super().__init__("bare " + method, os.path.join(build, "bench", "bench_copy_bare"))
        self.method = method

    def command(self, case, source, target):
        os.makedirs(target)
        files = sorted(path for path in glob.glob(source + "/c/**", recursive=True) if os.path.isfile(path))
        return [self.program, self.method, target] + files


class Parapet(Contender):
    kind, reads = "parapet", "zarr3"

    def __init__(self, ranks, build):
        super().__init__(f"parapet, {ranks} rank{'s' if ranks > 1 else ''}", os.path.join(build, "tool", "parapet"))
        self.ranks = ranks

    def command(self, case, source, target):
        launcher = ["mpiexec.mpich", "-n", str(self.ranks)] if self.ranks > 1 else []
        order = ["--order", ",".join(case.names())] if case.is_permuted else []
        shards = ["--shards", extents(case.shards)] if case.shards else []
        return launcher + [self.program, "copy", source, target, "--chunks", extents(case.target), "--codec",
                           case.codec, "--no-checksum", "--max-mem", size(case.memory // self.ranks),
                           "--json"] + order + shards


def has_module(interpreter, module):
    libraries = os.path.join(os.path.dirname(os.path.dirname(interpreter)), "lib", "python3*", "site-packages")
    return bool(glob.glob(os.path.join(libraries, module)))


class Nccopy(Contender):
    """Its source is made, and its copy checked, with h5py."""

    reads, python = "hdf5", "rechunker"

    def __init__(self, name, interpreter):
        super().__init__(name, name)
        self.interpreter = interpreter

    def is_there(self):
        return super().is_there() and has_module(self.interpreter, "h5py")

    def takes(self, case):
        return not case.is_permuted

    def command(self, case, source, target):
        chunks = ",".join(f"{name}/{extent}" for name, extent in zip(case.names(), case.target))
        half = str(case.memory // 2)
        return [self.program, "-c", chunks, "-m", half, "-h", half, source, target]

    def target(self, directory):
        return os.path.join(directory, "target.nc")


class H5repack(Nccopy):
    def command(self, case, source, target):
        return [self.program, "-l", "data:CHUNK=" + extents(case.target, "x"), source, target]


class Python(Contender):
    def __init__(self, name, action, interpreter, permutes=True):
        super().__init__(name, interpreter)
        self.action, self.permutes = action, permutes

    def takes(self, case):
        return self.permutes or not case.is_permuted

    def is_there(self):
        return has_module(self.program, self.action.split("-")[0])

    def command(self, case, source, target):
        return [self.program, os.path.join(ROOT, "bench", "copying_peer.py"), self.action, case.as_json(), source,
                target]


class Zarrs(Contender):
    """Every target chunk as a shard of one chunk: without shards it keeps the chunks of the source."""

    reads = "zarr3"

    def takes(self, case):
        return not case.is_permuted

    def command(self, case, source, target):
        chunks = extents(case.target)
        return [self.program, "--cache-size", str(case.memory // 2), "--concurrent-chunks", "2", "-c", chunks, "-s",
                chunks, source, target]


def contenders(options):
    """Parapet stands beside the limits, so that little time lies between what is compared most closely."""
    words = [""] if options.peers is None else [] if options.peers == "none" else options.peers.split("+")
    zarrs = os.path.join(ROOT, "build", "cargo", "bin", "zarrs_reencode")
    peers = [Nccopy("nccopy", options.python_rechunker), Python("dask", "dask", options.python),
             Python("TensorStore", "tensorstore", options.python),
             Python("TensorStore, batches", "tensorstore-batches", options.python),
             Python("rechunker", "rechunker", options.python_rechunker, permutes=False),
             Zarrs("zarrs_reencode", zarrs if os.path.exists(zarrs) else "zarrs_reencode"),
             H5repack("h5repack", options.python_rechunker)]
    return [Bare("buffered", options.build), Parapet(1, options.build), Bare("direct", options.build),
            Parapet(2, options.build)] + [peer for peer in peers if any(word in peer.name for word in words)]


# Measuring

def find_number(document, name):
    """The first number of that name in what parapet copy --json printed, at any depth."""
    if isinstance(document, dict):
        if isinstance(document.get(name), (int, float)):
            return document[name]
        document = list(document.values())
    for entry in document if isinstance(document, list) else ():
        found = find_number(entry, name)
        if found is not None:
            return found
    return None


class Copying:
    def __init__(self, options):
        self.options = options
        self.rounds = options.rounds or (2 if options.quick else 5)
        self.timeout = QUICK_TIMEOUT if options.quick else TIMEOUT
        self.cases = [case for case in (quick_cases() if options.quick else full_cases()) if options.only in case.name]
        if options.quick and options.peers is None:
            options.peers = "nccopy+h5repack"
        self.contenders = contenders(options)
        self.directory = os.path.join(options.disk, "copy")
        self.results = {case.name: {} for case in self.cases} # contender's name -> one entry a round
        self.sources = None # name of what lies on the disk
        self.absent, self.failures, self.checked, self.taken = [], [], set(), []
        self.goals = []

    def python(self, environment):
        return self.options.python if environment == "main" else self.options.python_rechunker

    def source(self, contender):
        return os.path.join(self.directory, SOURCES[contender.reads])

    def helper(self, environment, action, case, target):
        script = os.path.join(ROOT, "bench", "copying_peer.py")
        return run([self.python(environment), script, action, case.as_json(), "-", target], self.timeout)

    def make_sources(self, case):
        if self.sources == case.source_name():
            return
        shutil.rmtree(self.directory, ignore_errors=True)
        os.makedirs(self.directory)
        self.sources = case.source_name()
        for kind in sorted({contender.reads for contender in self.contenders}):
            environment = "rechunker" if kind == "hdf5" else "main"
            self.helper(environment, "source-" + kind, case, os.path.join(self.directory, SOURCES[kind]))

    def clear(self, contender):
        for path in glob.glob(contender.target(self.directory) + "*"):
            if os.path.isdir(path):
                shutil.rmtree(path)
            else:
                os.remove(path)

    def run_once(self, contender, case):
        self.clear(contender)
        target = contender.target(self.directory)
        command = contender.command(case, self.source(contender), target)
        if self.options.verbose:
            print(" ".join(command), flush=True)
        empty_cache()
        found = run(command, self.timeout, {"PYTHONDONTWRITEBYTECODE": "1"})
        self.taken.append(found["taken"])
        if contender.kind == "parapet":
            document = json.loads(found["out"])
            found["copy"] = {name: find_number(document, name) for name in (
                "passes", "planned_seconds", "seconds", "array_bytes", "decoded_bytes", "memory_peak_bytes")}
        del found["out"]
        return found

    def check(self, contender, case):
        if contender.kind == "limit" or (case.name, contender.name) in self.checked:
            return
        self.checked.add((case.name, contender.name))
        self.helper(contender.python, "check", case, contender.target(self.directory))

    def record(self, contender, case):
        entries = self.results[case.name].setdefault(contender.name, [])
        try:
            found = self.run_once(contender, case)
            self.check(contender, case)
            entries.append(found)
            self.say(f"{case.name}, {contender.name}: {found['seconds']:.2f} s, {found['rss_bytes'] / MIB:.0f} MiB")
        except (Failure, ValueError) as failure:
            entries.append(None)
            self.failures.append((contender.kind, f"{case.name}, {contender.name}: {failure}"))
            self.say("failed " + self.failures[-1][1])
        self.clear(contender)

    @staticmethod
    def say(text):
        print(text, file=sys.stderr, flush=True)

    def is_worth_repeating(self, contender, case):
        """Not a peer that failed, nor one that took too long. A bare copy of what is compressed says little."""
        entries = self.results[case.name].get(contender.name, [])
        measure = self.seconds(case, "bare buffered" if case.codec == "none" else "parapet, 1 rank")
        if contender.kind != "peer" or not entries or not measure:
            return True
        return entries[0] is not None and entries[0]["seconds"] <= SLOW * measure[0]

    def measure(self, case):
        wanted = [contender for contender in self.contenders if contender.takes(case)
                  and (case.has_peers or contender.kind != "peer")]
        self.make_sources(case)
        self.run_once(wanted[0], case) # the first run of all is never typical
        for number in range(self.rounds):
            turn = number % len(wanted)
            for contender in wanted[turn:] + wanted[:turn]:
                if self.is_worth_repeating(contender, case):
                    self.record(contender, case)
                else:
                    self.results[case.name][contender.name].append(None)
            self.judge() # what a long run has found is kept, should it be ended
            self.write_json()

    # Judging

    def ratio(self, case, name, other):
        """Seconds of one to seconds of another: the median over the rounds that both have."""
        own, others = self.results[case.name].get(name, []), self.results[case.name].get(other, [])
        ratios = [a["seconds"] / b["seconds"] for a, b in zip(own, others) if a is not None and b is not None]
        return statistics.median(ratios) if ratios else None

    def done(self, case, name):
        return [entry for entry in self.results[case.name].get(name, []) if entry is not None]

    def seconds(self, case, name):
        return [entry["seconds"] for entry in self.done(case, name)]

    def goal(self, case, text, found, bound, **more):
        if found is not None:
            is_met = found <= bound if more.get("at_most", True) else found >= bound
            self.goals.append({"case": case.name, "goal": text, "found": found, "bound": bound,
                               "holds": is_met or more.get("is_excused", False), "is_wish": more.get("is_wish", False),
                               "is_bare": more.get("is_bare", False)})

    def judge_direct(self, case, contender):
        found, slack = self.ratio(case, contender.name, "bare direct"), QUICK_SLACK if self.options.quick else 1
        text = f"{contender.name}: time to bare direct"
        self.goal(case, text, found, case.most * slack, is_bare=True)
        if case.most == MOST_OF_DIRECT:
            self.goal(case, text, found, WISH_OF_DIRECT, is_wish=True)

    def judge_buffered(self, case, contender):
        plan = self.done(case, contender.name)[0]["copy"]
        passes, decoded, array = plan["passes"], plan["decoded_bytes"], plan["array_bytes"] or case.bytes
        if passes not in MOST_OF_BUFFERED:
            return
        if passes == 1 and decoded is not None and decoded > 1.02 * array:
            return # it reads parts of the source again, which the goal does not speak of
        bound = MOST_OF_BUFFERED[passes] * (QUICK_SLACK if self.options.quick else 1)
        self.goal(case, f"{contender.name}, {passes} pass{'es' if passes > 1 else ''}: time to bare buffered",
                  self.ratio(case, contender.name, "bare buffered"), bound, is_wish=True, is_bare=True)

    def judge_bare(self, case, contender):
        if case.most is None:
            self.judge_buffered(case, contender)
        elif contender.ranks == 1:
            self.judge_direct(case, contender)

    def judge_peers(self, case, contender):
        """By the fastest of those that are the measure, and by the fastest of the others."""
        peers = [(statistics.median(self.seconds(case, peer.name)), peer.name) for peer in self.contenders
                 if peer.kind == "peer" and self.seconds(case, peer.name)]
        for is_wish in (False, True):
            fastest = min((peer for peer in peers if (NO_MEASURE in peer[1]) == is_wish), default=None)
            if fastest is not None:
                self.goal(case, f"{contender.name}: time to {fastest[1]}", self.ratio(case, contender.name, fastest[1]),
                          1.0, is_wish=is_wish)

    def judge_ranks(self, case, one, two):
        """Where the codec takes no time, two ranks need not be faster than the disk."""
        limits = [self.ratio(case, contender.name, "bare direct") for contender in (one, two)]
        is_at_limit = case.codec == "none" and None not in limits and max(limits) < 1 / AT_THE_LIMIT
        self.goal(case, "parapet: time on 2 ranks to 1 rank" + (", at the limit of the disk" if is_at_limit else ""),
                  self.ratio(case, two.name, one.name), MOST_OF_ONE_RANK, is_excused=is_at_limit)
        if case.codec == SLOW_CODEC:
            self.goal(case, "parapet: speed on 2 ranks to 1 rank", self.ratio(case, one.name, two.name), LEAST_SCALING,
                      at_most=False, is_wish=True)

    def judge(self):
        self.goals = []
        for case in self.cases:
            ours = [c for c in self.contenders if c.kind == "parapet" and self.done(case, c.name)]
            for contender in ours:
                if case.codec == "none":
                    self.judge_bare(case, contender)
                self.judge_peers(case, contender)
            if len(ours) == 2:
                self.judge_ranks(case, *ours)

    def predictions(self):
        """Case, contender, planned to measured seconds: one row for each of them."""
        for case in self.cases:
            for contender in self.contenders:
                plans = [entry["copy"] for entry in self.done(case, contender.name) if "copy" in entry]
                ratios = [plan["planned_seconds"] / plan["seconds"] for plan in plans
                          if plan["planned_seconds"] and plan["seconds"]]
                if ratios:
                    yield case.name, contender.name, statistics.median(ratios)

    # Reporting

    def cells(self, case, contender):
        entries = self.done(case, contender.name)
        if not entries:
            return None
        seconds = sorted(entry["seconds"] for entry in entries)
        middle = {name: statistics.median(entry[name] for entry in entries) / 1e6
                  for name in ("rchar", "wchar", "read_bytes", "write_bytes")}
        ratios = [self.ratio(case, contender.name, measure) for measure in MEASURES]
        passes = entries[0].get("copy", {}).get("passes")
        return [case.name, contender.name, f"{statistics.median(seconds):.2f} ({seconds[0]:.2f}-{seconds[-1]:.2f})",
                str(len(seconds))] + ["" if ratio is None else f"{ratio:.2f}" for ratio in ratios] + [
                    f"{max(entry['rss_bytes'] for entry in entries) / MIB:.0f}",
                    f"{middle['rchar']:.0f} / {middle['wchar']:.0f}",
                    f"{middle['read_bytes']:.0f} / {middle['write_bytes']:.0f}", "" if passes is None else str(passes)]

    def tables(self):
        heads = ["case", "contender", "seconds, median (range)", "runs", "to buffered", "to direct", "to 1 rank",
                 "RSS, MiB", "MB read / written by calls", "by the disk", "passes"]
        rows = [self.cells(case, contender) for case in self.cases for contender in self.contenders]
        yield [heads] + [row for row in rows if row]
        yield [["goal", "found", "bound", "holds", "a wish"]] + [
            [f"{goal['case']}: {goal['goal']}", f"{goal['found']:.2f}", f"{goal['bound']:.2f}",
             "yes" if goal["holds"] else "no", "yes" if goal["is_wish"] else ""] for goal in self.goals]
        yield [["predicted time", "to measured", "within 30 %"]] + [
            [f"{case}, {name}", f"{found:.2f}", "yes" if abs(found - 1) <= PREDICTION else "no"]
            for case, name, found in self.predictions()]

    def notes(self):
        found = list(self.predictions())
        near = sum(abs(ratio - 1) <= PREDICTION for _, _, ratio in found)
        yield f"{near} of {len(found)} predictions are within 30 %."
        if self.taken:
            yield tell_taken(self.taken).capitalize() + "."
        if self.absent:
            yield "Not available: " + ", ".join(self.absent) + "."
        for _, text in self.failures:
            yield "Failed: " + text

    def report(self):
        for table in self.tables():
            widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
            for row in table:
                print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
            print()
        for note in self.notes():
            print(note)
        if self.options.markdown:
            self.write_markdown()
        self.write_json()

    def write_markdown(self):
        with open(self.options.markdown, "w") as out:
            for table in self.tables():
                for number, row in enumerate(table):
                    out.write("| " + " | ".join(row) + " |\n" + ("|" + "---|" * len(row) + "\n" if number == 0 else ""))
                out.write("\n")
            out.writelines(f"- {note}\n" for note in self.notes())

    def all_ratios(self):
        """Case -> contender -> measure -> seconds to those of the measure: the median over the rounds."""
        return {case.name: {contender.name: {measure: self.ratio(case, contender.name, measure) for measure in MEASURES}
                            for contender in self.contenders if self.done(case, contender.name)}
                for case in self.cases}

    def write_json(self):
        if not self.options.json:
            return
        with open(self.options.json, "w") as out:
            json.dump({"cores": os.cpu_count(), "system": platform.platform(), "quick": self.options.quick,
                       "cases": [dict(json.loads(case.as_json()), name=case.name, bytes=case.bytes)
                                 for case in self.cases],
                       "results": self.results, "ratios": self.all_ratios(), "goals": self.goals, "not_available": self.absent,
                       "predictions": [list(row) for row in self.predictions()], "taken_by_others": self.taken,
                       "failures": [text for _, text in self.failures]}, out, indent=1)

    def select(self):
        for contender in list(self.contenders):
            if contender.is_there():
                continue
            if contender.kind != "peer":
                sys.exit(f"bench: {contender.program} is missing; build it first")
            self.absent.append(contender.name)
            self.contenders.remove(contender)

    @staticmethod
    def bound_memory():
        """A peer that would take more than three quarters of the machine fails, and nothing else does."""
        most = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4 * 3
        resource.setrlimit(resource.RLIMIT_DATA, (most, resource.getrlimit(resource.RLIMIT_DATA)[1]))

    def run(self):
        started = time.time()
        self.select()
        self.bound_memory()
        try:
            for case in self.cases:
                self.measure(case)
        except Failure as failure:
            sys.exit(f"bench: {failure}")
        finally:
            shutil.rmtree(self.directory, ignore_errors=True)
        self.judge()
        self.report()
        broken = sum(kind != "peer" for kind, _ in self.failures)
        late = sum(not goal["holds"] for goal in self.goals
                   if (goal["is_bare"] if self.options.quick else not goal["is_wish"]))
        print(f"copy: {self.tell_goals(False)} goals and {self.tell_goals(True)} wishes are met, "
              f"{len(self.failures)} runs failed "
              f"({len(self.cases)} cases, {self.rounds} rounds, {time.time() - started:.0f} s)")
        sys.exit(1 if broken or late else 0)

    def tell_goals(self, are_wishes):
        goals = [goal["holds"] for goal in self.goals if goal["is_wish"] == are_wishes]
        return f"{sum(goals)} of {len(goals)}"
