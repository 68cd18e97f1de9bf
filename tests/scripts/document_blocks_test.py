#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The checks of the blocks of documents can fail: tests/docs/outputs.py, marks.py, messages.py."""

import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "docs"))
import documents  # noqa: E402
import marks  # noqa: E402
import messages  # noqa: E402
import outputs  # noqa: E402

PRINTED = """apgas: place 0: ended by signal 11 (Segmentation fault) in task "a" at solve.cpp:12
  workers awake                           69.4 %      91.1 %
  time that workers slept                1.176 s     0.171 s
  bytes sent                                 12k
"""


class Outputs(unittest.TestCase):
    def missing(self, wanted):
        return outputs.difference("sample", wanted, PRINTED)

    def test_numbers_units_and_spaces_of_a_sample_may_differ(self):
        self.assertIsNone(self.missing("workers awake 1 %  0x7f %\n...\nbytes sent  0"))
        self.assertIsNone(self.missing("time that workers slept  20 us  0.1 ms"))
        self.assertIsNone(self.missing('apgas: place 3: ... in task ... at solve.cpp:12'))

    def test_everything_else_is_compared(self):
        for wrong in ("workers awake 1 %", "workers awake 1 s 2 s", "time workers slept 1 s 1 s",
                      "apgas: place 0: ... at solve.cpp:13",
                      "bytes sent 12k\nworkers awake 1 % 2 %"):
            self.assertEqual(self.missing(wrong), wrong.splitlines()[-1])

    def test_a_whole_number_of_results_is_exact(self):
        printed = '{"nodes":41,"seconds":0.25,"error":-3e-15,"digest":"b8f8e41","rate":7.0}\n'
        for same in ('{"nodes":41,...,"digest":"b8f8e41",...}',
                     '{"nodes":41,"seconds":1e-05,"error":-1.5e+20,...,"rate":6.5}'):
            self.assertIsNone(outputs.difference("results", same, printed))
        for wrong in ('{"nodes":42,...}', '{...,"digest":"b8f8e42",...}', '{...,"rate":7}'):
            self.assertEqual(outputs.difference("results", wrong, printed), wrong)

    def test_the_commands_of_a_session(self):
        script, wanted = outputs.commands_of("$ ls a\nb\n(gdb) bt\n#0 f\n(gdb) apgas tasks\n")
        self.assertEqual(script.splitlines()[0], "ls a")
        self.assertIn("$GDB_ARGUMENTS -ex 'bt' -ex 'apgas tasks'", script)
        self.assertEqual(wanted, "b\n#0 f\n")


class InTree(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.tree = pathlib.Path(temporary.name)
        documents.ROOT, root = self.tree, documents.ROOT
        self.addCleanup(setattr, documents, "ROOT", root)
        self.addCleanup(setattr, marks, "MARKED", marks.MARKED)
        marks.MARKED = {}

    def page(self, *texts, name="docs/page.md"):
        (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
        (self.tree / name).write_text("\n".join(f"```{text}\n```\n" for text in texts))


class Marks(InTree):
    def test_a_block_that_is_not_run_says_why(self):
        self.page("sh no-test: needs a cluster\nfalse")
        self.assertEqual(len(marks.check_marked([])), 1)
        marks.MARKED = {"docs/page.md": ["needs a cluster"]}
        self.assertEqual(marks.check_marked([]), [])
        for wrong in ("sh", "sh no-test", "sh no-test: "):
            self.page(f"{wrong}\nfalse")
            self.assertEqual(len(marks.check_marked([])), 1, wrong)

    def test_bash_parses_a_block_that_is_not_run(self):
        marks.MARKED = {"docs/page.md": ["why"]}
        self.page("sh no-test: why\nfor x in 1; do true")
        self.assertIn("bash cannot parse", *marks.check_marked([]))

    def test_tools_have_the_options_of_a_block_that_is_not_run(self):
        marks.MARKED = {"docs/page.md": ["why"]}
        tool = self.tree / "launch/apgas-run"
        tool.parent.mkdir()
        tool.write_text("#!/bin/sh\necho '  -n PLACES, --places PLACES  --label   prefixes'\n")
        tool.chmod(0o755)
        self.page("sh no-test: why\nX=1 apgas-run -n -2 --label ./solve --unknown  # --comment")
        self.assertEqual(marks.check_marked([]), [])
        self.page("sh no-test: why\nsalloc \\\n  apgas-run --labels ./solve")
        self.assertIn("does not have the option --labels", *marks.check_marked([]))

    def test_a_text_says_what_it_is(self):
        self.page("text diagram\na -> b", "text output\na")
        self.assertEqual(marks.check_marked([]), [])
        for wrong in ("text", "text simple", "text sample", "text session", "text no-test: why"):
            self.page(f"{wrong}\na")
            self.assertEqual(len(marks.check_marked([])), 1, wrong)
        self.page("text sample\na")
        self.assertEqual(marks.check_marked(["docs/page.md"]), [])

    def test_a_fragment_names_the_test_that_uses_it(self):
        test = self.tree / "tests/use.py"
        test.parent.mkdir()
        test.write_text("run('docs/page.md')")
        self.page("cmake fragment: tests/use.py\na", "python fragment: tests/use.py\nb")
        self.assertEqual(marks.check_marked([]), [])
        for wrong in ("cmake", "c", "cmake fragment", "python fragment: tests/none.py"):
            self.page(f"{wrong}\na")
            self.assertIn("name the test that uses this", *marks.check_marked([]), wrong)
        self.page("cmake\na")
        self.assertEqual(marks.check_marked(["docs/page.md"]), [])
        self.page("cmake fragment: tests/use.py\na", name="docs/other.md")
        self.assertIn("use.py does not name this page", *marks.check_marked(["docs/page.md"]))

    def test_the_readme_of_each_folder_is_checked(self):
        for name in ("apps/fib/README.md", "build/apps/README.md", "README.md"):
            self.page("text\na", name=name)
        self.assertIn("apps/fib/README.md:1: say what", *marks.check_marked([]))

    def test_a_program_that_no_test_compiles(self):
        for name in ("docs/moving/other.md", "docs/debugging/other.md"):
            self.page("cpp\nint a;", name=name)
        self.assertEqual(marks.check_compiled(["docs/debugging/other.md"]), [])
        self.assertIn("docs/debugging/other.md:1: no test", *marks.check_compiled([]))


class Messages(InTree):
    def test_a_message_is_in_the_sources(self):
        source = self.tree / "base/log.cpp"
        source.parent.mkdir()
        source.write_text('print("{} sent no heartbeat for {} s"\n      "{}; this ends {} job");\n')
        parts = messages.literals()
        self.assertEqual(parts, ["sent no heartbeat for", "this ends"])
        line = '4  apgas: place 1 on a has sent no heartbeat for 10 s; this ends "the" job'
        self.assertEqual(messages.unknown_words(line, parts), ["job"])
        self.assertEqual(messages.unknown_words(line.replace("no heart", "no pulse"), parts),
                         ["sent", "no", "pulsebeat", "job"])


if __name__ == "__main__":
    unittest.main()
