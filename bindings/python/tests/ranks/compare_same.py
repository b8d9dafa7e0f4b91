"""Runs same.c and same.py, and compares what they leave, byte by byte. compare_same.py MPIEXEC RANKS PROGRAM"""
import pathlib
import subprocess
import sys
import tempfile

LEFT_OUT = "__parapet"  # what Parapet keeps for itself, such as times and names of jobs


def tree(path):
    return {str(file.relative_to(path)): file.read_bytes() for file in sorted(path.rglob("*"))
            if file.is_file() and LEFT_OUT not in file.parts}


def main():
    launcher, ranks, program = sys.argv[1:]
    script = pathlib.Path(__file__).with_name("same.py")
    with tempfile.TemporaryDirectory(prefix="parapet_python_") as folder:
        for name, command in (("c", [program]), ("python", [sys.executable, str(script)])):
            subprocess.run([launcher, "-n", ranks, *command, f"{folder}/{name}.zarr"], check=True, timeout=200)
        written = [tree(pathlib.Path(folder, f"{name}.zarr")) for name in ("c", "python")]
    names = sorted(set(written[0]) | set(written[1]))
    different = [name for name in names if written[0].get(name) != written[1].get(name)]
    print(f"{len(written[0])} files of C, {len(written[1])} of Python, {len(different)} different: {different[:5]}")
    return 1 if different or len(written[0]) < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
