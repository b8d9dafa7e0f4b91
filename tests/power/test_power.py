"""Power cuts and failing media under checkpoints, series and copies: what was acknowledged is there, what is there is
whole, and the job can go on.

    test_power.py cuts COUNT PROGRAMS LAUNCHER      ext4 on a loop device is shut down at random moments
    test_power.py states COUNT PROGRAMS LAUNCHER    the disk logs all writes and flushes; states that a power cut could
                                                    have left of it are mounted and verified
    test_power.py media COUNT PROGRAMS LAUNCHER     a write or a flush of the disk, or a flush of a file, fails once
                                                    with EIO; a write, and the flush of a file, lose their bytes

PROGRAMS is the folder with power_job, power_disk and the libraries power_lazy and power_forgetful, LAUNCHER that of
the MPI they were built with. By hand, as root, from the root of the repository:

    python3 tests/power/test_power.py states 300 build/mpich/tests/power mpiexec.mpich

COUNT is shared among checkpoints (three fifths), series and copies; media concerns checkpoints. Before each, the same
is done to jobs some of whose flushes do nothing, or fail unnoticed: unless that loses something, the test itself is at
fault. PARAPET_TEST_SEED repeats all choices; moments and the order of writes depend on the machine as well, so with
PARAPET_TEST_KEEP=FOLDER the disks that violate something are kept there. Skipped (77) without root, loop devices or,
for states and media, FUSE. Needs 100 MB in TMPDIR, or in /dev/shm.
"""

import atexit
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "harness"))
import blocklog  # noqa: E402
import machine  # noqa: E402

SUBJECTS = {"checkpoint": 3, "series": 1, "copy": 1}
WORKS_LOGGED = {"checkpoint": 8, "series": 24, "copy": 6}
RANKS_LOGGED = {"checkpoint": [2, 3], "series": [2, 3], "copy": [0, 2]}  # several: one flushes for another
CUTS_PER_DISK = 5
STATES_PER_RUN = 200
WORKS_CUT = {"checkpoint": 40, "series": 60, "copy": 10}
CONTROLS = 30
MEDIA_CONTROLS_MOST = 60  # the first that shows it ends them
# Which flushes of which job are left out. Cuts are not seen to lose names alone: the next flush of any file on ext4
# makes them durable, and a cut before that is too rare.
CONTROLLED = {"cuts": [("checkpoint", "all"), ("checkpoint", "files")],
              "states": [("checkpoint", "all"), ("checkpoint", "files"), ("checkpoint", "directories"),
                         ("series", "all"), ("copy", "all")]}
MOST_CODE = 127  # above, it is a signal
MEDIA_WORKS = 4
ENDED = (0, 3)
SHOWN = 10


class Violation(Exception):
    pass


def preload(shim):
    return {"LD_PRELOAD": str(shim), "ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0"}


class Bed:
    """A folder in memory, the programs, the choices, and the counts."""

    def __init__(self, folder, programs, launcher, seed):
        self.folder, self.launcher = folder, launcher
        self.program, self.server = str(programs / "power_job"), str(programs / "power_disk")
        self.lazy, self.forgetful = (preload(programs / f"libpower_{shim}.so") for shim in ("lazy", "forgetful"))
        self.choose = random.Random(seed)
        self.image, self.log, self.plain_marks = folder / "image", folder / "log", folder / "marks"
        self.mounted, self.served = folder / "mounted", folder / "served"
        self.mounted.mkdir()
        self.served.mkdir()
        self.root = self.mounted / "store"
        self.templates = {}
        self.figures = {"cuts": 0, "states": 0, "failures": 0, "reported": 0, "acknowledged": 0}
        self.violations, self.is_control = [], False

    def settings(self):
        return {"PARAPET_DIRECT_IO": str(self.choose.choice([0, 1, 2])),
                "PARAPET_IO_THREAD": str(self.choose.choice([1, 2]))}

    def start(self, subject, marks, count, ranks, shim=None):
        words = [self.program, subject, "write", str(self.root), str(marks), str(count)]
        if ranks > 0:
            words = [self.launcher, "-n", str(ranks), *words, "ranks"]
        return subprocess.Popen(words, env=os.environ | self.settings() | (shim or {}), stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, start_new_session=True)

    def wait(self, process):
        """What the job printed; it ends by itself whatever happened to its disk."""
        try:
            text, _ = process.communicate(timeout=machine.PATIENCE)
        except subprocess.TimeoutExpired:
            raise Violation("the job hangs") from None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
        return text

    def run(self, disk, *arguments):
        """A job on a disk that is mounted for it; its exit code and what it printed."""
        machine.mount(disk, self.mounted)
        try:
            process = self.start(*arguments)
            text = self.wait(process)
        finally:
            machine.unmount(self.mounted)
        return process.returncode, text

    def base(self, subject):
        """A disk on which the first work can begin; checkpoints begin on an empty one."""
        if subject not in self.templates:
            machine.make_file_system(self.image)
            self.plain_marks.write_text("")
            if subject != "checkpoint":
                code, text = self.run(self.image, subject, self.plain_marks, 0, 0)
                assert code == 0, text
            self.templates[subject] = self.image.read_bytes()
        return self.templates[subject]

    def renew(self, subject):
        self.image.write_bytes(self.base(subject))
        self.plain_marks.write_text("")

    def known(self):
        return blocklog.Known().after(self.plain_marks.read_text())

    def verify(self, subject, known):
        """On the image as it is; a violation is raised."""
        try:
            machine.mount(self.image, self.mounted)
        except OSError as failure:
            raise Violation(f"the file system does not mount: {failure}") from None
        try:
            words = [self.program, subject, "verify", self.root, self.plain_marks,
                     str(known.done), str(known.previous), str(known.begun)]
            result = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                    timeout=machine.PATIENCE, check=False)
            if result.returncode != 0:
                raise Violation(f"{result.stdout.strip()} (exit code {result.returncode})")
            self.check_files(subject, result.stdout)
        except subprocess.TimeoutExpired:
            raise Violation("verifying hangs") from None
        finally:
            machine.unmount(self.mounted)

    def check_files(self, subject, told):
        left = list(self.root.rglob("*.tmp"))
        if subject == "checkpoint":
            kept = [int(line.split()[1]) for line in told.splitlines() if line.startswith("kept ")]
            place = self.root / "restart"
            left += [path for path in place.glob("g*") if int(path.name[1:].split("-")[0]) not in kept]
            left += [path for path in (place / "__parapet/commits").iterdir() if int(path.name) not in kept]
        if left:
            raise Violation(f"left over: {', '.join(str(path.relative_to(self.root)) for path in left)}")

    def keep(self, image):
        folder = os.environ.get("PARAPET_TEST_KEEP")
        if folder and not self.is_control:
            Path(folder, f"disk-{len(self.violations)}").write_bytes(image)

    def attempt(self, story, work, *arguments):
        try:
            work(*arguments)
            return True
        except Violation as violation:
            self.violations.append(str(violation))
            if len(self.violations) <= SHOWN:
                what = "lost, as it must be" if self.is_control else "VIOLATION"
                print(f"{what} ({story}): {violation}", flush=True)
            return False


def cut_when_busy(bed, process, before, how):
    """At a random moment after the job has begun its first work."""
    delay, end = bed.choose.uniform(0, 0.25), time.monotonic() + machine.PATIENCE
    while process.poll() is None and bed.known().begun == before.begun and time.monotonic() < end:
        time.sleep(0.002)
    time.sleep(delay)
    machine.cut_power(bed.mounted, how)


def cut_once(bed, subject, how, shim):
    """One run, one cut, one look at what it left."""
    machine.mount(bed.image, bed.mounted)
    before = bed.known()
    process = bed.start(subject, bed.plain_marks, WORKS_CUT[subject], bed.choose.choice([0, 0, 2, 3]), shim)
    try:
        try:
            cut_when_busy(bed, process, before, how)
        finally:
            text = bed.wait(process)
    finally:
        machine.unmount(bed.mounted)
    known = bed.known()
    bed.figures["cuts"] += 1
    bed.figures["acknowledged"] += known.done > before.done
    if process.returncode < 0 or process.returncode > MOST_CODE:
        raise Violation(f"the job ended with {process.returncode}: {text}")
    bed.verify(subject, known)


def run_cuts(bed, subject, count, shim=None):
    """Several cuts of one disk, then a new one; as a control, until something is lost."""
    is_worn = True
    for number in range(count):
        if is_worn or number % CUTS_PER_DISK == 0:
            bed.renew(subject)
        how = "nothing written" if bed.is_control else bed.choose.choice([*machine.CUTS, "nothing written"])
        is_worn = not bed.attempt(f"{subject}, cut {number}, {how}", cut_once, bed, subject, how, shim)
        if bed.is_control and bed.violations:
            return


def record(bed, subject, shim=None):
    """Leaves the log of a job that was not disturbed, and of the unmounting."""
    bed.renew(subject)
    with machine.LoggedDisk(bed.server, bed.image, bed.log, bed.served) as disk:
        code, text = bed.run(disk.disk, subject, disk.marks, WORKS_LOGGED[subject],
                             bed.choose.choice(RANKS_LOGGED[subject]), shim)
    assert code == 0, f"the job was not disturbed, and failed: {text}"


def verify_state(bed, subject, state, image):
    bed.image.write_bytes(image)
    bed.plain_marks.write_text("")
    bed.figures["states"] += 1
    bed.figures["acknowledged"] += state.known.done > 0
    bed.verify(subject, state.known)


def run_states(bed, subject, count, shim=None):
    """Of several runs, so that they differ in their options and ranks."""
    for done in range(0, count, STATES_PER_RUN):
        run_states_of_one(bed, subject, min(STATES_PER_RUN, count - done), shim)


def run_states_of_one(bed, subject, count, shim):
    record(bed, subject, shim)
    epochs = blocklog.read_epochs(bed.log, blocklog.Known())
    writes = sum(len(epoch.writes) for epoch in epochs)
    print(f"{subject}: {writes} writes, {len(epochs) - 1} flushes", flush=True)
    states = blocklog.choose_states(epochs, count, bed.choose)
    for number, (state, image) in enumerate(blocklog.images(bed.base(subject), epochs, states)):
        story = f"{subject}, state {number}, {state.how} in epoch {state.epoch} of {len(epochs)}"
        if not bed.attempt(story, verify_state, bed, subject, state, image):
            bed.keep(image)
        if bed.is_control and bed.violations:
            return


def read_marks(log):
    known = blocklog.Known()
    for kind, _, data in blocklog.read_events(log):
        if kind == blocklog.MARK:
            known = known.after(data.decode())
    return known


def fail_disk(bed, what, number):
    """A job on a disk of which one write or flush fails: its end, what it had said, whether the failure came."""
    with machine.LoggedDisk(bed.server, bed.image, bed.log, bed.served) as disk:
        machine.mount(disk.disk, bed.mounted)
        try:
            disk.fail(what, number)
            process = bed.start("checkpoint", disk.marks, MEDIA_WORKS, bed.choose.choice([0, 0, 2]))
            text = bed.wait(process)
        finally:
            machine.unmount(bed.mounted)
    has_failed = any(blocklog.count_events(bed.log, kind) for kind in blocklog.FAILED)
    return process.returncode, text, read_marks(bed.log), has_failed


def fail_file(bed, number):
    """The same for the flush of one file or directory."""
    told = bed.folder / "forgotten"
    told.unlink(missing_ok=True)
    shim = bed.forgetful | {"POWER_FORGET_AT": str(number), "POWER_FORGOTTEN": str(told)}
    if bed.is_control:
        shim["POWER_SILENT"] = "1"
    code, text = bed.run(bed.image, "checkpoint", bed.plain_marks, MEDIA_WORKS, 0, shim)
    return code, text, bed.known(), told.exists()


def fail_once(bed, what, number):
    """The job may only have acknowledged what is there."""
    bed.renew("checkpoint")
    code, text, known, has_failed = fail_file(bed, number) if what == "file" else fail_disk(bed, what, number)
    bed.figures["failures"] += has_failed
    bed.figures["reported"] += has_failed and code != 0
    bed.figures["acknowledged"] += known.done
    if code not in ENDED:
        raise Violation(f"the job ended with {code}: {text}")
    bed.plain_marks.write_text("")
    bed.verify("checkpoint", known)


def end_control(bed, what):
    """The harness sees what it is made for."""
    if not bed.violations:
        sys.exit(f"the harness is blind: nothing was lost with {what}")
    bed.violations.clear()
    bed.figures = dict.fromkeys(bed.figures, 0)
    bed.is_control = False


def control_media(bed, flush_count):
    """A job that does not look whether a flush failed acknowledges what is lost, if not with every flush."""
    bed.is_control = True
    for _ in range(MEDIA_CONTROLS_MOST):
        number = bed.choose.randrange(3 * flush_count)  # a disk is flushed less often than files
        bed.attempt(f"file {number} fails silently", fail_once, bed, "file", number)
        if bed.violations:
            break
    end_control(bed, "failures that nobody looked at")


def run_media(bed, count):
    """Until so many failures have struck; how many writes and flushes there are, an undisturbed run tells."""
    record(bed, "checkpoint")
    scale = MEDIA_WORKS / WORKS_LOGGED["checkpoint"]
    flushes = int(blocklog.count_events(bed.log, blocklog.FLUSH) * scale)
    most = {"write": int(blocklog.count_events(bed.log, blocklog.WRITE) * scale), "flush": flushes, "file": flushes}
    attempts = 0
    control_media(bed, flushes)
    while bed.figures["failures"] < count and attempts < 3 * count:
        what = list(most)[attempts % len(most)]
        number = bed.choose.randrange(most[what])
        bed.attempt(f"{what} {number} fails", fail_once, bed, what, number)
        attempts += 1
    if bed.figures["failures"] < count:
        bed.violations.append("too few failures struck")


def run_control(bed, run, subject, which):
    """Jobs that do not flush lose what was acknowledged."""
    bed.is_control = True
    run(bed, subject, CONTROLS, bed.lazy | {"POWER_LAZY": which})
    end_control(bed, f"flushes of {which} of {subject} left out")


def run_form(bed, form, count):
    if form == "media":
        run_media(bed, count)
        return
    run = {"cuts": run_cuts, "states": run_states}[form]
    for subject, which in CONTROLLED[form]:
        run_control(bed, run, subject, which)
    for subject, share in SUBJECTS.items():
        run(bed, subject, count * share // sum(SUBJECTS.values()))


def main():
    form, count, programs, launcher = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]), sys.argv[4]
    seed = int(os.environ.get("PARAPET_TEST_SEED", 20261115))
    needs_disk = form != "cuts"
    machine.enter(needs_disk)
    if needs_disk and not (programs / "power_disk").exists():
        machine.skip("power_disk was not built: libfuse3 is missing")
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda received, _: sys.exit(128 + received))
    place = os.environ.get("TMPDIR") or ("/dev/shm" if os.access("/dev/shm", os.W_OK) else ".")
    folder = Path(tempfile.mkdtemp(prefix="parapet-power-", dir=place))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    print(f"seed {seed}", flush=True)
    since = time.monotonic()
    bed = Bed(folder, programs, launcher, seed)
    run_form(bed, form, count)
    told = {"form": form, **bed.figures, "violations": len(bed.violations), "seed": seed,
            "seconds": round(time.monotonic() - since, 1)}
    print(json.dumps(told), flush=True)
    return 1 if bed.violations else 0


if __name__ == "__main__":
    sys.exit(main())
