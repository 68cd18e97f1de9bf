#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The memory of a place, which docs/scaling.md states.

Arguments: see jobs.py. The memory of a worker is tested by many_workers_test, and that of the
segment for the places of a host by segment_size_test.
"""

import subprocess
import sys
import unittest

from jobs import BEHAVE, WITH_MPI, environment_with, main, mpirun

# Runs a program and prints the memory that it has had at most, in KiB. The line is one write: the
# line and its end, written separately, can have the line of another process between them.
MEASURE = """import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, used = os.wait4(process.pid, 0)
os.write(1, b"%d\\n" % (used.ru_maxrss if status == 0 else status))"""
HELLO = [sys.executable, "-c", MEASURE, BEHAVE, "hello", "0"]


def kib(command, **variables):
    """The most resident memory of each process, in KiB."""
    environment = environment_with(variables | {"APGAS_WORKERS": "1"})
    out = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return [int(line) for line in out.stdout.split()]


class Memory(unittest.TestCase):
    def test_of_a_place_of_the_local_transport(self):
        local = {"APGAS_TRANSPORT": "local"}
        ((few,), (many,)) = (kib(HELLO, APGAS_PLACES=str(n), **local) for n in (32, 128))
        self.assertGreater(many, few)
        self.assertLess(many - few, (128 - 32) * 256 + (128**2 - 32**2) * 2)

    @unittest.skipUnless(WITH_MPI, "this build has no MPI")
    def test_of_a_place_that_is_a_process(self):
        of_each = kib([*mpirun(4), *HELLO])
        self.assertEqual(len(of_each), 4)
        self.assertGreater(min(of_each), 1024)
        self.assertLess(max(of_each), 48 << 10)


if __name__ == "__main__":
    main()
