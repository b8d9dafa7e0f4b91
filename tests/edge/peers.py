"""What tests of files share: the libraries whose formats they are, which say what is right, and the tool."""
import os
import pathlib
import shutil
import subprocess
import sys
import warnings

HERE = pathlib.Path(__file__).resolve().parent
PEERS = pathlib.Path(os.environ.get("PARAPET_VENV", HERE.parents[1] / "build/venv")) / "bin/python"
TOOL = os.environ.get("TOOL", str(HERE.parents[1] / "build/mpich/tool/parapet"))

if PEERS.exists() and pathlib.Path(sys.executable) != PEERS and "EDGE_WITH_PEERS" not in os.environ:
    os.execve(PEERS, [str(PEERS), *sys.argv], {**os.environ, "EDGE_WITH_PEERS": "1"})

try:
    import h5py
    import netCDF4
    import numpy
    import xarray
    import zarr
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

if not shutil.which("ncdump") or not shutil.which("nccopy"):
    print("skipped: there is no ncdump or nccopy (netcdf-bin)")
    sys.exit(77)

__all__ = ["h5py", "netCDF4", "numpy", "xarray", "zarr"]
warnings.filterwarnings("ignore")
problems = []


def expect(what, is_right):
    if not is_right:
        problems.append(what)
        print(f"FAILED: {what}")


def has_helper():
    """Whether HDF5 and netCDF-4 are read at all."""
    return (pathlib.Path(TOOL).resolve().parents[1] / "libexec/parapet/parapet-places").exists()


def parapet(*words):
    """Runs the tool: its exit code and what it printed. Nothing here is about power cuts."""
    done = subprocess.run([TOOL, *map(str, words)], capture_output=True, text=True, timeout=300, check=False,
                          env={**os.environ, "PARAPET_DURABILITY": "leave"})
    return done.returncode, done.stdout + done.stderr


def as_stored(values):
    """Elements as a copy has them: in the byte order of this machine, and text of fixed length as NumPy has it."""
    values = numpy.asarray(values)
    return values if values.dtype.kind in "OT" else values.astype(values.dtype.newbyteorder("="))


def is_same(found, expected):
    """Equal in type, shape and every bit; texts by their characters."""
    found, expected = as_stored(found), as_stored(expected)
    if expected.dtype.kind in "OTU" or found.dtype.kind in "OTU":
        return found.shape == expected.shape and [str(each) for each in found.ravel()] == [str(each) for each in expected.ravel()]
    return found.dtype == expected.dtype and found.shape == expected.shape and found.tobytes() == expected.tobytes()


def elements(array):
    """All of an array of zarr-python, which makes a scalar of one without dimensions, and that has another type."""
    return as_stored(numpy.asarray(array[...], array.dtype))


def names_of(array):
    """The names of the dimensions of an array of zarr-python."""
    return tuple(array.metadata.dimension_names or ())


# ---- What netCDF shows ----


def open_netcdf(path):
    """Without what Python makes of the values."""
    file = netCDF4.Dataset(path)
    file.set_auto_maskandscale(False)
    file.set_auto_chartostring(False)
    return file


def netcdf_groups(group, path=""):
    """(path, group) of all groups, the root first."""
    yield path, group
    for name, child in group.groups.items():
        yield from netcdf_groups(child, f"{path}/{name}" if path else name)


def netcdf_values(variable):
    """All elements as libnetcdf shows them. It reads one index at a time of each unlimited dimension: where a variable
    has fewer indices than one of these, it puts the elements of a larger read at wrong places (4.9.0, 4.10.1)."""
    unlimited = [d for d, along in enumerate(variable.get_dims()) if along.isunlimited()]
    if not unlimited:
        return as_stored(variable[...])
    values = numpy.empty(variable.shape, as_stored_type(variable))
    for index in numpy.ndindex(*(variable.shape[d] for d in unlimited)):
        place = [slice(None)] * variable.ndim
        for d, i in zip(unlimited, index):
            place[d] = i
        values[tuple(place)] = variable[tuple(place)]
    return values


def as_stored_type(variable):
    if variable.dtype is str:
        return numpy.dtype(object)
    dtype = variable.dtype if isinstance(variable.dtype, numpy.dtype) else numpy.dtype(variable.dtype)
    return dtype.newbyteorder("=")


def is_read_at_once(group):
    """Whether libnetcdf shows all variables right in one read, as xarray makes it, whatever they have. Where one lags along
    another dimension than the first, elements are at wrong places, and others are memory that nobody wrote to; of texts,
    pointers to anywhere. Who lags only HDF5 says, and a process with two of its libraries that open a file may crash."""
    for variable in group.variables.values():
        unlimited = [d for d, along in enumerate(variable.get_dims()) if along.isunlimited()]
        if group.data_model.startswith("NETCDF4") and unlimited not in ([], [0]):
            return False
    return True


def netcdf_dataset(path, group=None):
    """What xarray finds in a file, without _FillValue of text: xarray writes that to Zarr, but opens no dataset with it
    (2026.9)."""
    with xarray.open_dataset(path, engine="netcdf4", group=group, decode_cf=False) as plain:
        plain.load()
    for variable in plain.variables.values():
        if variable.dtype.kind in "SUOT":
            variable.attrs.pop("_FillValue", None)
            variable.encoding.pop("_FillValue", None)
    return xarray.decode_cf(plain)


def is_opened(path):
    """Whether the library of netCDF takes a file: its own programs, and its library in Python."""
    done = subprocess.run(["ncdump", "-h", path], capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        return f"ncdump: {done.stderr.strip()}"
    try:
        netCDF4.Dataset(path).close()
    except OSError as error:
        return f"netCDF4: {error}"
    return ""


def finish(folder):
    """Ends a test: a folder of a failed one stays."""
    if problems:
        print(f"{len(problems)} problems; the files are in {folder}")
        sys.exit(1)
    shutil.rmtree(folder)
