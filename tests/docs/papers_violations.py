"""Plants one violation of every rule in a small page and demands that check_papers finds it: the checker can fail.

    papers_violations.py CHECK_PAPERS
"""
import json
import pathlib
import subprocess
import sys
import tempfile

HEADING = """# Papers

## 1. A paper

| idea | in Parapet | test | paper's figure | ours |
|---|---|---|---|---|
"""
SOUND = "| built | `plan/owner.c` | `unit_plan_owner` | 2 | 3 |\n| thought of | not built (a) | - | 2 | none |\n"
NOTES = "\n- (a) Not built: see [a page](../other.md#one-word), `tests/unit/owner.c` and\n  `test_owner__is_one`.\n"

# What the page is, and what must be said. None: nothing.
CASES = [
    (HEADING + SOUND + NOTES, None),
    (HEADING + SOUND + "| own | `tool/no.c` | `unit_plan_owner` | - | - |\n" + NOTES, "9: there is no file tool/no.c"),
    (HEADING + SOUND + "| own | `plan/own.c` | `unit_plan_owner` | - | - |\n" + NOTES, "there is no file plan/own.c"),
    (HEADING + SOUND + "| own | `plan/owner.c` | `unit_plan` | - | - |\n" + NOTES, "9: there is no test unit_plan"),
    (HEADING + SOUND + "| own | `plan/owner.c` | by hand | - | - |\n" + NOTES, '"own" has neither a file and a test'),
    (HEADING + SOUND + "| own | not built | - | - | - |\n" + NOTES, '"own" has neither a file and a test nor a note'),
    (HEADING + SOUND + "| own | not built (b) | - | - | - |\n" + NOTES, "9: there is no note (b) below the table"),
    (HEADING + SOUND + "| own | not built (a) | - | - |\n" + NOTES, "9: a row needs 5 columns, none of them empty"),
    (HEADING + SOUND + "| own | not built (a) | | - | - |\n" + NOTES, "9: a row needs 5 columns, none of them empty"),
    (HEADING + SOUND + "| " + 120 * "o" + " | (a) | - | - | - |\n" + NOTES, "columns of text, but 120 are the most"),
    (HEADING + SOUND + NOTES + "- (b) And more.\n", "12: note (b) belongs to no row"),
    (HEADING + SOUND + "\n- (a)\n", "10: note (a) is empty"),
    (HEADING + SOUND + NOTES + "\nSee [it](../gone.md).\n", "13: the link ../gone.md leads nowhere"),
    (HEADING + SOUND + NOTES + "\n[O]: ../gone.md\n", "13: the link ../gone.md leads nowhere"),
    (HEADING + SOUND + NOTES + "\nSee [it](../other.md#two).\n", "13: ../other.md has no heading for #two"),
    (HEADING + SOUND + NOTES + "\n`test_owner__is_two`\n", "13: there is no test function test_owner__is_two"),
    (HEADING + SOUND + "| own | not built (a) | - | - | 1,234 MB/s, x0.5 [O] (a) |\n" + NOTES + "\n[O]: ../other.md\n", None),
    (HEADING + SOUND + "| own | not built (a) | - | - | 1.5 [O] |\n" + NOTES + "\n[O]: ../other.md\n",
     "9: 1.5 is not on the page [O]"),
    (HEADING + SOUND + "| own | not built (a) | - | - | 1.5 [O] |\n" + NOTES, "9: [O] is no page"),
    (HEADING + SOUND + NOTES + "\n## 2. Another paper\n\nText.\n", "13: a paper needs a table of ideas"),
    ("# Papers\n", "1: there are no papers on the page"),
]


def make_tree(root, page):
    files = {"docs/design/papers.md": page, "docs/other.md": "# One word\n\n1234 MB/s, 0.50 and x0.5\n", "src/plan/owner.c": "",
             "tests/unit/owner.c": "static void test_owner__is_one(void **state)\n",
             "tests.json": json.dumps({"tests": [{"name": "unit_plan_owner"}]})}
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def check(checker, page, expected):
    with tempfile.TemporaryDirectory() as folder:
        make_tree(pathlib.Path(folder), page)
        run = subprocess.run([sys.executable, checker, f"{folder}/tests.json", folder], capture_output=True, text=True)
    if expected is None:
        return run.returncode == 0 and run.stdout == "", run.stdout + run.stderr
    return run.returncode == 1 and expected in run.stdout, run.stdout + run.stderr


def main():
    failed = 0
    for number, (page, expected) in enumerate(CASES):
        is_right, said = check(sys.argv[1], page, expected)
        if not is_right:
            print(f"case {number}: expected {expected!r}, but it said:\n{said}")
            failed += 1
    print(f"{len(CASES) - failed} of {len(CASES)} cases")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
