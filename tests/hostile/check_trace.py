"""Runs hostile under strace and demands that no file outside a store is changed, and none that a link leads to is opened.

    check_trace.py STRACE HOSTILE DIRECTORY

What counts is where a call ended up, which strace tells for every descriptor: a call that a link sent away is seen.
"""
import os
import re
import subprocess
import sys

OPENS = ("openat", "openat2", "open", "creat")
CHANGES = ("unlink", "unlinkat", "rename", "renameat", "renameat2", "mkdir", "mkdirat", "symlinkat", "linkat", "rmdir",
           "truncate", "mknodat", "fchmodat")
RESULT = re.compile(r"= \d+<(.*?)>\s*$")
CALL = re.compile(r"^\d+\s+(\w+)\((.*)$")
PLACE = re.compile(r'(?:(AT_FDCWD|\d+)<([^>]*)>, )?"((?:[^"\\]|\\.)*)"')


def is_in_store(path, top):
    parts = os.path.relpath(path, os.path.join(top, "stores")).split(os.sep)
    return parts[0] != ".." and len(parts) > 1 and parts[1] == "store"


def judge_open(line, arguments, top):
    result = RESULT.search(line)
    if result is None:
        return None
    path = result.group(1)
    if path.startswith(os.path.join(top, "outside")):
        return "opened outside: " + path
    if re.search(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC", arguments) and not is_in_store(path, top):
        return "opened for writing: " + path
    return None


def judge_change(line, arguments, top):
    if not re.search(r"= 0$", line.rstrip()):
        return None
    for _, folder, name in PLACE.findall(arguments):
        if not is_in_store(os.path.join(folder or os.getcwd(), name), top):
            return "changed: " + os.path.join(folder, name)
    return None


def main():
    strace, hostile, top = sys.argv[1], sys.argv[2], os.path.realpath(sys.argv[3])
    log = os.path.join(top, "trace")
    run = subprocess.run([strace, "-f", "--seccomp-bpf", "-y", "-s", "4096", "-o", log, "-e", "trace=" + ",".join(
        "?" + name for name in OPENS + CHANGES), hostile, top], stdout=subprocess.PIPE, text=True)
    print(run.stdout, end="")
    calls, problems = {"opens": 0, "changes": 0, "in stores": 0}, []
    with open(log, errors="surrogateescape") as file:
        for line in file:
            call = CALL.match(line)
            if call is None:
                continue
            name, arguments = call.groups()
            calls["opens" if name in OPENS else "changes"] += 1
            result = RESULT.search(line)
            calls["in stores"] += result is not None and is_in_store(result.group(1), top)
            problem = (judge_open if name in OPENS else judge_change)(line, arguments, top)
            if problem is not None:
                problems.append(problem)
    for problem in problems[:20]:
        print(problem)
    print("%(opens)d opens, %(in stores)d of them in stores, %(changes)d changes traced;" % calls, len(problems),
          "outside")
    return 0 if run.returncode == 0 and not problems and calls["in stores"] > 500 and calls["changes"] > 10 else 1


if __name__ == "__main__":
    sys.exit(main())
