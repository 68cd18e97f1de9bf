#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/package/clean_root.py finds the program and the CMakeLists.txt that it builds, which
stand in documents. The rest of it needs root and a mirror of Debian."""

import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests/package"))
import clean_root  # noqa: E402


class Blocks(unittest.TestCase):
    def test_the_documents_have_them(self):
        self.assertIn("Hello from place", clean_root.first_block("README.md", "cpp"))
        self.assertIn("add_executable(hello hello.cpp)",
                      clean_root.first_block("docs/how_to/cmake.md", "cmake"))

    def test_a_document_without_it(self):
        with self.assertRaisesRegex(SystemExit, "README.md has no block of fortran"):
            clean_root.first_block("README.md", "fortran")


if __name__ == "__main__":
    unittest.main(verbosity=2)
