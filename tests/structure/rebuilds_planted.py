"""Builds small trees with ninja and demands that check_rebuilds tells those in which too much depends on a header from
those in which little does: it can fail.

    rebuilds_planted.py CHECK_REBUILDS COMPILER NINJA
"""
import os
import pathlib
import subprocess
import sys
import tempfile

PARTS = "#include <parapet_status.h>\n#include <parapet_store.h>\n"
HEADERS = {
    "include/parapet.h": PARTS,
    "include/parapet_status.h": "typedef int parapet_status;\n",
    "include/parapet_store.h": "typedef struct parapet_store_options {\n    int servers;\n} parapet_store_options;\n",
    "src/base/status.h": "#include <parapet_status.h>\n",
}
RULE = "rule compile\n  command = {} -I{}/include -I{}/src -MD -MF $out.d -c $in -o $out\n  depfile = $out.d\n  deps = gcc\n"
MANY = "#include <parapet_status.h>\n"
OPTIONS = "#include <parapet_store.h>\n"
# Name; what each of ten sources includes; headers that are otherwise; what the check must say, None: nothing.
PLANTED = [
    ("three of ten have the options", [OPTIONS] * 3 + [MANY] * 7, {}, None),
    ("four of ten have the options", [OPTIONS] * 4 + [MANY] * 6, {},
     ["include/parapet_store.h: 4 of 10 objects, 40.0 %\n", "include/parapet_store.h: more than 1/3 of all objects"]),
    ("four of ten have everything", ["#include <parapet.h>\n"] * 4 + [MANY] * 6, {},
     ["include/parapet.h: more than 1/3", "include/parapet_store.h: more than 1/3"]),
    ("what the others include has the options", [MANY] * 10, {"include/parapet_status.h": '#include "parapet_store.h"\n'},
     ["include/parapet_store.h: 10 of 10 objects"]),
    ("four of ten report failures", ['#include "base/status.h"\n'] * 4 + [MANY] * 6, {}, None),
    ("five of ten report failures", ['#include "base/status.h"\n'] * 5 + [MANY] * 5, {},
     ["src/base/status.h: more than 2/5 of all objects"]),
    ("the options have moved", [MANY] * 10,
     {"include/parapet_options.h": HEADERS["include/parapet_store.h"], "include/parapet_store.h": ""},
     ["include/parapet_options.h has parapet_store_options, but no limit"]),
]


def run(check_rebuilds, compiler, ninja, sources, headers):
    """Exit code and output of check_rebuilds on a build of these files."""
    with tempfile.TemporaryDirectory() as folder:
        root, build = pathlib.Path(folder).resolve(), pathlib.Path(folder).resolve() / "build"
        build.mkdir()
        for name, text in {**HEADERS, **headers}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        lines = [RULE.format(compiler, root, root)]
        for number, text in enumerate(sources):
            (root / "src" / f"{number}.c").write_text(f"{text}int f{number};\n")
            lines.append(f"build {number}.o: compile ../src/{number}.c\n")
        (build / "build.ninja").write_text("".join(lines))
        subprocess.run([ninja, "-C", str(build)], check=True, stdout=subprocess.DEVNULL)
        done = subprocess.run([sys.executable, check_rebuilds, str(build), str(root)], capture_output=True, text=True,
                              env={**os.environ, "NINJA": ninja})
        return done.returncode, done.stdout + done.stderr


def main():
    check_rebuilds, compiler, ninja = sys.argv[1:4]
    failures = []
    for name, sources, headers, expected in PLANTED:
        code, output = run(check_rebuilds, compiler, ninja, sources, headers)
        if code != (0 if expected is None else 1) or any(text not in output for text in expected or []):
            failures.append(f"{name}: exit code {code} and:\n{output}")
    print(*failures, sep="\n")
    print(f"{len(PLANTED)} trees, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
