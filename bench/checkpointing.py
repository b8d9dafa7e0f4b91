"""bench/run checkpoint: what the guarantees of a checkpoint cost, and how much of it is hidden behind computation.

The state is N^3 doubles in four arrays, each rank of a mesh holding one block of each. Written: begin, put and commit
with all options left alone (durable, CRC-32C, sealed, a commit record), not compressed. Read: the newest generation is
found, verified and restored, cold. The limits are a file per process in a fresh folder (fpp; fpp_direct with
O_DIRECT), flushed, folders too; the peers parallel HDF5, one file with four datasets. How they take turns, and --case,
are as at the top of bench/collective.py.

Wanted on ext4, as medians of the ratios within a round: writing at least 0.90 of fpp_direct, and reading 0.85 of it,
whatever the shards; everywhere, writing at least 1.5 times as fast as HDF5. The exit status is 0 if that is reached, or
with --quick, where what does not depend on the size counts, if lower thresholds are.

    --case ...,layout=chosen     shards as Parapet chooses them; blocks: one for each block of a rank
    --case ...,beside=1+2+4      ranks of the checkpoints beside a computation; none

Beside a computation, on ext4: as many sweeps of a stencil as take about as long as a checkpoint, one process for each
number of ranks. Hidden is (checkpoint alone + computation alone - both at once) / checkpoint alone.
"""
import statistics
import sys

from collective import MESHES, Collective, Goal, Method, Selection, mpich, print_table, romio
from taken import is_quiet

# What --quick must reach for the exit status to be 0: at least this much of fpp, about the lowest seen while others
# had more than half of the cores. The state is small, so that what does not depend on its size counts. The goals are
# higher.
FLOORS = {("ext4", "write"): 0.20, ("ext4", "read"): 0.12, ("tmpfs", "write"): 0.15, ("tmpfs", "read"): 0.08}
OF_DIRECT = {"write": 0.90, "read": 0.85}
OF_HDF5 = 1.5
MEASURES = ("alone", "computing", "borrowed", "borrowed_start", "copied", "copied_start") # as checkpoint_beside.c prints them


def peers():
    program, independent = "bench_hdf5_checkpoint", ["blocks", "transfer=independent"]
    return [Method("peer", "HDF5 blocks, independent, MPICH", "mpich", program, independent),
            romio("HDF5 blocks, independent", program, independent),
            romio("HDF5 blocks, collective", program, ["blocks"]),
            romio("HDF5 contiguous, collective", program, ["contiguous"]),
            mpich("HDF5 contiguous, collective", program, ["contiguous"])]


class CheckpointSelection(Selection):
    layouts = ["chosen", "blocks"]

    def set_defaults(self):
        self.edge = 320 if self.quick else 512
        self.rounds = 2 if self.quick else 5
        self.ranks = [4, 8]
        self.layout = self.layouts
        self.peers = ["independent, MPICH"] if self.quick else [""]
        self.beside = [1, 2, 4]

    def narrow(self, name, value):
        if name == "beside":
            self.beside = [] if value == "none" else [int(number) for number in value.split("+")]
            if not set(self.beside) <= set(MESHES):
                sys.exit(f"bench: beside may be {', '.join(str(ranks) for ranks in MESHES)}")
        elif name in ("rounds", "edge", "ranks", "fs", "mpi", "layout", "peers"):
            super().narrow(name, value)
        else:
            sys.exit(f"bench: no {name} in this benchmark; options of a store are taken from PARAPET_... variables")

    def parapet(self, ranks):
        for mpi in self.mpi:
            for layout in self.layout:
                name = f"parapet {layout}, {'MPICH' if mpi == 'mpich' else 'Open MPI'}"
                yield Method("parapet", name, mpi, "bench_checkpoint", ["parapet", "shards=" + layout], layout=layout)

    def wanted_peers(self):
        return [peer for peer in peers() if any(text in peer.name for text in self.peers)]

    def limits(self, fs):
        names = ["fpp", "fpp_direct"] if fs == "ext4" else ["fpp"]
        return [Method("limit", name, self.mpi[0], "bench_checkpoint", [name]) for name in names]


class Checkpointing(Collective):
    name, floors, choose = "checkpoint", FLOORS, CheckpointSelection

    def __init__(self, options):
        super().__init__(options)
        self.beside = {} # ranks -> for each round, seconds by measure

    def goals(self, method, key, row):
        fs, _, action = key
        if fs == "ext4":
            yield Goal("of fpp_direct", row["of_fpp_direct"], OF_DIRECT[action])
        if action == "write" and is_quiet(self.taken):
            yield Goal("of HDF5", row["of_best_peer"], OF_HDF5)

    def one_round(self, fs, ranks, number):
        if not self.selection.quick or fs == "ext4" or ranks == self.selection.ranks[0]:
            super().one_round(fs, ranks, number)

    def measure(self):
        super().measure()
        method = Method("parapet", "beside", self.selection.mpi[0], "bench_checkpoint",
                        ["beside", f"rounds={self.selection.rounds}"])
        for ranks in self.selection.beside:
            words = self.run_program(method, "ext4", ranks)
            if words is not None:
                numbers = [float(word) for word in words[3:]]
                self.beside[ranks] = [dict(zip(MEASURES, numbers[at:at + len(MEASURES)]))
                                      for at in range(0, len(numbers), len(MEASURES))]

    @staticmethod
    def hidden(seconds, buffering):
        return (seconds["alone"] + seconds["computing"] - seconds[buffering]) / seconds["alone"]

    def beside_cells(self, ranks, buffering):
        rounds = self.beside[ranks]
        hidden = sorted(self.hidden(seconds, buffering) for seconds in rounds)
        columns = [statistics.median(seconds[name] for seconds in rounds)
                   for name in ("alone", "computing", buffering, buffering + "_start")]
        return [str(ranks), buffering] + [f"{value:.2f}" for value in columns] + [
            f"{100 * statistics.median(hidden):.0f} % ({100 * hidden[0]:.0f}-{100 * hidden[-1]:.0f})"]

    def report(self):
        super().report()
        if not self.beside:
            return
        heads = ["ranks", "memory", "checkpoint, s", "computation, s", "both, s", "start of it, s",
                 "hidden, median (range)"]
        lines = [heads] + [self.beside_cells(ranks, buffering) for ranks in self.beside for buffering in
                           ("borrowed", "copied")]
        print()
        print_table(lines)
        if self.options.markdown:
            with open(self.options.markdown, "a") as out:
                out.write("\n")
            self.write_markdown(lines, "a")

    def more_found(self):
        return {"beside": self.beside}
