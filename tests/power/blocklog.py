"""What a disk may hold after a power cut, from the log of all that was done to it (see disk.c).

What was written before the last flush is there. Of what was written since then anything may be there or not, and
the last write may be there in part, in sectors of 512 bytes.
"""

import struct
from dataclasses import dataclass, field

WRITE, FLUSH, MARK, FAILED_WRITE, FAILED_FLUSH = range(1, 6)
FAILED = (FAILED_WRITE, FAILED_FLUSH)
HEAD = struct.Struct("<IIQ")
SECTOR_BYTES = 512
FIRST_BLOCK_BYTES = 4096


@dataclass
class Known:
    """What the job had said when the power was cut."""
    done: int = 0
    previous: int = 0
    begun: int = 0

    def after(self, text):
        known = Known(self.done, self.previous, self.begun)
        for line in text.splitlines():
            what, number = line.split()
            if what == "begin":
                known.begun = int(number)
            elif int(number) != known.done:
                known.previous, known.done = known.done, int(number)
        return known


@dataclass
class Epoch:
    """From one flush to the next: the writes, what was known after each of them, and at the end."""
    writes: list = field(default_factory=list)  # (offset, bytes, Known)
    known: Known = field(default_factory=Known)


@dataclass
class State:
    epoch: int
    how: str
    writes: list  # (offset, bytes) of the epoch that have arrived
    known: Known


def read_events(path):
    with open(path, "rb") as file:
        log = file.read()
    at = 0
    while at < len(log):
        kind, size, offset = HEAD.unpack_from(log, at)
        at += HEAD.size
        yield kind, offset, log[at:at + size]
        at += size


def count_events(path, wanted):
    return sum(kind == wanted for kind, _, _ in read_events(path))


def read_epochs(path, known):
    epochs = [Epoch(known=known)]
    for kind, offset, data in read_events(path):
        epoch = epochs[-1]
        if kind == WRITE:
            epoch.writes.append((offset, data, epoch.known))
        elif kind == MARK:
            epoch.known = epoch.known.after(data.decode())
        elif kind == FLUSH:
            epochs.append(Epoch(known=epoch.known))
    return epochs


def tear(write, choose):
    """Some sectors of a write. The first block of a file system is spared: with it, ext4 itself would be lost."""
    offset, data = write
    if offset < FIRST_BLOCK_BYTES or len(data) <= SECTOR_BYTES:
        return write
    return offset, data[:SECTOR_BYTES * choose.randrange(1, len(data) // SECTOR_BYTES)]


def choose_state(number, epoch, choose):
    """The power goes after a random write of the epoch, and a random part of those before it has arrived."""
    last = choose.randrange(len(epoch.writes))
    issued = [(offset, data) for offset, data, _ in epoch.writes[:last + 1]]
    known = epoch.writes[last + 1][2] if last + 1 < len(epoch.writes) else epoch.known
    how = choose.choice(["in order", "half", "one lost", "only one", "torn", "torn"])
    if how == "half":
        issued = [write for write in issued if choose.random() < 0.5]
    elif how == "one lost":
        issued.pop(choose.randrange(len(issued)))
    elif how == "only one":
        issued = [choose.choice(issued)]
    elif how == "torn":
        issued = [write for write in issued[:-1] if choose.random() < 0.7] + [tear(issued[-1], choose)]
    return State(number, how, issued, known)


def choose_prefixes(epochs, count, choose):
    """Cuts just before a flush, with nothing of the epoch on disk but all of it known: with these, every prefix that
    ends with a flush is seen, or as many as wanted. First come those after which something is acknowledged."""
    told = [number for number, epoch in enumerate(epochs) if number > 0 and epoch.known != epochs[number - 1].known]
    others = [number for number in range(len(epochs)) if number not in told]
    choose.shuffle(told)
    choose.shuffle(others)
    return [State(number, "prefix", [], epochs[number].known) for number in (told + others)[:count]]


def choose_states(epochs, count, choose):
    """At most half of them prefixes; the others are random."""
    prefixes = choose_prefixes(epochs, count // 2, choose)
    busy = [number for number, epoch in enumerate(epochs) if epoch.writes]
    others = [choose_state(number, epochs[number], choose)
              for number in (choose.choice(busy) for _ in range(count - len(prefixes)))]
    return sorted(prefixes + others, key=lambda state: state.epoch)


def put(image, writes):
    for offset, data in writes:
        image[offset:offset + len(data)] = data


def images(base, epochs, states):
    """(state, its bytes), from the bytes that the disk had at first."""
    image, reached = bytearray(base), 0
    for state in states:
        while reached < state.epoch:
            put(image, [(offset, data) for offset, data, _ in epochs[reached].writes])
            reached += 1
        found = bytearray(image)
        put(found, state.writes)
        yield state, found
