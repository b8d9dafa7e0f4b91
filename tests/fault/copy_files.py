"""What lies in the files of a copy: chunks of an array, and the journals of one that is not finished."""

import hashlib
import itertools
import json
import math
import struct

ABSENT = 2**64 - 1


def files_below(folder):
    """Locks are left out: they say which job came last."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*")
                  if path.is_file() and path.parts[-2:] != ("__parapet", "lock"))


def chunks_of_shard(data, count):
    """Digests of the chunks by their position in the shard; every byte belongs to one of them or to the index."""
    index_bytes = 16 * count + 4
    assert len(data) >= index_bytes, "a shard is shorter than its index"
    entries = struct.unpack(f"<{2 * count}Q", data[-index_bytes:-4])
    chunks, used = {}, index_bytes
    for position in range(count):
        offset, size = entries[2 * position], entries[2 * position + 1]
        if offset != ABSENT:
            chunks[position] = hashlib.sha256(data[offset:offset + size]).hexdigest()
            used += size
    assert used == len(data), "a shard has bytes that belong to no chunk"
    return chunks


def stored(folder):
    """Every file below a folder in a form that does not depend on the order of chunks inside shards."""
    counts = {}
    for document in folder.rglob("zarr.json"):
        metadata = json.loads(document.read_text())
        if metadata["node_type"] != "array":
            continue
        codec = metadata["codecs"][0]
        if codec["name"] == "sharding_indexed":
            outer = metadata["chunk_grid"]["configuration"]["chunk_shape"]
            inner = codec["configuration"]["chunk_shape"]
            counts[document.parent] = math.prod(a // b for a, b in zip(outer, inner))
    found = {}
    for name in files_below(folder):
        path = folder / name
        data = path.read_bytes()
        array = next((above for above in path.parents if above in counts), None)
        is_shard = array is not None and path.relative_to(array).parts[0] == "c"
        found[name] = chunks_of_shard(data, counts[array]) if is_shard else hashlib.sha256(data).hexdigest()
    return found


def difference(wanted, found):
    """A sentence, or None."""
    for name in sorted(set(wanted) | set(found)):
        if name not in found:
            return f"{name} is missing"
        if name not in wanted:
            return f"{name} was left"
        if wanted[name] != found[name]:
            return f"{name} differs"
    return None


# ---- Journals ----


class Pass:
    """The geometry of one pass, as the plan tells it."""

    def __init__(self, shape, told):
        self.shape, self.work_unit, self.template = shape, told["work_unit"], told["template"]
        self.chunk, self.shard = told["target"]["chunks"], told["target"].get("shards", told["target"]["chunks"])
        self.element_bytes = told["target"]["element_bytes"]
        self.boxes = [self.split(self.box_of(unit)) for unit in self.cells(shape, self.work_unit)]

    @staticmethod
    def cells(extent, step):
        return itertools.product(*(range(-(-a // b)) for a, b in zip(extent, step)))

    def box_of(self, cell):
        return [(i * b, min(b, s - i * b)) for i, b, s in zip(cell, self.work_unit, self.shape)]

    def split(self, unit):
        """The templates of a work unit: how many chunks each has."""
        counts = []
        for cell in self.cells([count for _, count in unit], self.template):
            extents = [min(t, count - i * t) for i, t, (_, count) in zip(cell, self.template, unit)]
            counts.append(math.prod(-(-a // b) for a, b in zip(extents, self.chunk)))
        return counts

    def chunks(self):
        return sum(map(sum, self.boxes))

    def unit_of_shard(self, number):
        grid = [-(-a // b) for a, b in zip(self.shape, self.shard)]
        work_units = [-(-a // b) for a, b in zip(self.shape, self.work_unit)]
        cell = []
        for extent in reversed(grid):
            cell.insert(0, number % extent)
            number //= extent
        unit = 0
        for position, shard, step, extent in zip(cell, self.shard, self.work_unit, work_units):
            unit = unit * extent + position * shard // step
        return unit

    def template_bytes_most(self):
        chunk = math.prod(self.chunk) * self.element_bytes
        in_shard = math.prod(a // b for a, b in zip(self.shard, self.chunk))
        most = max(map(max, self.boxes))
        # what encoding adds to a chunk, and the index of every shard that the template touches
        return most * (chunk + chunk // 128 + 1024) + most * (16 * in_shard + 4)


def finished_work_units(state):
    work_units = set()
    for log in state.glob("done-*"):
        data = log.read_bytes()
        for at in range(0, len(data) - 15, 16):
            work_units.add(struct.unpack_from("<Q", data, at)[0])
    return work_units


def journal(path):
    """Finished templates of a work unit, and how many bytes of every shard they made durable."""
    data, at, templates, durable = path.read_bytes(), 0, 0, {}
    while at + 8 <= len(data):
        payload = struct.unpack_from("<Q", data, at)[0]
        if at + 8 + payload + 4 > len(data):
            break
        inside, (number, shards) = at + 24, struct.unpack_from("<2Q", data, at + 8)
        assert number == templates, "templates of a journal are not in order"
        for _ in range(shards):
            shard, size, chunks = struct.unpack_from("<3Q", data, inside)
            durable[shard] = size
            inside += 24 + 28 * chunks
        templates += 1
        at += 8 + payload + 4
    return templates, durable


def work_left(array, plan, workers):
    """(templates that need not be done again, chunks that are still to be written) of an array that was interrupted;
    checks that of so many ranks, in all runs together, none had more than one template under way."""
    passes = [Pass(plan["shape"], told) for told in plan["passes"]]
    state = array / "__parapet/copy"
    if (array / "zarr.json").exists():
        return 0, 0
    if not (state / "job").exists():
        return 0, sum(one.chunks() for one in passes)
    first = next((i for i in range(len(passes)) if not (state / f"finished-{i}").exists()), len(passes))
    chunks = sum(one.chunks() for one in passes[first + 1:])
    if first == len(passes):
        return 0, 0
    one, folder, resumed, under_way = passes[first], state / f"pass-{first}", 0, {}
    done = finished_work_units(folder)
    journals = {int(path.name[4:]): journal(path) for path in folder.glob("lot-*")}
    for shard in folder.glob("shard-*"):
        number = int(shard.name[6:])
        unit = one.unit_of_shard(number)
        known = journals.get(unit, (0, {}))[1].get(number, 0)
        under_way[unit] = under_way.get(unit, 0) + max(0, shard.stat().st_size - known)
    assert len(set(under_way) - done) <= workers, f"{len(under_way)} work units were under way on {workers} ranks"
    for unit, excess in under_way.items():
        assert excess <= one.template_bytes_most(), f"work unit {unit}: {excess} bytes are to be written again"
    for unit, templates in enumerate(one.boxes):
        count = len(templates) if unit in done else journals.get(unit, (0, {}))[0]
        resumed += count
        chunks += sum(templates[count:])
    return resumed, chunks
