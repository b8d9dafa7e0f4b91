"""Twenty months of an archive like ERA5 become one store, by the commands of the guide and nothing else: what xarray
finds in it is what it finds in the files.

    archive.py PARAPET GUIDE [MPIEXEC RANKS]
"""
import os
import re
import subprocess
import sys
import tempfile
from datetime import datetime
from pathlib import Path

PEERS = Path(os.environ.get("PARAPET_VENV", Path(__file__).resolve().parents[2] / "build/venv")) / "bin/python"
if PEERS.exists() and Path(sys.executable) != PEERS and "FOREIGN_WITH_PEERS" not in os.environ:
    os.execve(PEERS, [str(PEERS), *sys.argv], {**os.environ, "FOREIGN_WITH_PEERS": "1"})

try:
    import netCDF4
    import numpy
    import xarray
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

MONTHS = 20
LATITUDES, LONGITUDES = 19, 36
EPOCH = datetime(1900, 1, 1)


def months():
    """(name, first hour, hours) of each."""
    for number in range(MONTHS):
        start = datetime(2020 + number // 12, number % 12 + 1, 1)
        end = datetime(2020 + (number + 1) // 12, (number + 1) % 12 + 1, 1)
        first = int((start - EPOCH).total_seconds()) // 3600
        yield f"era5-{start:%Y-%m}.nc", first, int((end - start).total_seconds()) // 3600


def add_coordinates(file, first, hours):
    for name, length in (("time", None), ("latitude", LATITUDES), ("longitude", LONGITUDES)):
        file.createDimension(name, length)
    latitude = file.createVariable("latitude", "f4", ("latitude",))
    latitude.units, latitude[:] = "degrees_north", numpy.linspace(90, -90, LATITUDES)
    longitude = file.createVariable("longitude", "f4", ("longitude",))
    longitude.units, longitude[:] = "degrees_east", numpy.arange(LONGITUDES) * 10
    time = file.createVariable("time", "i4", ("time",))
    time.units, time.calendar = "hours since 1900-01-01 00:00:00.0", "gregorian"
    time[:] = numpy.arange(first, first + hours)


def make_file(path, first, hours, random):
    with netCDF4.Dataset(path, "w") as file:
        file.Conventions = "CF-1.6"
        add_coordinates(file, first, hours)
        for name, offset, units in (("t2m", 273.15, "K"), ("sp", 1e5, "Pa")):
            data = file.createVariable(name, "i2", ("time", "latitude", "longitude"), zlib=True, complevel=1,
                                       shuffle=True, fill_value=-32767, chunksizes=(93, 19, 18))
            data.set_auto_maskandscale(False)
            data.scale_factor, data.add_offset, data.units = 0.01, offset, units
            values = random.integers(-3000, 3000, (hours, LATITUDES, LONGITUDES)).astype("i2")
            values[random.random(values.shape) < 0.001] = -32767
            data[:] = values


def commands_of(guide):
    """The commands of the section about many files."""
    section = guide.read_text().split("## Many files, one store")[1]
    return re.search(r"```sh\n(.*?)```", section, re.S).group(1)


def run(commands, folder, tool, launcher):
    named = f"parapet() {{ {launcher} {tool} \"$@\"; }}; set -e\n"
    done = subprocess.run(["bash", "-c", named + commands], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, f"{commands}{done.stdout}{done.stderr}"
    return done.stdout


def compare(folder):
    files = sorted(folder.glob("era5-*.nc"))
    with xarray.open_mfdataset(files, decode_cf=False, data_vars="minimal", coords="minimal", compat="equals",
                               join="exact") as wanted, \
            xarray.open_zarr(folder / "era5.zarr", decode_cf=False, consolidated=True) as found:
        xarray.testing.assert_identical(wanted.load(), found.load())
        assert found.sizes["time"] == sum(hours for _, _, hours in months())


def main():
    tool, guide, *launching = sys.argv[1:]
    launcher = f"{launching[0]} -n {launching[1]}" if launching else ""
    random = numpy.random.default_rng(20)
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as name:
        folder = Path(name)
        for file, first, hours in months():
            make_file(folder / file, first, hours, random)
        run(commands_of(Path(guide)), folder, tool, launcher)
        compare(folder)
        told = run("parapet append era5-*.nc era5.zarr", folder, tool, launcher)
        assert told.count("already there") == MONTHS, told
        compare(folder)
    print(f"{MONTHS} files: identical")


if __name__ == "__main__":
    main()
