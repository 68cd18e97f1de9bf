#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/docs/shell_blocks.py runs the blocks of a document in order, and reports what is wrong."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "docs"))
import shell_blocks  # noqa: E402


class ShellBlocks(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.tree = self.folder / "tree"
        self.tree.mkdir()
        for command in (["init", "-q"], ["-c", "user.name=t", "-c", "user.email=t@localhost",
                                         "commit", "-q", "--allow-empty", "-m", "empty"]):
            subprocess.run(["git", "-C", self.tree, *command], check=True)
        shell_blocks.ROOT, root = self.tree, shell_blocks.ROOT
        self.addCleanup(setattr, shell_blocks, "ROOT", root)

    def run_blocks(self, *texts):
        (self.tree / "page.md").write_text("\n".join(f"```{text}\n```\n" for text in texts))
        shell_blocks.run_document("page.md", self.folder / "run")

    def refused(self, *texts):
        with self.assertRaises(shell_blocks.Failure) as raised:
            self.run_blocks(*texts)
        return str(raised.exception)

    def test_blocks_share_folder_and_variables(self):
        self.run_blocks("sh\nmkdir ~/sub && cd ~/sub\nexport NUMBER=3", "sh\nbasename $PWD $NUMBER",
                        "text output\nsub")

    def test_the_clone_has_files_that_are_not_committed(self):
        self.run_blocks("sh\nls page.md", "text output\npage.md")

    def test_files_are_written_where_they_are_named(self):
        self.run_blocks("cpp\nint main() {}", "cmake\nproject(x)\nadd_executable(x x.cpp)",
                        "sh\ncat x.cpp", "text output\nint main() {}",
                        "sh\ncp CMakeLists.txt y  # cmake -B", "sh\nhead -1 y",
                        "text output\nproject(x)")

    def test_the_lines_of_an_output_may_be_in_any_order(self):
        self.run_blocks("sh\nprintf 'b\\na\\n'", "text output\na\nb")

    def test_an_excerpt_is_in_order_and_may_be_on_standard_error(self):
        self.run_blocks("sh\necho first; echo 12 s; echo last >&2", "text excerpt\n... s\nlast")
        self.assertIn("page.md:5 says", self.refused("sh\necho first; echo last",
                                                     "text excerpt\nlast\nfirst"))

    def test_a_command_that_fails_is_reported_with_its_line(self):
        self.assertIn("page.md:1 ended with code 1", self.refused("sh\nfalse\ntrue"))
        self.assertIn("page.md:1 ended with code 1", self.refused("sh\nfalse | true"))

    def test_a_wrong_output_is_reported_with_its_line(self):
        for wrong in ("a", "a\nb\nc", ""):
            self.assertIn("page.md:5 says", self.refused("sh\nprintf 'b\\na\\n'",
                                                         f"text output\n{wrong}"))

    def test_the_output_of_a_program_is_left_to_others(self):
        self.run_blocks("sh\necho a", "cpp\nint main() {}", "text output\nb")

    def test_a_document_without_blocks_is_refused(self):
        self.assertIn("no shell block", self.refused("text\na"))
        self.assertIn("no shell block", self.refused("sh no-test: W\nfalse"))

    def run_page(self, *texts):
        prefix = self.folder / "prefix"
        (prefix / "lib/pkgconfig").mkdir(parents=True, exist_ok=True)
        (self.tree / "page.md").write_text("\n".join(f"```{text}\n```\n" for text in texts))
        shell_blocks.run_document("page.md", self.folder / "run", prefix)

    def test_a_page_has_the_library_and_begins_in_an_empty_folder(self):
        self.run_page("sh\nls ~/apgas/lib; ls; echo ${PATH%%:*}",
                      f"text output\npkgconfig\n{self.folder}/run/home/apgas/bin")

    def test_a_page_uses_each_of_its_files(self):
        self.run_page("c\nint a;", "python\nb", "sh\ncat a.c b.py", "text output\nint a;\nb",
                      "cpp fragment\nnot a file", "cpp fragment\nnot a file, either")
        for unused in (["cpp\nint a;", "sh\ntrue"],
                       ["cpp\nint a;", "cpp\nint b;", "sh\ncat b.cpp"]):
            with self.assertRaisesRegex(shell_blocks.Failure, "no shell block uses"):
                self.run_page(*unused)

    def test_blocks_of_other_documents_say_why_they_are_not_run(self):
        (self.tree / "docs").mkdir()
        page = self.tree / "docs/other.md"
        page.write_text("```sh no-test: needs a cluster\nfalse\n```\n")
        self.assertEqual(shell_blocks.check_marked([]), [])
        for wrong in ("sh", "sh no-test", "sh no-test: "):
            page.write_text(f"```{wrong}\nfalse\n```\n")
            self.assertEqual(len(shell_blocks.check_marked([])), 1, wrong)

    def test_a_program_that_no_test_compiles(self):
        for folder in ("docs/moving", "docs/debugging"):
            (self.tree / folder).mkdir(parents=True)
            (self.tree / folder / "other.md").write_text("```cpp\nint a;\n```\n")
        self.assertEqual(shell_blocks.check_compiled(["docs/debugging/other.md"]), [])
        self.assertIn("docs/debugging/other.md:1: no test", *shell_blocks.check_compiled([]))

    def test_marked_blocks_are_listed(self):
        (self.tree / "page.md").write_text("```sh no-test: W\nfalse\n```\n")
        shell_blocks.MARKED["page.md"] = ["W"]
        self.assertEqual(shell_blocks.check_marked(["page.md"]), [])
        shell_blocks.MARKED["page.md"] = []
        self.assertEqual(len(shell_blocks.check_marked(["page.md"])), 1)


if __name__ == "__main__":
    unittest.main()
