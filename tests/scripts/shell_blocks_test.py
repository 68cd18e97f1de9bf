#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/docs/shell_blocks.py runs the blocks of a document in order, and reports what is wrong."""

import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "docs"))
import documents  # noqa: E402
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
        documents.ROOT, root = self.tree, documents.ROOT
        self.addCleanup(setattr, documents, "ROOT", root)

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

    def test_a_script_and_a_yaml_file(self):
        self.run_blocks("sh\n#!/bin/bash\necho script", "yaml\na: b",
                        "sh\nbash job.sh; cat x.yaml", "text output\nscript\na: b")

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
        program = "cpp\nint main() {}"
        for unused in ([program, "sh\ntrue"], [program, program, "sh\ncat b.cpp"]):
            with self.assertRaisesRegex(shell_blocks.Failure, "no shell block uses"):
                self.run_page(*unused)

    def test_a_session_has_commands_and_what_they_print(self):
        session = "text session\n$ echo 3 eggs; false\n1 eggs\n...\n$ echo more >&2\nmore"
        self.run_page(session)
        with self.assertRaisesRegex(shell_blocks.Failure, "page.md:1 says\nmore\n"):
            self.run_page(session.replace("echo more", "echo less"))

    def test_the_programs_of_a_readme(self):
        program = self.folder / "square"
        program.write_text("#!/bin/sh\necho $(($1 * $1)) by $APGAS_WORKERS; exit $2\n")
        program.chmod(0o755)

        def run(text):
            (self.tree / "README.md").write_text(f"```text results\n{text}\n```\n")
            shell_blocks.run_document("README.md", self.folder / "run", programs=self.folder)

        run("$ ./square 3\n9 by 2\n$ APGAS_WORKERS=1 ./square 4\n16 by 1")
        with self.assertRaisesRegex(shell_blocks.Failure, "README.md:1 says\n8 by 2\n"):
            run("$ ./square 3\n8 by 2")
        with self.assertRaisesRegex(shell_blocks.Failure, "README.md:1 ended with code 7"):
            run("$ ./square 3 7\n9 by 2")

    def test_an_output_of_a_page_belongs_to_a_shell_block(self):
        with self.assertRaisesRegex(shell_blocks.Failure, "page.md:9: there is no shell block"):
            self.run_page("sh\necho a", "text sample\na", "text output\na")

    def test_a_page_may_be_prepared(self):
        shell_blocks.PREPARE, prepare = self.folder, shell_blocks.PREPARE
        self.addCleanup(setattr, shell_blocks, "PREPARE", prepare)
        script = self.folder / "page.sh"
        script.write_text("sleep 600 > /dev/null 2>&1 &\necho $! > process; export NUMBER=3")
        self.run_page("sh\ncat /proc/$(cat process)/comm; echo $NUMBER",
                      "text output\nsleep\n3")
        process = next(self.folder.rglob("process")).read_text().strip()
        state = pathlib.Path("/proc", process, "stat")
        for _ in range(100):
            if not state.exists() or state.read_text().split()[2] == "Z":
                break
            time.sleep(0.1)
        else:
            self.fail("the process is left")
        script.write_text("exit 1")
        with self.assertRaisesRegex(shell_blocks.Failure, "page.sh ended with code 1"):
            self.run_page("sh\ntrue")
        script.write_text("echo there is no gdb; exit 77")
        with self.assertRaises(SystemExit) as ended:
            self.run_page("sh\ntrue")
        self.assertEqual(ended.exception.code, 77)


if __name__ == "__main__":
    unittest.main()
