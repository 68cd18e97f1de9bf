#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Jobs that cannot start on all hosts: one line of apgas names the reason, and nothing is left.

Arguments: as in simulated_cluster.py.
"""

import sys
import unittest

from simulated_cluster import ENGINE, TRANSPORTS, apgas_run, cluster, with_cluster


class Starts(unittest.TestCase):
    def check(self, result, *words):
        """Checks for code 2 and for exactly one line of apgas, which contains these words."""
        lines = [line for line in result.stderr.splitlines() if line.startswith("apgas: ")]
        self.assertEqual((result.returncode, len(lines)), (2, 1), result)
        for word in words:
            self.assertIn(word, lines[0])

    def start_different(self, first, second):
        """Starts a path that leads to one program on node1 and to another one on node2."""
        file = "/dev/shm/program" if ENGINE == "netns" else "/home/apgas/program"
        for host, program in (("node1", first), ("node2", second)):
            copied = cluster("exec", host, "--", "sh", "-c", f"ln -sf $(which {program}) {file}")
            self.assertEqual(copied.returncode, 0, copied)
        return apgas_run("-n", "2", "--hosts", "node1,node2", file)

    def test_a_host_has_another_program(self):
        self.check(self.start_different("hello", "fib"), "the places do not agree on the program",
                   "(host node2)")

    def test_a_host_has_another_version(self):
        self.check(self.start_different("places_behave", "places_another_version"),
                   "the places do not agree on the version of apgas: rank 0 (host node1) has `0.",
                   "rank 1 (host node2) `9.8.7'")

    def test_a_host_lacks_the_program(self):
        file = "/dev/shm/only" if ENGINE == "netns" else "/home/apgas/only"
        start = f"apgas-run --timeout 60 -n 2 --hosts node1,node2 {file}"
        script = f"ln -s $(which hello) {file}; {start}"
        result = cluster("run", "--", "sh", "-c", script)
        self.assertNotEqual(result.returncode, 0)
        for word in (file, "Node: node2", "could not access"):
            self.assertIn(word, result.stderr)
        self.assertNotIn("ended by signal", result.stderr)

    def test_a_name_that_does_not_resolve(self):
        result = apgas_run("-n", "2", "--hosts", "node1,node99", "hello")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("node99", result.stderr)

    def test_an_interface_that_does_not_exist(self):
        self.check(apgas_run("-n", "2", "--hosts", "node1,node2", "--env", "APGAS_INTERFACE=ib7",
                             "hello"), "APGAS_INTERFACE=ib7: ", " lo 127.0.0.1, eth0 1")

    @unittest.skipUnless(ENGINE == "netns", "the containers of these tests cannot mount")
    def test_a_full_disk(self):
        fill = ("mount -t tmpfs -o size=64k tmpfs {0} && ! head -c 1M /dev/zero >{0}/full && "
                "TMPDIR={1} apgas-run --timeout 60 -n 2 --transport {2} hello; "
                "code=$?; ls {0}; exit $code")
        full = r"^apgas-run: the disk of /mnt on node1 is full \(0 KiB left\), and Open MPI needs "
        memory = r"^apgas: APGAS_TRANSPORT=ucx: UCX cannot be used at ranks 0, 1 \(host node1\): "
        cases = [("/mnt", "/mnt", transport, 1, full) for transport in TRANSPORTS]
        if "ucx" in TRANSPORTS:
            cases.append(("/dev/shm", "/tmp", "ucx", 2, memory))
        for folder, temporary, transport, code, line in cases:
            with self.subTest(folder=folder, transport=transport):
                result = cluster("run", "--", "unshare", "--mount", "sh", "-c",
                                 fill.format(folder, temporary, transport))
                own = [each for each in result.stderr.splitlines() if each.startswith("apgas")]
                self.assertEqual((result.returncode, len(own)), (code, 1), result)
                self.assertRegex(own[0], line)
                files = [each for each in result.stdout.splitlines() if " UCX " not in each]
                self.assertEqual(files, ["full"])  # no file of the job is left

    @unittest.skipUnless(ENGINE == "netns", "the containers of these tests cannot mount")
    def test_output_to_a_full_disk(self):
        for name, command in (("apgas-run", "apgas-run -n 2 hello"),
                              ("apgas", "APGAS_PLACES=2 hello")):
            with self.subTest(command=command):
                script = ("mount -t tmpfs -o size=64k tmpfs /mnt && ! head -c 1M /dev/zero "
                          f">/mnt/full && {command} >/mnt/output")
                result = cluster("run", "--", "unshare", "--mount", "sh", "-c", script)
                self.assertEqual(result.returncode, 1, result)
                self.assertIn(f"{name}: the disk that standard output goes to is full: some of it "
                              "may be lost\n", result.stderr)


if __name__ == "__main__":
    sys.exit(with_cluster())
