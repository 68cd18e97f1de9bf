#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cache_lines.py says in one line what it lacks."""

import os
import pathlib
import subprocess
import sys
import unittest

SCRIPT = pathlib.Path(__file__).with_name("cache_lines.py")


class Refused(unittest.TestCase):
    def check(self, arguments, message):
        done = subprocess.run([sys.executable, SCRIPT, *arguments], check=False, timeout=60,
                              capture_output=True, text=True,
                              env=os.environ | {"PATH": "/nonexistent"})
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, rf"^{message}.*\n$")

    def test_without_valgrind(self):
        self.check(["operations_test"], "cache_lines.py: valgrind is not installed")

    def test_without_a_program(self):
        self.check([], "usage: cache_lines.py PROGRAM")


if __name__ == "__main__":
    unittest.main()
