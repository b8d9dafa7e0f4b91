"""Plants one violation of every rule in a small tree and demands that check_tests finds it: the checker can fail.

    tests_violations.py CHECK_TESTS
"""
import pathlib
import subprocess
import sys
import tempfile

BESIDE = "is neither beside it nor in tests/harness/"
FAULT, CASES = "fault", "conformance"  # not written out below, where check_tests would find them in this file
SHARED = "what both need belongs in tests/harness/"
TIME, SLEEP, LIMIT = "time", "sleep", "timeout"  # likewise
NEEDED = "judge no clock, or say in tests/clocks.txt why this one is needed"
GIVEN = "# Why.\ntests/fault/wait.c: alarm, usleep: ends a hang; polls\n"

# File, its text, and what check_tests must say about it.
VIOLATIONS = [
    ("tests/soak/a.c", '\n#include "bed.h"\n', f'tests/soak/a.c:2: "bed.h" {BESIDE}'),
    ("tests/soak/b.c", '#include "../fault/bed.h"\n', f'tests/soak/b.c:1: "../fault/bed.h" {BESIDE}'),
    ("tests/soak/c.cpp", '#include "fault/bed.h"\n', f'tests/soak/c.cpp:1: "fault/bed.h" {BESIDE}'),
    ("tests/harness/a.h", '#include "bed.h"\n', f'tests/harness/a.h:1: "bed.h" {BESIDE}'),
    ("tests/unit/base/test_b.c", '#include "scene.h"\n', f'tests/unit/base/test_b.c:1: "scene.h" {BESIDE}'),
    ("tests/soak/CMakeLists.txt", "add_executable(soak soak.c ../fault/bed.c)\n",
     f"tests/soak/CMakeLists.txt:1: tests/soak/ may not use tests/fault/; {SHARED}"),
    ("tests/soak/more.cmake", "include_directories(${PROJECT_SOURCE_DIR}/tests/fault)\n",
     f"tests/soak/more.cmake:1: tests/soak/ may not use tests/fault/; {SHARED}"),
    ("tests/soak/a.py", f'sys.path.append(str(HERE.parent / "{FAULT}"))\n',
     f"tests/soak/a.py:1: tests/soak/ may not use tests/fault/; {SHARED}"),
    ("tests/soak/b.py", "from kills import Bed\n", f"tests/soak/b.py:1: tests/soak/ may not use tests/fault/; {SHARED}"),
    ("tests/harness/b.py", "import kills\n", f"tests/harness/b.py:1: tests/harness/ may not use tests/fault/; {SHARED}"),
    ("tests/soak/c.py", f'CASES = HERE.parent / "{CASES}"\n',
     f"tests/soak/c.py:1: tests/soak/ may not use tests/conformance/; {SHARED}"),
    ("tests/unit/extra/test_a.c", "int a;\n", "tests/unit/extra:1: there is no src/extra"),
    ("tests/soak/d.c", "/* usleep(1) */\nvoid f(void)\n{\n    (void)usleep (3);\n}\n", f"tests/soak/d.c:4: uses usleep: {NEEDED}"),
    ("tests/soak/d.py", f"# as {TIME}.{SLEEP}(1) does\n{TIME}.{SLEEP}(1)\n", f"tests/soak/d.py:2: uses {TIME}.{SLEEP}: {NEEDED}"),
    ("tests/soak/e.py", f"run(words, {LIMIT}=3)\n", f"tests/soak/e.py:1: uses {LIMIT}: {NEEDED}"),
    ("tests/cli/show/cmd", f"parapet show\n{SLEEP} 0.1\n", f"tests/cli/show/cmd:2: uses {SLEEP}: {NEEDED}"),
    ("tests/soak/run", f"#!/bin/sh\n{LIMIT} 5 parapet\n", f"tests/soak/run:2: uses {LIMIT}: {NEEDED}"),
    ("tests/soak/a.f90", "call system_clock(now)\n", f"tests/soak/a.f90:1: uses system_clock: {NEEDED}"),
    ("bindings/python/tests/a.py", f"{TIME}.monotonic()\n", f"bindings/python/tests/a.py:1: uses {TIME}.monotonic: {NEEDED}"),
    ("tests/fault/wait.c", "void f(void) { alarm(60), usleep(9), watch_clock(); }\n",
     f"tests/fault/wait.c:1: uses watch_clock: {NEEDED}"),
    ("tests/fault/wait.c", "void f(void) { usleep(9); }\n", "tests/clocks.txt:2: tests/fault/wait.c does not use alarm"),
    ("tests/clocks.txt", GIVEN + "tests/fault/gone.c: alarm: polls\n",
     "tests/clocks.txt:3: tests/fault/gone.c does not use alarm"),
    ("tests/clocks.txt", GIVEN + "tests/fault/bed.h: alarm\n", 'tests/clocks.txt:3: a line is "path: name, name: reason"'),
    ("src/codec/zstd.c", "int a;\n", "src/codec:1: has no unit: tests/unit/codec/test_<noun>.c"),
]

# Nothing of this may be reported.
INNOCENT = [
    ("src/base/list.h", "\n"),
    ("src/plan/owner.c", "int a;\n"),
    ("include/parapet.h", "\n"),
    ("tests/CMakeLists.txt", "add_subdirectory(tests/fault)\n"),
    ("tests/harness/support.h", '#include "base/list.h"\n'),
    ("tests/harness/machine.py", "import os\n"),
    ("tests/fault/bed.h", '#include "support.h"\n'),
    ("tests/fault/test_bed.c", '#include <cmocka.h>\n\n#include "bed.h"\n#include "parapet.h"\n'),
    ("tests/fault/CMakeLists.txt", "# as tests/soak does\ntarget_include_directories(a PRIVATE ${ROOT}/tests/harness)\n"),
    ("tests/fault/kills.py", 'sys.path.insert(0, HERE.parent / "harness")\nimport machine\n'),
    ("tests/fault/test_kills.py", "import kills\nimport random\n"),
    ("tests/digest/digest.py", f'CASES = HERE.parent / "{CASES}"\n'),
    ("tests/conformance/cases/zarr.json", "{}\n"),
    ("tests/unit/base/test_list.c", '#include "support.h"\n'),
    ("tests/clocks.txt", GIVEN),
    ("tests/fault/wait.c", 'void f(void)\n{\n    alarm(60);\n    usleep(9); /* not clock() */\n    say("time(0)");\n}\n'),
    ("tests/fault/words.txt", f"{SLEEP} 10\n"),
    ("tests/unit/plan/scene.h", "\n"),
    ("tests/unit/plan/test_owner.c", '#include "scene.h"\n'),
]


def run(check_tests, files):
    """Exit code and output of check_tests on a tree of these files."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files:
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = subprocess.run([sys.executable, check_tests, folder], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr


def main():
    check_tests = sys.argv[1]
    failures = []
    code, output = run(check_tests, INNOCENT)
    if code != 0 or output:
        failures.append(f"a tree without violations gave exit code {code} and:\n{output}")
    for name, text, expected in VIOLATIONS:
        code, output = run(check_tests, INNOCENT + [(name, text)])
        if code != 1 or output != expected + "\n":
            failures.append(f"{name}: expected \"{expected}\", got exit code {code} and:\n{output}")
    print(*failures, sep="\n")
    print(f"{len(VIOLATIONS)} violations planted, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
