"""What the tests of foreign files have compared, and how much that has to be, so that nothing is left out unnoticed."""
import importlib.util
import pathlib
import shutil
from collections import Counter

# What scripts/setup --peers installs, and files are made or compared with.
PROGRAMS = ("ncgen", "ncdump", "nccopy", "h5repack", "h5jam")
MODULES = ("netCDF4", "h5py", "hdf5plugin")

# Of each kind of run: files whose elements are compared, datasets that xarray finds identical in the copy, and those of
# them that have a map, as climate has.
LEAST = {
    "files": {"files": 53, "identical": 15, "climate": 3},
    "hdf5": {"files": 37, "identical": 31, "climate": 17},
    "files, many ranks": {"files": 3, "identical": 1, "climate": 1},
    "hdf5, many ranks": {"files": 3, "identical": 1, "climate": 1},
}
ALL = {"files": 80, "identical": 20, "climate": 20}  # of the runs on one rank together
assert all(LEAST["files"][what] + LEAST["hdf5"][what] >= most for what, most in ALL.items())


def missing():
    """What is not installed of what the counts stand on."""
    return [name for name in PROGRAMS if not shutil.which(name)] + \
        [name for name in MODULES if importlib.util.find_spec(name) is None]


class Count:
    def __init__(self):
        self.sources = set()
        self.datasets = Counter()

    def file(self, source):
        """A file whose elements are compared: a path, or a URL that ends with one."""
        path = pathlib.Path(str(source).rpartition(":")[2])
        self.sources.add(path if path.is_file() else path.parent)

    def identical(self, dataset):
        self.datasets["identical"] += 1
        self.datasets["climate"] += {"lat", "lon"} <= set(dataset.sizes)

    def told(self):
        return {"files": len(self.sources), **self.datasets}

    def lacks(self, kind):
        """What there is too little of, in words."""
        told = self.told()
        return [f"{what}: {told.get(what, 0)} instead of {least}" for what, least in LEAST[kind].items()
                if told.get(what, 0) < least]
