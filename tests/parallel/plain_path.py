#!/usr/bin/env python3
"""plain_path.py BUILD COMMAND...: with cache, write_back, kept descriptions, divided shards and seals off, writing and
reading enter no function of theirs. BUILD is a build folder of the preset coverage, COMMAND starts test_plain_path.

Functions are counted by gcov, from the calls alone. The same calls with cache, write_back and a seal have to enter
functions of each of these: otherwise this finds nothing. What a write notes for a later seal (transfer/shard_notes.c)
is no option and always on."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

FEATURES = {
    "cache": ["transfer/cache.c", "transfer/cache_layer.c"],
    "write_back": ["transfer/write_back.c", "transfer/write_back_layer.c", "array/dirty_arrays.c", "array/batch_flush.c"],
    "kept descriptions": ["transfer/session_cache.c"],
    "divided shards": ["transfer/partial_shards.c", "transfer/pinned.c"],
    "seals": ["array/batch_seals.c", "array/seal.c", "array/seal_many.c", "array/seal_objects.c",
              "array/seal_schedule.c", "array/seal_verify.c", "zarr/manifest.c"],
}
NOT_IN_THESE_CALLS = {"divided shards"}  # only elements that are listed one by one


def entered(build, command, mode):
    """The functions that the calls entered, as "file: function"."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*command, mode], check=True, env=os.environ | {"GCOV_PREFIX": folder, "GCOV_PREFIX_STRIP": "0"})
        counted = [path for path in pathlib.Path(folder).rglob("*.gcda") if "/src/" in path.as_posix()]
        for path in counted:
            notes = pathlib.Path("/", path.relative_to(folder)).with_suffix(".gcno")
            shutil.copy(notes, path.with_suffix(".gcno"))
        told = subprocess.run(["gcov", "--json-format", "--stdout", *map(str, counted)], check=True, cwd=build,
                              capture_output=True, text=True).stdout
    return {f"{file['file'].split('/src/')[-1]}: {function['name']}"
            for line in told.splitlines() if line.startswith("{")
            for file in json.loads(line)["files"] for function in file["functions"] if function["execution_count"]}


def main():
    build, *command = sys.argv[1:]
    off, on = (entered(build, command, mode) for mode in ("off", "on"))
    failures = [] if any(one.startswith("transfer/write.c: ") for one in off) else ["gcov has counted no write"]
    sources = pathlib.Path(__file__).resolve().parents[2] / "src"
    for feature, files in FEATURES.items():
        failures += [f"{feature}: there is no {file}" for file in files if not (sources / file).is_file()]
        failures += [f"{feature}, which is off: {one}" for one in sorted(off) if one.split(": ")[0] in files]
        if feature not in NOT_IN_THESE_CALLS and not any(one.split(": ")[0] in files for one in on):
            failures.append(f"{feature}: not entered when it is on")
    print(f"{len(off)} functions entered with the features off, {len(on)} with them on, {len(failures)} failures",
          *failures, sep="\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
