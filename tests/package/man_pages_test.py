#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The man pages and the completion that packages/man_pages.py writes say what --help says.

    man_pages_test.py TOOL...

TOOL... are the paths of all tools. The text of a page is that of --help, word for word. Each
option, short ones too, is a tagged paragraph, and bash and zsh complete all of them. clean_root.py
looks at the installed pages.
"""

import gzip
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import clean_root

MAN_PAGES = clean_root.ROOT / "packages/man_pages.py"
TOOLS = {pathlib.Path(tool).name: tool for tool in sys.argv[1:]}
HEADING = re.compile(r"([a-z][a-z ]*):")
OPTION = clean_root.OPTION
COMPLETED = re.compile(r'^ +([\w-]+)\) options="(.*)" ;;$|^ +([\w-]+)\) options="(.*)"$', re.M)


def help_of(tool):
    return subprocess.run([tool, "--help"], capture_output=True, text=True, check=True, timeout=100,
                          env={**os.environ, "COLUMNS": "80", "LC_ALL": "C"}).stdout


def parts_of_help(text):
    """The words of the usage, those of the text after it, and its headings."""
    lines = text.splitlines()
    usage = lines.index("") if "" in lines else 1
    headings = [line[:-1] for line in lines[usage:] if HEADING.fullmatch(line)]
    rest = [line for line in lines[usage:] if not HEADING.fullmatch(line)]
    return " ".join(lines[:usage]).split()[1:], " ".join(rest).split(), headings


def shown(line):
    """What man shows of a line that is not a macro."""
    return (line.replace("\\fB", "").replace("\\fR", "").replace("\\&", "").replace("\\-", "-")
            .replace("\\e", "\\"))


def parts_of_page(page):
    """The same of a man page, and its tags."""
    lines = page[page.index("\n.SH SYNOPSIS\n"):].splitlines()[2:]
    usage, rest = lines[0], lines[1:]
    headings = [line.removeprefix(".SH ").lower() for line in rest if line.startswith(".SH ")]
    text = [shown(line) for line in rest if not line.startswith((".SH ", ".TP", ".PP"))]
    tags = [shown(after) for line, after in zip(rest, rest[1:]) if line == ".TP"]
    return shown(usage).split()[1:], " ".join(text).split(), headings, tags


class ManPages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.helps = {name: help_of(tool) for name, tool in TOOLS.items()}
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, MAN_PAGES, folder, "0.1.0", *TOOLS.values()],
                           check=True, timeout=100)
            folder = pathlib.Path(folder)
            cls.pages = {name: gzip.decompress((folder / f"{name}.1.gz").read_bytes()).decode()
                         for name in TOOLS}
            cls.completions = [(folder / name).read_text() for name in ("apgas", "_apgas")]

    def test_all_tools_have_a_page(self):
        self.assertEqual(sorted(TOOLS), sorted(clean_root.TOOLS))
        for name, page in self.pages.items():
            self.assertIn(f"\n.SH NAME\n{name} \\- ", page)

    def test_the_text_is_that_of_the_help(self):
        for name, page in self.pages.items():
            with self.subTest(tool=name):
                usage, text, headings = parts_of_help(self.helps[name])
                usage_of_page, text_of_page, headings_of_page, _ = parts_of_page(page)
                self.assertEqual(usage_of_page, usage)
                self.assertEqual(text_of_page, text)
                self.assertLessEqual(set(headings), set(headings_of_page))

    def test_each_option_is_a_tagged_paragraph(self):
        described = {}
        for name, page in self.pages.items():
            lines = [line for line in self.helps[name].splitlines() if line.startswith("  -")]
            described[name] = [option for line in lines
                               for option in OPTION.findall(re.split(r"(?<=\S) {2,}", line)[0])]
            with self.subTest(tool=name):
                tags = OPTION.findall("\n".join(parts_of_page(page)[3]))
                self.assertEqual([tag for tag in tags if tag in described[name]], described[name])
        self.assertLessEqual({"-h", "--help", "-n", "-w", "-v"}, set(described["apgas-run"]))

    def test_bash_and_zsh_complete_each_option(self):
        wanted = {name: set(OPTION.findall(text)) for name, text in self.helps.items()}
        self.assertLessEqual({"-n", "-w", "-v"}, wanted["apgas-run"])
        for text in self.completions:
            found = {first or second: set((words or others).split())
                     for first, words, second, others in COMPLETED.findall(text)}
            self.assertEqual(found, wanted)

    def test_bash_offers_them(self):
        script = (f"{self.completions[0]}\n_apgas_tools apgas-run - x\n"
                  "printf '%s\\n' ${COMPREPLY[@]}")
        offered = subprocess.run(["bash", "-euc", script], capture_output=True, text=True,
                                 check=True, timeout=100).stdout.split()
        self.assertEqual(set(offered), set(OPTION.findall(self.helps["apgas-run"])))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
