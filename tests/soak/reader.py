"""Reads stores with zarr-python: one path comes in a line, one JSON object goes out, of the arrays that soak.c prints."""

import json
import sys

import zarr


def array_of(root, name):
    if name not in root:
        return None
    values = [int(value) for value in root[name][:]]
    attributes = root[name].attrs
    return {"length": len(values), "values": values, "made": attributes.get("made", 0),
            "set": [attributes.get("job0", 0), attributes.get("job1", 0)]}


def look(path):
    root = zarr.open_group(path, mode="r", use_consolidated=False)
    steps = [sorted(set(map(int, row))) for row in root["s/u"][:]]
    return {"a": array_of(root, "a"), "t": array_of(root, "t"), "steps": steps}


for line in sys.stdin:
    try:
        print(json.dumps(look(line.strip())), flush=True)
    except Exception as problem:  # whatever it is, the driver must hear of it
        print(json.dumps({"problem": repr(problem)}), flush=True)
