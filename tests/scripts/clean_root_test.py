#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/package/clean_root.py finds the program and the CMakeLists.txt that it builds, which
stand in documents. The rest of it needs root and a mirror of Debian. tests/package/rpm_contents.py
finds what an .rpm lacks, and what its .deb lacks."""

import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests/package"))
import clean_root  # noqa: E402
import rpm_contents  # noqa: E402


class Blocks(unittest.TestCase):
    def test_the_documents_have_them(self):
        self.assertIn("Hello from place", clean_root.first_block("README.md", "cpp"))
        self.assertIn("add_executable(hello hello.cpp)",
                      clean_root.first_block("docs/how_to/cmake.md", "cmake"))

    def test_a_document_without_it(self):
        with self.assertRaisesRegex(SystemExit, "README.md has no block of fortran"):
            clean_root.first_block("README.md", "fortran")


class Contents(unittest.TestCase):
    DEB = ["./", "./usr/", "./usr/bin/", "./usr/bin/apgas-info", "./usr/bin/apgas-run"]

    def check(self, of_rpm, *expected):
        self.assertEqual(list(rpm_contents.differences(of_rpm, self.DEB)), list(expected))

    def test_the_same_files(self):
        self.check(["/usr/bin/apgas-info", "/usr/bin/apgas-run"])
        self.check(["/usr/bin", "/usr/bin/apgas-info", "/usr/bin/apgas-run", "/usr/lib/.build-id",
                    "/usr/lib/.build-id/12/34"])

    def test_other_files(self):
        self.check(["/usr/bin/apgas-run", "/usr/bin/hello"], "lacks /usr/bin/apgas-info",
                   "has /usr/bin/hello, which the .deb lacks")

    def test_a_package_that_was_not_made(self):
        with tempfile.TemporaryDirectory() as folder:
            found = list(rpm_contents.problems(pathlib.Path(folder)))
        self.assertEqual(len(found), len(rpm_contents.PACKAGES))
        self.assertIn("has 0 .rpm and 0 .deb of libapgas0", found[0])


if __name__ == "__main__":
    unittest.main(verbosity=2)
