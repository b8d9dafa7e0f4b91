"""Runs both directions and reports: what `run` does once it has the right Python."""

import collections
import contextlib
import dataclasses
import os
import random
import subprocess
import tempfile
import time
import traceback
from pathlib import Path

import cases
import elements
import limits
import readers


@dataclasses.dataclass
class Report:
    """What was read, by reader; what was not, and why."""

    read: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    exempt: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    working: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    symptoms: dict = dataclasses.field(default_factory=dict)
    failures: list = dataclasses.field(default_factory=list)

    def fail(self, name, reader, words, problem):
        self.failures.append(name)
        print(f"FAILED {name} {reader}: {problem}\n    {words}", flush=True)


def first_line(error):
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0] if text else ''}"[:400]


def judge(report, reader, case, variable, check):
    """One reader on one array: equal, under a limit, or a failure."""
    limit = limits.find(reader, variable)
    try:
        check(case, variable)
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


def run_driver(arguments, lines):
    """The outcome of every case: None, or the sentence of its failure."""
    environment = dict(os.environ, PARAPET_DURABILITY="2")
    done = subprocess.run([str(arguments.driver)], input="\n".join(lines) + "\n", capture_output=True, text=True,
                          env=environment, check=False)
    if done.returncode != 0:
        raise SystemExit(f"interop: the driver ended with {done.returncode}: {done.stderr[-4000:]}")
    outcomes = {}
    for line in done.stdout.splitlines():
        word, name, *rest = line.split(" ", 2)
        outcomes.setdefault(name, None if word == "ok" else rest[0])
    return outcomes


def is_wanted(arguments, name):
    return not arguments.only or name in arguments.only.split(",")


def write_and_read(arguments, folder, report):
    """Parapet writes, the others read."""
    numbers = [number for number in range(arguments.arrays) if is_wanted(arguments, f"w{number:03}")]
    written = [cases.make_case(arguments.seed, number, folder) for number in numbers]
    outcomes = run_driver(arguments, [line for case in written for line in cases.write_script(case)])
    for case in written:
        if outcomes.get(case.name, "did not end") is not None:
            report.fail(case.name, "Parapet", case.words, outcomes.get(case.name, "did not end"))
    written = [case for case in written if outcomes.get(case.name, "") is None]
    zarrita = readers.Zarrita(arguments.node_modules, folder / "zarrita", written)
    checks = {"zarr-python": readers.check_zarr_python, "TensorStore": readers.check_tensorstore,
              "zarrita": zarrita.check, "xarray": readers.check_xarray}
    for case in written:
        if arguments.verbose:
            print(case.words)
        for reader, check in checks.items():
            judge(report, reader, case, case.data, check)
    return written


def print_report(report):
    for reader, count in report.read.items():
        print(f"{reader}: {count} arrays equal")
        for (owner, name), exempt in sorted(report.exempt.items()):
            if owner == reader:
                print(f"    {exempt} not read: {name}")
    for limit in limits.LIMITS:
        key = limit.reader, limit.name
        if report.working[key]:
            print(f"limit to look at: {limit.reader}, {limit.name}: {report.working[key]} arrays were read all the same")


def run(arguments):
    arguments.seed = arguments.seed if arguments.seed is not None else random.SystemRandom().randrange(2**32)
    print(f"seed {arguments.seed}; repeat with: tests/interop/run --seed {arguments.seed} [--only CASE]", flush=True)
    report = Report()
    began = time.monotonic()
    with contextlib.ExitStack() as stack:
        folder = arguments.keep or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="parapet-interop-")))
        folder.mkdir(exist_ok=True)
        write_and_read(arguments, folder, report)
    print_report(report)
    if arguments.verbose:
        for key, symptom in report.symptoms.items():
            print(key, symptom)
    print(f"{time.monotonic() - began:.0f} s")
    if report.failures:
        print(f"{len(report.failures)} failures; repeat with --seed {arguments.seed} --only "
              f"{','.join(sorted(set(report.failures))[:10])}")
    return 1 if report.failures else 0
