#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Places and nodes that are lost or cut off the network: one line says which, the job ends with a
code, and no process is left on any node.

Arguments: as in nodes.py.
"""

import subprocess
import sys

from job import HEARTBEAT, LONGEST, PLACES, WORD, Case, Job, main
from nodes import CLUSTER, NAME, TRANSPORTS, cluster, up


class Places(Case):
    def test_a_place_of_another_node_is_killed(self):
        for transport in TRANSPORTS:
            for place, node in ((2, "node2"), (5, "node3"), (0, "node1")):
                with self.subTest(transport=transport, place=place):
                    job = Job(transport)
                    job.kill(node, place)
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
                job.kill("node3", 5, "STOP")
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

    def test_a_cut_node_where_no_place_watches_yet(self):
        with subprocess.Popen([CLUSTER, "--name", NAME, "run", "--", "apgas-run", "-n", "6",
                               "--env", f"APGAS_HEARTBEAT={HEARTBEAT}", "sh", "-c",
                               "echo here; exec sleep 60"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as job:
            for _ in range(PLACES):
                self.assertEqual(job.stdout.readline(), "here\n")
            cluster("cut", "node2")
            try:
                errors = job.communicate(timeout=LONGEST)[1]
            finally:
                cluster("heal", "node2")
            self.assertNotEqual(job.returncode, 0)
            self.assertRegex(errors, "Remote daemon: .* on node node2")  # Open MPI's own

    def test_the_node_of_mpirun_is_cut(self):
        for transport in TRANSPORTS:
            with self.subTest(transport=transport):
                job = Job(transport)
                cluster("cut", "node1")
                try:
                    self.check(job, f"the cut node of mpirun, {HEARTBEAT} s",
                               "^apgas: places 2-3 on node2 and 4-5 on node3 are gone: no sign of "
                               f"life for {HEARTBEAT} s ")
                finally:
                    cluster("heal", "node1")

    def test_a_killed_node(self):
        name = f"{NAME}-more"
        self.assertEqual(up(name, 3 + len(TRANSPORTS)).returncode, 0)
        try:
            for i, transport in enumerate(TRANSPORTS):
                with self.subTest(transport=transport):
                    node = f"node{3 + i}"  # each transport has one to lose
                    job = Job(transport, name=name, hosts=["node1", "node2", node])
                    cluster("kill", node, name=name)
                    self.check(job, "a killed node",
                               f"^apgas: places? 4(-5)? on {node} (is|are) gone: ")
            last = f"node{3 + len(TRANSPORTS)}"
            job = Job(TRANSPORTS[0], name=name, hosts=["node1", "node2", last])
            cluster("kill", "node1", name=name)  # with mpirun: nobody is left to be told
            job.end("the killed node of mpirun")
        finally:
            self.assertEqual(cluster("down", name=name).returncode, 0)
        self.assertIn("no cluster", cluster("status", name=name).stderr)


if __name__ == "__main__":
    sys.exit(main())
