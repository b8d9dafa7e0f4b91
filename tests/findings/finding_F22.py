#!/usr/bin/env python3
"""Nothing that a store holds reaches a terminal unescaped: controls, marks of direction, what cannot be seen, what is not
UTF-8. One such text stands in turn in every place of the metadata that takes text; every verb is run on it."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

TOOL = os.environ["TOOL"]
HIDDEN = "\x1b\x07\x7f\x85\x9b\r\b\u00ad\u061c\u200b\u200d\u200e\u200f\u2028\u202a\u202e\u2060\u2066\u2069\ufeff\U000e0041"
TEXT = "a\x1b]0;title\x07\x1b[31mb\x9b31m\x7f\x85\r\b" + HIDDEN + "z\u00e9"
GROUP = '{"zarr_format": 3, "node_type": "group", "attributes": {}}'
VERBS = [
    ["info", "{a}"], ["info", "{s}"], ["info", "--json", "{a}"], ["ls", "{s}"], ["ls", "-l", "{s}"], ["ls", "--json", "{s}"],
    ["check", "{s}"], ["check", "--json", "{s}"], ["diff", "{s}", "{o}"], ["diff", "--json", "{s}", "{o}"],
    ["copy", "--no-probe", "-q", "{s}", "{t}"], ["copy", "--no-probe", "--json", "--overwrite", "{s}", "{t}"],
    ["plan", "copy", "{a}"], ["gc", "--json", "{s}"],
]


def document():
    return {"zarr_format": 3, "node_type": "array", "shape": [4], "data_type": "float64",
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4]}},
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}}, "fill_value": 0,
            "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "attributes": {}}


def places():
    """(name, document) with the text in one place each."""
    for name, change in {
        "attribute": {"attributes": {"a": TEXT, "b": [TEXT, {TEXT: TEXT}]}},
        "attribute_name": {"attributes": {TEXT: 1}},
        "dimension": {"dimension_names": [TEXT]},
        "codec": {"codecs": [{"name": TEXT}]},
        "type": {"data_type": TEXT},
        "field": {"data_type": {"name": "struct", "configuration": {"fields": [{"name": TEXT, "data_type": "int32"}]}},
                  "fill_value": {TEXT: 1}},
        "unknown": {TEXT: {"must_understand": True}},
        "fill": {"fill_value": TEXT},
        "characters": {"data_type": {"name": "fixed_length_utf32", "configuration": {"length_bytes": 240}},
                       "fill_value": TEXT},
        "grid": {"chunk_grid": {"name": TEXT}},
    }.items():
        yield name, {**document(), **change}


def problem_of(words, run):
    """What is wrong with the output of one run, or None."""
    try:
        shown = (run.stdout + run.stderr).decode()
    except UnicodeDecodeError:
        return "is not UTF-8"
    found = sorted({f"U+{ord(c):04X}" for c in shown if c in HIDDEN})
    if found:
        return "shows " + " ".join(found)
    if run.returncode < 0 or run.returncode > 100:
        return f"ended with {run.returncode}"
    if "--json" in words and run.stdout:
        try:
            json.loads(run.stdout)
        except ValueError as error:
            return f"is not JSON: {error}"
    return None


def try_verbs(root, name, array, other):
    runs, problems = 0, []
    for words in VERBS:
        places_of = {"s": root, "a": array, "o": other, "t": root.parent / "target.zarr"}
        command = [TOOL] + [os.fsencode(word.format(**places_of)) if "{" in word else word for word in words]
        run = subprocess.run(command, capture_output=True, timeout=120, check=False)
        problem = problem_of(words, run)
        problems += [f"{name}: {' '.join(words)} {problem}"] if problem else []
        runs += 1
    shutil.rmtree(root.parent / "target.zarr", ignore_errors=True)
    return runs, problems


def make_store(root, folder, text):
    (root / folder).mkdir(parents=True)
    (root / "zarr.json").write_text(GROUP)
    (root / folder / "zarr.json").write_text(text)
    return root


def main():
    scratch = pathlib.Path(tempfile.mkdtemp())
    runs, problems = 0, []
    try:
        other = make_store(scratch / "other.zarr", "x", json.dumps({**document(), "attributes": {"a": "other"}}))
        subjects = [(name, "x", json.dumps(text, ensure_ascii=False)) for name, text in places()]
        subjects += [("name", TEXT.replace("/", ""), json.dumps(document())),
                     ("name_not_utf8", os.fsdecode(b"n\xff\x9b"), json.dumps(document())),
                     ("metadata_not_utf8", "x", '{"\x9b' + "\u202e")]
        for name, folder, text in subjects:
            root = make_store(scratch / f"{name}.zarr", folder, text)
            count, found = try_verbs(root, name, root / folder, other)
            runs, problems = runs + count, problems + found
    finally:
        shutil.rmtree(scratch)
    print("\n".join(problems + [f"{runs} runs, {len(problems)} of them show what they should not"]))
    return 1 if problems else 0


sys.exit(main())
