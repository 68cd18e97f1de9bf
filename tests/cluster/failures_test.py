#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Places and hosts that fail or are disconnected from the network: one line names them, the job
ends with an exit code that is not 0, and no process is left on any host.

Arguments: as in simulated_cluster.py.
"""

import subprocess
import sys

from job import ENDED, HEARTBEAT, LONGEST, PLACES, Case, Job, main
from simulated_cluster import CLUSTER, NAME, TRANSPORTS, cluster, up


# Shared memory within the hosts and UCX between them, if it is there, and MPI for both.
WAYS = [*(each for each in TRANSPORTS if each != "ucx"), "shm"]


class PlaceFailures(Case):
    def test_a_place_on_another_host_is_killed(self):
        for transport in WAYS:
            for place, host in ((2, "node2"), (5, "node3"), (0, "node1")):
                with self.subTest(transport=transport, place=place):
                    job = Job(transport)
                    job.kill(host, place)
                    self.check(job, "kill -9 of a place on another host",
                               f"^apgas: place {place} on {host} {ENDED}; ", 137)

    def test_a_place_on_another_host_crashes(self):
        for transport in WAYS:
            with self.subTest(transport=transport):
                job = Job(transport, "segv", "3")
                self.check(job, "a segmentation fault on another host",
                           r"^apgas: place 3 on node2: ended by signal 11 ", 139)

    def test_a_place_on_another_host_is_stopped(self):
        for transport in WAYS:
            with self.subTest(transport=transport):
                job = Job(transport)
                job.kill("node3", 5, "STOP")
                self.check(job, f"a stopped place on another host, {HEARTBEAT} s",
                           rf"^apgas: place 5 on node3 has sent no heartbeat for {HEARTBEAT} s "
                           r"\(stopped, or its host is overloaded\); this ends the job$")


class HostFailures(Case):
    def test_a_host_is_disconnected(self):
        for transport in WAYS:
            for host, places in (("node3", "4-5"), ("node2", "2-3")):
                with self.subTest(transport=transport, host=host):
                    job = Job(transport)
                    cluster("cut", host)
                    try:
                        self.check(job, f"a disconnected host, {HEARTBEAT} s",
                                   rf"^apgas: places {places} on {host} have sent no heartbeat "
                                   rf"for {HEARTBEAT} s \(host or network link down\); ")
                    finally:
                        cluster("heal", host)

    def test_a_host_is_disconnected_before_the_places_are_connected(self):
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
            self.assertRegex(errors, "Remote daemon: .* on node node2")  # a message of Open MPI

    def test_the_host_of_mpirun_is_disconnected(self):
        for transport in WAYS:
            with self.subTest(transport=transport):
                job = Job(transport)
                cluster("cut", "node1")
                try:
                    self.check(job, f"the disconnected host of mpirun, {HEARTBEAT} s",
                               "^apgas: places 2-3 on node2 and 4-5 on node3 have sent no "
                               f"heartbeat for {HEARTBEAT} s ")
                finally:
                    cluster("heal", "node1")

    def test_a_host_is_killed(self):
        name = f"{NAME}-more"
        self.assertEqual(up(name, 3 + len(WAYS)).returncode, 0)
        try:
            for i, transport in enumerate(WAYS):
                with self.subTest(transport=transport):
                    host = f"node{3 + i}"  # a host for each transport, since it is lost
                    job = Job(transport, name=name, hosts=["node1", "node2", host])
                    cluster("kill", host, name=name)
                    self.check(job, "a killed host",
                               f"^apgas: places? 4(-5)? on {host} ended unexpectedly ")
            last = f"node{3 + len(WAYS)}"
            job = Job(WAYS[0], name=name, hosts=["node1", "node2", last])
            cluster("kill", "node1", name=name)  # it runs mpirun, so no line can be printed
            job.end("the killed host of mpirun")
        finally:
            self.assertEqual(cluster("down", name=name).returncode, 0)
        self.assertIn("no cluster", cluster("status", name=name).stderr)


if __name__ == "__main__":
    sys.exit(main())
