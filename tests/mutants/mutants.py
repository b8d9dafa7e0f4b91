"""Whether the tests can fail: faults seeded into the protocols of commit and durability, one at a time.

    python mutants.py BUILD LAUNCHER [WORD ...]         all, or those whose names contain one of the words
    python mutants.py --find                            only looks for the changes in the source
    python mutants.py --when BUILD                      when a test that is to notice each of them runs

A mutant is one change in one source file. The file is compiled as the build compiles it, put in the place of the
original in a copy of the library, and programs of the tests are linked again with that copy; neither the source tree
nor the build changes. A test that is listed for the mutant must fail, and must pass with the library as it is. A
change that cannot be found in the source is an error here: the list follows the code. So is an invariant of
docs/design/change.md that no mutant breaks (invariants.py), or one that the page does not have.
"""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from seeded import MUTANTS  # noqa: E402

TIMEOUT = 600


class Build:
    """Commands of an existing build, from ninja itself."""

    def __init__(self, directory):
        self.directory = os.path.abspath(directory)
        self.library = next(name for name in ("libparapet-mpich.so.0.1.0", "libparapet-openmpi.so.0.1.0")
                            if os.path.lexists(os.path.join(self.directory, name)))

    def commands(self, target):
        text = subprocess.run(["ninja", "-C", self.directory, "-t", "commands", target], check=True,
                              capture_output=True, text=True).stdout
        return [line for line in text.splitlines() if line]

    def run(self, command):
        subprocess.run(command, shell=True, check=True, cwd=self.directory, stdout=subprocess.DEVNULL)

    def compile(self, source, text, scratch, number):
        """An object made of a source file with other contents, and the name of the original's."""
        line = next(line for line in self.commands(self.library) if line.endswith(os.path.join(ROOT, source)))
        words = shlex.split(line)
        original = words[words.index("-o") + 1]
        changed = os.path.join(scratch, f"{number}-{os.path.basename(source)}")
        with open(changed, "w", encoding="utf-8") as file:
            file.write(text)
        made = changed + ".o"
        line = line.replace(f"-o {original} ", f"-o {made} ").replace(os.path.join(ROOT, source), changed)
        line = line.replace(f"-MF {original}.d", f"-MF {made}.d").replace(" -Werror", "")
        self.run(line)
        return made, original

    def link(self, target, made, original, scratch):
        """Links a target again with the changed object; returns the program or library."""
        line = self.commands(target)[-1]
        result = os.path.join(scratch, os.path.basename(target))
        line = line.replace(f"-o {target} ", f"-o {result} ")
        for spelling in (original, original.replace(".dir/", ".dir/./", 1)):
            line = line.replace(f" {spelling} ", f" {made} ")
        for word in line.split():
            if word.endswith(".a") and self.has_member(word, original):
                line = line.replace(f" {word}", f" {made} {word}")  # what it defines is not looked for in there
        self.run(line)
        loaded = os.path.join(scratch, self.library.removesuffix(".0"))
        if target == self.library and not os.path.lexists(loaded):
            os.symlink(self.library, loaded)
        return result

    def has_member(self, archive, original):
        path = os.path.join(self.directory, archive)
        members = subprocess.run(["ar", "t", path], capture_output=True, text=True).stdout.split()
        return os.path.basename(original) in members


def expand(words, scratch, build, launcher):
    """Words of a test: what they stand for."""
    meanings = {"SCRATCH": scratch, "BUILD": build.directory, "ROOT": ROOT, "LAUNCHER": launcher}
    for name, meaning in meanings.items():
        words = [word.replace(name, meaning) for word in words]
    return words


def fails(words, environment):
    """Whether a test fails, and how."""
    try:
        done = subprocess.run(words, env={**os.environ, **environment}, capture_output=True, text=True,
                              timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return True, "timeout"
    lines = (done.stdout + done.stderr).strip().splitlines()
    return done.returncode not in (0, 77), lines[-1] if lines else f"exit {done.returncode}"


def change(mutant):
    with open(os.path.join(ROOT, mutant["file"]), encoding="utf-8") as file:
        text = file.read()
    if text.count(mutant["from"]) != 1:
        raise SystemExit(f"{mutant['name']}: {mutant['file']} has this text {text.count(mutant['from'])} times:\n"
                         + mutant["from"])
    return text.replace(mutant["from"], mutant["to"])


def check_invariants():
    """Each invariant of the page is broken by some mutant, and no other is."""
    with open(os.path.join(ROOT, "docs/design/change.md"), encoding="utf-8") as file:
        kept = set(re.findall(r"^(\d+)\. \*\*", file.read(), re.MULTILINE))
    broken = {mutant["name"].split()[1].rstrip(":") for mutant in MUTANTS if mutant["name"].startswith("invariant ")}
    if kept != broken:
        raise SystemExit(f"of docs/design/change.md, or of invariants.py alone: invariants {sorted(kept ^ broken, key=int)}")


def caught_by(mutant, build, scratch, number, launcher):
    """The first of its tests that finds the mutant out, or None."""
    made, original = build.compile(mutant["file"], change(mutant), scratch, number)
    for test in mutant["tests"]:
        for target in [build.library] + test["links"]:
            build.link(target, made, original, scratch)
        has_failed, how = fails(expand(test["run"], scratch, build, launcher), {"LD_LIBRARY_PATH": scratch})
        if has_failed:
            return test["name"], how
    return None


# Labels of tests/CMakeLists.txt, the soonest first, and what they mean for a fault.
WHEN = {"gate": "the gate", "quarter": "the gate, within four runs", "nightly": "the nightly run"}


def labels_by_test(build):
    """{name of a test: its labels} of the build."""
    output = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], check=True, capture_output=True,
                            text=True).stdout
    return {test["name"]: [label.split("_")[0] for entry in test.get("properties", ()) if entry["name"] == "LABELS"
                           for label in entry["value"]] for test in json.loads(output)["tests"]}


def when(mutant, labels):
    """When the first of its tests runs, in whatever form, or None."""
    names = [test["name"].split(",")[0] for test in mutant["tests"]]
    found = {label for name in labels if name.startswith(tuple(names)) for label in labels[name]}
    return next((meaning for label, meaning in WHEN.items() if label in found), None)


def show_when(build):
    labels = labels_by_test(build)
    rows = [(mutant["name"], when(mutant, labels)) for mutant in MUTANTS]
    print("| fault | looked for by |\n|---|---|")
    print(*(f"| {name} | {meaning or 'NOTHING'} |" for name, meaning in rows), sep="\n")
    raise SystemExit(0 if all(meaning for _, meaning in rows) else 1)


def main():
    if sys.argv[1:2] == ["--when"] and len(sys.argv) == 3:
        show_when(sys.argv[2])
    if sys.argv[1:] == ["--find"]:
        check_invariants()
        print(f"{len([change(mutant) for mutant in MUTANTS])} changes found in the source")
        return
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    build, launcher, words = Build(sys.argv[1]), sys.argv[2], sys.argv[3:]
    chosen = [mutant for mutant in MUTANTS if not words or any(word in mutant["name"] for word in words)]
    survivors = []
    for number, mutant in enumerate(chosen):
        with tempfile.TemporaryDirectory() as scratch:
            start = time.monotonic()
            caught = caught_by(mutant, build, scratch, number, launcher)
        seconds = time.monotonic() - start
        if caught is None:
            survivors.append(mutant["name"])
        print(f"{mutant['name']:<46} {'caught by ' + caught[0] if caught else 'NOT CAUGHT'} ({seconds:.1f} s)",
              flush=True)
    print(f"{len(chosen) - len(survivors)} of {len(chosen)} mutants caught")
    raise SystemExit(1 if survivors or not chosen else 0)


main()
