#!/usr/bin/env python3
"""Plans a write of 2^50 bytes in 2^30 chunks by 131072 ranks, and demands that it takes little time and memory.

    check_plan.py PARAPET [--sanitized]

--sanitized: the program was built with sanitizers, so its time and memory say nothing; the plans must still be right.
"""
import json
import os
import subprocess
import sys

MIB = 1 << 20
SECONDS_MOST, SECONDS_MOST_OF_ONE = 200, 10  # of the processor: twenty times what is needed, and no loop over all chunks
CASE = ("--shape 65536,65536,32768 --type float64 --chunks 64,64,32 --shards 1024,1024,512 "
        "--ranks 131072 --mesh 64,64,32 --servers 1024").split()


def measure(tool, words, seconds_most, bytes_most):
    """What the tool prints as JSON; ends the test when it takes more than allowed. It is a matter of arithmetic, so its
    own time counts, however busy the machine is."""
    child = subprocess.Popen([tool, "plan", *words, "--json"], stdout=subprocess.PIPE)
    output = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    seconds, resident = usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10
    print(f"{' '.join(words)}: {seconds:.2f} s of {seconds_most}, {resident / MIB:.0f} MiB of {bytes_most // MIB}")
    if status != 0:
        sys.exit("it failed")
    if "--sanitized" not in sys.argv and (seconds > seconds_most or resident > bytes_most):
        sys.exit("it took too much")
    return json.loads(output)


def main():
    tool = sys.argv[1]
    summary = measure(tool, ["write", *CASE, "--owners", "in_turn"], SECONDS_MOST, 256 * MIB)
    server = measure(tool, ["write", *CASE, "--owners", "in_turn", "--server", "7"], SECONDS_MOST_OF_ONE, 64 * MIB)
    measure(tool, ["write", *CASE], SECONDS_MOST, 256 * MIB)
    measure(tool, ["write", *CASE, "--server", "7"], SECONDS_MOST_OF_ONE, 64 * MIB)
    reading = measure(tool, ["read", *CASE, "--owners", "nearest"], SECONDS_MOST, 256 * MIB)
    # Each rank holds two whole shards: 4096 chunks each, one message a chunk.
    assert summary["per_server"]["bytes"]["total"] == 1 << 50
    assert summary["per_server"]["shards"] == {"min": 256, "median": 256, "max": 256, "total": 262144}
    assert summary["per_rank"]["data_messages"]["max"] == 8192
    assert server["total"]["shards"] == 256 and len(server["shard_list"]) == 256
    assert server["rank"] == 896 and server["total"]["bytes"] == 1 << 40
    # Every server holds two shards itself, and keeps them.
    assert reading["per_server"]["own_bytes"]["total"] == 1024 * (8 << 30)
    # Blocks that shards cut across: bounded by what overlaps, and all bytes are there.
    across = measure(tool, ["write", "--shape", "65536,65536,32768", "--chunks", "64,64,32", "--shards",
                            "1024,1024,512", "--mesh", "50,50,40", "--servers", "1000"], SECONDS_MOST, 256 * MIB)
    assert across["per_server"]["bytes"]["total"] == 1 << 50
    assert across["per_rank"]["message_bytes"]["total"] == across["per_server"]["message_bytes"]["total"]


main()
