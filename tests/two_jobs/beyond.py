#!/usr/bin/env python3
"""Two jobs on one store where nobody looks every day: of two MPIs, one removing what the other writes, one overwriting what the
other reads, on mounts of a network file system, with clocks that are set by hours.

    beyond.py FIRST_PROGRAM FIRST_MPIEXEC SECOND_PROGRAM SECOND_MPIEXEC TRIALS [CASE...]

Programs are two_jobs of two builds. Every case has TRIALS races at least, and is judged as those of test_two_jobs.py are. sshfs
and clocks need the Debian packages sshfs, openssh-server and libfaketime, and are left out without them."""
import glob
import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

from test_two_jobs import NAMES

try:
    import zarr
except ImportError:
    zarr = None

RANKS, PATIENCE = 2, 3600
SEED = os.environ.get("PARAPET_TEST_SEED", "20261119")
PAIRS = len(NAMES) * (len(NAMES) + 1) // 2


class Missing(Exception):
    """What a case needs is not here."""


def command(program, launcher, settings):
    """Settings are for the ranks alone: a launcher with other clocks does not start."""
    return [launcher, "-n", str(RANKS), "env", *(f"{key}={value}" for key, value in settings.items()), program]


def race(jobs, settings, races, pair=()):
    """Both jobs to their end. Problems, as the judge has them."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="parapet-beyond-"))
    words = [str(races), SEED, *map(str, pair)]
    running = [subprocess.Popen([*command(*jobs[job], settings[job]), str(folder), str(job), *words], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for job in (1, 0)]
    # Both are read at once: who is not read fills a pipe and waits.
    printed = {}
    readers = [threading.Thread(target=lambda at=at, job=job: printed.update({at: job.communicate()[0]}))
               for at, job in enumerate(running)]
    for reader in readers:
        reader.start()
    end = time.monotonic() + PATIENCE
    for reader in readers:
        reader.join(max(1, end - time.monotonic()))
    hangs = [job for job in running if job.poll() is None]
    for job in hangs:
        job.terminate()
    for reader in readers:
        reader.join()
    shutil.rmtree(folder, ignore_errors=True)
    told = [line for line in "".join(printed.values()).splitlines() if line and not line.startswith("|")]
    if hangs:
        return ["a job does not end", *told]
    return told if any(job.returncode != 0 for job in running) else []


# ---- Cases: their races and problems ----


def two_mpis(jobs, trials):
    races = -(-trials // PAIRS)
    return races * PAIRS, race(jobs, ({}, {}), races)


def one_pair(jobs, trials, first, second):
    return trials, race(jobs, ({}, {}), trials, sorted((NAMES.index(first), NAMES.index(second))))


def removing_and_writing(jobs, trials):
    done = [one_pair(jobs, trials, writer, "rm") for writer in ("write shards", "write chunks", "append", "create")]
    return sum(each[0] for each in done), [line for each in done for line in each[1]]


def overwriting_and_reading(jobs, trials):
    done = [one_pair(jobs, trials, "copy", reader) for reader in ("read", "check")]
    done.append(one_pair(jobs, trials, "overwrite", "read"))
    return sum(each[0] for each in done), [line for each in done for line in each[1]]


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Mounts:
    """Two mounts of one folder over SSH on the loopback, as two nodes would have them."""

    def __init__(self, options):
        self.options, self.places, self.server = options, [], None
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="parapet-mounts-"))

    def serve(self):
        sshd, port, folder = shutil.which("sshd", path="/usr/sbin:/usr/bin"), free_port(), self.folder
        for key in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / key], check=True)
        shutil.copy(folder / "user.pub", folder / "allowed")
        (folder / "config").write_text(f"ListenAddress 127.0.0.1\nPort {port}\nHostKey {folder}/host\nStrictModes no\n"
                                       f"AuthorizedKeysFile {folder}/allowed\nPidFile none\nUsePAM no\n"
                                       "Subsystem sftp internal-sftp\n")
        os.makedirs("/run/sshd", exist_ok=True)
        self.server = subprocess.Popen([sshd, "-D", "-f", folder / "config"], stderr=subprocess.DEVNULL)
        return port

    def __enter__(self):
        port = self.serve()
        (self.folder / "stores").mkdir()
        (self.folder / "ssh").write_text(f"Port {port}\nIdentityFile {self.folder}/user\nStrictHostKeyChecking no\n"
                                         f"UserKnownHostsFile /dev/null\nLogLevel ERROR\n")
        for number in (0, 1):
            place = self.folder / f"mount{number}"
            place.mkdir()
            for _ in range(50):
                done = subprocess.run(["sshfs", "-F", self.folder / "ssh", "-o", self.options,
                                       f"root@127.0.0.1:{self.folder}/stores", place], check=False, capture_output=True, text=True)
                if done.returncode == 0:
                    break
                time.sleep(0.1)
            else:
                self.__exit__()
                raise Missing(f"sshfs does not mount: {done.stderr.strip()}")
            self.places.append(place)
        return self.places

    def __exit__(self, *_):
        for place in self.places:
            subprocess.run(["umount", place], check=False)
        self.server.terminate()
        self.server.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def network(jobs, trials):
    if not shutil.which("sshfs") or not shutil.which("sshd", path="/usr/sbin:/usr/bin") or not os.path.exists("/dev/fuse"):
        raise Missing("sshfs, sshd or /dev/fuse")
    races = -(-trials // PAIRS)
    with Mounts("dir_cache=no,attr_timeout=0,entry_timeout=0,negative_timeout=0,direct_io,no_readahead") as places:
        return races * PAIRS, race(jobs, [{"TWO_JOBS_STORES": place} for place in places], races)


def clocks(jobs, trials):
    """The wall clock of each job goes back and forth by up to a day, again and again."""
    found = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
    if not found:
        raise Missing("libfaketime")
    draw, is_over = random.Random(SEED), threading.Event()
    races = -(-trials // PAIRS)
    with tempfile.TemporaryDirectory(prefix="parapet-clocks-") as folder:
        files = [pathlib.Path(folder) / f"clock{job}" for job in (0, 1)]

        def turn():
            while not is_over.is_set():
                for file in files:
                    new = file.with_suffix(".new")
                    new.write_text(f"{draw.randrange(-86400, 86400):+d}\n")
                    new.replace(file)
                is_over.wait(0.02)

        turner = threading.Thread(target=turn)
        turner.start()
        settings = [{"LD_PRELOAD": found[0], "FAKETIME_TIMESTAMP_FILE": file, "FAKETIME_NO_CACHE": 1,
                     "FAKETIME_DONT_FAKE_MONOTONIC": 1, "DONT_FAKE_MONOTONIC": 1,
                     "NO_FAKE_STAT": 1} for file in files]
        problems = race(jobs, settings, races)
        is_over.set()
        turner.join()
    return races * PAIRS, problems


SERIES = """
import sys, numpy, parapet
path, (first, count) = sys.argv[1], map(int, sys.argv[2:])
u = parapet.ArraySpec(shape=(0, 4, 6), dtype='i4', dimension_names=('time', 'y', 'x'))
try:
    with parapet.open(path, 'a', durability='leave', wait_seconds=60) as store:
        series = parapet.Series.open(store, 'h') if 'h' in store else parapet.Series.create(store, 'h', {'u': u})
        for step in range(first, first + count):
            series.append(step, {'u': numpy.full((4, 6), step, 'i4')})
        series.close()
    print('OK')
except parapet.Error as error:
    print(type(error).__name__, error)
"""


def python(script, *words):
    return subprocess.Popen([sys.executable, "-c", script, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def make_group(path):
    """Arrays as those of the series, and no series."""
    made = zarr.open_group(path, mode="w", zarr_format=3)
    made.create_array("u", shape=(3, 4, 6), chunks=(2, 4, 6), dtype="i4", dimension_names=("time", "y", "x"))[:] = [
        [[step] * 6] * 4 for step in range(3)]
    made.create_array("time", shape=(3,), chunks=(2,), dtype="f8", dimension_names=("time",))[:] = range(3)


def steps_of(path):
    """The coordinate, and whether every array has its steps and no others."""
    times, values = (zarr.open_array(f"{path}/{name}", mode="r")[...] for name in ("time", "u"))
    return times.tolist(), len(times) == len(values) and bool((values == times[:len(values), None, None]).all())


def appending_a_series(_, trials):
    """A series is appended to a group while another job adds steps to it; and the other way round, which is refused."""
    tool = os.environ.get("TOOL")
    if not tool or zarr is None or subprocess.run([sys.executable, "-c", "import parapet"], check=False).returncode != 0:
        raise Missing("TOOL in the environment, zarr, or parapet for Python in PYTHONPATH")
    draw, problems, told = random.Random(SEED), [], {}
    with tempfile.TemporaryDirectory(prefix="parapet-series-") as folder:
        series, group = f"{folder}/series.zarr", f"{folder}/group.zarr"
        for trial in range(trials):
            python(SERIES, series, 500, 3).wait()
            make_group(group)
            more = draw.randrange(1, 5)
            writer = python(SERIES, series, 503, more)
            time.sleep(draw.random() * 0.4)
            ends = (f"{series}/h", group) if trial % 4 else (group, f"{series}/h")
            done = subprocess.run([tool, "append", "-q", *ends], capture_output=True, text=True, timeout=PATIENCE, check=False)
            written = writer.communicate(timeout=PATIENCE)[0].strip()
            (times, is_whole), (grown, is_series) = steps_of(group), steps_of(f"{series}/h")
            key = f"append {done.returncode}, series {written.split(' ')[0]}"
            told[key] = told.get(key, 0) + 1
            added = times[3:]
            is_right = (is_whole and is_series and times[:3] == [0, 1, 2] and added == list(range(500, 500 + len(added))) and
                        (len(added) >= 3) == (done.returncode == 0) and
                        grown == list(range(500, 503 + (more if written == "OK" else 0))))
            if not is_right or (written != "OK" and "BusyError" not in written):
                problems.append(f"trial {trial}: group {times}, series {grown}, append {done.returncode} {done.stderr}, {written}")
            for each in (series, group):
                shutil.rmtree(each)
    print(f"    {told}", file=sys.stderr)
    return trials, problems


CASES = {"two MPIs": two_mpis, "rm and writers": removing_and_writing, "overwriting and readers": overwriting_and_reading,
         "append and series": appending_a_series,
         "network": network, "clocks": clocks}


def main():
    jobs, trials = [sys.argv[1:3], sys.argv[3:5]], int(sys.argv[5])
    has_failed = False
    print(f"seed {SEED}\n\n| case | races | seconds | problems |\n|---|---|---|---|", flush=True)
    for name in sys.argv[6:] or CASES:
        began = time.monotonic()
        try:
            races, problems = CASES[name](jobs, trials)
        except Missing as missing:
            print(f"| {name} | 0 | - | left out: {missing} |", flush=True)
            continue
        has_failed = has_failed or bool(problems)
        print(f"| {name} | {races} | {time.monotonic() - began:.0f} | {len(problems) or 'none'} |", flush=True)
        for line in problems[:60]:
            print(f"    {line}", file=sys.stderr, flush=True)
    return 1 if has_failed else 0


sys.exit(main())
