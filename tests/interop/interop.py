"""Runs both directions and reports: what `run` does once it has the right Python."""

import collections
import contextlib
import dataclasses
import os
import random
import subprocess
import tempfile
import time
from pathlib import Path

import cases
import foreign
import foreign_tensorstore
import foreign_zarr
import limits
import readers
import tried


LEAST_EQUAL = 300
FULL_ARRAYS = 480
READERS = ["zarr-python", "TensorStore", "zarrita", "xarray"]
UNFINISHED = "the driver did not come to its end"
# By turns, so that readers also meet chunks that are left out because they equal the fill value.
WRITING_OPTIONS = [{}, {"PARAPET_ELIDE_FILL": "1", "PARAPET_THREADS": "2", "PARAPET_IO_THREAD": "2"}]


@dataclasses.dataclass
class Report:
    """What was read, by reader; what was not, and why."""

    read: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    exempt: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    working: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    symptoms: dict = dataclasses.field(default_factory=dict)
    written: list = dataclasses.field(default_factory=list)
    failures: list = dataclasses.field(default_factory=list)

    def fail(self, name, reader, words, problem):
        self.failures.append(name)
        print(f"FAILED {name} {reader}: {problem}\n    {words}", flush=True)


def first_line(error):
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0] if text else ''}"[:400]


def judge(report, reader, case, subject, check):
    """One reader on one array: equal, under a limit, or a failure."""
    limit = limits.find(reader.split(",")[0], subject)
    try:
        check(case, subject)
    except Exception as error:  # whatever a foreign reader raises is a finding, not the end of the run
        if limit is None or limit.symptom not in str(error):
            report.fail(case.name, reader, case.words, first_line(error))
            return
        report.exempt[limit.reader, limit.name] += 1
        report.symptoms.setdefault((limit.reader, limit.name), first_line(error))
        return
    report.read[reader] += 1
    if limit is not None:
        report.working[limit.reader, limit.name] += 1


def run_driver(arguments, lines, options=None):
    """The outcome of every case: None, or the sentence of its failure."""
    environment = dict(os.environ, PARAPET_DURABILITY="2", **(options or {}))
    script = "".join(line + "\n" for line in lines)
    done = subprocess.run([str(arguments.driver)], input=script, capture_output=True, text=True, env=environment,
                          check=False)
    if done.returncode != 0 or done.stderr:  # where sanitizers report
        raise SystemExit(f"interop: the driver ended with {done.returncode}: {done.stderr[-4000:]}")
    outcomes = {}
    for line in done.stdout.splitlines():
        word, name, *rest = line.split(" ", 2)
        outcomes.setdefault(name, None if word == "ok" else rest[0])
    return outcomes


def is_wanted(arguments, name):
    return not arguments.only or name in arguments.only.split(",")


def numbered(arguments, prefix, count):
    return [number for number in range(count) if is_wanted(arguments, f"{prefix}{number:03}")]


def let_parapet_write(arguments, folder, report, made):
    """The cases that Parapet wrote, with what it says about them."""
    outcomes, written = {}, []
    for turn, options in enumerate(WRITING_OPTIONS):
        lines = [line for case in made[turn::2] for line in cases.write_script(case)]
        outcomes |= run_driver(arguments, lines, options)
        for case in made[turn::2]:
            case.data.is_elided = "PARAPET_ELIDE_FILL" in options
    for case in made:
        problem = outcomes.get(case.name, UNFINISHED)
        if problem is not None:
            report.fail(case.name, "Parapet", case.words, problem)
            continue
        for variable in case.all_variables:
            variable.info = cases.load_info(cases.info_path(folder / case.name, variable))
        written.append(case)
    return written


def write_and_read(arguments, folder, report):
    """Parapet writes, the others read."""
    numbers = numbered(arguments, "w", arguments.arrays)
    made = [cases.make_case(arguments.seed, number, folder) for number in numbers]
    written = let_parapet_write(arguments, folder, report, made)
    zarrita = readers.Zarrita(arguments.node_modules, folder / "zarrita", written)
    checks = {"zarr-python": readers.check_zarr_python, "TensorStore": readers.check_tensorstore,
              "zarrita": zarrita.check, "xarray": readers.check_xarray}
    for case in written:
        if arguments.verbose:
            print(case.words)
        for reader, check in checks.items():
            judge(report, reader, case, case.data, check)
    report.written = written


def write_and_decode(arguments, folder, report):
    """Parapet writes datasets in the CF conventions, xarray decodes them."""
    numbers = numbered(arguments, "x", arguments.datasets)
    made = [cases.make_dataset(arguments.seed, number, folder) for number in numbers]
    for case in let_parapet_write(arguments, folder, report, made):
        try:
            readers.check_conventions(case)
            report.read["xarray, datasets in the CF conventions"] += 1
        except Exception as error:  # as in judge
            report.fail(case.name, "xarray", "a dataset in the CF conventions", first_line(error))


def check_foreign(case, outcome):
    problem = outcome if outcome is not None else foreign.check_case(case)
    if problem:
        raise readers.Difference(problem)


def check_refused(report, case, words, outcome):
    """Not readable, and said so: with the status, and naming the thing."""
    if outcome is None or "PARAPET_ERR_UNSUPPORTED" not in outcome or words not in outcome:
        report.fail(case.name, "Parapet should refuse", case.words, outcome or "it was read")
        return
    report.exempt["Parapet", case.words] += 1
    report.symptoms["Parapet", case.words] = outcome


def read_foreign(arguments, folder, report):
    """The others write, Parapet reads."""
    made, script = [], []
    for prefix, module in (("z", foreign_zarr), ("t", foreign_tensorstore)):
        for number in numbered(arguments, prefix, arguments.foreign):
            chance, case = foreign.start_case(arguments.seed, prefix, number, folder)
            try:
                module.make_case(chance, number, case)
            except Exception as error:  # then the case is wrong, or the writer
                report.fail(case.name, f"{case.writer} cannot write", case.words, first_line(error))
                continue
            script += foreign.read_script(case, chance)
            made.append(case)
            if arguments.verbose:
                print(f"{case.name}: {case.words}")
    refused = foreign_zarr.make_refused(folder) if not arguments.only else []
    script += [line for case, _ in refused for line in foreign.read_script(case, random.Random(0))]
    outcomes = run_driver(arguments, script)
    for case in made:
        outcome = outcomes.get(case.name, UNFINISHED)
        judge(report, f"Parapet, what {case.writer} wrote as Zarr v{case.zarr_format}", case, case,
              lambda case, _: check_foreign(case, outcome))
    for case, words in refused:
        check_refused(report, case, words, outcomes.get(case.name, UNFINISHED))


def print_limits(report, reader):
    for (owner, name), count in sorted(report.exempt.items()):
        if owner == reader:
            print(f"    {count} not read, a known limit: {name}")


def print_report(report):
    for reader in READERS:
        print(f"{reader} reads what Parapet wrote: {report.read.pop(reader, 0)} arrays equal")
        print_limits(report, reader)
    for reader, count in sorted(report.read.items()):
        print(f"{reader}: {count} equal")
    print_limits(report, "Parapet")
    for limit in limits.LIMITS:
        key = limit.reader, limit.name
        if report.working[key] and not report.exempt[key]:
            print(f"A known limit may be gone: {limit.reader}, {limit.name}; {report.working[key]} arrays were read")


def check_coverage(report):
    """A full run holds all it should; prints what it holds."""
    covered = cases.coverage(report.written)
    print("what Parapet wrote: " + "; ".join(f"{key}: {found} of {all}" for key, (found, all) in covered.items()))
    missing = [key for key, (found, all) in covered.items() if found < all]
    if missing:
        report.fail("coverage", "the random arrays", "", f"they do not cover all {', '.join(missing)}")


def check_counts(report):
    """Limits must not eat up the test: each reader and each direction has enough arrays that are equal."""
    counts = {reader: report.read[reader] for reader in READERS}
    counts["Parapet"] = sum(count for reader, count in report.read.items() if reader.startswith("Parapet,"))
    for reader, count in counts.items():
        if count < LEAST_EQUAL:
            report.fail("counts", reader, "", f"only {count} arrays are equal, not {LEAST_EQUAL}")


def check_all(arguments, folder, report):
    write_and_read(arguments, folder, report)
    write_and_decode(arguments, folder, report)
    read_foreign(arguments, folder, report)


def run(arguments):
    arguments.seed = arguments.seed if arguments.seed is not None else random.SystemRandom().randrange(2**32)
    print(f"seed {arguments.seed}; repeat with: tests/interop/run --seed {arguments.seed} [--only CASE]", flush=True)
    print(f"readers: {tried.versions(arguments.node_modules)}", flush=True)
    report = Report()
    began = time.monotonic()
    with contextlib.ExitStack() as stack:
        folder = arguments.keep or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="parapet-interop-")))
        folder.mkdir(exist_ok=True)
        check_all(arguments, folder, report)
    if arguments.arrays >= FULL_ARRAYS and not arguments.only:
        check_coverage(report)
        check_counts(report)
    print_report(report)
    if arguments.verbose:
        for (reader, name), symptom in sorted(report.symptoms.items()):
            print(f"{reader}, {name}: {symptom}")
    print(f"{time.monotonic() - began:.0f} s")
    if report.failures:
        print(f"{len(report.failures)} failures; repeat with --seed {arguments.seed} --only "
              f"{','.join(sorted(set(report.failures))[:10])}")
    return 1 if report.failures else 0
