"""Gives reasons that fit nothing in a small tree and demands that `coverage --check` finds them: the check can fail.

    coverage_violations.py COVERAGE
"""
import pathlib
import subprocess
import sys
import tempfile

SOURCE = "int add(int a)\n{\n    return a == 7 ? 1 : fail(a);\n}\n"
FITTING = ["src/base/add.c: ? 1 : fail(", "src/*/*.c: return a", "src/base/add.c: *"]
STALE = ["src/base/add.c: ? 2 : fail(", "src/base/gone.c: *", "src/*/*.h: return a"]


def run(coverage, reasons):
    """(exit code, what it said)"""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in (("src/base/add.c", SOURCE), ("tests/coverage.txt", "# why\n\n= because\n" + reasons)):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        done = subprocess.run([sys.executable, coverage, "--check", folder], check=False, capture_output=True, text=True)
        return done.returncode, done.stderr


def main(coverage):
    code, said = run(coverage, "".join(f"{line}\n" for line in FITTING + STALE))
    missed = [line for line in STALE if f"no line of src/ has this: {line}\n" not in said]
    wrong = [line for line in FITTING if line in said]
    problems = [f"it did not find: {line}" for line in missed] + [f"it complained about: {line}" for line in wrong]
    if code != 1:
        problems.append(f"exit code {code} with reasons that fit nothing")
    if run(coverage, f"{FITTING[0]}\n") != (0, ""):
        problems.append("it complained about a reason that fits")
    print("\n".join(problems) or "all found")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
