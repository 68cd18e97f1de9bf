#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Nodes that are lost, cut off the network, or lack the program: one line says which, the job ends
with a code, and no process is left on any node.

Arguments: as in nodes.py, and the program working in the environment variable WORKING.
"""

import json
import os
import pathlib
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import unittest

from nodes import CLUSTER, ENGINE, HOSTS, NAME, PREFIX, TRANSPORTS, cluster, up, with_nodes

PLACES = 6  # two on each node
HEARTBEAT = 3
LONGEST = 60  # seconds that any end may take on a machine of any load
WORD = r"it ended without a word \(killed, for example by the kernel for lack of memory\)"
STARTED = 100  # seconds after which apgas-run gives up a job, so that no test waits for ever
TOOK = {}  # what: [seconds until the line came, and until all was over]


class Job:
    """A run of `working` over the nodes, from the moment when all places work."""

    found = False  # one was seen by left(): that nothing is left then says something

    def __init__(self, transport, *arguments, name=NAME, hosts=HOSTS, options=()):
        self.name = name
        self.errors = tempfile.NamedTemporaryFile("w+")
        command = [CLUSTER, "--name", name, "run", "--", "apgas-run", "--timeout", str(STARTED),
                   "-n", str(PLACES), "--transport", transport, "--hosts",
                   ",".join(f"{h}:2" for h in hosts),
                   "--env", f"APGAS_HEARTBEAT={HEARTBEAT}", *options, "working", "60", *arguments]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=self.errors, text=True)
        self.places = {}
        working = False
        while not working or len(self.places) < PLACES:
            line = self.process.stdout.readline()
            assert line, self.heard()
            working |= line == "working\n"
            if found := re.fullmatch(r"place (\d+) process (\d+) launcher \d+\n", line):
                self.places[int(found[1])] = found[2]
        if not arguments and not Job.found:  # others may end before anybody looks
            Job.found = bool(self.left())
            assert Job.found, "the processes of a job are not found"
        self.began = time.monotonic()

    def heard(self):
        return pathlib.Path(self.errors.name).read_text()

    def own_lines(self):
        return [line for line in self.heard().splitlines() if re.match("apgas(-run)?: ", line)]

    def end(self, what):
        """Waits for the first line of ours, for the end, and until no process is left."""
        while not self.own_lines() and self.process.poll() is None:
            time.sleep(0.02)
        said = time.monotonic() - self.began
        self.process.wait(LONGEST)
        TOOK.setdefault(what, []).append((said, time.monotonic() - self.began))
        self.wait_until_gone()
        self.process.stdout.close()
        return self.process.returncode, self.own_lines()

    def wait_until_gone(self):
        deadline = time.monotonic() + LONGEST
        left = self.left()
        while left and time.monotonic() < deadline:
            time.sleep(0.1)
            left = self.left()
        assert not left, f"left behind: {left}; {self.heard()}"

    def left(self):
        """Processes of the job on nodes that are alive: places, mpirun and its daemons."""
        states = [line.split() for line in
                  cluster("status", name=self.name).stdout.splitlines()]
        alive = [node for node, state in states if state in ("running", "cut")]
        # Nodes of namespaces see the processes of this machine: only those of their network count.
        find = "pgrep -l --runstates RSDT --ns $$ --nslist net 'mpirun|orted|working|apgas-watch'"
        return [f"{node}: {process}" for node in alive
                for process in cluster("exec", node, "--", "sh", "-c", find,
                                       name=self.name).stdout.splitlines()]


class Case(unittest.TestCase):
    def check(self, job, what, pattern, *codes):
        code, lines = job.end(what)
        self.assertEqual(len(lines), 1, job.heard())
        self.assertRegex(lines[0], pattern)
        self.assertNotEqual(code, 0)
        if codes:
            self.assertIn(code, codes, job.heard())


class Places(Case):
    def test_a_place_of_another_node_is_killed(self):
        for transport in TRANSPORTS:
            for place, node in ((2, "node2"), (5, "node3"), (0, "node1")):
                with self.subTest(transport=transport, place=place):
                    job = Job(transport)
                    cluster("exec", node, "--", "kill", "-9", job.places[place])
                    self.check(job, "kill -9 of a place on another node",
                               f"^apgas: place {place} on {node} is gone: {WORD}; ", 137)

    def test_a_place_of_another_node_fails(self):
        for transport in TRANSPORTS:
            with self.subTest(transport=transport):
                job = Job(transport, "segv", "3")
                self.check(job, "a segmentation fault on another node",
                           r"^apgas: place 3 on node2: ended by signal 11 ", 139)

    def test_a_stopped_place_of_another_node(self):
        for transport in TRANSPORTS:
            with self.subTest(transport=transport):
                job = Job(transport)
                cluster("exec", "node3", "--", "kill", "-STOP", job.places[5])
                self.check(job, f"a stopped place on another node, {HEARTBEAT} s",
                           rf"^apgas: place 5 on node3 is gone: no sign of life for {HEARTBEAT} s "
                           r"\(stopped, or its machine has no time for it\); this ends the job$")


class Nodes(Case):
    def test_a_cut_node(self):
        for transport in TRANSPORTS:
            for node, places in (("node3", "4-5"), ("node2", "2-3")):
                with self.subTest(transport=transport, node=node):
                    job = Job(transport)
                    cluster("cut", node)
                    try:
                        self.check(job, f"a cut node, {HEARTBEAT} s",
                                   rf"^apgas: places {places} on {node} are gone: no sign of life "
                                   rf"for {HEARTBEAT} s \(its link or the machine is down\); ")
                    finally:
                        cluster("heal", node)

    def test_a_killed_node(self):
        name = f"{NAME}-more"
        self.assertEqual(up(name, 2 + len(TRANSPORTS)).returncode, 0)
        try:
            for i, transport in enumerate(TRANSPORTS):
                with self.subTest(transport=transport):
                    node = f"node{3 + i}"  # each transport has one to lose
                    job = Job(transport, name=name, hosts=["node1", "node2", node])
                    cluster("kill", node, name=name)
                    self.check(job, "a killed node",
                               f"^apgas: places? 4(-5)? on {node} (is|are) gone: ")
        finally:
            self.assertEqual(cluster("down", name=name).returncode, 0)
        self.assertIn("no cluster", cluster("status", name=name).stderr)


def address_of(node):
    shown = cluster("exec", node, "--", "ip", "-4", "-j", "address", "show", "eth0").stdout
    return json.loads(shown)[0]["addr_info"][0]["local"]


class Network(Case):
    def listeners(self):
        """Addresses where something waits for connections, on each node: IPv4 and IPv6."""
        find = ("import re,sys\nfor file in ('tcp', 'tcp6'):\n for line in open('/proc/net/' + "
                "file):\n  part = line.split()\n  if part[3] == '0A': print(part[1])")
        found = {}
        for node in HOSTS:
            shown = cluster("exec", node, "--", "python3", "-c", find).stdout.split()
            found[node] = {address.rpartition(":")[0] for address in shown}
        return found

    def test_the_places_use_the_interface_that_is_named(self):
        before = self.listeners()
        for transport in TRANSPORTS:
            with self.subTest(transport=transport):
                job = Job(transport, options=("--interface", "eth0"))
                during = self.listeners()
                cluster("exec", "node1", "--", "kill", "-9", job.places[0])
                self.check(job, "kill -9 of place 0", f"^apgas: place 0 on node1 is gone: {WORD}; ")
                for node in HOSTS:
                    own = socket.inet_aton(address_of(node))[::-1].hex().upper()  # as in /proc
                    of_open_mpi = {"00000000", "0" * 32}  # it has all addresses, with any flag
                    self.assertEqual(during[node] - before[node] - of_open_mpi - {own, "0100007F"},
                                     set(), node)


class Starts(unittest.TestCase):
    def test_another_program_on_a_node(self):
        file = "/dev/shm/program" if ENGINE == "netns" else "/home/apgas/program"
        for node, program in (("node1", "hello"), ("node2", "fib")):
            copied = cluster("exec", node, "--", "sh", "-c", f"cp $(which {program}) {file}")
            self.assertEqual(copied.returncode, 0, copied)
        result = cluster("run", "--", "apgas-run", "--timeout", "60", "-n", "2", "--hosts",
                         "node1,node2", file)
        lines = [line for line in result.stderr.splitlines() if line.startswith("apgas: ")]
        self.assertEqual((result.returncode, len(lines)), (2, 1), result)
        self.assertIn("the places do not agree on the program", lines[0])
        self.assertIn("(host node2)", lines[0])

    def test_an_interface_that_is_not_there(self):
        result = cluster("run", "--", "apgas-run", "--timeout", "60", "-n", "2", "--hosts",
                         "node1,node2", "--env", "APGAS_INTERFACE=ib7", "hello")
        lines = [line for line in result.stderr.splitlines() if line.startswith("apgas: ")]
        self.assertEqual((result.returncode, len(lines)), (2, 1), result)
        self.assertRegex(lines[0], "APGAS_INTERFACE=ib7: .* lo 127.0.0.1, eth0 [1-9]")

    @unittest.skipUnless(ENGINE == "netns", "containers of these tests may not mount")
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
                self.assertEqual(files, ["full"])  # none of the job is left


def main():
    shutil.copy(os.environ["WORKING"], pathlib.Path(PREFIX) / "bin/working")
    code = with_nodes()
    for what, times in TOOK.items():
        said, over = (statistics.median(each) for each in zip(*times))
        print(f"{what}: said after {said:.1f} s, over after {over:.1f} s (median of {len(times)})")
    return code


if __name__ == "__main__":
    sys.exit(main())
