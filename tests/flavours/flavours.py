#!/usr/bin/env python3
"""No mismatch of MPI: every mixture of header, library, launcher and tool gives a sentence or an error of the linker.

    flavours.py --cmake CMAKE --source SOURCE --work FOLDER [--build FOLDER] quick | release

quick: installs --build, links one program wrongly and runs one under the other launcher. release: builds and installs all
flavours from SOURCE in one go, then tries everything. Exit code 77: the other MPI is not installed.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
OTHER = {"mpich": "openmpi", "openmpi": "mpich"}
PROBLEMS = []

CONSUMER = """cmake_minimum_required(VERSION 3.22)
project(consumer LANGUAGES {languages})
{finds}
add_executable(opener {source})
target_link_libraries(opener PRIVATE {links})
"""

SUBPROJECT = """cmake_minimum_required(VERSION 3.22)
project(parent LANGUAGES C)
enable_testing()
add_subdirectory({source} parapet)
get_directory_property(options COMPILE_OPTIONS)
get_property(tests DIRECTORY ${{CMAKE_BINARY_DIR}}/parapet PROPERTY TESTS)
if(options OR tests OR TARGET unit_base_text OR TARGET example_01_write_and_read OR TARGET bench_serial)
  message(FATAL_ERROR "leaks: options '${{options}}' tests '${{tests}}'")
endif()
add_executable(opener {opener})
target_link_libraries(opener PRIVATE parapet::parapet)
"""


def run(command, seconds=120, **variables):
    """Exit code and output of a command; what takes longer hangs."""
    unwanted = ("PMI", "OMPI_COMM", "PARAPET")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(unwanted)}
    environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                       OMPI_MCA_rmaps_base_oversubscribe="1", **variables)
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=seconds,
                              env=environment, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return 124, "hangs"
    except OSError as problem:
        return 127, str(problem)
    return done.returncode, done.stdout + done.stderr


def demand(what, is_true, output=""):
    print("ok  " if is_true else "FAIL", what, flush=True)
    if not is_true:
        PROBLEMS.append(what)
        print(output[-3000:], flush=True)


def must(command, **variables):
    code, output = run(command, 3600, **variables)
    if code != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit code {code}\n{output[-5000:]}")
    return output


class Prefix:
    """An installed tree."""

    def __init__(self, folder, work):
        self.folder, self.work = pathlib.Path(folder), pathlib.Path(work)
        self.packages = next(self.folder.glob("lib*/pkgconfig"))
        self.libraries = self.packages.parent
        self.tool = self.folder / "bin" / "parapet"

    def flags(self, flavour, *options):
        return must(["pkg-config", *options, "--cflags", "--libs", f"parapet-{flavour}"],
                    PKG_CONFIG_PATH=str(self.packages)).split()

    def compile(self, name, compiler, flags, source=HERE / "opener.c"):
        program = self.work / name
        program.unlink(missing_ok=True)
        code, output = run([compiler, "-o", program, source, *flags, f"-Wl,-rpath,{self.libraries}"])
        return program, code, output

    def open(self, launcher, program, *words, **variables):
        start = [] if launcher is None else [f"mpiexec.{launcher}", "-n", "2"]
        return run([*start, program, *words], **variables)


def is_crash(code, output):
    return code < 0 or code in (124, 134, 139) or "signal 11" in output or "Segmentation" in output


def check_link(prefix, flavour):
    """Compiled with the header of one MPI, linked with the library of the other: with our flags, and with own flags."""
    other = OTHER[flavour]
    _, code, output = prefix.compile("wrong_flags", f"mpicc.{other}", prefix.flags(flavour))
    demand(f"mpicc.{other} with the flags of parapet-{flavour} does not compile, and names what to use",
           code != 0 and f"use parapet-{other}" in output, output)
    own = [f"-I{prefix.folder}/include", f"-L{prefix.libraries}", f"-lparapet-{flavour}"]
    _, code, output = prefix.compile("wrong_library", f"mpicc.{other}", own)
    demand(f"mpicc.{other} with libparapet-{flavour} does not link, and names the flavour it asks for",
           code != 0 and f"undefined reference to `parapet_store_open_{other}'" in output, output)
    program, code, output = prefix.compile(f"opener_{flavour}", f"mpicc.{flavour}", prefix.flags(flavour))
    demand(f"mpicc.{flavour} with parapet-{flavour} compiles and links", code == 0, output)
    return program


def check_refused(prefix, flavour, program, store):
    """Under the other's launcher: refused when it would write, on every process, with nothing written."""
    other = OTHER[flavour]
    shutil.rmtree(store, ignore_errors=True)
    code, output = prefix.open(other, program, "world", "create", store)
    demand(f"{flavour} under mpiexec.{other}: creating is refused, nothing is written",
           code != 0 and not store.exists() and not is_crash(code, output) and
           "PARAPET_ERR_MPI" in output and f"libparapet-{flavour}" in output, output)


def check_runs(prefix, flavour, program, store):
    other = OTHER[flavour]
    check_refused(prefix, flavour, program, store)
    code, output = prefix.open(flavour, program, "world", "create", store)
    demand(f"{flavour} under its own launcher opens", code == 0 and store.exists(), output)
    for comm, mode in (("world", "read"), ("null", "read"), ("null", "create")):
        code, output = prefix.open(other, program, comm, mode, store)
        demand(f"{flavour} under mpiexec.{other}: {comm} {mode} opens", code == 0, output)
    code, output = prefix.open(other, program, "self", "create", store)
    demand(f"{flavour} under mpiexec.{other}: self create is refused", "PARAPET_ERR_MPI" in output, output)
    code, output = prefix.open(other, program, "world", "create", store, PARAPET_IGNORE_LAUNCHER="1")
    demand(f"{flavour} under mpiexec.{other}: PARAPET_IGNORE_LAUNCHER=1 opens", code == 0, output)
    code, output = prefix.open(None, program, "world", "create", store, SLURM_NTASKS="4", SLURM_PROCID="1")
    demand(f"{flavour}: variables of a queue do not count", code == 0, output)
    code, output = run([f"mpiexec.{other}", "-n", "1", program, "world", "create", store])
    demand(f"{flavour} alone under mpiexec.{other} -n 1 opens", code == 0, output)


def check_children(prefix, programs, store):
    """A child of a rank, of either MPI, and one that MPI spawns."""
    for flavour, rank in programs.items():
        child = programs[OTHER[flavour]]
        code, output = prefix.open(flavour, rank, "world", "create", store, f"{child} world create {store}")
        demand(f"a child of the other MPI that a rank of {flavour} starts is not refused", code == 0, output)
        code, output = run([f"mpiexec.{flavour}", "-n", "1", rank, "world", "create", store, "spawn"])
        if "Error in spawn call" in output:
            print(f"--   {flavour} cannot spawn on this machine", flush=True)
        else:
            demand(f"a child that {flavour} spawns is not refused", code == 0, output)
        code, output = prefix.open(flavour, rank, "world", "create", store, f"{prefix.tool} info {store}")
        demand(f"the tool works as a child of a rank of {flavour}", code == 0 and "group" in output, output)


def check_tool(prefix, store, flavours):
    """bin/parapet is the serial tool, and executes that of the launcher."""
    program, _, _ = prefix.compile("opener_serial", "cc", prefix.flags("serial"))
    must([program, "null", "write", store])
    copied = prefix.work / "copied.zarr"
    shutil.rmtree(copied, ignore_errors=True)
    for words in (["info", store], ["ls", store], ["check", store], ["copy", f"{store}/a", copied]):
        code, output = run([prefix.tool, *words])
        demand(f"parapet {words[0]} works without a launcher", code == 0, output)
    demand("the serial tool has no MPI in it", "libmpi" not in must(["ldd", prefix.tool]))
    for launcher in flavours:
        code, output = run([f"mpiexec.{launcher}", "-n", "2", prefix.tool, "ls", store])
        demand(f"parapet under mpiexec.{launcher} has two ranks", code == 0 and "the other 1 wait" in output, output)
    code, output = run([prefix.tool, "--version"], PARAPET_MPI="mpich")
    demand("PARAPET_MPI=mpich executes parapet-mpich", code == 0 and "MPICH" in output, output)
    code, output = run([prefix.tool, "ls", store], PARAPET_MPI="lam")
    demand("an unknown PARAPET_MPI is refused with the list", code == 2 and "serial, mpich, openmpi or mpiabi" in output, output)


def check_missing_tool(prefix, store, flavour):
    """Without the tool of the launcher: a sentence, unless one process is enough."""
    alone = prefix.work / "alone" / "bin"
    shutil.rmtree(alone.parent, ignore_errors=True)
    alone.mkdir(parents=True)
    shutil.copy(prefix.tool, alone)
    (alone.parent / prefix.libraries.name).symlink_to(prefix.libraries)
    command = [f"mpiexec.{flavour}", "-n", "2", alone / "parapet", "ls", store]
    code, output = run(command)
    demand(f"without parapet-{flavour}, mpiexec.{flavour} -n 2 parapet says what is missing",
           code != 0 and f"parapet-{flavour} is not in" in output, output)
    code, output = run([command[0], "-n", "1", *command[3:]])
    demand(f"without parapet-{flavour}, one process works", code == 0, output)
    code, output = run(command, PARAPET_MPI="serial")
    demand("PARAPET_MPI=serial lets each work alone", code == 0, output)


def configure(arguments, prefix, name, finds, links="MPI::MPI_C parapet::parapet", languages="C", options=(), **variables):
    folder = prefix.work / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    source = folder / ("opener.c" if languages == "C" else "opener.cpp")
    source.write_text((HERE / "opener.c").read_text())
    text = CONSUMER.format(languages=languages, finds="\n".join(finds), source=source, links=links)
    (folder / "CMakeLists.txt").write_text(text)
    code, output = run([arguments.cmake, "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={prefix.folder}",
                        *options], **variables)
    if code != 0:
        return None, output
    code, built = run([arguments.cmake, "--build", folder / "build"])
    return (folder / "build" / "opener" if code == 0 else None), output + built


def check_cmake_right(arguments, prefix, store):
    """Both orders, either MPI, C and C++: the MPI of the project decides."""
    mpi, parapet = "find_package(MPI REQUIRED COMPONENTS C)", "find_package(parapet 0.1 REQUIRED)"
    for flavour in OTHER:
        compiler = f"-DMPI_C_COMPILER=mpicc.{flavour}"
        for name, finds in (("before", [mpi, parapet]), ("after", [parapet, mpi])):
            program, output = configure(arguments, prefix, f"cmake_{flavour}_{name}", finds, options=[compiler])
            demand(f"CMake: {flavour} found {name} parapet gets its flavour",
                   program is not None and f"flavour {flavour}" in output, output)
            if program:
                code, output = run([f"mpiexec.{flavour}", "-n", "2", program, "world", "create", store])
                demand("    and runs under its launcher", code == 0, output)
        asked = f"find_package(parapet 0.1 REQUIRED COMPONENTS {flavour})"
        program, output = configure(arguments, prefix, f"cmake_asked_{flavour}", [asked, mpi])
        demand(f"CMake: COMPONENTS {flavour} finds its MPI, and so does find_package(MPI) after it",
               program is not None, output)
        finds = [asked, "find_package(MPI REQUIRED COMPONENTS CXX)"]
        program, output = configure(arguments, prefix, f"cmake_cxx_{flavour}", finds, languages="C CXX",
                                    links="MPI::MPI_CXX parapet::parapet")
        demand(f"CMake: COMPONENTS {flavour}, then MPI for C++", program is not None, output)


def check_cmake_wrong(arguments, prefix):
    mpi = "find_package(MPI REQUIRED COMPONENTS C)"
    for flavour, other in OTHER.items():
        finds = [mpi, f"find_package(parapet 0.1 REQUIRED COMPONENTS {flavour})"]
        program, output = configure(arguments, prefix, f"cmake_wrong_{flavour}", finds,
                                    options=[f"-DMPI_C_COMPILER=mpicc.{other}"])
        demand(f"CMake: {other} found before COMPONENTS {flavour} is refused with a sentence",
               program is None and f"is of {other}" in " ".join(output.split()), output)
        finds = [f"find_package(parapet 0.1 REQUIRED COMPONENTS {flavour})", "unset(MPI_C_COMPILER CACHE)",
                 f"set(MPI_C_COMPILER mpicc.{other})", "set(MPI_C_FOUND FALSE)", mpi]
        program, output = configure(arguments, prefix, f"cmake_late_{flavour}", finds)
        demand(f"CMake: {other} forced after COMPONENTS {flavour} does not build, or is still {flavour}",
               program is None or (f"lib{'mpich' if flavour == 'mpich' else 'mpi'}.so" in must(["ldd", program])
                                   and ("libopen-pal" in must(["ldd", program])) == (flavour == "openmpi")), output)


def check_cmake_one_flavour(arguments, prefix, flavour):
    """Installed for one MPI only, on a machine where CMake would find the other."""
    one = prefix.work / "one"
    shutil.rmtree(one, ignore_errors=True)
    shutil.copytree(prefix.folder, one, symlinks=True)
    for path in list(one.rglob(f"*parapet-{OTHER[flavour]}*")) + list(one.rglob(f"parapet-flavour-{OTHER[flavour]}*")):
        path.unlink()
    only = Prefix(one, prefix.work)
    program, output = configure(arguments, only, "cmake_only", ["find_package(parapet 0.1 REQUIRED)"],
                                links="parapet::parapet")
    demand(f"CMake: only {flavour} is installed, and its MPI is found", program is not None, output)
    finds = ["find_package(MPI REQUIRED COMPONENTS C)", "find_package(parapet 0.1 REQUIRED)"]
    program, output = configure(arguments, only, "cmake_other", finds, options=[f"-DMPI_C_COMPILER=mpicc.{OTHER[flavour]}"])
    demand(f"CMake: {OTHER[flavour]} is found, but only {flavour} installed: a sentence",
           program is None and f"which is not installed; there is: {flavour}, serial." in " ".join(output.split()), output)


def check_serial(arguments, prefix, store):
    program, code, output = prefix.compile("opener_serial", "cc", prefix.flags("serial"))
    demand("serial: compiles without MPI", code == 0 and "libmpi" not in must(["ldd", program]), output)
    shutil.rmtree(store, ignore_errors=True)
    code, output = run([program, "null", "create", store])
    demand("serial: opens", code == 0, output)
    source = prefix.work / "with_mpi.c"
    source.write_text(f'#include <mpi.h>\n#include "{HERE / "opener.c"}"\n')
    _, code, output = prefix.compile("with_mpi", "mpicc.mpich", prefix.flags("serial"), source)
    demand("serial: a program with mpi.h is refused with a sentence", code != 0 and "PARAPET_SERIAL is for" in output, output)
    program, output = configure(arguments, prefix, "cmake_serial", ["find_package(parapet REQUIRED COMPONENTS serial)"],
                                links="parapet::parapet")
    demand("CMake: COMPONENTS serial needs no MPI", program is not None, output)


def check_subproject(arguments, prefix, store):
    folder = prefix.work / "subproject"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    text = SUBPROJECT.format(source=arguments.source, opener=HERE / "opener.c")
    (folder / "CMakeLists.txt").write_text(text)
    code, output = run([arguments.cmake, "-S", folder, "-B", folder / "build", "-DPARAPET_FLAVOURS=serial", "-GNinja"])
    demand("add_subdirectory configures no tests, examples or benchmarks, and leaks no flags", code == 0, output)
    code, output = run([arguments.cmake, "--build", folder / "build", "--target", "opener"], 3600)
    demand("add_subdirectory: a program builds, without -Werror", code == 0, output)
    code, output = run([folder / "build" / "opener", "null", "create", store])
    demand("add_subdirectory: and runs", code == 0, output)


def install(arguments, work, name, *options):
    build, folder = work / f"build_{name}", work / name
    shutil.rmtree(folder, ignore_errors=True)
    must([arguments.cmake, "-S", arguments.source, "-B", build, "-GNinja", "-DPARAPET_TESTS=OFF", "-DPARAPET_EXAMPLES=OFF",
          "-DPARAPET_BENCH=OFF", f"-DCMAKE_INSTALL_PREFIX={folder}", *options])
    must([arguments.cmake, "--build", build])
    must([arguments.cmake, "--install", build])
    return Prefix(folder, work)


def check_static(arguments, work, store):
    prefix = install(arguments, work, "static", "-DBUILD_SHARED_LIBS=OFF", "-DPARAPET_FLAVOURS=serial;mpich")
    demand("BUILD_SHARED_LIBS=OFF gives static libraries",
           list(prefix.libraries.glob("libparapet-mpich.a")) and not list(prefix.libraries.glob("libparapet*.so*")))
    for flavour, compiler in (("serial", "cc"), ("mpich", "mpicc.mpich")):
        program, code, output = prefix.compile(f"static_{flavour}", compiler, prefix.flags(flavour))
        demand(f"static {flavour}: links by pkg-config", code == 0, output)
        code, output = run([program, "null", "create", store])
        demand(f"static {flavour}: runs", code == 0, output)
    program, output = configure(arguments, prefix, "cmake_static", ["find_package(parapet REQUIRED COMPONENTS mpich)"],
                                links="parapet::parapet")
    demand("static mpich: links by CMake", program is not None, output)
    _, code, output = prefix.compile("static_wrong", "mpicc.openmpi",
                                     [f"-I{prefix.folder}/include", *prefix.flags("mpich")[2:]])
    demand("static mpich: Open MPI's header does not link", code != 0 and "parapet_store_open_openmpi" in output, output)


def check_names(prefix):
    for flavour in ("serial", "mpich", "openmpi"):
        library = prefix.libraries / f"libparapet-{flavour}.so"
        output = must(["readelf", "-d", library])
        demand(f"the SONAME of {flavour} is its own", f"[libparapet-{flavour}.so.0.1]" in output, output)
    demand("no library is called libparapet.so", not list(prefix.libraries.glob("libparapet.so*")))


def quick(arguments, work, flavour):
    must([arguments.cmake, "--install", arguments.build, "--prefix", work / "quick"])
    prefix = Prefix(work / "quick", work)
    program = check_link(prefix, flavour)
    check_refused(prefix, flavour, program, work / "refused.zarr")


def release(arguments, work):
    prefix = install(arguments, work, "all", "-DPARAPET_FLAVOURS=serial;mpich;openmpi")
    store, programs = work / "store.zarr", {}
    check_names(prefix)
    for flavour in OTHER:
        programs[flavour] = check_link(prefix, flavour)
        check_runs(prefix, flavour, programs[flavour], store)
    check_children(prefix, programs, store)
    check_tool(prefix, store, OTHER)
    for flavour in OTHER:
        check_missing_tool(prefix, store, flavour)
        check_cmake_one_flavour(arguments, prefix, flavour)
    check_cmake_right(arguments, prefix, store)
    check_cmake_wrong(arguments, prefix)
    check_serial(arguments, prefix, work / "serial.zarr")
    check_subproject(arguments, prefix, work / "sub.zarr")
    check_static(arguments, work, work / "static.zarr")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("--source", required=True)
    parser.add_argument("--build")
    parser.add_argument("--flavour")
    parser.add_argument("--work", required=True)
    parser.add_argument("what", choices=["quick", "release"])
    arguments = parser.parse_args()
    work = pathlib.Path(arguments.work).resolve()
    work.mkdir(parents=True, exist_ok=True)
    if not all(shutil.which(f"{name}.{flavour}") for name in ("mpicc", "mpiexec") for flavour in OTHER):
        print("one of the two MPIs is not installed")
        return 77
    quick(arguments, work, arguments.flavour) if arguments.what == "quick" else release(arguments, work)
    print(f"{len(PROBLEMS)} problems")
    return 1 if PROBLEMS else 0


if __name__ == "__main__":
    sys.exit(main())
