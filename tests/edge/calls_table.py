#!/usr/bin/env python3
"""Every public function x the places from which it may not be called, or just may: prints a table, and fails where a call
crashes, hangs, comes to different ends on two ranks, or is let in where it must be refused.

    calls_table.py PROGRAM [RANKS...]        PROGRAM is calls_table; the environment variable MPIEXEC is the launcher
"""
import collections
import os
import shutil
import subprocess
import sys
import tempfile

PLACES = ("progress", "visitor", "local visitor", "thread", "closed", "forked", "finalized")
# Of calls on a store: what is promised. Of others, that they work.
TITLES = {"progress": "in a progress callback", "visitor": "in a visitor", "local visitor": "in that of parapet_array_list",
          "thread": "on a second thread", "closed": "after close", "forked": "in a forked child",
          "finalized": "after MPI_Finalize"}
SECONDS = 300
# On any thread, whatever else is under way.
ANY_TIME = {"parapet_request_test"}


def run(program, place, ranks, folder):
    """Lines of the program, and why it ended, if not well."""
    command = ([os.environ["MPIEXEC"], "-n", str(ranks)] if ranks > 0 else []) + [program, place, folder]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PARAPET_")}
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=SECONDS,
                              env=environment)
    except subprocess.TimeoutExpired as late:
        text = (late.stdout or b"").decode(errors="replace")
        return text.splitlines(), "hangs"
    return done.stdout.splitlines(), "" if done.returncode == 0 else f"ends with {done.returncode}: {done.stderr[-300:]}"


def cells_of(program, place, ranks, problems):
    """function -> (is_on_store, [(status, sentence) of each rank])"""
    folder = tempfile.mkdtemp(prefix="parapet-edge-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
    try:
        lines, why = run(program, place, ranks, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    cells, last = collections.OrderedDict(), "nothing"
    for line in lines:
        words = line.split("\t")
        if words[0] == "BEGIN":
            last = words[3]
        elif words[0] == "CELL":
            cells.setdefault(words[3], (words[4] == "1", []))[1].append((words[5], words[6]))
        elif words[0] == "FAILED":
            problems.append(f"{place}, {ranks} ranks, {last}: afterwards {words[2]} fails: {words[3]}")
    if why:
        problems.append(f"{place}, {ranks} ranks, {last}: {why}")
        cells.setdefault(last, (True, [])).__getitem__(1).append(("CRASH or HANG", why))
    return cells


def judge(place, name, is_on_store, outcomes, ranks):
    statuses = {status for status, _ in outcomes}
    sentences = " ".join(sentence for _, sentence in outcomes)
    if len(outcomes) != max(ranks, 1) or "nothing" in statuses:
        return "was not called on every rank"
    if len(statuses) > 1:
        return f"comes to different ends: {sorted(statuses)}"
    if any(status != "works" and not sentence for status, sentence in outcomes):
        return "is refused without a sentence"
    if place in ("progress", "visitor", "local visitor") and is_on_store and name not in ANY_TIME:
        return "" if statuses == {"PARAPET_ERR_ARGUMENT"} and "callback" in sentences else "is let in"
    if place in ("progress", "visitor", "local visitor", "thread") and not is_on_store:
        return "" if statuses == {"works"} else "does not work"
    return ""


def shown(outcomes):
    """The cell: what the ranks got, without the name of the enum."""
    return "/".join(sorted({status.replace("PARAPET_ERR_", "").lower() for status, _ in outcomes})) or "-"


def main():
    program, counts = sys.argv[1], [int(word) for word in sys.argv[2:]] or [1, 2]
    problems, sentences = [], collections.Counter()
    for ranks in counts:
        table = {place: cells_of(program, place, ranks, problems) for place in PLACES}
        names = list(table["closed"]) or list(table["progress"])
        print(f"### {ranks} rank{'s' if ranks > 1 else ''}: {len(names)} functions\n")
        print("| function | " + " | ".join(TITLES[place] for place in PLACES) + " |")
        print("|---" * (1 + len(PLACES)) + "|")
        for name in names:
            row = []
            for place in PLACES:
                is_on_store, outcomes = table[place].get(name, (True, []))
                problem = judge(place, name, is_on_store, outcomes, ranks)
                if problem:
                    problems.append(f"{place}, {ranks} ranks: {name} {problem}: {outcomes[:2]}")
                row.append(shown(outcomes))
                for status, sentence in outcomes[:1]:
                    if status != "works":
                        sentences[place, sentence.split(": ", 1)[-1] if place in ("progress", "visitor", "thread")
                                  else sentence] += 1
            print(f"| `{name}` | " + " | ".join(row) + " |")
        print()
    for (place, sentence), count in sentences.most_common(12):
        print(f"{count:4} x {TITLES[place]}: {sentence}")
    for problem in problems:
        print(f"problem: {problem}")
    print(f"{len(problems)} problems")
    return 1 if problems else 0


sys.exit(main())
