#!/usr/bin/env python3
"""check_handles.py ROOT COMPILER: of a checkpoint that is written and one that is read, each call takes its own handle, and
with the other one it does not compile. COMPILER is one of C++: of C, not all take the wrong pointer for an error."""
import pathlib
import re
import subprocess
import sys

root, compiler = pathlib.Path(sys.argv[1]), sys.argv[2]
OTHER = {"parapet_checkpoint": "parapet_restore", "parapet_restore": "parapet_checkpoint"}
FUNCTION = r"^PARAPET_API parapet_status (parapet_\w+)\((parapet_checkpoint|parapet_restore) (\*+)\w+([^)]*)\)"
functions = re.findall(FUNCTION, (root / "include" / "parapet_arrays.h").read_text(), flags=re.MULTILINE)


def call(handle, name, stars, others):
    return f"{name}(static_cast<{handle} {stars}>(nullptr){', {}' * others.count(',')});"


def compiles(statements):
    text = f"#include <parapet.h>\nvoid use();\nvoid use()\n{{\n{statements}\n}}\n"
    words = [compiler, "-std=c++11", "-fsyntax-only", "-DPARAPET_SERIAL", f"-I{root / 'include'}", "-x", "c++", "-"]
    return subprocess.run(words, input=text, text=True, stderr=subprocess.DEVNULL).returncode == 0


failed = {handle for _, handle, _, _ in functions} != set(OTHER)
if failed:
    print("check_handles: there are not two kinds of handles")
if not compiles("\n".join(call(handle, name, stars, others) for name, handle, stars, others in functions)):
    print("check_handles: the calls do not compile with their own handles")
    failed = True
for name, handle, stars, others in functions:
    if compiles(call(OTHER[handle], name, stars, others)):
        print(f"check_handles: {name} takes a {OTHER[handle]}")
        failed = True
sys.exit(1 if failed else 0)
