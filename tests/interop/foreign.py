"""What is common to arrays that others write and Parapet reads: the truth, the script for the driver, the check."""

import dataclasses
import json
import random
from pathlib import Path

import numpy

import cases
import elements


WRITERS = {"z": "zarr-python", "t": "TensorStore"}


@dataclasses.dataclass
class ForeignCase:
    name: str
    writer: str
    store: Path
    path: str = ""
    words: str = ""
    truth: numpy.ndarray = None
    fill: bytes = None  # None: undefined
    names: list = None
    attributes: dict = dataclasses.field(default_factory=dict)
    zarr_format: int = 3
    type: int = 0  # of enum parapet_type; 0: not checked
    siblings: dict = None  # of the group above: names and kinds
    boxes: list = dataclasses.field(default_factory=list)
    dtype: numpy.dtype = None
    has_delta: bool = False


def as_void(array):
    """The elements of an array as plain bytes, in C order and in the byte order of this machine."""
    array = numpy.ascontiguousarray(array)
    return elements.as_elements(array.tobytes(), array.dtype.itemsize, array.shape)


def start_case(seed, prefix, number, folder):
    chance = random.Random(f"{seed}/{prefix}/{number}")
    name = f"{prefix}{number:03}"
    (folder / name).mkdir(parents=True)
    return chance, ForeignCase(name, WRITERS[prefix], folder / name / "store.zarr")


def random_box(chance, shape):
    start = [chance.randint(0, length) for length in shape]
    return start, [chance.randint(0, length - first) for first, length in zip(start, shape)]


def random_boxes(chance, shape):
    """Boxes to write: some of a partition, so that some chunks are never written."""
    boxes = cases.split_boxes(chance, shape, chance.choice([1, 1, 2, 4]))
    return chance.sample(boxes, chance.randint(1, len(boxes)))


def read_script(case, chance):
    """What the driver must do to read the case: whole, then in boxes of which some are empty or overlap."""
    output = case.store.parent / "values"
    lines = [f"case {case.name}", f"store read {case.store}", f"open {case.path}",
             f"describe {case.store.parent / 'info'}"]
    if case.siblings is not None:
        lines.append(f"list {case.store.parent / 'list'} {case.path.rpartition('/')[0] or '/'}")
    shape = case.truth.shape
    calls = [[([0] * len(shape), list(shape))], *([random_box(chance, shape)] for _ in range(2)),
             [random_box(chance, shape) for _ in range(3)]]
    for boxes in calls:
        lines += [f"order {cases.random_orders(chance)}", *map(cases.part_line, boxes), f"read {output}"]
        case.boxes += boxes
    return [*lines, "done"]


def check_fill(case, info):
    if case.fill is None:
        return "" if info["fill_is_defined"] == "0" else "the fill value should be undefined"
    return "" if info["fill"] == case.fill.hex() else f"fill value {info['fill']} instead of {case.fill.hex()}"


def check_metadata(case):
    info = cases.load_info(case.store.parent / "info")
    expected = {"shape": cases.join(case.truth.shape), "element_bytes": str(case.truth.dtype.itemsize),
                "zarr_format": str(case.zarr_format)}
    if case.type:
        expected["type"] = str(case.type)
    for key, value in expected.items():
        if info[key] != value:
            return f"{key} is {info[key]} instead of {value}"
    if case.truth.shape and (info["names"] if info["has_names"] == "1" else None) != case.names:
        return f"dimension names {info['names']} instead of {case.names}"
    if json.loads(info["attributes"]) != case.attributes:
        return f"attributes {info['attributes']} instead of {case.attributes}"
    return check_fill(case, info)


def check_siblings(case):
    lines = (case.store.parent / "list").read_text().splitlines()
    found = dict(reversed(line.split(" ", 1)) for line in lines[:-1])
    return "" if found == case.siblings else f"the group holds {found} instead of {case.siblings}"


def check_case(case):
    """What differs from the truth, or nothing."""
    problem = check_metadata(case) or (check_siblings(case) if case.siblings is not None else "")
    if problem:
        return problem
    found = (case.store.parent / "values").read_bytes()
    expected = [case.truth[cases.slices(box)].tobytes() for box in case.boxes]
    for box, values in zip(case.boxes, expected):
        if found[:len(values)] != values:
            return f"the values of the box at {box[0]} with extent {box[1]} differ"
        found = found[len(values):]
    return "" if not found else f"{len(found)} bytes too many"
