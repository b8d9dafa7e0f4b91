#!/usr/bin/env python3
"""check_structs.py ROOT: every struct of the public headers is in zero.cpp, every one that a caller fills in and that
has reserved words is in reserved.c; booleans are of int, choices of an enum, and all that a caller gives are in
choices.c; and every function has a sentence that starts with [local] or [collective]."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
headers = "".join(path.read_text() for path in sorted((root / "include").glob("*.h")))
code = re.sub(r"/\*.*?\*/", "", headers, flags=re.DOTALL)
structs = dict(re.findall(r"typedef struct (parapet_\w+) \{(.*?)\n\} \1;", code, flags=re.DOTALL))
tests = root / "tests" / "structure"
failed = not structs


def is_filled_by_the_caller(name):
    return re.search(rf"const {name} \*", code) or any(re.search(rf"^    {name} \w+;", body, flags=re.MULTILINE)
                                                       for body in structs.values())


for name, body in structs.items():
    if not re.search(rf"\b{name} \w+ = \{{0\}};", (tests / "zero.cpp").read_text()):
        print(f"check_structs: {name} is not started from {{0}} in tests/structure/zero.cpp")
        failed = True
    has_reserved = "reserved[" in body
    if has_reserved and is_filled_by_the_caller(name) and f"CASE({name}," not in (tests / "reserved.c").read_text():
        print(f"check_structs: the reserved words of {name} are not tried in tests/structure/reserved.c")
        failed = True
    if not has_reserved and name != "parapet_finding":
        print(f"check_structs: {name} has no reserved words")
        failed = True
# What a number means, its comment says: "1: ..." of a boolean, "1: ..., 2: ..." of what ought to be an enum.
choices = set(re.findall(r"typedef enum (parapet_\w+) \{[^}]*_CHOOSE = 0", code))
member = re.compile(r"^    (\w+) (\w+);(?: */\* ((?:(?!\*/).)*)\*/)?", flags=re.MULTILINE | re.DOTALL)
parameter = re.compile(r"^PARAPET_API [^(]*?(parapet_\w+)\(([^)]*)\);", flags=re.MULTILINE)
tried = set(re.findall(r"^    (?:FIELD|PARAMETER)\((\w+), (\w+),", (tests / "choices.c").read_text(), flags=re.MULTILINE))
given = {(function, name) for function, parameters in parameter.findall(code)
         for name in re.findall(r"\b(?:int|parapet_mode|parapet_check_depth|parapet_buffering) "
                                r"((?:dry|as|is|has|no)_\w+|recursive|mode|depth|buffering)", parameters)}
for name, body in re.findall(r"typedef struct (parapet_\w+) \{(.*?)\n\} \1;", headers, flags=re.DOTALL):
    for kind, field, meaning in member.findall(body):
        is_enum_in_numbers = re.search(r"\b1: .*\b2: ", meaning, flags=re.DOTALL)
        if is_enum_in_numbers or (kind != "int" and meaning.startswith("1: ")):
            print(f"check_structs: {name}.{field} is of {kind}; a boolean is of int, and a choice of an enum")
            failed = True
        if is_filled_by_the_caller(name) and (kind in choices or meaning.startswith("1: ")):
            given.add((name, field))
for name, field in sorted(given ^ tried):
    print(f"check_structs: {field} of {name} is not tried in tests/structure/choices.c, or does not exist")
    failed = True
failed = failed or not choices
functions = re.findall(r"^PARAPET_API [^(]*?(parapet_\w+)\(", code, flags=re.MULTILINE)
described = re.findall(r"/\* \[(?:local|collective)\] [^*]*\w(?:(?!\*/).)*\*/\nPARAPET_API [^(]*?(parapet_\w+)\(", headers,
                       flags=re.DOTALL)
for name in sorted(set(functions) - set(described)):
    print(f"check_structs: {name} has no sentence of its own with [local] or [collective] before it")
    failed = True
sys.exit(1 if failed or not functions else 0)
