"""Demands of `run` that it fails where the output differs, and then shows the lines that differ and no others; and that
--update keeps the words that stand for what may vary, and writes nothing where the tool is missing.

    check_run.py RUN
"""
import pathlib
import subprocess
import sys
import tempfile

EXPECTED = "first\n<INT> chunks\n<LINES>\nafter\nlast\nexit 0\n"
# What a command prints, and the lines of the diff that must come of it; none: the test passes.
CASES = {
    "printf 'first\\n12 chunks\\nx\\ny\\nafter\\nlast\\n'": [],
    "printf 'first\\n12 chunks\\nafter\\nlast\\n'": [],
    "printf 'first\\nmany chunks\\nx\\ny\\nafter\\nlast\\n'": ["-<INT> chunks", "-<LINES>", "+many chunks", "+x", "+y"],
    "printf 'first\\n12 chunks\\nx\\nafter\\nlost\\n'": ["-last", "+lost"],
    "printf 'first\\n12 chunks\\nx\\nafter\\nlast\\n'; exit 3": ["-exit 0", "+exit 3"],
}


def differing_lines(run, command):
    """Exit code of `run` and the lines with which its diff says what is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "cmd").write_text(command + "\n")
        pathlib.Path(folder, "expected").write_text(EXPECTED)
        done = subprocess.run([sys.executable, run, folder], capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    return done.returncode, [line for line in lines if line.startswith(("+", "-")) and line[:3] not in ("+++", "---")]


def updated(run, programs):
    """Exit code of `run --update` with these programs and what is expected then: "last" has become "lost"."""
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "cmd").write_text("printf 'first\\n12 chunks\\nx\\nafter\\nlost\\n'\n")
        pathlib.Path(folder, "expected").write_text(EXPECTED)
        for name in programs:
            pathlib.Path(folder, name).touch(0o755)
        done = subprocess.run([sys.executable, run, "--update", folder], stdout=subprocess.DEVNULL, check=False,
                              env={"PARAPET_BIN": folder, "PATH": "/usr/bin:/bin"})
        return done.returncode, pathlib.Path(folder, "expected").read_text()


def update_failures(run):
    if updated(run, ["parapet", "make_store"]) != (0, EXPECTED.replace("last", "lost")):
        yield "--update does not keep the words that stand for what may vary"
    if updated(run, ["parapet"]) != (1, EXPECTED):
        yield "--update goes on without make_store"


def main():
    failures = 0
    for failure in update_failures(sys.argv[1]):
        print(failure)
        failures += 1
    for command, wanted in CASES.items():
        code, lines = differing_lines(sys.argv[1], command)
        if lines != wanted or code != (1 if wanted else 0):
            print(f"{command}: exit code {code} and {lines}, not {wanted}")
            failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
