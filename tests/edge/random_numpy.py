"""Random files of NumPy: all types, orders, shapes and versions of the header."""
from peers import numpy

DTYPES = ["?", "i1", "u1", "<i2", ">i2", "<u2", ">i4", "<u4", "<i8", ">u8", "<f2", ">f2", "<f4", ">f4", "<f8", ">f8", "<c8",
          ">c16", "S1", "S5", "<U3", ">U2", "<M8[ns]", ">M8[D]", "<m8[s]", "<M8[25us]"]


def array(rng):
    """One array."""
    ndim = int(rng.integers(0, 5))
    shape = tuple(int(x) for x in rng.integers(0 if rng.random() < 0.15 else 1, 9, ndim))
    dtype = numpy.dtype(DTYPES[int(rng.integers(len(DTYPES)))])
    if dtype.kind in "SU":
        words = numpy.array(["", "a", "bc", "\u00e9" if dtype.kind == "U" else "e", "long word"])
        values = rng.choice(words, shape).astype(dtype)
    elif dtype.kind in "Mm":
        values = rng.integers(-1000, 1000, shape).astype("i8").view("i8").astype(dtype)
    elif dtype.kind == "?" or dtype == bool:
        values = rng.integers(0, 2, shape).astype(bool)
    elif dtype.kind in "fc":
        values = (rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if dtype.kind == "c" else 0)).astype(dtype)
    else:
        values = rng.integers(0, 2**63 - 1, shape, dtype="i8").astype(dtype)
    values = numpy.asarray(values, dtype)
    return numpy.asfortranarray(values) if rng.random() < 0.4 else values


def make(rng, folder, number):
    """(path, {name: array}); of a file that is one array the name is ""."""
    if rng.random() < 0.5:
        path, values = folder / f"n{number}.npy", array(rng)
        with open(path, "wb") as file:
            version = ((1, 0), (2, 0), (3, 0))[int(rng.integers(3))]
            numpy.lib.format.write_array(file, values, version=version)
        return path, {"": values}
    path = folder / f"n{number}.npz"
    names = ["arr_0", "x", "gr\u00f6\u00dfe", "a b", "t.u"]
    arrays = {names[int(i)]: array(rng) for i in rng.permutation(len(names))[:int(rng.integers(1, 5))]}
    numpy.savez(path, **arrays)
    return path, arrays
