"""Plants one violation of every rule in a small tree and demands that check_words finds it: the checker can fail.

    words_violations.py CHECK_WORDS
"""
import pathlib
import subprocess
import sys
import tempfile

GLOSSARY = """# Glossary

| word | meaning |
|---|---|
| **shard** | the stored object |
| **request**, **grant** | two words of a protocol |
| `rank` | of MPI |
%s
## Words that are no longer used

| word | instead | where |
|---|---|---|
| `crew` | team | everywhere |
| `slot` | index | src/plan |
| `pp_lead` | rank0_do | everywhere |
%s"""

# What is added to the entries, to the retired words, the file, its text, and what must be said. None: nothing.
CASES = [
    ("", "", "src/plan/a.c", "int index; /* crewed, slotted */\n", None),
    ("", "", "src/copy/a.c", "int slot; int pp_leading;\n", None),
    ("", "", "tests/unit/a.c", "int crew;\n", None),
    ("", "", "src/plan/a.c", "int a;\nint slot_count;\n", 'src/plan/a.c:2: "slot" is no longer used here: say index'),
    ("", "", "src/plan/a.c", "enum { SLOT_COUNT };\n", 'src/plan/a.c:1: "slot" is no longer used here: say index'),
    ("", "", "src/plan/a.c", "/* free slots */\n", 'src/plan/a.c:1: "slot" is no longer used here'),
    ("", "", "docs/a.md", "the crew of a store\n", 'docs/a.md:1: "crew" is no longer used here: say team'),
    ("", "", "src/array/a.c", "pp_lead_run();\n", 'src/array/a.c:1: "pp_lead" is no longer used here'),
    ("| **shard** | something else |\n", "", "src/a.c", "",
     'docs/design/glossary.md:8: "shard" has an entry already, in line 5'),
    ("| **grant** | money |\n", "", "src/a.c", "", '"grant" has an entry already, in line 6'),
    ("| **crew** | people |\n", "", "src/a.c", "", '"crew" is retired everywhere, and still has an entry'),
]


def run(check_words, glossary, name, text):
    """Exit code and output of check_words on a tree of one glossary and one source."""
    with tempfile.TemporaryDirectory() as folder:
        for each, content in (("docs/design/glossary.md", glossary), (name, text)):
            path = pathlib.Path(folder, each)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        done = subprocess.run([sys.executable, check_words, folder], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr


def main():
    failures = []
    for entry, retired, name, text, expected in CASES:
        code, output = run(sys.argv[1], GLOSSARY % (entry, retired), name, text)
        is_right = (code == 0 and not output) if expected is None else (
            code == 1 and expected in output and len(output.splitlines()) == 1)
        if not is_right:
            failures.append(f"{name}, {text!r}: expected {expected!r}, got exit code {code} and:\n{output}")
    code, output = run(sys.argv[1], "# Glossary\n", "src/a.c", "")
    if code != 1 or "empty" not in output:
        failures.append(f"a glossary without tables gave exit code {code} and:\n{output}")
    print(*failures, sep="\n")
    print(f"{len(CASES) + 1} trees, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
