#!/usr/bin/env python3
"""Every verb ends. A store of two small objects whose array has room for 2^46 of them keeps no verb, and what is copied is
what is stored. SIGINT and SIGTERM end a copy that is under way, and one that is stuck, alone and under the launcher."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TOOL, FLAVOUR_TOOL, MPIEXEC = os.environ["TOOL"], os.environ["FLAVOUR_TOOL"], os.environ.get("MPIEXEC", "")
PATIENCE_S = 120   # walking the grid takes years
STORED = {5: b"ABCDEFGHIJKLMNOP", 2**46 - 7: b"abcdefghijklmnop"}
problems = []
signal.signal(signal.SIGINT, signal.default_int_handler)  # a script's `command &` ignores it


def make_store(root, shape, chunk, stored):
    (root / "x/c").mkdir(parents=True)
    (root / "zarr.json").write_text('{"zarr_format": 3, "node_type": "group", "attributes": {}}')
    (root / "x/zarr.json").write_text(json.dumps(
        {"zarr_format": 3, "node_type": "array", "shape": shape, "data_type": "int8",
         "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunk}},
         "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}}, "fill_value": 0,
         "codecs": [{"name": "bytes"}], "attributes": {}}))
    for key, data in stored.items():
        path = root / "x/c" / str(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def run(words, expected, ranks=1):
    command = [TOOL, *words] if ranks == 1 else [MPIEXEC, "-n", str(ranks), FLAVOUR_TOOL, *words]
    start = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    except subprocess.TimeoutExpired:
        problems.append(f"{' '.join(words)} does not end")
        return ""
    if done.returncode != expected:
        problems.append(f"{' '.join(words)} ends with {done.returncode}: {done.stderr[-300:]}")
    print(f"{time.monotonic() - start:5.2f} s  {ranks} {' '.join(words)}")
    return done.stdout


def verbs_end(folder):
    s, e = f"{folder}/s.zarr", f"{folder}/empty.zarr"
    make_store(pathlib.Path(s), [2**50], [16], STORED)
    make_store(pathlib.Path(e), [2**50], [16], {})
    for words, expected in [
            (["info", s + "/x"], 0), (["ls", "-l", s], 0), (["check", s], 0), (["gc", s], 0),
            (["plan", "copy", s + "/x"], 0),
            (["plan", "copy", "-c", "1000", s + "/x"], 0), (["diff", s, s], 0), (["diff", s, e], 3), (["diff", e, e], 0),
            (["copy", "--dry-run", s, f"{folder}/t0.zarr"], 0), (["copy", "--verify", e, f"{folder}/t1.zarr"], 0),
            (["copy", "--verify", s, f"{folder}/t2.zarr"], 0), (["diff", s, f"{folder}/t2.zarr"], 0),
            (["copy", "--verify", "-c", "1000", "-s", "100000", s, f"{folder}/t3.zarr"], 0),
            (["diff", s, f"{folder}/t3.zarr"], 0), (["check", f"{folder}/t3.zarr"], 0),
            (["copy", "--verify", "--max-mem", "8MiB", "-c", "7", "-s", "none", s, f"{folder}/t4.zarr"], 0),
            (["diff", s, f"{folder}/t4.zarr"], 0), (["copy", "--resume", s, f"{folder}/t5.zarr"], 0)]:
        run(words, expected)
    if MPIEXEC:
        run(["copy", "--verify", "--no-probe", "-c", "24", "-s", "none", s, f"{folder}/t6.zarr"], 0, ranks=3)
        run(["diff", s, f"{folder}/t6.zarr"], 0)


def dimensions_end(folder):
    s, t = f"{folder}/three.zarr", f"{folder}/three_t.zarr"
    make_store(pathlib.Path(s), [2**17, 2**16, 2**17], [8, 4, 2], {"3/5/7": bytes(range(64)), "16383/16383/65535": bytes(64),
                                                                  "9000/0/65535": bytes(range(64, 128))})
    run(["copy", "--verify", "--no-probe", "--order", "2,-0,1", "-c", "3,5,7", "-s", "12,10,14", s + "/x", t + "/x"], 0)
    back = f"{folder}/back.zarr/x"
    run(["copy", "--verify", "--no-probe", "--order", "-1,2,0", "-c", "8,4,2", "-s", "none", t + "/x", back], 0)
    run(["diff", s + "/x", back], 0)


def interrupt(words, number, ranks, delay_s):
    """Notes a run that goes on when it has got a signal, as all its processes get it from a terminal. One that comes to
    its own end would have ended with 0; some launchers do so after a signal, too."""
    command = [TOOL, *words] if ranks == 1 else [MPIEXEC, "-n", str(ranks), FLAVOUR_TOOL, *words]
    name = f"{' '.join(words)} on {ranks} ranks"
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
    time.sleep(delay_s)
    start = time.monotonic()
    (os.killpg if ranks > 1 else os.kill)(process.pid, number)
    try:
        process.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        problems.append(f"{name} does not obey {number.name}")
        return
    print(f"{time.monotonic() - start:5.2f} s  {name} after {number.name}, ends with {process.returncode}")
    if process.returncode == 0 and ranks == 1:
        problems.append(f"{name} was over before {number.name} came")


def signals_are_obeyed(folder):
    # As many little chunks as are just looked at one by one.
    dense = pathlib.Path(f"{folder}/dense.zarr")
    make_store(dense, [2**24], [16], {key: bytes(range(16)) for key in range(3000)})
    for number in (signal.SIGINT, signal.SIGTERM):
        for ranks in (1, 2) if MPIEXEC else (1,):
            target = f"{folder}/i{number}{ranks}.zarr"
            interrupt(["copy", "--no-probe", str(dense), target], number, ranks, 1.0)
            interrupt(["diff", str(dense), str(dense)] if ranks == 1 else ["copy", "--resume", str(dense), target], number,
                      ranks, 0.5)


def main():
    folder = tempfile.mkdtemp()
    try:
        verbs_end(folder)
        dimensions_end(folder)
        signals_are_obeyed(folder)
    finally:
        shutil.rmtree(folder)
    print("\n".join(problems + [f"{len(problems)} problems"]))
    return 1 if problems else 0


sys.exit(main())
