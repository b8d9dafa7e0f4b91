#!/usr/bin/env python3
"""Appending a group whose coordinate claims 2^50 elements, texts of fixed length or numbers, in chunks of four: refused at once
and in little memory, in both directions."""
import json
import pathlib
import resource
import subprocess
import tempfile

import peers

TYPES = {"texts": {"name": "fixed_length_utf32", "configuration": {"length_bytes": 8}}, "bytes": {
    "name": "null_terminated_bytes", "configuration": {"length_bytes": 9}}, "int64": "int64"}
CPU_SECONDS, MEMORY = 10, 1 << 30


def make(group, length, kind):
    document = {"zarr_format": 3, "node_type": "array", "shape": [length], "data_type": TYPES[kind],
                "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4]}},
                "chunk_key_encoding": {"name": "default"}, "fill_value": 0 if kind == "int64" else "",
                "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "dimension_names": ["time"]}
    for name in ("time", "u"):
        (group / name).mkdir(parents=True)
        (group / name / "zarr.json").write_text(json.dumps(document))
    (group / "zarr.json").write_text('{"zarr_format": 3, "node_type": "group"}')


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 1))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def main():
    for kind in TYPES:
        with tempfile.TemporaryDirectory(prefix="parapet-edge-") as folder:
            vast, small = pathlib.Path(folder) / "vast", pathlib.Path(folder) / "small"
            make(vast, 2**50, kind)
            make(small, 4, kind)
            for words in ((vast, small), (small, vast), ("--dry-run", vast, small)):
                done = subprocess.run([peers.TOOL, "append", *words], capture_output=True, text=True, preexec_fn=limit, check=False)
                peers.expect(f"{kind} {words}: {done.returncode} {done.stdout}{done.stderr}",
                             done.returncode == 1 and "nothing was changed" in done.stderr)


main()
raise SystemExit(1 if peers.problems else 0)
