#!/usr/bin/env python3
"""Checks the checks of documents: each lets a right page pass, and finds what is wrong with a wrong one, on its line."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import check_claims  # noqa: E402
import check_figures  # noqa: E402
import check_invariants  # noqa: E402
import check_links  # noqa: E402
import check_lists  # noqa: E402
import check_sentences  # noqa: E402
import run_snippets  # noqa: E402


class Options:
    """As run_snippets has them from its command line; blocks of shell need no more."""
    flavour, verbose, source = "mpich", False, None


class PageTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name).resolve()

    def tearDown(self):
        self.folder.cleanup()

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path


class LinksTest(PageTest):
    def mistakes(self):
        return [(str(path), line) for path, line, _ in check_links.check(self.root)]

    def test_right_links_pass(self):
        self.write("a.md", "# A `b` (c)\n## Twice\n## Twice\n[x](#a-b-c) [y](#twice-1) [z](d/b.md#here) [w](https://x.y)\n"
                           "`[no](link.md)`\n```\n[no](link.md)\n```\n![i](i.svg)\n")
        self.write("d/b.md", "# Here\n[up](../a.md)\n")
        self.write("i.svg", "")
        self.assertEqual(self.mistakes(), [])

    def test_wrong_links_are_found(self):
        self.write("a.md", "# A\n[x](none.md)\n[y](#b)\n[z](b.md#a)\n![i](i.svg)\n[r]: none.md\n<img src=\"none.svg\">\n")
        self.write("b.md", "# B\n[up](../out.md)\n")
        self.assertEqual(self.mistakes(), [("a.md", line) for line in range(2, 8)] + [("b.md", 2)])

    def test_build_folders_are_left_out(self):
        self.write("build/a.md", "[x](none.md)\n")
        self.assertEqual(self.mistakes(), [])


class InvariantsTest(PageTest):
    PAGE = ("# Changes\n\n## Invariants\n\n1. **One.** It is\n   kept. *Kept\n   in* `a.c`, `plan/b.c:f`.\n"
            "2. **Two.** *Kept in* `a.c`.\n\n## More\n\n3. **None.** No invariant.\n")
    A = "/* (invariants 1 and 2 of\n * docs/design/change.md) */\n"
    B = "/* invariant 1 of docs/design/change.md */\nint f(void);\n"

    def mistakes(self, page=PAGE, a=A, b=B):
        self.write("docs/design/change.md", page)
        self.write("src/base/a.c", a)
        self.write("src/plan/b.c", b)
        return [(str(path.relative_to(self.root)), line, problem)
                for path, line, problem in check_invariants.check(self.root)]

    def test_invariants_that_are_cited_where_they_are_kept_pass(self):
        self.assertEqual(self.mistakes(), [])

    def test_what_is_cited_and_does_not_exist_is_found(self):
        (found,) = self.mistakes(b="\n" + self.B + "/* invariant 3 of docs/design/change.md */\n")
        self.assertEqual(found, ("src/plan/b.c", 4, "docs/design/change.md has no invariant 3"))

    def test_what_is_cited_nowhere_is_found(self):
        found = self.mistakes(a="/* (invariant 1 of docs/design/change.md) */\n")
        self.assertIn(("docs/design/change.md", 8, "invariant 2 is cited nowhere in src/"), found)

    def test_other_places_than_those_of_the_page_are_found(self):
        (found,) = self.mistakes(b="int f(void);\n")
        self.assertEqual(found[:2], ("src/plan/b.c", 1))
        (found,) = self.mistakes(b=self.B + "/* (invariant 2 of docs/design/change.md) */\n")
        self.assertEqual(found[:2], ("src/plan/b.c", 3))

    def test_places_that_are_not_there_are_found(self):
        (found,) = self.mistakes(b=self.B.replace("f(", "g("))
        self.assertEqual(found, ("docs/design/change.md", 5, "there is no f in plan/b.c"))
        self.assertIn(("docs/design/change.md", 8, "c.c is 0 files of src/"),
                      self.mistakes(page=self.PAGE.replace("in* `a.c`.", "in* `a.c`, `c.c`.")))

    def test_a_page_without_invariants_is_found(self):
        self.assertIn(("docs/design/change.md", 1, "there are no invariants on the page"),
                      self.mistakes(page="## Invariants\n"))


class ClaimsTest(PageTest):
    def mistakes(self, *cells):
        self.write("bench/run", 'SUITES = {"serial": 1}\n')
        self.write("scripts/setup", "")
        rows = "".join(f"| {words} |\n" for words in cells)
        self.write("docs/results/claims.md", f"# A\n\n| claim | where | command |\n|---|---|---|\n{rows}")
        return [line for line, _ in check_claims.check(self.root, {"unit_a", "unit_b_quick"})]

    def test_right_commands_pass(self):
        self.assertEqual(self.mistakes("a | `scripts/setup` | `ctest -V -R '^unit_(a\\|c)$\\|b_quick'`, and `PATH`",
                                       "b | page | `bench/run serial --quick` or `scripts/setup`"), [])

    def test_wrong_commands_are_found(self):
        self.assertEqual(self.mistakes("a | b | `ctest -R 'unit_a\\|unit_c'`", "a | b | `bench/run parallel`",
                                       "a | b | `scripts/gone`", "a | b | by hand", "a | b | `ctest -V`",
                                       "a | `docs/gone.md` | `ctest -R unit_a`"), [5, 6, 7, 8, 9, 10])
        self.assertEqual(self.mistakes(), [1])


class FiguresTest(PageTest):
    def mistakes(self, text):
        self.write("docs/results/b.md", "# 2026-11-19\n\n| 1835 (1,700-1900) | x3.11 | 0.72 |\n")
        self.write("README.md", text)
        return [line for _, line, _ in check_figures.check(self.root)]

    def block(self, text):
        return f"# A\n<!-- figures: docs/results/b.md -->\n{text}\n<!-- end of figures -->\n99\n"

    def test_right_figures_pass(self):
        self.assertEqual(self.mistakes(self.block("| 1,835 | 2026-11-19 |\n3.11 times [a](b/77.md) 0.72, 1900.")), [])

    def test_wrong_figures_are_found(self):
        self.assertEqual(self.mistakes(self.block("| 1,836 |\n2026-11-18\n3.1\n0.7 and 1835")), [3, 4, 5, 6])

    def test_wrong_blocks_are_found(self):
        self.assertEqual(self.mistakes("# A\n"), [1])
        self.assertEqual(self.mistakes("<!-- figures: docs/c.md -->\n1\n<!-- end of figures -->\n"), [1])
        self.assertEqual(self.mistakes("<!-- figures: docs/results/b.md -->\n1835\n"), [2])
        self.assertEqual(self.mistakes(self.block("1835") + "<!-- end of figures -->\n"), [6])
        self.assertEqual(self.mistakes(2 * "<!-- figures: docs/results/b.md -->\n" + "<!-- end of figures -->\n"), [2])


class ListsTest(PageTest):
    PAGE = "# A\n\n**`copy`, `bench disks` and\n`check --deep` work on\nall ranks.** Others\n"
    MANUAL = ".Pp\n.Cm copy ,\n.Cm bench disks\nand\n.Cm check Fl -deep\nuse all ranks.\n"

    def setUp(self):
        super().setUp()
        self.write("tool/cmd_copy.c", '    .name = "copy",\n    .is_parallel = true,\n')
        self.write("tool/cmd_bench_disks.c", '    .name = "bench disks",\n    .is_parallel = true,\n')
        self.write("tool/cmd_check.c", '{TOOL_DEEP, 0, "deep", "x"},\n.name = "check",\n.parallel_flags = TOOL_DEEP,\n')
        self.write("tool/cmd_ls.c", '    .name = "ls",\n')
        self.write("tests/harness/race.h", "typedef enum operation {\n    OP_A,\n    OP_B,\n    OPERATIONS\n} operation;\n")
        for name in check_lists.OPERATIONS:
            self.write(name, "# A\nAll 3 pairs of 2 operations\n")
        for name in check_lists.VERBS:
            self.write(name, self.MANUAL if name.endswith(".1") else self.PAGE)

    def mistakes(self):
        return [(name, line) for name, line, _ in [*check_lists.check_verbs(self.root),
                                                   *check_lists.check_operations(self.root)]]

    def test_right_lists_pass(self):
        self.assertEqual(self.mistakes(), [])

    def test_wrong_verbs_are_found(self):
        self.write("tool/cmd_stats.c", '    .name = "stats",\n    .is_parallel = true,\n')
        self.assertEqual(self.mistakes(), list(zip(check_lists.VERBS, (4, 4, 5))))

    def test_verbs_too_many_are_found(self):
        self.write("docs/guide/tool.md", self.PAGE.replace("`copy`", "`copy`, `ls`"))
        self.assertEqual(self.mistakes(), [("docs/guide/tool.md", 4)])
        self.write("docs/guide/tool.md", "# A\n")
        self.assertEqual(self.mistakes(), [("docs/guide/tool.md", 1)])

    def test_wrong_counts_are_found(self):
        self.write("docs/guide/jobs.md", "# A\nAll 4 pairs of 2 operations\n")
        self.write("tests/README.md", "the 3 things that a job can do\n")
        self.write("docs/design/locks.md", "the three things\n")
        self.assertEqual(self.mistakes(), [("docs/guide/jobs.md", 2), ("docs/design/locks.md", 1), ("tests/README.md", 1)])


class SentencesTest(PageTest):
    def setUp(self):
        super().setUp()
        self.write("include/parapet_status.h", "    PARAPET_ERR_IO = 4,\n")
        self.write("src/a.c", 'fail("the file %s has %zu bytes, "\n     "but \\"%" PRId64 "\\" are wanted", a, b, c);\n'
                              'fail("cannot write array \\"%s\\"", path); fail("rank %d on %s: %s");\n')
        self.write("tool/b.c", 'print("parapet: %s: an unfinished copy; go on with:\\n");\n')
        self.write("tests/cli/a/expected", "differ: values of 1 array, 1 group only in A\n")

    def mistakes(self, page):
        return [line for line, _ in check_sentences.check(self.root, self.write("page.md", page))]

    def test_right_headings_pass(self):
        self.assertEqual(self.mistakes('### `the file ... has ... bytes, but "..." are wanted`\n'), [])

    def test_wrong_headings_are_found(self):
        self.assertEqual(self.mistakes("# A\n### `the file ... holds`\n"), [2])

    def test_right_quotes_pass(self):
        self.assertEqual(self.mistakes('A `the file x.c has 7 bytes, but\n"9" are wanted` b.\n'
                                       '`cannot write array "T": rank 3 on node7: the file ... has`\n'
                                       '`cannot write array "T": rank 3 on node7: No such file or directory`\n'
                                       '`differ: values of 1 array, 1 group only in A`\n'
                                       '`int the_status = call(is, not)`, `parapet copy the array to x`\n'), [])

    def test_wrong_quotes_are_found(self):
        self.assertEqual(self.mistakes("A\n`the file x.c\nhas 7 octets, but \"9\" are wanted`\n"), [2])
        self.assertEqual(self.mistakes('`cannot write array "T": rank 3 at node7: the file ... has`\n'), [1])
        self.assertEqual(self.mistakes("| a | `the file x.c was not found` |\n"), [1])

    def test_right_blocks_pass(self):
        self.assertEqual(self.mistakes("```\nparapet: copy: an unfinished copy; go on with:\n  what it is not\n```\n"
                                       "```text\nthe file x.c has\n7 bytes, but \"9\" are wanted\n```\n"
                                       "<!-- prints -->\n```\nparapet: what is printed is compared\n```\n"), [])

    def test_wrong_blocks_are_found(self):
        self.assertEqual(self.mistakes("```\n$ parapet\nparapet: copy: the copy is gone\n```\n\n"
                                       "```text\nthe file x.c has\n7 octets\n```\n"), [3, 7])

    def test_a_status_that_is_not_told_is_found(self):
        page = self.write("docs/guide/troubleshooting.md", "# Page\n")
        self.assertEqual(len(list(check_sentences.check_statuses(self.root))), 1)
        page.write_text("PARAPET_ERR_IO\n")
        self.assertEqual(list(check_sentences.check_statuses(self.root)), [])


class SnippetsTest(PageTest):
    def mistakes(self, text, folder="work"):
        page = self.write("page.md", text)
        (self.root / "prefix/bin").mkdir(parents=True, exist_ok=True)
        return [line for line, _ in run_snippets.run_page(page, Options, self.root / "prefix", self.root / folder)]

    def test_right_blocks_pass(self):
        self.assertEqual(self.mistakes("<!-- run: sh -->\n```sh\necho a >file\n```\n<!-- run: sh -->\n```sh\ncat file\n```\n"
                                       "<!-- prints -->\n```\na\n```\n<!-- not run: a reason -->\n```sh\nfalse\n```\n"
                                       "```\nany text\n```\n"), [])

    def test_a_command_that_fails_is_found(self):
        self.assertEqual(self.mistakes("text\n<!-- run: sh -->\n```sh\nfalse\ntrue\n```\n"), [4])

    def test_a_program_that_does_not_compile_is_found(self):
        self.assertEqual(self.mistakes("<!-- run: a.c -->\n```c\nint main(void) { return x; }\n```\n"), [3])

    def test_lines_that_are_not_in_the_file_are_found(self):
        self.write("a.c", "int a;\n    int b;\n    int c;\n")
        self.assertTrue(run_snippets.is_from("int b;\nint c;\n", self.root / "a.c"))
        self.assertFalse(run_snippets.is_from("int a;\nint c;\n", self.root / "a.c"))
        self.assertFalse(run_snippets.is_from("int a;\n", self.root / "b.c"))

    def test_a_part_that_is_never_compiled_is_found(self):
        self.assertEqual(self.mistakes("<!-- part of: a.c -->\n```c\nint a;\n```\n"
                                       "<!-- part of: sh -->\n```sh\ntrue\n```\n"), [7, 3])

    def test_parts_are_compiled_with_the_last_block(self):
        (self.root / "prefix/bin").mkdir(parents=True)
        run_snippets.write_command(self.root / "prefix/bin/mpicc", "cat a.c #")
        run_snippets.write_command(self.root / "prefix/bin/pkg-config", "true")
        self.assertEqual(self.mistakes("<!-- part of: a.c -->\n```c\nint a;\n```\n"
                                       "<!-- run: a.c -->\n```c\nint b;\n```\n"
                                       "<!-- prints -->\n```\nint a;\nint b;\n```\n"), [])

    def test_a_block_that_needs_a_module_is_left_out_without_it(self):
        self.assertEqual(self.mistakes("<!-- run: sh, needs no_such_module -->\n```sh\nfalse\n```\n"
                                       "<!-- prints -->\n```\na\n```\n"), [])
        self.assertEqual(self.mistakes("<!-- run: sh, needs sys -->\n```sh\nfalse\n```\n", "other"), [3])

    def test_other_output_is_found(self):
        self.assertEqual(self.mistakes("<!-- run: sh -->\n```sh\necho a\n```\n<!-- prints -->\n```\nb\n```\n"), [7])

    def test_wrong_marks_are_found(self):
        self.assertEqual(self.mistakes("```sh\ntrue\n```\n<!-- run: sh -->\ntext\n<!-- run: a.c -->\n```sh\ntrue\n```\n"
                                       "```c\nint x;\n```\n"), [2, 4, 8, 11])


if __name__ == "__main__":
    unittest.main()
