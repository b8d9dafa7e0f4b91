#!/usr/bin/env python3
"""Every public function that is given a handle has a row in tests/parallel/test_beside.c.

    check_beside.py ROOT
"""
import pathlib
import re
import sys

# What needs no handle, or a request.
WITHOUT = set("""
    status_name error_message text_visible version version_number launch_get free type_name type_bytes type_from_name
    store_options_set option_words distribution_count distribution_box copy_request_set array_parts_free request_test
    request_wait transfer_plan_print copy_plan_print
""".split())
# The same call by another name: a list of arrays in place of one; texts in place of parts.
BY_ANOTHER = {"arrays_close": "array_close", "array_read_texts_local": "array_read_local"}

root = pathlib.Path(sys.argv[1])
table = set(re.findall(r"ROW\((\w+)\)", (root / "tests/parallel/test_beside.c").read_text()))
functions = set()
for header in sorted((root / "include").glob("*.h")):
    functions |= set(re.findall(r"^PARAPET_API [^;(]*?\bparapet_(\w+)\(", header.read_text(), re.MULTILINE))
missing = {BY_ANOTHER.get(name, name) for name in functions - WITHOUT} - table
gone = (table - {"name"}) - functions
for name in sorted(missing):
    print(f"parapet_{name} has no row in tests/parallel/test_beside.c")
for name in sorted(gone):
    print(f"parapet_{name} has a row in tests/parallel/test_beside.c, but is no public function")
sys.exit(bool(missing or gone) or len(functions) < 60)
