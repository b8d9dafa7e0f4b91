"""Reads copies with the other readers, bit for bit."""

import json
import os
import subprocess
import warnings
from pathlib import Path

import numpy
import tensorstore
import zarr

import copy_tool
import elements

NUMBERS = ["bool", *elements.INTEGERS, *elements.FLOATS, *elements.COMPLEX]
TENSORSTORE_TYPES = {*NUMBERS, "bfloat16", "float8_e4m3fn", "float8_e5m2"}
ZARRITA_TYPES = set(elements.COMMON_TYPES)


def load_document(array):
    return json.loads((Path(array) / "zarr.json").read_text())


def is_sharded_void(document):
    name = document["data_type"]["name"] if isinstance(document["data_type"], dict) else document["data_type"]
    return name in ("raw_bytes", "structured") and document["codecs"][0]["name"] == "sharding_indexed"


def is_record(document):
    """What Zarr v2 has as a list of fields; zarr-python knows only its own spelling of it, "structured"."""
    return isinstance(document["data_type"], dict) and document["data_type"]["name"] == "struct"


def has_hexadecimal_fill(document):
    return "0x" in json.dumps(document["fill_value"])


def knows(reader, array):
    """Whether a reader knows what is in the document; see limits.py for the reasons."""
    document = load_document(array)
    name = document["data_type"]
    if reader == "TensorStore":
        return isinstance(name, str) and name in TENSORSTORE_TYPES
    if reader == "zarrita":
        fill = document["fill_value"]
        is_exact = not isinstance(fill, int) or int(float(fill)) == fill
        return (isinstance(name, str) and name in ZARRITA_TYPES and 0 not in document["shape"] and is_exact
                and not has_hexadecimal_fill(document))
    if isinstance(name, str) and (name == "bfloat16" or name.startswith("float8")):
        return False
    if is_sharded_void(document) or is_record(document):
        return False
    return not (name == "float16" and has_hexadecimal_fill(document))


def require_values(found, expected):
    copy_tool.require_equal("shape", tuple(found.shape), expected.shape)
    found = numpy.ascontiguousarray(found)
    if found.tobytes() != expected.tobytes():
        found = elements.as_elements(found.tobytes(), expected.dtype.itemsize, expected.shape)
        wrong = [place for place in numpy.ndindex(expected.shape)
                 if found[place].tobytes() != expected[place].tobytes()]
        raise copy_tool.Difference(
            f"{len(wrong)} of {found.size} elements differ, first {list(wrong[0])}: "
            f"{found[wrong[0]].tobytes().hex()} instead of {expected[wrong[0]].tobytes().hex()}")


def require_fill(found, dtype, fill, size):
    found = numpy.asarray(found, dtype).tobytes()
    copy_tool.require_equal("fill value", found.hex(), (fill or bytes(size)).hex())


def check_zarr_python(array, expected, fill, attributes):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # types without a specification are meant
        opened = zarr.open_array(str(array), mode="r", zarr_format=3)
        found = opened[...]
    dtype = opened.dtype.newbyteorder("<") if not opened.dtype.names else opened.dtype
    require_values(numpy.asarray(found, dtype), expected)
    require_fill(opened.fill_value, dtype, fill, expected.dtype.itemsize)
    copy_tool.require_equal("attributes", dict(opened.attrs), attributes)


def check_tensorstore(array, expected, fill, attributes):
    spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": f"{array}/"}}
    store = tensorstore.open(spec, read=True).result()
    found = numpy.asarray(store.read().result())
    require_values(found, expected)
    require_fill(store.fill_value, found.dtype, fill, expected.dtype.itemsize)
    metadata = store.spec().to_json(include_defaults=True)["metadata"]
    copy_tool.require_equal("attributes", metadata.get("attributes", {}), attributes)


READERS = {"zarr-python": check_zarr_python, "TensorStore": check_tensorstore}


# ---- zarrita: one process reads all arrays first ------------------------------------------------------------


def run_zarrita(arguments, folder, items):
    folder.mkdir(parents=True)
    (folder / "node_modules").symlink_to(os.path.abspath(arguments.node_modules))
    script = Path(__file__).with_name("copy_zarrita.mjs")
    (folder / script.name).write_text(script.read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "list.json").write_text(json.dumps(items))
    done = subprocess.run(["node", script.name, "list.json"], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"node failed: {done.stderr}")
    return {result["name"]: result for result in map(json.loads, done.stdout.splitlines())}


def check_zarrita_result(result, output, expected):
    if "error" in result:
        raise RuntimeError(result["error"])
    copy_tool.require_equal("shape", tuple(result["shape"]), expected.shape)
    # zarrita keeps the order of a chunk that is stored transposed.
    data = numpy.frombuffer(output.read_bytes(), expected.dtype)
    strides = [stride * expected.dtype.itemsize for stride in result["stride"]]
    require_values(numpy.lib.stride_tricks.as_strided(data, expected.shape, strides), expected)


def check_zarrita(arguments, folder, copied, failures, report):
    chosen = [item for item in copied if knows("zarrita", item[1])]
    folder = folder / "zarrita"
    items = [{"name": source.name, "array": str(target), "output": str(folder / source.name)}
             for source, target, _, _ in chosen]
    results = run_zarrita(arguments, folder, items)
    for source, _, changes, words in chosen:
        applied = changes.apply(source.truth)
        expected = numpy.ascontiguousarray(applied).reshape(applied.shape)
        if copy_tool.attempt(failures, source.name, f"zarrita: {words}", lambda: check_zarrita_result(
                results[source.name], folder / source.name, expected)):
            report["zarrita"] += 1
