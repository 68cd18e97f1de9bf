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

from jobs import BEHAVE, WITH_UCX, environment_with, main, output_of, own_lines

SKIPPED = 77
# Root, or an ordinary user who is root in a user namespace around the job.
AROUND = [] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user"]
USER = ["unshare", "--user", "--map-root-user"]
PID = ["unshare", "--pid", "--fork"]
OWN_SHM = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /dev/shm && exec "$@"', "sh"]
NO_SPACE = ["unshare", "--mount", "sh", "-c",
            'mount -t tmpfs -o size=64k none /dev/shm && exec "$@"', "sh"]
CONTAINER = [*USER, "--ipc", "--mount-proc", *PID[1:], *OWN_SHM]
SHELL = ["sh", "-c", '"$@"; exit $?', "sh"]  # stays as the parent of the place
BETWEEN_HOSTS = "ucx" if WITH_UCX else "mpi"
# Runs a command where a bridge comes and goes, as those of container engines do, beside an
# interface that stays.
CHANGING_NETWORK = ["unshare", "--net", "sh", "-c", """
set -e
ip link set lo up
ip link add stays type veth peer name peer
ip addr add 10.9.0.1/24 dev stays
ip link set stays up
ip link set peer up
while true; do
  ip link add bridge0 type bridge
  ip addr add 172.30.0.1/16 dev bridge0
  ip link set bridge0 up
  ip link add port type veth peer name outside master bridge0
  ip link set port up
  ip link set outside up
  sleep 0.3
  ip link del port
  ip link del bridge0
  sleep 0.3
done &
trap "kill $!" EXIT
for i in 1 2 3 4; do "$@"; done""", "sh"]


class Namespaces(unittest.TestCase):
    def tearDown(self):
        """Our segment has no name. Other jobs have files of MPI and UCX there meanwhile."""
        self.assertFalse([name for name in os.listdir("/dev/shm") if "apgas" in name])

    def check(self, first, second, by, links, around=(), ucx_may_complain=False):
        """Starts the places behind these commands. `by` is what the line about the start must say;
        `links` what carries the messages of place 0 and of place 1."""
        command = [*AROUND, *around, "mpirun", "-n", "1", *first, BEHAVE, "long", ":",
                   "-n", "1", *second, BEHAVE, "long"]
        job = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env=environment_with({"APGAS_STATS": "1"}), start_new_session=True)
        out, err = output_of(job, 120)
        self.assertEqual(job.returncode, 0, out + err)
        self.assertRegex(own_lines(err)[0], rf"^apgas: 2 places, by {by}, on 1 host: ")
        found = dict(re.findall(r"(?m)^ +(\d to \d) .* (\w+)$", err))
        self.assertEqual((found["0 to 1"], found["1 to 0"]), links)
        if not ucx_may_complain:
            self.assertNotIn("ERROR", err)  # of UCX

    def check_shared(self, both):
        self.check(both, both, r"shm \(default\)", ("shm", "shm"))

    def check_not_shared(self, both):
        """Each place names the process of the other one, so the reasons may differ."""
        why = r"cannot share memory with other places of the host: process \d+ .*"
        self.check(both, both, rf"{BETWEEN_HOSTS} \((ranks 0, 1 \(.*\) {why}|"
                               rf"rank 0 \(.*\) {why}; nor can rank 1 \(host \S+\))\)",
                   (BETWEEN_HOSTS, BETWEEN_HOSTS))

    def test_own_dev_shm(self):
        self.check_shared(OWN_SHM)

    def test_no_space_in_dev_shm(self):
        """UCX, which is started for other hosts, needs some there. Our segments do not."""
        self.check([], [], r"shm \(default\)", ("shm", "shm"), NO_SPACE, ucx_may_complain=True)

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

    def test_an_interface_that_comes_and_goes(self):
        by = rf"shm\+{BETWEEN_HOSTS} \(rank 1 .*\)"
        self.check([], USER, by, ("shm", BETWEEN_HOSTS), CHANGING_NETWORK)


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
