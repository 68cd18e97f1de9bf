#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Without a container engine the tests in tests/cluster are skipped, and fail where launch/test
requires an engine. docker is not on the PATH of these tests, so that none is started."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

CLUSTER = pathlib.Path(__file__).resolve().parents[1] / "cluster"


class NoEngine(unittest.TestCase):
    def run_without(self, test, **variables):
        with tempfile.TemporaryDirectory() as empty:
            clean = {k: v for k, v in os.environ.items() if k != "APGAS_TEST_REQUIRE_ENGINE"}
            done = subprocess.run([sys.executable, CLUSTER / test, "docker", empty, "mpi"],
                                  env={**clean, **variables, "PATH": empty}, capture_output=True,
                                  text=True, check=False, timeout=50)
        return done.returncode, done.stdout

    def test_it_is_skipped(self):
        for test in ("programs_test.py", "program_image_test.py"):
            self.assertEqual(self.run_without(test), (
                77, "SKIPPED: docker is not installed: apt install docker.io\n"))

    def test_it_fails_if_an_engine_is_required(self):
        for test in ("programs_test.py", "program_image_test.py"):
            self.assertEqual(self.run_without(test, APGAS_TEST_REQUIRE_ENGINE="1"), (
                1, "FAILED: docker is not installed: apt install docker.io\n"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
