"""The programs that are really tried as readers of what Parapet writes: what documents may say opens a store.

tests/docs/check_readers.py reads this list. A name is what documents call the reader. The call is how a test here opens
what Parapet wrote; the package's version is pinned in scripts/requirements-peers.txt or scripts/setup, and printed by
each run.
"""

import importlib.metadata
import json
from pathlib import Path

# name: (package, call)
TRIED = {
    "zarr-python": ("zarr", "zarr.open_array("),
    "TensorStore": ("tensorstore", "tensorstore.open("),
    "zarrita": ("zarrita", "zarr.withConsolidatedMetadata("),
    "xarray": ("xarray", "xarray.open_zarr("),
    "dask": ("dask", '{"chunks": None}'),  # every other time; without it, xarray reads through dask
}


def version(package, node_modules):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return json.loads(Path(node_modules, package, "package.json").read_text(encoding="utf-8"))["version"]


def versions(node_modules):
    return ", ".join(f"{name} {version(package, node_modules)}" for name, (package, _) in TRIED.items())
