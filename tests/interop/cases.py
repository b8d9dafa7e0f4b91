"""Random arrays that Parapet writes, as scripts for the driver together with what readers must find."""

import dataclasses
import json
import random
from pathlib import Path

import numpy

import elements

BLOSC = [
    f"blosc:{compressor}:{{level}}:{shuffle}"
    for compressor in ("blosclz", "lz4", "lz4hc", "zlib", "zstd")
    for shuffle in ("noshuffle", "shuffle", "bitshuffle")
]
# With a count that has no factor in common with the number of types, every type meets every codec.
CODECS = [None, "none", "zstd:{level}", "gzip:{level}", *BLOSC]
LAYOUTS = ["default", "unsharded", "sharded", "shard around all", "chunks only"]
LENGTHS = {1: [1, 7, 101, 997, 5003], 2: [1, 3, 13, 37, 61], 3: [1, 2, 5, 11, 23], 4: [1, 3, 5, 7, 11],
           5: [1, 2, 3, 5, 7], 6: [1, 2, 3, 5]}
DIMENSIONS = ["time", "level", "y", "x", "member", "größe", "wave number", "band"]
ATTRIBUTES = {
    "units": "kg m-3",
    "long_name": "Dichte von Wasserdämpfen",
    "valid_range": [0, 10],
    "scale": 1e-300,
    "exact": 9007199254740993,
    "flags": [True, False, None],
    "history": {"nested": {"list": [1, [2, [3, {}]]], "empty": [], "text": "a \"quoted\" \\ /\n\u0007"}},
    "emoji": "\U0001F30A",
}
MAX_CHUNKS = 200


@dataclasses.dataclass
class Variable:
    """One array that Parapet writes, and what it must be to a reader."""

    path: str
    type: str
    shape: tuple
    truth: numpy.ndarray = None
    raw_bytes: int = 0
    unit: str = ""
    layout: str = "default"
    chunks: list = None
    shards: list = None
    codec: str = None
    codec_template: str = None
    has_checksum: bool = True
    fill_name: str = "zero"
    fill: bytes = None
    names: list = None
    attributes: dict = dataclasses.field(default_factory=dict)
    is_sealed: bool = False
    written: numpy.ndarray = None  # which elements were ever written
    is_elided: bool = False  # chunks that equal the fill value are not stored
    info: dict = None  # what Parapet says about the array it wrote
    lines: list = dataclasses.field(default_factory=list)

    @property
    def size(self):
        return elements.element_bytes(self.type, self.raw_bytes)

    @property
    def dtype(self):
        return elements.numpy_type(self.type, self.unit, self.raw_bytes)

    @property
    def is_sharded(self):
        return self.info["is_sharded"] == "1"

    @property
    def shows_fill(self):
        """Whether some chunk is not stored, so that a reader has to come up with the fill value by itself."""
        chunks = [int(word) for word in self.info["chunks"].split()]
        is_fill = self.truth == numpy.frombuffer(self.fill or bytes(self.size), self.truth.dtype)[0]
        for cell in numpy.ndindex(*(-(-length // chunk) for length, chunk in zip(self.shape, chunks))):
            box = tuple(slice(i * chunk, (i + 1) * chunk) for i, chunk in zip(cell, chunks))
            if not self.written[box].any() or (self.is_elided and is_fill[box].all()):
                return True
        return False

    @property
    def dimension_names(self):
        return tuple(self.names or (f"dim_{d}" for d in range(len(self.shape))))


@dataclasses.dataclass
class Case:
    """One store with one group that is a labelled dataset: a random array and the coordinates of its dimensions."""

    name: str
    store: Path
    group: str
    attributes: dict
    data: Variable
    coordinates: list
    variables: list = dataclasses.field(default_factory=list)

    @property
    def all_variables(self):
        return [self.data, *self.coordinates, *self.variables]

    @property
    def words(self):
        data = self.data
        checksum = "" if data.has_checksum else " without checksum"
        return (f"{self.name}: {data.type}{data.unit and '[' + data.unit + ']'} {list(data.shape)} "
                f"codec {data.codec}{checksum}, {data.layout} (chunks {data.chunks}, shards {data.shards}), "
                f"fill {data.fill_name}")


def split_boxes(chance, shape, count):
    """Cuts the whole box into about count boxes that do not overlap."""
    boxes = [([0] * len(shape), list(shape))]
    for _ in range(count - 1):
        start, extent = boxes.pop(chance.randrange(len(boxes)))
        wide = [d for d, length in enumerate(extent) if length > 1]
        if not wide:
            boxes.append((start, extent))
            continue
        d = chance.choice(wide)
        cut = chance.randrange(1, extent[d])
        boxes.append((start, [*extent[:d], cut, *extent[d + 1:]]))
        boxes.append(([*start[:d], start[d] + cut, *start[d + 1:]], [*extent[:d], extent[d] - cut, *extent[d + 1:]]))
    return boxes


def slices(box):
    return tuple(slice(start, start + count) for start, count in zip(*box))


def join(numbers):
    return " ".join(str(number) for number in numbers)


def part_line(box):
    return f"part {join([*box[0], *box[1]])}"


def random_orders(chance):
    return chance.choice(["within", "c", "fortran", "reversed"])


class Writer:
    """Puts random writes of a variable into its script and keeps the truth in step."""

    def __init__(self, chance, folder, variable):
        self.chance = chance
        self.folder = folder
        self.variable = variable
        self.file_count = 0

    def start(self, shape):
        self.truth = elements.filled(shape, self.variable.fill or bytes(self.variable.size))
        self.written = numpy.zeros(shape, bool)

    def write(self, values, boxes):
        name = f"{self.variable.path.replace('/', '_')}.{self.file_count}.in"
        self.file_count += 1
        (self.folder / name).write_bytes(values.tobytes())
        self.variable.lines += [f"data {self.folder / name}", f"order {random_orders(self.chance)}"]
        for box in boxes:
            self.truth[slices(box)] = values[slices(box)]
            self.written[slices(box)] = True
            self.variable.lines.append(part_line(box))
        self.variable.lines.append("write")

    def write_randomly(self, shape):
        for _ in range(self.chance.choice([0, 1, 1, 2, 3])):
            values = elements.contents(self.chance, self.variable.type, self.variable.raw_bytes, shape)
            boxes = split_boxes(self.chance, shape, self.chance.choice([1, 1, 2, 4, 7]))
            self.write(values, self.chance.sample(boxes, self.chance.randint(1, len(boxes))))

    def resize(self, shape):
        kept = slices(([0] * len(shape), [min(pair) for pair in zip(shape, self.truth.shape)]))
        truth, written = self.truth[kept], self.written[kept]
        self.start(shape)
        self.truth[kept], self.written[kept] = truth, written
        self.variable.lines.append(f"resize {join(shape)}")

    def finish(self):
        self.variable.truth, self.variable.written = self.truth, self.written


def choose_shape(chance, ndim):
    shape = [chance.choice(LENGTHS[ndim]) for _ in range(ndim)]
    if ndim > 0 and chance.random() < 0.06:
        shape[chance.randrange(ndim)] = 0
    return tuple(shape)


def choose_chunks(chance, shape):
    chunks = [chance.randint(1, max(length + 2, 1)) for length in shape]
    while numpy.prod([-(-length // chunk) for length, chunk in zip(shape, chunks)]) > MAX_CHUNKS:
        d = chance.randrange(len(shape))
        chunks[d] = chunks[d] * 2 + 1
    return chunks


def multiples(chance, ndim):
    """Chunks of a shard along each dimension; not too many in all, since zarr-python looks at every one."""
    counts = [1] * ndim
    for d in chance.sample(range(ndim), min(ndim, 3)):
        counts[d] = chance.choice([1, 2, 3, 4])
    return counts


def choose_layout(chance, variable):
    variable.layout = chance.choice(LAYOUTS)
    if variable.layout == "default":
        return
    variable.chunks = choose_chunks(chance, variable.shape)
    if variable.layout == "sharded":
        variable.shards = [a * b for a, b in zip(variable.chunks, multiples(chance, len(variable.shape)))]
    if variable.layout == "shard around all":
        variable.shards = [0] * len(variable.shape)


def choose_codec(chance, template):
    if template is None:
        return None
    highest = 9 if not template.startswith("zstd") else 19
    return template.format(level=chance.randint(0, highest))


def spec_lines(variable, shape):
    lines = [f"type {variable.type}", f"shape {join(shape)}"]
    if variable.raw_bytes:
        lines.append(f"element_bytes {variable.raw_bytes}")
    if variable.unit:
        lines.append(f"unit {variable.unit}")
    if variable.chunks is not None:
        lines.append(f"chunks {join(variable.chunks)}")
    if variable.shards is not None:
        lines.append(f"shards {join(variable.shards)}")
    if variable.layout == "unsharded":
        lines.append("unsharded")
    if variable.codec is not None:
        lines.append(f"codec {variable.codec}")
    if not variable.has_checksum:
        lines.append("no_checksum")
    if variable.fill is not None:
        lines.append(f"fill {variable.fill.hex()}")
    lines += [f"name {name}" for name in variable.names or []]
    if variable.attributes:
        lines.append(f"attributes {json.dumps(variable.attributes)}")
    return [*lines, f"create {variable.path}"]


def info_path(folder, variable):
    return folder / f"{variable.path.replace('/', '_')}.info"


def end_variable(folder, variable):
    if variable.is_sealed:
        variable.lines.append("seal")
    variable.lines += [f"describe {info_path(folder, variable)}", "close"]


def load_info(path):
    """The lines of the driver's describe, and the names of the dimensions as a list."""
    info = {"names": []}
    for line in path.read_text().splitlines():
        key, _, value = line.partition(" ")
        if key in ("name", "unnamed"):
            info["names"].append(value if key == "name" else None)
        else:
            info[key] = value
    return info


def finish_variable(chance, folder, variable, writes_all):
    """Adds the writes, and now and then a change of shape between them."""
    writer = Writer(chance, folder, variable)
    first = variable.shape
    if not writes_all and variable.shape and chance.random() < 0.15:
        first = tuple(max(length + chance.randint(-3, 3), 0) for length in variable.shape)
    variable.lines = spec_lines(variable, first)
    writer.start(first)
    if writes_all:
        values = elements.contents(chance, variable.type, variable.raw_bytes, first)
        writer.write(values, split_boxes(chance, first, 2))
    else:
        writer.write_randomly(first)
    if first != variable.shape:
        writer.resize(variable.shape)
        writer.write_randomly(variable.shape)
    end_variable(folder, variable)
    writer.finish()


def choose_type(number):
    """Every type with every codec first; then only what all readers know, so that each has enough to read."""
    if number < len(elements.TYPES) * len(CODECS):
        return elements.TYPES[number % len(elements.TYPES)]
    return elements.COMMON_TYPES[number % len(elements.COMMON_TYPES)]


def make_data(chance, number, prefix):
    ndim = chance.randint(0, 6)
    kind = choose_type(number)
    data = Variable(path=prefix + chance.choice(["data", "data.v1", "Größe"]), type=kind,
                    shape=choose_shape(chance, ndim))
    data.raw_bytes = chance.choice([1, 2, 3, 5, 8, 17]) if kind == "raw" else 0
    data.unit = chance.choice(elements.TIME_UNITS) if kind in elements.TIMES else ""
    data.codec_template = CODECS[number % len(CODECS)]
    data.codec = choose_codec(chance, data.codec_template)
    data.has_checksum = chance.random() < 0.7
    choose_layout(chance, data)
    known = elements.fills(kind, data.raw_bytes)
    names = ["not given", *known]
    data.fill_name = names[number // len(elements.TYPES) % len(names)]
    data.fill = known.get(data.fill_name)
    if chance.random() < 0.8:
        data.names = chance.sample(DIMENSIONS, ndim)
    data.attributes = dict(ATTRIBUTES) if chance.random() < 0.6 else {}
    data.is_sealed = chance.random() < 0.3
    return data


def make_coordinate(chance, folder, prefix, name, length):
    kind = chance.choice(["int32", "int64", "float64", "float32"])
    coordinate = Variable(path=prefix + name, type=kind, shape=(length,), names=[name],
                          codec=chance.choice([None, "none", "gzip:1"]), is_sealed=chance.random() < 0.3,
                          attributes={"units": "m", "axis": "X"})
    if length > 0 and chance.random() < 0.5:
        chunk = max(chance.randint(1, length), -(-length // 50))
        coordinate.layout, coordinate.chunks, coordinate.shards = "sharded", [chunk], [2 * chunk]
    writer = Writer(chance, folder, coordinate)
    coordinate.lines = spec_lines(coordinate, (length,))
    writer.start((length,))
    labels = numpy.arange(length).astype(elements.INTEGERS.get(kind) or elements.FLOATS[kind]) * 3
    writer.write(elements.as_elements(labels.tobytes(), coordinate.size, (length,)),
                 split_boxes(chance, (length,), 2))
    end_variable(folder, coordinate)
    writer.finish()
    return coordinate


def make_case(seed, number, folder):
    chance = random.Random(f"{seed}/w/{number}")
    name = f"w{number:03}"
    folder = folder / name
    folder.mkdir(parents=True)
    group = chance.choice(["", "run", "run/step.0"])
    prefix = group and group + "/"
    data = make_data(chance, number, prefix)
    finish_variable(chance, folder, data, writes_all=False)
    pairs = [pair for pair in zip(data.dimension_names, data.shape) if " " not in pair[0] and chance.random() < 0.7]
    coordinates = [make_coordinate(chance, folder, prefix, *pair) for pair in pairs]
    attributes = dict(ATTRIBUTES, title=name) if chance.random() < 0.7 else {}
    return Case(name, folder / "store.zarr", group, attributes, data, coordinates)


def make_variable(chance, folder, values, **fields):
    """A variable with values that mean something, written in two calls."""
    variable = Variable(type=values.dtype.name, shape=values.shape, is_sealed=chance.random() < 0.5, **fields)
    writer = Writer(chance, folder, variable)
    variable.lines = spec_lines(variable, variable.shape)
    writer.start(variable.shape)
    boxes = split_boxes(chance, variable.shape, 3)
    stored = elements.as_elements(values.tobytes(), variable.size, variable.shape)
    for call in (boxes[:1], boxes[1:]):
        writer.write(stored, call)
    end_variable(folder, variable)
    writer.finish()
    return variable


def make_dataset(seed, number, folder):
    """Several variables that share dimensions, with coordinates in the CF conventions: for xarray alone."""
    chance = random.Random(f"{seed}/x/{number}")
    name = f"x{number:03}"
    folder = folder / name
    folder.mkdir(parents=True)
    generator = numpy.random.default_rng(chance.getrandbits(64))
    times, rows, columns = (chance.choice([2, 5, 11, 29]) for _ in range(3))

    def make(path, values, names, attributes, **fields):
        return make_variable(chance, folder, values, path=path, names=names, attributes=attributes, **fields)

    since = {"units": "hours since 2001-01-01", "calendar": "proleptic_gregorian"}
    grid = generator.random((rows, columns))
    coordinates = [
        make("time", numpy.arange(times, dtype="<i8") * 6, ["time"], since),
        make("y", numpy.linspace(-1, 1, rows), ["y"], {"units": "degrees_north"}),
        make("x", numpy.arange(columns, dtype="<f4"), ["x"], {"units": "degrees_east"}),
        make("area", grid, ["y", "x"], {"units": "m2"}, codec="none"),
    ]
    packed = generator.integers(-100, 100, (times, rows, columns)).astype("<i2")
    data = make("wind", generator.random((times, rows, columns)), ["time", "y", "x"],
                {"units": "m s-1", "coordinates": "area"}, chunks=[1, 2, 3], shards=[2, 4, 9], layout="sharded")
    variables = [
        make("packed", packed, ["time", "y", "x"],
             {"scale_factor": 0.5, "add_offset": 10.0, "_FillValue": -99, "units": "K"}, codec="blosc:lz4:5:shuffle"),
        make("mask", generator.integers(0, 2, (rows, columns)).astype(bool), ["y", "x"], {"flag": True}),
        make("radius", numpy.array(6371.25), [], {"units": "km"}),
    ]
    return Case(name, folder / "store.zarr", "", {"Conventions": "CF-1.11"}, data, coordinates, variables)


def coverage(written):
    """What the arrays have in them, and what they must have when there are enough of them."""
    data = [case.data for case in written]
    seen = {
        "types": {v.type for v in data},
        "codecs": {v.codec_template for v in data},
        "types with codecs": {(v.type, v.codec_template) for v in data},
        "types with fill values": {(v.type, v.fill_name) for v in data},
        "types, sharded and not": {(v.type, v.is_sharded) for v in data},
        "dimensions": {len(v.shape) for v in data},
        "layouts": {v.layout for v in data},
        "of length 0, or not": {0 in v.shape for v in data},
        "sealed, or not": {v.is_sealed for v in data},
        "with checksum, or not": {v.has_checksum for v in data},
    }
    fills = sum(len(elements.fills(kind, 1)) + 1 for kind in elements.TYPES)
    wanted = {"types": len(elements.TYPES), "codecs": len(CODECS),
              "types with codecs": len(elements.TYPES) * len(CODECS), "types with fill values": fills,
              "types, sharded and not": 2 * len(elements.TYPES), "dimensions": 7, "layouts": len(LAYOUTS),
              "of length 0, or not": 2, "sealed, or not": 2, "with checksum, or not": 2}
    return {key: (len(values), wanted[key]) for key, values in seen.items()}


def write_script(case):
    """What the driver must do to write the case."""
    lines = [f"case {case.name}", f"store create {case.store}"]
    if case.group:
        lines.append(f"group {case.group} {json.dumps(case.attributes)}")
    for key, value in case.attributes.items() if not case.group else ():
        lines.append(f"group_attribute / {key} {json.dumps(value)}")
    for variable in case.all_variables:
        lines += variable.lines
    return [*lines, f"consolidate {case.group or '/'}", "done"]
