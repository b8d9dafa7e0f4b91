"""Runs the tool on copies, and looks at what it leaves behind."""

import json
import os
import re
import subprocess
from pathlib import Path


class Difference(Exception):
    """A copy is not what it must be."""


def require_equal(what, found, expected):
    if found != expected:
        raise Difference(f"{what} is {found!r} instead of {expected!r}")


def first_line(error):
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0] if text else ''}"[:600]


def is_wanted(arguments, name):
    return not arguments.only or name in arguments.only.split(",")


def attempt(failures, name, words, check):
    """Whatever a check or a foreign reader raises is a finding, not the end of the run."""
    try:
        check()
    except Exception as error:
        failures.append(name)
        print(f"FAILED {name}: {first_line(error)}\n    {words}", flush=True)
        return False
    return True


def environment():
    """No option of the surroundings leaks in; flushing is not what is tested here."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PARAPET_")}
    return kept | {"PARAPET_DURABILITY": "2", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMPI_MCA_rmaps_base_oversubscribe": "1"}


def call(arguments, words, ranks=1):
    launcher = [arguments.mpiexec, "-n", str(ranks)] if ranks > 1 else []
    return subprocess.run([*launcher, str(arguments.tool), *map(str, words)], capture_output=True, text=True,
                          env=environment(), timeout=60, check=False)


def copy(arguments, source, target, options, ranks=1):
    """Copies, and finds fault with anything but success."""
    done = call(arguments, ["copy", "-q", "--no-probe", *options, source, target], ranks)
    if done.returncode != 0 or done.stderr:
        raise Difference(f"copy ended with {done.returncode}: {done.stderr.strip() or done.stdout.strip()}")


def copy_within(arguments, source, target, changes):
    """Copies within a memory limit; if that is too little, within the least one that the refusal names."""
    options = [*changes.options, "--max-mem", changes.memory]
    done = call(arguments, ["copy", "-q", "--no-probe", *options, source, target], changes.ranks)
    needed = re.search(r"copying needs at least (\d+) bytes", done.stderr)
    if done.returncode == 1 and needed:
        require_equal("what a refused copy leaves behind", Path(target).exists(), False)
        copy(arguments, source, target, [*changes.options, "--max-mem", needed[1]], changes.ranks)
    elif done.returncode != 0 or done.stderr:
        raise Difference(f"copy ended with {done.returncode}: {done.stderr.strip() or done.stdout.strip()}")


def files_below(folder):
    folder = Path(folder)
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*")
                  if not path.is_dir() and path.parts[-2:] != ("__parapet", "lock"))


def empty_directories_below(folder):
    return [str(path) for path in Path(folder).rglob("*") if path.is_dir() and not any(path.iterdir())]


def require_sound(arguments, target):
    """Every object belongs to something, can be decoded, and nothing of the copying is left."""
    done = call(arguments, ["check", "--json", target])
    require_equal(f"check of the copy, which says {done.stdout.strip()}{done.stderr.strip()}", done.returncode, 0)
    require_equal("findings", json.loads(done.stdout).get("findings", []), [])
    require_equal("files of the copying", [name for name in files_below(target) if "__parapet" in name], [])
    require_equal("directories that are empty", empty_directories_below(target), [])


def require_same(arguments, source, target):
    done = call(arguments, ["diff", source, target])
    if done.returncode != 0:
        raise Difference(f"diff of source and copy: {done.stdout.strip()} {done.stderr.strip()}")
