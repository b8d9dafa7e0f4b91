"""Runs the example of labelled output on 4 ranks and on 3, and twice on one: xarray sees the same. MPIEXEC EXAMPLE"""
import subprocess
import sys
import tempfile

import numpy
import xarray


def run(launcher, example, ranks, path):
    subprocess.run([launcher, "-n", str(ranks), sys.executable, example, path], check=True, timeout=200)


def main():
    launcher, example = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="parapet_python_") as folder:
        for name, counts in (("many", (4, 3)), ("one", (1, 1))):
            for ranks in counts:
                run(launcher, example, ranks, f"{folder}/{name}.zarr")
        many, one = (xarray.open_zarr(f"{folder}/{name}.zarr").load() for name in ("many", "one"))
        xarray.testing.assert_identical(many, one)
        assert dict(many.sizes) == {"time": 10, "lat": 90, "lon": 180} and many.temperature.attrs["units"] == "K"
        assert numpy.all(numpy.diff(many.time.values) == numpy.timedelta64(1, "h")) and many.lat.values[0] == -89
        assert not numpy.isnan(many.temperature).any() and many.temperature.encoding["chunks"] == (1, 32, 50)


if __name__ == "__main__":
    main()
