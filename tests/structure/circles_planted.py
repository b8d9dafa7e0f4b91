"""Compiles small trees with and without circles and demands that check_circles tells them apart: it can fail.

    circles_planted.py CHECK_CIRCLES COMPILER
"""
import pathlib
import subprocess
import sys
import tempfile

STRAIGHT = {
    "base/low.c": "int low(void) { return 1; }\n",
    "array/middle.c": "int low(void);\nint middle(void) { return low(); }\n",
    "copy/high.c": "int low(void);\nint middle(void);\nint high(void) { return low() + middle(); }\n",
}
# Name, what is changed, what the check must say; None: nothing.
PLANTED = [
    ("no circle", {}, None),
    ("two files", {"base/low.c": "int middle(void);\nint low(void) { return middle(); }\n"},
     ["CIRCLE: array/middle.c, base/low.c\n", "base/low.c uses array/middle.c: middle\n",
      "array/middle.c uses base/low.c: low\n"]),
    ("three files", {"base/low.c": "int high(void);\nint low(void) { return high(); }\n"},
     ["CIRCLE: array/middle.c, base/low.c, copy/high.c\n"]),
    ("by data", {"base/low.c": "extern int number;\nint low(void) { return number; }\n",
                 "array/middle.c": "int low(void);\nint number;\nint middle(void) { return low(); }\n"},
     ["base/low.c uses array/middle.c: number\n"]),
    ("a function of the same name in each file",
     {"base/low.c": "static int same(void) { return 1; }\nint low(void) { return same(); }\n",
      "array/middle.c": "static int same(void) { return 2; }\nint low(void);\nint middle(void) { return low() + same(); }\n"},
     None),
    ("a reason that is not needed", {"codec/chain.c": "int chain(void) { return 1; }\n"},
     ["no circle any more, take it off the list: codec/chain.c, "]),
]


def run(check_circles, compiler, files):
    """Exit code and output of check_circles on a build of these files. One more object is of a file that is gone."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in {**files, "base/gone.c": "int high(void);\nint gone(void) { return high(); }\n"}.items():
            source = root / "src" / name
            made = root / "build" / "objects.dir" / "src" / f"{name}.o"
            source.parent.mkdir(parents=True, exist_ok=True)
            made.parent.mkdir(parents=True, exist_ok=True)
            source.write_text(text)
            subprocess.run([compiler, "-O0", "-c", str(source), "-o", str(made)], check=True)
        (root / "src/base/gone.c").unlink()
        done = subprocess.run([sys.executable, check_circles, str(root / "build"), str(root)], capture_output=True,
                              text=True)
        return done.returncode, done.stdout + done.stderr


def main():
    check_circles, compiler = sys.argv[1:3]
    failures = []
    for name, changes, expected in PLANTED:
        code, output = run(check_circles, compiler, {**STRAIGHT, **changes})
        if code != (0 if expected is None else 1) or any(text not in output for text in expected or []):
            failures.append(f"{name}: exit code {code} and:\n{output}")
    print(*failures, sep="\n")
    print(f"{len(PLANTED)} trees, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
