#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two places of one host in other namespaces of the kernel, as containers have them. The job runs,
by shared memory or by the transport between hosts, and the line about its start gives the reason.

Arguments: see jobs.py.
"""

import os
import re
import subprocess
import sys
import unittest

from jobs import BEHAVE, WITH_UCX, environment_with, main, own_lines

SKIPPED = 77
# Root, or an ordinary user who is root in a user namespace around the job.
AROUND = [] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user"]
USER = ["unshare", "--user", "--map-root-user"]
PID = ["unshare", "--pid", "--fork"]
OWN_SHM = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /dev/shm && exec "$@"', "sh"]
CONTAINER = [*USER, "--ipc", "--mount-proc", *PID[1:], *OWN_SHM]
SHELL = ["sh", "-c", '"$@"; exit $?', "sh"]  # stays as the parent of the place
BETWEEN_HOSTS = "ucx" if WITH_UCX else "mpi"


class Namespaces(unittest.TestCase):
    def tearDown(self):
        """Our segment has no name. Other jobs have files of MPI and UCX there meanwhile."""
        self.assertFalse([name for name in os.listdir("/dev/shm") if "apgas" in name])

    def check(self, first, second, by, links):
        """Starts the places behind these commands. `by` is what the line about the start must say;
        `links` what carries the messages of place 0 and of place 1."""
        command = [*AROUND, "mpirun", "-n", "1", *first, BEHAVE, "long", ":",
                   "-n", "1", *second, BEHAVE, "long"]
        result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120,
                                env=environment_with({"APGAS_STATS": "1"}))
        self.assertEqual(result.returncode, 0, result)
        self.assertRegex(own_lines(result.stderr)[0], rf"^apgas: 2 places, by {by}, on 1 host: ")
        found = dict(re.findall(r"(?m)^ +(\d to \d) .* (\w+)$", result.stderr))
        self.assertEqual((found["0 to 1"], found["1 to 0"]), links)
        self.assertNotIn("ERROR", result.stderr)  # of UCX

    def check_shared(self, both):
        self.check(both, both, r"shm \(default\)", ("shm", "shm"))

    def check_not_shared(self, both):
        self.check(both, both, rf"{BETWEEN_HOSTS} \(ranks? .* cannot share memory with other "
                               r"places of the host: process \d+ .*\)",
                   (BETWEEN_HOSTS, BETWEEN_HOSTS))

    def test_own_dev_shm(self):
        self.check_shared(OWN_SHM)

    def test_own_ipc_namespace(self):
        self.check_shared(["unshare", "--ipc"])

    def test_own_user_namespace(self):
        self.check_not_shared(USER)

    def test_own_user_namespace_behind_a_shell(self):
        self.check_not_shared([*USER, *SHELL])

    def test_own_pid_namespace(self):
        self.check_not_shared(PID)

    def test_as_containers(self):
        self.check_not_shared(CONTAINER)

    def test_one_place_in_a_user_namespace(self):
        """The other place may access its memory, but not the reverse."""
        why = r"\(rank {} \(host \S+\) cannot share memory .*: Permission denied\)"
        by = rf"shm\+{BETWEEN_HOSTS} "
        self.check([], USER, by + why.format(1), ("shm", BETWEEN_HOSTS))
        self.check(USER, [], by + why.format(0), (BETWEEN_HOSTS, "shm"))


def may_unshare():
    tried = subprocess.run([*AROUND, *CONTAINER, "true"], capture_output=True,
                           text=True, check=False)
    if tried.returncode != 0:
        print(f"SKIPPED: namespaces cannot be created here: {tried.stderr.strip()}")
    return tried.returncode == 0


if __name__ == "__main__":
    if not may_unshare():
        sys.exit(SKIPPED)
    main()
