#!/usr/bin/env python3
"""Whatever groups are written to netCDF, also those whose arrays have no indices along the first dimension: its own library
opens the file, shows what zarr-python shows of the store, and copies it to netCDF-4."""
import itertools
import pathlib
import subprocess
import tempfile

import peers
from peers import numpy, zarr

# Shapes of one record, or of all.
BELOW = [(), (4,), (3, 5), (1,)]


def make_group(path, empty, full):
    """Arrays of these types and shapes: those in empty along a dimension without indices."""
    group = zarr.open_group(path, mode="w", zarr_format=3)
    for number, (dtype, below) in enumerate(empty):
        group.create_array(f"e{number}", shape=(0, *below), chunks=(1, *below), dtype=dtype,
                           dimension_names=("time", *(f"d{extent}" for extent in below)))
    for number, (dtype, shape) in enumerate(full):
        made = group.create_array(f"f{number}", shape=shape, chunks=shape, dtype=dtype,
                                  dimension_names=[f"d{extent}" for extent in shape])
        made[...] = numpy.arange(numpy.prod(shape, dtype=int)).reshape(shape).astype(dtype) + 1
    return group


def check_group(folder, name, group):
    target, again = folder / f"{name}.nc", folder / f"{name}_again.nc"
    code, text = peers.parapet("copy", "--quiet", "--verify", folder / f"{name}.zarr", target)
    problem = text if code != 0 else peers.is_opened(target)
    if problem:
        peers.expect(f"{name}: {problem}", False)
        return
    done = subprocess.run(["nccopy", "-4", target, again], capture_output=True, text=True, check=False)
    peers.expect(f"{name}: nccopy: {done.stderr}", done.returncode == 0)
    for path in (target, again):
        with peers.open_netcdf(path) as file:
            peers.expect(f"{path.name}: variables", set(file.variables) == set(group))
            for key, variable in file.variables.items():
                peers.expect(f"{path.name}: {key}", peers.is_same(peers.netcdf_values(variable), group[key][...]))
                peers.expect(f"{path.name}: dimensions of {key}", variable.dimensions == peers.names_of(group[key]))


def check_growing(folder):
    """netCDF can go on from such a file: records that it adds are where they should be."""
    make_group(folder / "growing.zarr", [("int8", (3,)), ("int16", ()), ("float64", (2,))], [("int8", (5,))])
    code, text = peers.parapet("copy", "--quiet", folder / "growing.zarr", folder / "growing.nc")
    peers.expect(f"growing: {text}", code == 0)
    if code != 0 or peers.is_opened(folder / "growing.nc"):
        return
    with peers.netCDF4.Dataset(folder / "growing.nc", "a") as file:
        file["e0"][0:2] = [[1, 2, 3], [4, 5, 6]]
        file["e1"][0:2] = [7, 8]
        file["e2"][0:2] = [[0.5, 1.5], [2.5, 3.5]]
    with peers.open_netcdf(folder / "growing.nc") as file:
        found = [file[name][...].tolist() for name in ("e0", "e1", "e2", "f0")]
    peers.expect(f"growing: {found}",
                 found == [[[1, 2, 3], [4, 5, 6]], [7, 8], [[0.5, 1.5], [2.5, 3.5]], [1, 2, 3, 4, 5]])


def main():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="parapet-without-records-"))
    fulls = [[], [("int8", (3,))], [("float64", (3, 5)), ("int16", (1,)), ("uint8", ())]]
    for number, (count, full) in enumerate(itertools.product((0, 1, 2, 3, 4), fulls)):
        empty = [(dtype, BELOW[(number + k) % 4]) for k, dtype in zip(range(count), ("int8", "float64", "int16", "uint64"))]
        group = make_group(folder / f"g{number}.zarr", empty, full)
        check_group(folder, f"g{number}", group)
    check_growing(folder)
    peers.finish(folder)


main()
