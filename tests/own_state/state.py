"""What the tests of this folder share: a scratch folder with stores, programs that run within limits of time and
memory, checksums that are mended, and what a folder holds."""

import hashlib
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "harness"))
from crc32c import crc32c  # noqa: E402

# Sanitizers reserve address space without end and take several times as long: only plain builds are judged.
IS_JUDGED = os.environ.get("PARAPET_TEST_SANITIZED", "") == ""
# Until a run counts as hanging, on a machine that has other things to do; what it may work is its processor time.
SECONDS = 120


def mended_job(text):
    """The lines of the job of a copy, with the checksum that they need."""
    return text + b"crc32c: %08x\n" % crc32c(text)


def place_of_tests():
    return os.environ.get("TMPDIR") or ("/dev/shm" if os.access("/dev/shm", os.W_OK) else ".")


def scratch():
    return tempfile.TemporaryDirectory(prefix="parapet-own-state-", dir=place_of_tests())


def survey(folder):
    """name -> digest of every file below folder."""
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(Path(folder).rglob("*")) if path.is_file()}


class Failure(Exception):
    pass


def require(is_true, words):
    if not is_true:
        raise Failure(words)


class Programs:
    def __init__(self, subject, tool):
        self.subject, self.tool = subject, tool

    def run(self, *command, memory=0, cpu_seconds=0):
        """Exit code and what was said. A crash or a run that does not end is a failure of the test."""
        def limit():
            if memory > 0 and IS_JUDGED:
                resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
            if cpu_seconds > 0 and IS_JUDGED:
                resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 1))
        try:
            done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  timeout=SECONDS, preexec_fn=limit)
        except subprocess.TimeoutExpired:
            raise Failure(f"{' '.join(map(str, command))} did not end") from None
        said = done.stdout.decode(errors="replace")
        require(done.returncode in range(0, 126), f"{' '.join(map(str, command))} ended with {done.returncode}: {said}")
        return done.returncode, said

    def do(self, verb, *words, **limits):
        return self.run(self.subject, verb, *words, **limits)

    def must(self, verb, *words):
        code, said = self.do(verb, *words)
        require(code == 0, f"{verb}: {said}")
        return said
