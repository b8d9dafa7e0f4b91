"""Builds a wheel, installs it where nothing else is, and uses it with every MPI and with none.

    wheel.py --source SOURCE --work FOLDER [--python PYTHON]      PYTHON: has it installed already, with mpi4py

What does not fit is one sentence that names both sides, never a crash.
"""
import argparse
import os
import pathlib
import subprocess
import sys

MPIS = {"mpich": "mpiexec.mpich", "openmpi": "mpiexec.openmpi"}

USE = """
import sys
from mpi4py import MPI
import numpy, parapet
from parapet import _library
comm = MPI.COMM_WORLD
with parapet.open(sys.argv[1], "a", comm) as store:
    array = store.create_array("x", shape=(comm.size,), dtype="i4", overwrite=True)
    array.write(numpy.array([comm.rank], "i4"), comm.rank)
    found = array.read().tolist()
if comm.rank == 0:
    print(_library.flavour, found, flush=True)
"""
ALONE = """
import sys, parapet
from parapet import _library
with parapet.open(sys.argv[1], "a") as store:
    array = store.create_array("x", shape=(2,), dtype="i4", overwrite=True)
    array[:] = [0, 1]
    print(_library.flavour, array[:].tolist(), flush=True)
"""
# As if the wheel had been built where this MPI was not.
LESS = "from parapet import _flavour; _flavour.built_flavours = lambda: ['serial', {other!r}]\n" + USE
LATE = "import parapet; parapet.version()\n" + USE


def install(source, work):
    """A wheel, in an environment of its own, from nothing but a compiler and libraries."""
    subprocess.run([sys.executable, "-m", "venv", work / "env"], check=True)
    python = work / "env/bin/python"
    subprocess.run([python, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", work, source], check=True)
    wheel = next(work.glob("parapet-*.whl"))
    print(wheel.name)
    assert "cp311-abi3" in wheel.name, "serves later versions of Python, too"
    subprocess.run([python, "-m", "pip", "install", "--quiet", wheel, "mpi4py"], check=True)
    return python


def environment_of(work, flavour):
    """mpi4py's wheel looks for MPICH by a name that Debian does not use."""
    (work / "lib").mkdir(exist_ok=True)
    link = work / "lib/libmpi.so.12"
    if not link.is_symlink():
        link.symlink_to(next(pathlib.Path("/usr/lib").rglob("libmpich.so.12")))
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                       OMPI_MCA_rmaps_base_oversubscribe="1")
    if flavour is not None:
        environment["MPI4PY_MPIABI"] = flavour
    if flavour == "mpich":
        environment["LD_LIBRARY_PATH"] = str(work / "lib")
    return environment


def run(python, work, program, flavour=None, launcher=None):
    """(exit code, what was printed) of a program on two ranks, or alone."""
    command = [python, "-c", program, str(work / "store.zarr")]
    if launcher is not None:
        command = [launcher, "-n", "2", *command]
    done = subprocess.run(command, env=environment_of(work, flavour), cwd=work, text=True, timeout=300,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def expect(what, result, is_fine, *words):
    code, printed = result
    good = (code == 0) == is_fine and all(word in printed for word in words) and \
        "Segmentation" not in printed and "signal 11" not in printed
    print(f"{'passed' if good else 'FAILED'}: {what}{'' if good else chr(10) + printed}", flush=True)
    return good


def check_modules(python, work):
    """No module names a library of MPI."""
    _, folder = run(python, work, "import parapet, pathlib; print(pathlib.Path(parapet.__file__).parent)")
    modules = sorted(pathlib.Path(folder.strip()).glob("_*.abi3.so"))
    needed = [subprocess.run(["readelf", "-d", module], capture_output=True, text=True, check=True).stdout
              for module in modules]
    found = [module.name for module, text in zip(modules, needed) if "libmpi" in text]
    return expect(f"{len(modules)} modules name no MPI", (len(found), str(found)), True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--python", type=pathlib.Path)
    options = parser.parse_args()
    work = options.work.resolve()
    subprocess.run(["rm", "-rf", work], check=True)
    work.mkdir(parents=True)
    python = options.python or install(options.source, work)
    good = [check_modules(python, work), expect("without MPI", run(python, work, ALONE), True, "serial [0, 1]")]
    for flavour, launcher in MPIS.items():
        other = next(name for name in MPIS if name != flavour)
        good += [
            expect(f"with {flavour}", run(python, work, USE, flavour, launcher), True, f"{flavour} [0, 1]"),
            expect(f"built without {flavour}", run(python, work, LESS.format(other=other), flavour, launcher), False,
                   f"mpi4py runs on {flavour}", f"built for serial, {other}"),
            expect(f"mpi4py too late, {flavour}", run(python, work, LATE, flavour, launcher), False,
                   "before mpi4py.MPI was imported"),
            expect(f"{flavour} under the launcher of {other}", run(python, work, USE, flavour, MPIS[other]), False,
                   "launcher"),
        ]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
