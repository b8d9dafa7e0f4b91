"""Runs one program and takes from outside what it cost: time, memory, and the bytes it read and wrote."""
import os
import signal
import subprocess
import tempfile
import threading
import time

from taken import Watch

COUNTERS = ("rchar", "wchar", "read_bytes", "write_bytes")


class Failure(Exception):
    pass


def empty_cache():
    os.sync()
    with open("/proc/sys/vm/drop_caches", "w") as switch:
        switch.write("3")


def transferred():
    """Counters of this process, which hold those of every program that it has waited for."""
    with open("/proc/self/io") as counters:
        found = dict(line.split(": ") for line in counters)
    return {name: int(found[name]) for name in COUNTERS}


def last_words(text):
    lines = [line for line in text.splitlines() if line.strip()]
    ours = [line for line in lines if line.startswith(("bench:", "parapet:"))]
    return (ours or lines or [""])[-1]


def run(command, timeout, environment=None):
    """Runs a command to its end and to durable data; raises Failure with a sentence.

    Returns seconds of wall time with start-up, rss_bytes of the process that took most, rchar and wchar (bytes through
    read and write), read_bytes and write_bytes (bytes of the device), taken (the share of the cores that others had)
    and out (what it printed)."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        before, watch, started = transferred(), Watch(), time.perf_counter()
        process = subprocess.Popen(command, stdout=out, stderr=err, start_new_session=True,
                                   env=dict(os.environ, **(environment or {})))
        timer = threading.Timer(timeout, os.killpg, (process.pid, signal.SIGKILL))
        timer.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
        finally:
            timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        os.sync()
        seconds = time.perf_counter() - started
        taken, after = watch.taken(), transferred()
        out.seek(0)
        err.seek(0)
        if process.returncode == -signal.SIGKILL and seconds >= timeout:
            raise Failure(f"not done in {timeout:.0f} s")
        if process.returncode != 0:
            raise Failure(last_words(err.read()) or f"ended with status {process.returncode}")
        return {"seconds": seconds, "rss_bytes": usage.ru_maxrss * 1024, "out": out.read(),
                "taken": taken,
                **{name: after[name] - before[name] for name in COUNTERS}}
