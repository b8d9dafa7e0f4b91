#!/usr/bin/env python3
"""A copy is started again while the first one still runs: with --resume, as a queue does; and two at once that may both
overwrite. Whoever exits with 0 leaves a target that is there and equal to the source; who is late is told so and removes
nothing."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

TOOL = os.environ["TOOL"]
ROWS, COLUMNS, CHUNK = 2048, 4096, 512
COPY = [TOOL, "copy", "-q", "--no-probe", "-c", "512,16", "-s", "2048,256", "--unit", "2MiB", "--max-mem", "16MiB"]


def make_source(root):
    array = root / "a"
    array.mkdir(parents=True)
    (root / "zarr.json").write_text('{"zarr_format": 3, "node_type": "group", "attributes": {}}')
    (array / "zarr.json").write_text(json.dumps({
        "zarr_format": 3, "node_type": "array", "shape": [ROWS, COLUMNS], "data_type": "float64",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [CHUNK, CHUNK]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "."}}, "fill_value": 0,
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "attributes": {}}))
    for row in range(ROWS // CHUNK):
        for column in range(COLUMNS // CHUNK):
            chunk = bytes([row + 1, column, 3, 0, 0, 0, 0, 64]) * (CHUNK * CHUNK)
            (array / f"c.{row}.{column}").write_bytes(chunk)


def start(words, source, target):
    return subprocess.Popen(COPY + words + [source / "a", target / "a"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True)


def await_begun(target, process):
    while process.poll() is None and not (target / "a/__parapet/copy/job").exists():
        time.sleep(0.002)


def problem_of(name, jobs, source, target):
    """What is wrong after both have ended, or None."""
    sentences = [job.communicate(timeout=60)[0] for job in jobs]
    codes = [job.returncode for job in jobs]
    told = f"{name}: exit codes {codes}: {' | '.join(sentences)}"
    if 0 not in codes:
        return f"{told}: nobody has copied it"
    if not (target / "a/zarr.json").exists():
        return f"{told}: the target is gone"
    difference = subprocess.run([TOOL, "diff", "-q", source / "a", target / "a"], check=False, timeout=60)
    return None if difference.returncode == 0 else f"{told}: the target differs"


def take_up_too_early(source, target):
    first = start([], source, target)
    await_begun(target, first)
    return problem_of("resumed while it runs", [first, start(["--resume"], source, target)], source, target)


def overwrite_twice(source, target):
    assert start([], source, target).wait(timeout=60) == 0
    first = start(["--overwrite"], source, target)
    await_begun(target, first)
    return problem_of("overwritten by two", [first, start(["--overwrite"], source, target)], source, target)


def main():
    scratch = pathlib.Path(tempfile.mkdtemp())
    problems = []
    try:
        make_source(scratch / "source.zarr")
        for number, act in enumerate([take_up_too_early, take_up_too_early, overwrite_twice, overwrite_twice]):
            problem = act(scratch / "source.zarr", scratch / f"target{number}.zarr")
            problems += [problem] if problem else []
    finally:
        shutil.rmtree(scratch)
    print("\n".join(problems))
    return 1 if problems else 0


sys.exit(main())
