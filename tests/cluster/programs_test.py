#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs on a simulated cluster of three hosts, and docker/cluster itself.

Arguments: as in simulated_cluster.py.
"""

import json
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest
import uuid

from simulated_cluster import (CLUSTER, ENGINE, HOSTS, NAME, TRANSPORTS, WAYS, apgas_run, cluster,
                               up, with_cluster)

TREE, NODES_OF_TREE = "-t 1 -a 3 -d 10 -b 4 -r 19".split(), 4130071  # T1 of UTS

# What the line about the start calls them.
NAMES = {"shm": f"shm+{TRANSPORTS[-1]}"}


class Programs(unittest.TestCase):
    def check(self, *arguments):
        """Runs a program of apps/. Returns its verified report and its other lines of output."""
        result = apgas_run(*arguments)
        self.assertEqual(result.returncode, 0, result)
        *lines, last = result.stdout.splitlines()
        report = json.loads(last)
        self.assertTrue(report["verified"])
        return report, lines

    def test_places_run_on_the_hosts_in_order(self):
        for transport in WAYS:
            with self.subTest(transport=transport):
                _, lines = self.check("-n", "6", "--transport", transport, "hello")
                found = re.findall(r"place (\d) of 6 on (\w+) with", "\n".join(lines))
                self.assertEqual(found, [(str(p), HOSTS[p // 2]) for p in range(6)])

    def test_hosts_are_printed_at_the_start(self):
        for transport in WAYS:
            with self.subTest(transport=transport):
                result = apgas_run("-n", "5", "--env", "APGAS_STATS=1", "--transport", transport,
                                   "--hosts", "node1,node3:1,node2", "hello")
                self.assertIn(f"apgas: 5 places, by {NAMES.get(transport, transport)} "
                              "(APGAS_TRANSPORT), on 3 hosts: "
                              "0-1 on node1, 2 on node3, 3-4 on node2\n", result.stderr)
                for line in ("place 0 on node1: .* shared with place 1", "the same on 1 more host: "
                             "node2", "place 2 on node3: .* shared with no other place"):
                    self.assertRegex(result.stderr, f"(?m)^apgas: {line}")
                self.assertNotIn("place 3 on node2: ", result.stderr)

    def test_more_places_than_slots(self):
        report, lines = self.check("-n", "9", "hello")
        self.assertEqual(report["places"], 9)
        self.assertEqual({re.search(r" on (\w+) ", line)[1] for line in lines}, set(HOSTS))

    def test_load_is_balanced_over_hosts(self):
        for transport in WAYS:
            with self.subTest(transport=transport):
                report, _ = self.check("-n", "6", "--transport", transport, "uts", *TREE)
                self.assertEqual((report["variant"], report["nodes"], report["places"]),
                                 ("glb", NODES_OF_TREE, 6))
                self.assertGreater(report["least_share"], 0)

    def test_clocks_over_hosts(self):
        for transport in WAYS:
            with self.subTest(transport=transport):
                for kernel in ("LCR", "MST", "KC"):
                    report, _ = self.check("-n", "6", "--transport", transport, "imsuite", kernel,
                                           "--nodes", "60")
                    self.assertEqual((report["sync"], report["places"]), ("clocks", 6))
                    self.assertGreater(report["phases"], 0)

    def test_constructs_that_depend_on_hosts(self):
        # Not all constructs, since places in lock-step that share cores take minutes.
        names = "team.*:async_at_group.*:place.*:place_group.*-*.sends_no_more*:*.many_live*"
        for transport in WAYS:
            with self.subTest(transport=transport):
                result = cluster("run", "--", "apgas-run", "-n", "5", "--timeout", "300",
                                 "--transport", transport, "places_constructs_test",
                                 f"--gtest_filter={names}", seconds=320)
                self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
                self.assertIn("PASSED", result.stdout)

    def received(self, host):
        shown = cluster("exec", host, "--", "ip", "-s", "-j", "link", "show", "eth0")
        return json.loads(shown.stdout)[0]["stats64"]["rx"]["bytes"]

    def test_a_hundred_megabytes_go_over_the_network(self):
        words = 100_000_000 // 8
        for transport in TRANSPORTS:
            with self.subTest(transport=transport):
                before = [self.received(host) for host in HOSTS]
                self.check("-n", "3", "--hosts", ",".join(HOSTS), "--transport", transport,
                           "stream", "-n", str(words), "--rounds", "1")
                for host, bytes_before in zip(HOSTS, before):  # each array is sent there and back
                    self.assertGreater(self.received(host) - bytes_before, 2 * 8 * words)


class Launching(unittest.TestCase):
    def test_variables_and_labels(self):
        result = apgas_run("-n", "3", "--hosts", ",".join(HOSTS), "--label", "--env", "WORD=a b",
                           "sh", "-c", "echo $(hostname) $WORD")
        self.assertEqual(sorted(result.stdout.splitlines()),
                         [f"place {i}: {host} a b" for i, host in enumerate(HOSTS)], result)

    def test_the_exit_code_is_that_of_the_program(self):
        self.assertEqual(apgas_run("-n", "6", "sh", "-c", "exit 7").returncode, 7)

    def test_timeout_leaves_nothing_behind(self):
        mark = f"mark-{uuid.uuid4()}"
        result = cluster("run", "--", "apgas-run", "-n", "6", "--timeout", "3", "sh", "-c",
                         "sleep 60; true", mark)
        self.assertEqual(result.returncode, 124, result)
        for host in HOSTS:
            self.assertEqual(self.ended(host, mark), "", host)

    def ended(self, host, mark):
        """The processes of the job that are left on that host after some time."""
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            left = cluster("exec", host, "--", "pgrep", "-f", "--", f"[m]{mark[1:]}").stdout
            if not left:
                break
            time.sleep(0.2)
        return left


class Doctor(unittest.TestCase):
    def doctor(self, hosts):
        result = cluster("run", "--", "apgas-doctor", "--json", "--hosts", ",".join(hosts),
                         "--program", f"{self.bin()}/hello")
        answer = json.loads(result.stdout)
        wrong = [each["what"] for each in answer["findings"] if each["level"] == "wrong"]
        self.assertEqual(result.returncode, 1 if wrong else 0)
        # Hosts made of namespaces see other jobs of the real host.
        return answer["facts"], [what for what in wrong if "running places" not in what]

    def bin(self):
        return pathlib.Path(cluster("run", "--", "which", "hello").stdout.strip()).parent

    def test_healthy_hosts(self):
        facts, wrong = self.doctor(HOSTS)
        self.assertEqual(wrong, [])
        self.assertEqual([facts[host]["name"] for host in HOSTS], HOSTS)
        self.assertEqual(len({facts[host]["program"] for host in HOSTS} - {None}), 1)

    def test_a_disconnected_and_a_nonexistent_host(self):
        self.assertEqual(cluster("cut", "node2").returncode, 0)
        try:
            facts, wrong = self.doctor([*HOSTS, "node99"])
        finally:
            self.assertEqual(cluster("heal").returncode, 0)
        self.assertEqual(sorted(facts), ["node1", "node3"])
        self.assertEqual(sum("ssh cannot reach it" in what for what in wrong), 2, wrong)
        self.assertIn("node99", "".join(wrong))
        self.test_healthy_hosts()


class Command(unittest.TestCase):
    """docker/cluster itself."""

    def refused(self, reason, *arguments, code=1, name=NAME):
        result = cluster(*arguments, name=name)
        self.assertEqual(result.returncode, code, result)
        self.assertRegex(result.stderr, reason)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)

    def test_refusals(self):
        self.refused("no host node9; the hosts are node1, node2, node3", "kill", "node9")
        self.refused("is up already .*: docker/cluster down", "up", "-n", "2")
        self.refused("run: no command given", "run", "--")
        self.refused("no cluster 'other' is up: docker/cluster up", "status", name="other")
        self.refused("'0' is not a number from 1", "up", "-n", "0", code=2)
        self.refused("is not an installation", "up", "-n", "1", "--prefix", "/etc/ssl", code=2)
        self.refused("'fast' is not a rate", "limit", "node2", "fast", code=2)
        self.refused("'100' is not a number from 1 to 99", "lose", "node2", "100", code=2)
        self.refused("no host node9", "limit", "node9", "1mbit")
        self.refused("lower-case letters", "status", code=2, name="No")

    def test_a_host_is_killed(self):
        name = f"{NAME}-small"
        self.assertEqual(up(name, 2).returncode, 0)
        try:
            with subprocess.Popen([CLUSTER, "--name", name, "exec", "node2", "--", "sh", "-c",
                                   "echo here; sleep 60"], stdout=subprocess.PIPE) as sleeper:
                self.assertEqual(sleeper.stdout.readline(), b"here\n")
                self.assertEqual(cluster("kill", "node2", name=name).returncode, 0)
                self.assertNotEqual(sleeper.wait(20), 0)
            states = dict(line.split() for line in
                          cluster("status", name=name).stdout.splitlines())
            self.assertEqual(states["node1"], "running")
            self.assertIn(states["node2"], ("dead", "exited"))
            begin = time.monotonic()
            gone = cluster("run", "--", "ssh", "node2", "true", name=name)
            self.assertEqual(gone.returncode, 255)
            self.assertLess(time.monotonic() - begin, 15)
            self.assertIn("node2", cluster("logs", "node2", name=name).stdout)
        finally:
            self.assertEqual(cluster("down", name=name).returncode, 0)
        self.refused("no cluster", "status", name=name)

    def reaches(self, host, other):
        """Whether the other host answers, even if it only refuses the connection."""
        connect = ("import socket, sys\ntry: socket.create_connection((sys.argv[1], 7777), 3)\n"
                   "except ConnectionRefusedError: pass")
        return cluster("exec", host, "--", "python3", "-c", connect, other).returncode == 0

    def test_a_host_is_disconnected_and_healed(self):
        self.assertTrue(self.reaches("node1", "node2"))
        cluster("cut", "node2")
        try:
            self.assertFalse(self.reaches("node1", "node2"))
            self.assertFalse(self.reaches("node2", "node1"))
            self.assertTrue(self.reaches("node1", "node3"))
        finally:
            self.assertEqual(cluster("heal", "node2").returncode, 0)
        self.assertTrue(self.reaches("node1", "node2"))

    def sent(self, datagrams, length):
        """Sends datagrams from node2 to node3; returns the bytes received and the sending time."""
        take = ("import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
                "s.bind(('', 7000)); print('here', flush=True)\n"
                "s.settimeout(100); n = len(s.recv(9000)); s.settimeout(2)\n"
                "try:\n  while True: n += len(s.recv(9000))\n"
                "except TimeoutError: print(n)")
        give = ("import socket, time\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
                "s.connect(('node3', 7000)); begin = time.monotonic()\n"
                f"for i in range({datagrams}): s.send(bytes({length}))\n"
                "print(time.monotonic() - begin)")
        with subprocess.Popen([CLUSTER, "--name", NAME, "exec", "node3", "--", "python3", "-c",
                               take], stdout=subprocess.PIPE, text=True) as taker:
            self.assertEqual(taker.stdout.readline(), "here\n")
            given = cluster("exec", "node2", "--", "python3", "-c", give)
            self.assertEqual(given.returncode, 0, given.stderr)
            return int(taker.stdout.readline()), float(given.stdout)

    def disturb(self, *arguments):
        result = cluster(*arguments)
        if "this requires" in result.stderr:
            self.skipTest(result.stderr)
        self.assertEqual(result.returncode, 0, result.stderr)

    # All data that arrives fits into the buffer of the receiver, however late the receiver is.
    def test_a_limit_affects_sent_data_and_is_healed(self):
        self.disturb("limit", "node2", "1mbit")
        try:
            count, seconds = self.sent(1000, 1000)
            self.assertGreater(count, 20_000)
            # The burst, the contents of the queue, and the data sent in the meantime.
            queue = (32 << 10) + 125_000 * 0.05
            self.assertLess(count, (32 << 10) + queue + 125_000 * seconds + 2000)
        finally:
            self.assertEqual(cluster("heal", "node2").returncode, 0)
        self.assertEqual(self.sent(50, 1000)[0], 50_000)

    def test_a_loss_affects_received_packets_and_is_healed(self):
        self.disturb("lose", "node3", "50")
        try:  # 100 are expected, and a difference of 50 is seven standard deviations
            self.assertTrue(50 < self.sent(200, 1)[0] < 150)
        finally:
            self.assertEqual(cluster("heal", "node3").returncode, 0)
        self.assertEqual(self.sent(200, 1)[0], 200)

    def test_signals_reach_the_host(self):
        sleep = "echo $$; exec sleep 60"
        for number in (signal.SIGINT, signal.SIGTERM):
            with subprocess.Popen([CLUSTER, "--name", NAME, "exec", "node2", "--", "sh", "-c",
                                   sleep], stdout=subprocess.PIPE, text=True) as command:
                is_there = ["exec", "node2", "--", "test", "-e",
                            f"/proc/{command.stdout.readline().strip()}"]
                self.assertEqual(cluster(*is_there).returncode, 0)
                command.send_signal(number)
                self.assertIn(command.wait(30), (-number, 128 + number))
            self.assertEqual(cluster(*is_there).returncode, 1)

    def test_ssh_does_not_forward_the_environment(self):
        result = cluster("run", "--", "env", "MARK=1", "ssh", "node2", "env")
        self.assertIn("HOME=", result.stdout)
        self.assertNotIn("MARK=", result.stdout)

    def test_the_network_of_a_host_can_be_changed(self):
        slow = ["qdisc", "replace", "dev", "eth0", "root", "tbf", "rate", "1mbit", "burst", "32kb",
                "latency", "50ms"]
        self.assertEqual(cluster("net", "node3", "--", "tc", *slow).returncode, 0)
        shown = cluster("net", "node3", "--", "tc", "qdisc", "show", "dev", "eth0").stdout
        self.assertIn("rate 1Mbit", shown)
        cluster("net", "node3", "--", "tc", "qdisc", "del", "dev", "eth0", "root")


if __name__ == "__main__":
    sys.exit(with_cluster())
