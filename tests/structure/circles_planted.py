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
    "tool/report.c": "int report(void) { return 1; }\n",
    "tool/verbs.c": "int report(void);\nint verb(void) { return report(); }\n",
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
    ("two files of the tool", {"tool/report.c": "int verb(void);\nint report(void) { return verb(); }\n"},
     ["CIRCLE: tool/report.c, tool/verbs.c\n", "tool/report.c uses tool/verbs.c: verb\n"]),
    ("two files of a program in a folder of the tool",
     {"tool/places/list.c": "int output(void);\nint list(void) { return output(); }\n",
      "tool/places/output.c": "int list(void);\nint output(void) { return list(); }\n"},
     ["CIRCLE: tool/places/list.c, tool/places/output.c\n"]),
    ("a function of the same name in another program",
     {"tool/places/list.c": "int verb(void) { return 1; }\n",
      "tool/report.c": "int list(void);\nint report(void) { return list(); }\n",
      "tool/places/output.c": "int report(void);\nint list(void) { return report(); }\n"},
     None),
    ("a function that each flavour has in a file of its own",
     {"array/middle.c": "int high(void);\nint low(void) { return high(); }\n",
      "copy/high.c": "int low(void);\nint high(void) { return low(); }\n"},
     ["CIRCLE: array/middle.c, copy/high.c\n", "copy/high.c uses array/middle.c: low\n"]),
    ("a reason that is not needed", {"codec/chain.c": "int chain(void) { return 1; }\n"},
     ["no circle any more, take it off the list: codec/chain.c, "]),
]


def source_of(root, name):
    return root / ("" if name.startswith("tool/") else "src") / name


def object_of(build, name):
    """Where CMake puts it: what the tool's own folder describes lies below that, the library's files do not."""
    folder, _, file = name.rpartition("/")
    if name.startswith("tool/"):
        return build / folder / "CMakeFiles" / "parapet-tool.dir" / f"{file}.o"
    return build / "objects.dir" / "src" / f"{name}.o"


def run(check_circles, compiler, files):
    """Exit code and output of check_circles on a build of these files. One more object is of a file that is gone."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in {**files, "base/gone.c": "int high(void);\nint gone(void) { return high(); }\n"}.items():
            source = source_of(root, name)
            made = object_of(root / "build", name)
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
