"""Runs a command in a process that has little memory itself, and writes what the command and all it started took:

    measured.py FILE COMMAND...      seconds, processor seconds and most resident bytes, as JSON

A process inherits the greatest memory of the one that starts it, so a test that has loaded NumPy measures NumPy.
"""
import json
import os
import sys
import time

file, *command = sys.argv[1:]
started = time.monotonic()
process = os.posix_spawn(command[0], command, os.environ)
_, status, usage = os.wait4(process, 0)
with open(file, "w") as out:
    json.dump({"seconds": time.monotonic() - started, "processor": usage.ru_utime + usage.ru_stime,
               "bytes": usage.ru_maxrss << 10}, out)
code = os.waitstatus_to_exitcode(status)
sys.exit(code if code >= 0 else 128 - code)
