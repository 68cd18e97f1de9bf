#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that each check of tests/public_files.py can fail."""

import pathlib
import shutil
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests"))
import public_files  # noqa: E402

FOLDERS = [".github", ".gitlab", ".ci", "packages", "launch"]
FILES = [".gitlab-ci.yml", "CITATION.cff", "base/include/apgas/version.hpp"]
CHANGES = [  # file, what is replaced, by what, and the problem then
    (".github/workflows/ci.yml", "./.ci/run --full", "./none", "none is no program"),
    (".github/workflows/ci.yml", "timeout-minutes: 180", "name: x", "no timeout-minutes"),
    (".github/workflows/ci.yml", "runs-on: ubuntu-24.04", "runs_on: x", "has no runs-on"),
    (".github/workflows/ci.yml", "jobs:", "jobs: [", "ci.yml: "),
    (".gitlab-ci.yml", "./launch/package", "./launch/pack", "launch/pack is no program"),
    (".gitlab-ci.yml", "package --test", "package", "other commands than the workflows of GitHub"),
    (".gitlab-ci.yml", "script:", "commands:", "runs nothing"),
    (".gitlab-ci.yml", "networks: needs a privileged", "any", "full does not say that it needs"),
    (".github/ISSUE_TEMPLATE/bug.md", "about:", "on:", "has no name and about"),
    (".github/ISSUE_TEMPLATE/bug.md", "---\n", "", "bug.md: "),
    (".gitlab/issue_templates/bug.md", "Output", "Lines", "bug.md: differs from that of GitHub"),
    (".gitlab/merge_request_templates/Default.md", "passes", "fails", "Default.md: differs from"),
    ("CITATION.cff", "title: apgas", "name: apgas", "has no title"),
    ("CITATION.cff", "    year: 2017\n", "", "lacks its type, title, authors or year"),
    ("CITATION.cff", "references:", "others:", "names 0 papers"),
    ("CITATION.cff", "version: 0.1.0", "version: 0.0.9", "has another version"),
    ("packages/vcpkg/ports/apgas/vcpkg.json", '"0.1.0"', '"0.0.9"', "has another version"),
    ("packages/vcpkg/ports/apgas/vcpkg.json", "{", "", "vcpkg.json: "),
    ("packages/conan/conanfile.py", "class Apgas(", "class Apgas((", "conanfile.py: "),
    ("packages/spack/spack_repo/apgas/packages/apgas/package.py", '"0.1.0"', '"0.0.9"',
     "another version"),
]


class PublicFiles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name in FOLDERS:
            shutil.copytree(ROOT / name, self.root / name)
        for name in FILES:
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.root / name)

    def test_no_problem(self):
        self.assertEqual(public_files.problems(self.root), [])

    def test_each_problem(self):
        for name, old, new, problem in CHANGES:
            with self.subTest(file=name, change=new):
                path = self.root / name
                text = path.read_text(encoding="utf-8")
                self.assertIn(old, text)
                path.write_text(text.replace(old, new), encoding="utf-8")
                found = public_files.problems(self.root)
                path.write_text(text, encoding="utf-8")
                self.assertIn(problem, "\n".join(found))


if __name__ == "__main__":
    unittest.main(verbosity=2)
