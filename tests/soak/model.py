"""What a store may hold after two jobs have run beside each other, of what they were told.

A world is what is in the store. Each job does one operation after the other; those of the two are put into one order, such
that none comes before another one that had ended when it began, and that explains every answer. All orders are followed at once: the result
is a set of worlds, and one of them must be what is found. An operation that was told PARAPET_OK has been done. One that
was refused has changed nothing. One that was never told anything, because its job was killed, or that was told
of an error of the storage, was done, was not, or (where the manual says so) was done in part."""

import collections
import itertools
import statistics

LENGTH, GROWN, SHRUNK, CHUNK, SHARD = 64, 96, 32, 8, 16
SOURCE = tuple(500 + i for i in range(LENGTH)) + (0,) * (GROWN - LENGTH)
READERS = {"restore", "check", "read"}
WRITES = {"write shards", "write chunks"}
OF_ARRAY = WRITES | {"resize", "attribute", "seal", "read"}
COPIES = {"copy", "resume copy"}
STORAGE_ERRORS = {"PARAPET_ERR_IO", "PARAPET_ERR_NO_SPACE"}
WORLDS_MOST = 20000
GROWTH_KIB = 16  # most, in fifty operations

# sealed None: nobody knows
Array = collections.namedtuple("Array", "length values sealed made set")
# A copy of an array that was being changed: what each chunk and the attributes may be
Target = collections.namedtuple("Target", "length chunks attributes")
# generations: (number, mark), the newest first; number None: of a job that was killed
World = collections.namedtuple("World", "a t steps generations")


class Violation(Exception):
    pass


# ---- Worlds ----


def array_from(found):
    if found is None:
        return None
    values = tuple(found["values"]) + (0,) * (GROWN - found["length"])
    return Array(found["length"], values, bool(found["sealed"]), found["made"], tuple(found["set"]))


def chunks_of(array):
    return [array.values[at:at + CHUNK] for at in range(0, GROWN, CHUNK)]


def target_of(arrays, length):
    """The copy of an array that was one of these meanwhile."""
    fitting = [array for array in arrays if array.length == length]
    chunks = tuple(frozenset(options) for options in zip(*map(chunks_of, arrays)))[:length // CHUNK]
    return Target(length, chunks, frozenset((array.made, array.set) for array in fitting))


def world_from(found):
    target = array_from(found["t"])
    return World(array_from(found["a"]), target and target_of([target], target.length), tuple(found["steps"]),
                 tuple(zip(found["generations"], found["marks"])))


def same_array(model, found):
    if model is None or found is None:
        return model is found
    return model._replace(sealed=found.sealed) == found and model.sealed in (None, found.sealed)


def same_target(model, found):
    if model is None or found is None:
        return model is found
    return (model.length == found.length and found.attributes <= model.attributes and
            all(one <= many for one, many in zip(found.chunks, model.chunks)))


def same_generations(model, found):
    numbers = [number for number, _ in found]
    return (len(model) == len(found) and numbers == sorted(set(numbers), reverse=True) and
            all(one[1] == other[1] and one[0] in (None, other[0]) for one, other in zip(model, found)))


def differences(model, found):
    """Names of what is not the same."""
    return [name for name, is_same in (("array a", same_array(model.a, found.a)), ("array t", same_target(model.t, found.t)),
                                       ("steps", model.steps == found.steps),
                                       ("generations", same_generations(model.generations, found.generations))) if not is_same]


def runs(values):
    """4310x12 500..507: values that are equal, or go up by one."""
    words, at = [], 0
    while at < len(values):
        end = at + 1
        gap = values[end] - values[at] if end < len(values) else 0
        while end < len(values) and gap in (0, 1) and values[end] - values[end - 1] == gap:
            end += 1
        words.append(f"{values[at]}..{values[end - 1]}" if gap == 1 else f"{values[at]}x{end - at}")
        at = end
    return " ".join(words)


def described_array(array):
    if array is None:
        return "no a"
    seal = {True: "sealed", False: "not sealed", None: "perhaps sealed"}[array.sealed]
    return f"a of {array.length}, made {array.made}, set {array.set}, {seal}: {runs(array.values[:array.length])}"


def described_target(target):
    if target is None:
        return "no t"
    return f"t of {target.length}, {sorted(target.attributes)}: " + ", ".join(" or ".join(map(runs, sorted(one))) for one in target.chunks)


def described(world):
    return "; ".join([described_array(world.a), described_target(world.t), f"steps {list(world.steps)}",
                      f"generations {list(world.generations)}"])


# ---- What an operation makes of a world ----


def pieces(op):
    """(start, count) of what it writes."""
    if op.does == "write shards":
        return [(SHARD * (1 if op.wide else 2 * op.job), 2 * SHARD)]
    return [(CHUNK * (2 * i + (0 if op.wide else op.job)), CHUNK * 3 // 2 if op.wide else CHUNK) for i in range(LENGTH // CHUNK // 2)]


def is_inside(array, op):
    return all(start + count <= array.length for start, count in pieces(op))


def written(array, op):
    if array is None or not is_inside(array, op):
        return None
    values = list(array.values)
    for start, count in pieces(op):
        values[start:start + count] = [op.mark] * count
    return array._replace(values=tuple(values), sealed=False)


def resized(array, op):
    if array is None:
        return None
    length = SHRUNK if op.wide else GROWN
    return array._replace(length=length, values=array.values[:length] + (0,) * (GROWN - length), sealed=False)


def copied(world, op, arrays):
    """Copies, of an array that was one of these while it was copied. One that is resumed may have been begun to overwrite."""
    target = world.t if op.source else world.a
    overwrites = replaces(op)
    if target is not None and not overwrites:
        return set()
    if not op.source:
        return {world._replace(a=Array(LENGTH, SOURCE, False, 0, (0, 0)))}
    arrays = [array for array in arrays if array is not None]
    return {world._replace(t=target_of(arrays, length)) for length in {array.length for array in arrays}}


def kept(generations, op, is_certain):
    """What is left of older generations. A failure to remove one is no failure of the commit."""
    keep = 0 if op.wide else 1
    if is_certain:
        return {generations[:keep]}
    rest = generations[keep:]
    return {generations[:keep] + chosen for count in range(len(rest) + 1) for chosen in itertools.combinations(rest, count)}


def committed(world, op, is_certain):
    newest = world.generations[0][0] if world.generations else 0
    if op.generation is not None and newest is not None and op.generation <= newest:
        return set()
    return {world._replace(generations=((op.generation, op.mark),) + older) for older in kept(world.generations, op, is_certain)}


def removed(world, op):
    """Removes an array; or what somebody has left where there is none, which is no array."""
    has_removed = op.told.get("removed", world.a is not None)
    return set() if has_removed and world.a is None else {world._replace(a=None)}


def attributed(array, op):
    return array and array._replace(set=tuple(op.mark if job == op.job else value for job, value in enumerate(array.set)))


def with_array(world, array):
    return {world._replace(a=array)} if array is not None else set()


def done(world, op, arrays, is_certain=True):
    """The worlds that there may be when it was done; none: it cannot be done in this one."""
    does, array = op.does, world.a
    if does in WRITES:
        return with_array(world, written(array, op))
    if does == "resize":
        return with_array(world, resized(array, op))
    if does == "attribute":
        return with_array(world, attributed(array, op))
    if does == "seal":
        return with_array(world, array and array._replace(sealed=True))
    if does == "overwrite" or (does == "create" and array is None):
        return {world._replace(a=Array(LENGTH, (0,) * GROWN, False, op.mark, (0, 0)))}
    if does in COPIES:
        return copied(world, op, arrays)
    if does == "rm":
        return removed(world, op)
    if does == "append":
        return {world._replace(steps=world.steps + (op.mark,))}
    if does == "commit":
        return committed(world, op, is_certain)
    return set() if does == "create" else {world}


def unsealed(world, op):
    """Whoever is going to write or resize takes the seal off first."""
    if world.a is not None and world.a.sealed and op.does in WRITES | {"resize"}:
        return world._replace(a=world.a._replace(sealed=None))
    return world


def mixtures(old, new):
    """Some shards as before and some as after."""
    starts = [at for at in range(0, GROWN, SHARD) if old.values[at:at + SHARD] != new.values[at:at + SHARD]]
    for chosen in itertools.product((old, new), repeat=len(starts)):
        values = list(old.values)
        for at, array in zip(starts, chosen):
            values[at:at + SHARD] = array.values[at:at + SHARD]
        yield new._replace(values=tuple(values), sealed=None)


def replaces(op):
    return op.does in ("overwrite", "rm") or (op.does == "copy" and op.wide) or (op.does == "resume copy" and op.overwrites)


def half_done(world, op, arrays):
    """The worlds that there may be when nobody knows how far it came."""
    worlds = {unsealed(world, op)}
    for after in done(world, op, arrays, False):
        worlds.add(after)
        if op.does in WRITES:
            worlds |= {world._replace(a=array) for array in mixtures(world.a, after.a)}
        if op.does == "seal":
            worlds.add(world._replace(a=world.a._replace(sealed=None)))
    if replaces(op):
        worlds.add(world._replace(t=None) if op.source else world._replace(a=None))
    return worlds


# ---- What it was told ----


class Operation:
    def __init__(self, job, begin):
        self.job, self.does, self.mark, self.begin, self.end = job, begin["does"], begin["mark"], begin["at"], None
        self.aged, self.wide, self.source, self.stops = (bool(begin[name]) for name in ("aged", "wide", "source", "stops"))
        self.overwrites = False  # it is resumed, and may have been begun to overwrite
        self.status, self.generation, self.told, self.since = None, None, {}, begin["at"]

    def tell(self, end):
        self.end, self.status, self.told = end["at"], end["status"], end
        if self.does == "commit" and self.status == "PARAPET_OK":
            self.generation = end["generation"]

    def is_reader(self):
        return self.does in READERS

    def __str__(self):
        flags = "".join(f", {name}" for name in ("aged", "wide", "source", "stops") if getattr(self, name))
        said = f"{self.status}: {self.told.get('sentence', '')}" if self.status else "nothing, it was killed"
        return f"job {self.job}: {self.does} {self.mark}{flags}, {self.begin:.6f} to {self.end:.6f}, told {said}"


def operations_of(job, lines, gone):
    """Of the notes of a job that was gone at that time. Aged handles were opened before the first of a row of operations that use one."""
    found, ended, opened = [], 0.0, 0.0
    for line in lines:
        if "begin" in line:
            op = Operation(job, line)
            opened = opened if op.aged and found and found[-1].aged else ended
            op.since = opened if op.aged else op.begin
            found.append(op)
        elif "end" in line:
            found[-1].tell(line)
            ended = line["at"]
    if found and found[-1].end is None:
        found[-1].end = gone
    return found


class Circumstances:
    """What else may explain an answer: how a job was disturbed, what earlier ones have left."""

    def __init__(self, errors=((), ()), begun=(False, False), is_dirty=False):
        self.errors = errors      # statuses that were injected, of each job
        self.begun = begun        # a copy into a, into t, may have been interrupted
        self.is_dirty = is_dirty  # things may be left over


class Judge:
    def __init__(self, world, jobs, circumstances):
        self.jobs, self.around = jobs, circumstances
        self.start = world
        self.reached = {}

    def beside(self, op, since=None):
        """What the other job did at the same time, or since then."""
        return [other for other in self.jobs[1 - op.job]
                if other.end >= (op.begin if since is None else since) and other.begin <= op.end]

    def effects(self, world, op, arrays):
        if op.status == "PARAPET_OK":
            return done(world, op, arrays, not self.around.errors[op.job]) or {world}
        if op.status is None or op.status in STORAGE_ERRORS or (op.status == "PARAPET_ERR_STALE" and self.is_hurt(op)):
            return half_done(world, op, arrays)
        return {world}

    def meanwhile(self, world, op, following):
        """Worlds while it was under way: this one, and those that the other job then made of it."""
        worlds = frontier = {world}
        for other in following:
            if other.begin > op.end:
                break
            frontier = set().union(*(self.effects(one, other, [one.a]) for one in frontier))
            worlds = worlds | frontier
        return worlds

    # ---- Readers ----

    def has_read(self, op, worlds):
        values, arrays = op.told["values"], [world.a for world in worlds if world.a is not None]
        if not any(len(values) == array.length or (op.aged and len(values) < array.length) for array in arrays):
            return False
        return all(any(array.values[at:at + SHARD] == tuple(values[at:at + SHARD]) for array in arrays)
                   for at in range(0, len(values), SHARD))

    def has_restored(self, op, worlds):
        told = op.told["generation"], op.told["marked"]
        newest = [world.generations[0] for world in worlds if world.generations]
        return op.told["alarms"] == 0 and any(mark == told[1] and number in (None, told[0]) for number, mark in newest)

    def has_checked(self, op):
        return op.told["alarms"] == 0 and (op.told["strays"] == 0 or self.around.is_dirty)

    def is_seen(self, op, worlds):
        if op.does == "read":
            return self.has_read(op, worlds)
        return self.has_restored(op, worlds) if op.does == "restore" else self.has_checked(op)

    def may_find_remains(self, op):
        return self.around.begun[False] or self.around.is_dirty or any(map(replaces, self.beside(op)))

    # ---- Refusals ----

    def is_hurt(self, op):
        """Its storage fails: handles must be opened again, and a lock that cannot be written counts as lost."""
        return bool(self.around.errors[op.job])

    def may_be_stale(self, op):
        return self.is_hurt(op) or any(not other.is_reader() for other in self.beside(op, op.since))

    def may_exist(self, op, worlds):
        if op.does == "commit":
            return any(other.does == "commit" for other in self.beside(op))
        if op.does not in COPIES | {"create"}:
            return False
        name = "t" if op.source else "a"
        return any(getattr(world, name) is not None for world in worlds) or self.around.begun[op.source]

    def may_be_absent(self, op, worlds):
        uses = op.does in OF_ARRAY | {"rm"} or (op.does in COPIES and op.source)
        return uses and (any(world.a is None for world in worlds) or any(map(replaces, self.beside(op, op.since))))

    def may_be_outside(self, op, worlds):
        if op.does == "resume copy" or (op.aged and self.is_hurt(op)):
            return True  # "an earlier change failed half-way; close the array and open it again"
        resizes = any(other.does == "resize" or replaces(other) for other in self.beside(op, op.since))
        return op.does in WRITES and ((op.aged and resizes) or
                                      any(world.a is not None and not is_inside(world.a, op) for world in worlds))

    def may_refuse(self, op, worlds):
        if op.status == "PARAPET_ERR_BUSY":
            return not op.is_reader() and any(not other.is_reader() for other in self.beside(op))
        if op.status == "PARAPET_ERR_CANCELLED":
            return op.stops
        reasons = {"PARAPET_ERR_STALE": lambda: self.may_be_stale(op), "PARAPET_ERR_EXISTS": lambda: self.may_exist(op, worlds),
                   "PARAPET_ERR_NOT_FOUND": lambda: self.may_be_absent(op, worlds),
                   "PARAPET_ERR_ARGUMENT": lambda: self.may_be_outside(op, worlds)}
        return op.status in reasons and reasons[op.status]()

    # ---- Orders ----

    def explain(self, world, op, following):
        """The worlds behind it; none: what it was told has no reason in this one."""
        worlds = self.meanwhile(world, op, following)
        arrays = [one.a for one in worlds]
        if op.status is None:
            return half_done(world, op, arrays)
        if op.status in STORAGE_ERRORS:
            return half_done(world, op, arrays) if op.status in self.around.errors[op.job] else set()
        if op.status != "PARAPET_OK":
            is_open = self.is_hurt(op) and op.status == "PARAPET_ERR_STALE" or op.does == "append" and op.stops
            after = half_done(world, op, arrays) if is_open else {unsealed(world, op)}
            return after if self.may_refuse(op, worlds) else set()
        if op.is_reader():
            return {world} if self.is_seen(op, worlds) else set()
        if op.does == "rm" and not op.told["removed"] and not self.may_find_remains(op):
            return set()
        return done(world, op, arrays, not self.around.errors[op.job])

    def advance(self, place, job):
        """What comes of the next operation of a job at a place of all orders."""
        at = place[job]
        own, others = self.jobs[job], self.jobs[1 - job][place[1 - job]:]
        if at == len(own) or (others and others[0].end < own[at].begin):
            return
        following = place[:job] + (at + 1,) + place[job + 1:]
        worlds = set().union(*(self.explain(world, own[at], others) for world in self.reached[place]))
        if worlds:
            self.reached.setdefault(following, set()).update(worlds)
            if len(self.reached[following]) > WORLDS_MOST:
                raise OverflowError(f"more than {WORLDS_MOST} worlds")

    def worlds(self):
        """All that there may be at the end."""
        self.reached = {(0, 0): {self.start}}
        for place in itertools.product(range(len(self.jobs[0]) + 1), range(len(self.jobs[1]) + 1)):
            if place in self.reached:
                self.advance(place, 0)
                self.advance(place, 1)
        return self.reached.get(tuple(map(len, self.jobs)), set())

    def check(self, found):
        """Raises Violation where no order explains what was told and found."""
        for op in itertools.chain(*self.jobs):
            if op.told and not op.told["agreed"]:
                raise Violation(f"ranks of one job were told different things\n  {op}")
        worlds = self.worlds()
        if not worlds:
            far = max(self.reached, key=sum)
            stuck = [str(ops[at]) for ops, at in zip(self.jobs, far) if at < len(ops)]
            raise Violation("no order of the operations explains what they were told; all fail at\n  " + "\n  ".join(stuck))
        if all(differences(world, found) for world in worlds):
            nearest = min(worlds, key=lambda world: len(differences(world, found)))
            raise Violation(f"not what must be there: {', '.join(differences(nearest, found))}; {len(worlds)} worlds may be, such as\n"
                            f"  {described(nearest)}\nand there is\n  {described(found)}")


def growth_of(kib):
    """What fifty operations of a long job leave allocated, in KiB. Each is a median: of what is there at a moment, which
    has messages that came early in it, and of the steps, of which one may be a pool of MPI's that is enlarged."""
    parts = [statistics.median(kib[at:at + 50]) for at in range(50, len(kib) - 49, 50)]
    return statistics.median(after - before for before, after in zip(parts, parts[1:]))
