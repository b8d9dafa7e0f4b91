"""Reads what Parapet wrote with each of the other readers, and says what differs.

A check returns nothing when all is equal, and raises otherwise: a Difference, or what the reader itself raised.
"""

import json
import os
import subprocess
import warnings

import numpy
import tensorstore
import xarray
import zarr

import elements


class Difference(Exception):
    """A reader sees something else than what was written."""


def require_equal(what, found, expected):
    if found != expected:
        raise Difference(f"{what} is {found!r} instead of {expected!r}")


def require_values(found, variable):
    """Bit for bit, without regard to what the bits mean."""
    require_equal("shape", tuple(found.shape), tuple(variable.shape))
    require_equal("size of an element", found.dtype.itemsize, variable.size)
    found = numpy.ascontiguousarray(found)
    if found.tobytes() != variable.truth.tobytes():
        found = elements.as_elements(found.tobytes(), variable.size, variable.shape)
        wrong = [tuple(map(int, place)) for place in numpy.ndindex(variable.shape)
                 if found[place].tobytes() != variable.truth[place].tobytes()]
        raise Difference(f"{len(wrong)} of {found.size} elements differ, first {list(wrong[0])}: "
                         f"{found[wrong[0]].tobytes().hex()} instead of {variable.truth[wrong[0]].tobytes().hex()}")


def require_attributes(found, variable):
    found = dict(found)
    if variable.is_sealed:
        found.pop("_parapet", None)
    require_equal("attributes", found, variable.attributes)


def require_fill(found, variable):
    expected = variable.fill or bytes(variable.size)
    require_equal("fill value", numpy.asarray(found, variable.dtype).tobytes().hex(), expected.hex())


def array_directory(case, variable):
    return os.path.join(case.store, variable.path)


# ---- zarr-python -------------------------------------------------------------------------------------------


def check_zarr_python(case, variable):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        array = zarr.open_array(array_directory(case, variable), mode="r", zarr_format=3)
        found = array[...]
    require_equal("dtype", array.dtype, variable.dtype)
    require_values(numpy.asarray(found, variable.dtype), variable)
    require_attributes(array.attrs, variable)
    require_fill(array.fill_value, variable)
    require_equal("dimension names", tuple(array.metadata.dimension_names), variable.dimension_names)
    require_equal("chunks", " ".join(map(str, array.chunks)), variable.info["chunks"])
    shards = " ".join(map(str, array.shards)) if array.shards else variable.info["chunks"]
    require_equal("shards", shards, variable.info["shards"])
    group = zarr.open_group(os.path.join(case.store, case.group), mode="r", use_consolidated=True)
    require_equal("attributes of the group", dict(group.attrs), case.attributes)
    require_equal("members", sorted(group.keys()), sorted(v.path.split("/")[-1] for v in case.all_variables))


# ---- TensorStore -------------------------------------------------------------------------------------------


class Memory:
    """The memory of an array of single bytes, to which TensorStore's Python binding gives a type of no size."""

    def __init__(self, array):
        self.owner = array
        self.__array_interface__ = dict(array.__array_interface__, typestr="|u1", descr=[("", "|u1")])


def as_bytes(array):
    return numpy.array(numpy.asarray(Memory(array))) if array.size else numpy.zeros(array.shape, "u1")


def check_tensorstore(case, variable):
    kvstore = {"driver": "file", "path": array_directory(case, variable) + "/"}
    store = tensorstore.open({"driver": "zarr3", "kvstore": kvstore}, read=True).result()
    found = numpy.asarray(store.read().result())
    labels = store.domain.labels
    if variable.type == "raw":  # TensorStore shows the bytes of an element as one more dimension without a name
        require_equal("dimension of bytes", (found.shape[-1], labels[-1]), (variable.raw_bytes, ""))
        found, labels = elements.as_elements(as_bytes(found).tobytes(), variable.size, found.shape[:-1]), labels[:-1]
    else:
        require_fill(store.fill_value, variable)
    require_equal("dimension names", tuple(labels), variable.dimension_names)
    require_values(found, variable)
    require_attributes(store.spec().to_json(include_defaults=True)["metadata"].get("attributes", {}), variable)


# ---- xarray ------------------------------------------------------------------------------------------------


def open_dataset(case):
    """By turns as users do: with dask, and without."""
    lazily = {} if sum(map(ord, case.name)) % 2 else {"chunks": None}
    return xarray.open_zarr(os.path.join(case.store, case.group), consolidated=True, **lazily)


def require_labels(dataset, case, variable):
    """A coordinate finds the slice that belongs to its label."""
    name = variable.path.split("/")[-1]
    data = dataset[case.data.path.split("/")[-1]]
    require_equal(f"coordinate {name}", name in data.coords, True)
    if variable.shape[0] == 0:
        return
    place = variable.shape[0] // 2
    label = dataset[name].values[place]
    axis = case.data.dimension_names.index(name)
    found = numpy.ascontiguousarray(data.sel({name: label}).values)
    expected = numpy.take(case.data.truth, place, axis)
    require_equal(f"slice at {name} = {label}", found.tobytes() == expected.tobytes(), True)


def require_dataset(case, dataset):
    names = {variable.path.split("/")[-1]: variable for variable in case.all_variables}
    require_equal("variables", set(dataset.variables), set(names))
    require_equal("attributes of the dataset", dataset.attrs, case.attributes)
    for name, variable in names.items():
        require_equal(f"dimensions of {name}", dataset[name].dims, variable.dimension_names)
        require_attributes(dataset[name].attrs, variable)
        found = dataset[name].values
        if variable.type in elements.TIMES:
            found = found.astype(variable.dtype)
        require_values(found, variable)
    require_equal("coordinates", set(dataset.coords), {v.path.split("/")[-1] for v in case.coordinates})
    if case.data.type not in elements.TIMES:
        for coordinate in case.coordinates:
            require_labels(dataset, case, coordinate)


def check_xarray(case, variable):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with open_dataset(case) as dataset:
            require_dataset(case, dataset)


def check_conventions(case):
    """A dataset of several variables in the CF conventions, decoded."""
    truth = {v.path: v.truth.view(v.dtype).reshape(v.shape) if v.shape else v.truth.view(v.dtype)[()]
             for v in case.all_variables}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with open_dataset(case) as dataset:
            dataset.load()
    hours = truth["time"].astype("m8[h]")
    truth["time"] = numpy.datetime64("2001-01-01") + hours
    truth["packed"] = numpy.where(truth["packed"] == -99, numpy.nan, truth["packed"] * 0.5 + 10.0)
    require_equal("coordinates", set(dataset.coords), {v.path for v in case.coordinates})
    require_equal("variables", set(dataset.variables), set(truth))
    require_equal("attributes of the dataset", dataset.attrs, case.attributes)
    for variable in case.all_variables:
        found = dataset[variable.path]
        require_equal(f"dimensions of {variable.path}", found.dims, tuple(variable.names))
        if not numpy.array_equal(found.values, truth[variable.path], equal_nan=True):
            raise Difference(f"the values of {variable.path} differ")
        decoded = ("units", "calendar") if variable.path == "time" else ("scale_factor", "add_offset", "_FillValue")
        expected = {key: value for key, value in variable.attributes.items()
                    if key not in (*decoded, "coordinates")}
        require_equal(f"attributes of {variable.path}",
                      {key: value for key, value in found.attrs.items() if key != "_parapet"}, expected)
    moment = numpy.datetime64("2001-01-01T06")
    found = dataset["wind"].sel(time=moment, y=1.0, x=1.0).values
    require_equal("wind at a label", float(found), float(truth["wind"][1, -1, 1]))


# ---- zarrita -----------------------------------------------------------------------------------------------


class Zarrita:
    """One node process reads all arrays first; the checks then look at its files."""

    def __init__(self, node_modules, folder, cases):
        self.folder = folder
        folder.mkdir()
        (folder / "node_modules").symlink_to(os.path.abspath(node_modules))
        script = os.path.join(os.path.dirname(__file__), "read_zarrita.mjs")
        (folder / "read_zarrita.mjs").write_text(open(script, encoding="utf-8").read())
        items = [{"name": case.name, "store": os.path.join(case.store, case.group),
                  "path": case.data.path[len(case.group):].lstrip("/"), "output": str(folder / case.name)}
                 for case in cases]
        (folder / "list.json").write_text(json.dumps(items))
        done = subprocess.run(["node", "read_zarrita.mjs", "list.json"], cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"node failed: {done.stderr}")
        results = [json.loads(line) for line in done.stdout.splitlines()]
        self.results = {result["name"]: result for result in results}

    def check(self, case, variable):
        result = self.results[case.name]
        if "error" in result:
            raise RuntimeError(result["error"])
        require_equal("data_type", result["dtype"], variable.type)
        require_equal("shape", tuple(result["shape"]), tuple(variable.shape))
        data = (self.folder / case.name).read_bytes()
        require_equal("number of bytes", len(data), variable.truth.nbytes)
        require_values(elements.as_elements(data, variable.size, variable.shape), variable)
        # JavaScript has no integers beyond 2^53.
        expected = variable.attributes | ({"exact": 9007199254740992} if "exact" in variable.attributes else {})
        found = {key: value for key, value in result["attributes"].items()
                 if key != "_parapet" or not variable.is_sealed}
        require_equal("attributes", found, expected)
