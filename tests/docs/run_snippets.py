#!/usr/bin/env python3
"""Runs what the pages of the guide tell a reader to run.

    run_snippets.py --build BUILD --source SOURCE --flavour FLAVOUR --compiler MPICC [--fortran MPIF90]
                    [--launcher MPIEXEC] PAGE...

A fenced block of C, Fortran or shell has a mark on the line before it, and one of Python may have:

    <!-- part of: name.c -->     is kept: the blocks of a program may stand apart, with text between them
    <!-- run: name.c -->         is the last or only one: name.c is compiled to ./name, with every warning an error
    <!-- run: name.f90 -->       the same in Fortran, with libparapet_fortran.a, which the page has made before
    <!-- run: name.py -->        the same for Python: name.py is run by python3
    <!-- run: sh -->             is run by bash -euo pipefail
    <!-- run: sh, needs M -->    is run if python3 has the module M, and left out otherwise, with what it prints; also
                                 "run: name.py, needs M"
    <!-- from: examples/x.c -->  is part of that file, which a block of shell runs; the indentation may differ
    <!-- not run: reason -->     is not, and says why
    <!-- prints -->              is what the block of shell before it prints, word for word

A block of these languages without a mark is an error, and so is a mark without a block. Every page has a temporary folder
of its own, in which its blocks run in their order. They see what a user sees in the root of the sources after an
installation: examples/, parapet, mpicc, mpif90 and mpiexec on the PATH, pkg-config that knows the flavour, and the
Python package if it was built. Prints what
failed with page and line. Exit code 0: all ran, 1: some did not.
"""
import argparse
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

MARK = re.compile(r"^<!-- (?:(run|not run|part of|from): (.+)|(prints)) -->$")
RUN = re.compile(r"(\w+\.(?:c|f90|py)|sh)(?:, needs (\w+))?")
FENCE = re.compile(r"^```(\w*)$")
LANGUAGES = {"c", "fortran", "sh"}  # must have marks
LANGUAGE_OF = {"sh": "sh", "c": "c", "f90": "fortran", "py": "python"}  # by the end of the name in a mark
SECONDS = 300  # ends what hangs, also on a busy machine


class Block:
    """A fenced block: its language, where its first line is, its text, and its mark or None."""

    def __init__(self, language, line, text, mark):
        self.language, self.line, self.text, self.mark = language, line, text, mark


def read_blocks(lines):
    """Yields the blocks of a page; a mark that no block follows is a block without a language."""
    mark = fence = None
    for number, line in enumerate(lines, 1):
        found = FENCE.match(line)
        if fence is None and found:
            fence = (found[1], number + 1)
        elif fence is not None and line == "```":
            yield Block(fence[0], fence[1], "\n".join(lines[fence[1] - 1:number - 1]) + "\n", mark)
            mark = fence = None
        elif fence is None:
            if mark is not None:
                yield Block(None, number - 1, "", mark)
            found = MARK.match(line)
            mark = (found[1] or found[3], found[2]) if found else None
    if fence is not None:
        yield Block(None, fence[1] - 1, "", None)


def find_mistake(block):
    """What is wrong with a block's mark, or None."""
    if block.language is None:
        return "a mark without a block after it, or a block without an end"
    if block.language in LANGUAGES and block.mark is None:
        return f"a block of {block.language} that is neither run nor says why not"
    if block.mark is not None and block.mark[0] in ("run", "part of"):
        found = RUN.fullmatch(block.mark[1])
        wanted = None if found is None else LANGUAGE_OF[found[1].rpartition(".")[2]]
        if wanted != block.language or (block.mark[0] == "part of" and wanted == "sh"):
            language = block.language or "no language"
            return f'the mark "{block.mark[0]}: {block.mark[1]}" does not fit a block of {language}'
    return None


def is_from(text, path):
    """Whether all lines of a text follow each other in a file."""
    wanted = [line.strip() for line in text.splitlines()]
    lines = [line.strip() for line in path.read_text().splitlines()] if path.exists() else []
    return any(lines[i:i + len(wanted)] == wanted for i in range(len(lines)))


def link_files(sources, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for source in sources:
        (folder / source.name).symlink_to(source)


def write_command(path, command):
    path.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
    path.chmod(0o755)


def make_prefix(options, prefix):
    """What an installation would give, made of links, so that the build directory stays as it is."""
    build, source = options.build.resolve(), options.source.resolve()
    link_files(build.glob("libparapet-*.so*"), prefix / "lib")
    link_files((source / "include").glob("*.h"), prefix / "include")
    link_files((path for path in (build / "tool").glob("parapet*") if path.is_file()), prefix / "bin")
    (prefix / "lib/pkgconfig").mkdir()
    for path in build.glob("parapet-*.pc"):
        (prefix / "lib/pkgconfig" / path.name).write_text(path.read_text())
    fortran = prefix / "share/parapet/fortran"
    link_files((path for path in (source / "bindings/fortran").iterdir() if path.name != "generate"), fortran)
    link_files((build / "fortran").glob("*"), fortran)
    write_command(prefix / "bin/mpicc", options.compiler)
    if options.fortran:
        write_command(prefix / "bin/mpif90", options.fortran)
    if options.launcher:
        write_command(prefix / "bin/mpiexec", options.launcher)
    python = pathlib.Path(os.environ.get("PARAPET_VENV", source / "build/venv"), "bin/python3")
    if python.exists():
        write_command(prefix / "bin/python3", python)
    # The Python package, and MPI under the name that mpi4py looks for.
    if (build / "python").exists():
        (prefix / "python").symlink_to(build / "python")
    link_files((build / "tests/python/lib").glob("libmpi*"), prefix / "lib")


def make_environment(options, prefix, folder):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PARAPET_")}
    environment.update(PATH=f"{prefix}/bin:{environment['PATH']}", LD_LIBRARY_PATH=f"{prefix}/lib", TMPDIR=str(folder),
                       PKG_CONFIG_PATH=f"{prefix}/lib/pkgconfig", PYTHONPATH=f"{prefix}/python",
                       MPI4PY_MPIABI=options.flavour)
    return environment


def write_and_compile(name, text, options, folder):
    """The command that makes a program of its blocks, or runs one of Python."""
    (folder / name).write_text(text)
    if name.endswith(".py"):
        return f"python3 {name}"
    if name.endswith(".f90"):
        return (f"mpif90 -Wall -Wextra -Werror -o {name[:-4]} {name} libparapet_fortran.a "
                f"$(pkg-config --libs parapet-{options.flavour})")
    return (f"mpicc -std=c11 -Wall -Wextra -Werror -o {name[:-2]} {name} "
            f"$(pkg-config --cflags --libs parapet-{options.flavour})")


def run_script(script, options, folder, environment):
    """(what it printed, what went wrong or None) of a script."""
    with subprocess.Popen(["bash", "-euo", "pipefail", "-c", script], cwd=folder, env=environment, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          start_new_session=True) as process:
        try:
            printed, _ = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # with all that it has started, launchers among them
            return "", f"not done after {SECONDS} s"
    if options.verbose:
        print(printed, end="")
    return printed, None if process.returncode == 0 else f"exit code {process.returncode}\n{printed}"


class Page:
    """A page under way: programs that are not complete yet, what was printed last (None: nothing was run), counts."""

    def __init__(self, options, folder, environment):
        self.options, self.folder, self.environment = options, folder, environment
        self.parts, self.printed, self.count, self.left_out = {}, None, 0, 0

    def run_block(self, block):
        """What went wrong with a block that is to be run, or None."""
        name, module = RUN.fullmatch(block.mark[1]).groups()
        look = f"python3 -c 'import importlib.util as u, sys; sys.exit(u.find_spec(\"{module}\") is None)'"
        if module and run_script(look, self.options, self.folder, self.environment)[1]:
            self.printed, self.left_out = None, self.left_out + 1
            return None
        script = block.text
        if name != "sh":
            _, text = self.parts.pop(name, (0, ""))
            script = write_and_compile(name, text + block.text, self.options, self.folder)
        self.printed, failure = run_script(script, self.options, self.folder, self.environment)
        self.count += failure is None
        return failure

    def take(self, block):
        """(what is wrong with a block or None, whether the page ends with it)."""
        mistake = find_mistake(block)
        if mistake is not None or block.mark is None:
            return mistake, False
        kind, name = block.mark
        if kind == "part of":
            line, text = self.parts.get(name, (block.line, ""))
            self.parts[name] = line, text + block.text
        elif kind == "from" and not is_from(block.text, self.options.source / name):
            return f"this is not in {name}", False
        elif kind == "prints" and self.printed is not None and block.text != self.printed:
            return f"the page shows something else than what was printed:\n{self.printed}", False
        elif kind == "run":
            failure = self.run_block(block)
            return failure, failure is not None
        return None, False


def run_page(path, options, prefix, folder):
    """Yields (line, what) for everything that is wrong with a page; the first block that fails is the last to run."""
    folder.mkdir()
    if options.source:
        (folder / "examples").symlink_to(options.source.resolve() / "examples")
    page = Page(options, folder, make_environment(options, prefix, folder))
    for block in read_blocks(path.read_text().splitlines()):
        mistake, is_end = page.take(block)
        if mistake is not None:
            yield block.line, mistake
        if is_end:
            return
    for name, (line, _) in page.parts.items():
        yield line, f"a part of {name}, which is never compiled"
    print(f"{path.name}: {page.count} blocks run, {page.left_out} left out")


def read_options():
    parser = argparse.ArgumentParser(description="Runs the marked blocks of pages.")
    parser.add_argument("--build", type=pathlib.Path, required=True, help="where the library and the tool were built")
    parser.add_argument("--source", type=pathlib.Path, required=True, help="the root of the sources")
    parser.add_argument("--flavour", required=True)
    parser.add_argument("--compiler", required=True, help="the flavour's mpicc")
    parser.add_argument("--fortran", help="the flavour's mpif90")
    parser.add_argument("--launcher", help="the flavour's mpiexec")
    parser.add_argument("--verbose", action="store_true", help="print what the blocks print")
    parser.add_argument("pages", type=pathlib.Path, nargs="+")
    return parser.parse_args()


def main():
    options = read_options()
    failures = 0
    with tempfile.TemporaryDirectory(prefix="snippets_") as work:
        prefix = pathlib.Path(work, "prefix")
        make_prefix(options, prefix)
        for number, page in enumerate(options.pages):
            for line, what in run_page(page, options, prefix, pathlib.Path(work, f"page{number}")):
                print(f"{page}:{line}: {what}")
                failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
