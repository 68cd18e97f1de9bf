#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tools that look into a job over several hosts: traces, the report of the watchdog, apgas-ps
and apgas-top. Arguments: as in simulated_cluster.py.
"""

import json
import re
import sys
import unittest

from job import PLACES, Job
from simulated_cluster import HOSTS, TRANSPORTS, WAYS, apgas_run, cluster, with_cluster

FIRST, *OTHERS = HOSTS
FILE = "/tmp/apgas-observed-{}.json"


def on(host, *command):
    return cluster("exec", host, "--", *command)


class Observed(unittest.TestCase):
    def test_a_trace_has_the_places_of_all_hosts_at_the_same_time(self):
        for transport in WAYS:
            with self.subTest(transport=transport):
                file = FILE.format(transport)
                result = apgas_run("-n", "6", "--transport", transport, "--env",
                                   f"APGAS_TRACE={file}", "gups", "--variant", "task", "--bits",
                                   "10")
                self.assertEqual(result.returncode, 0, result)
                trace = json.loads(on(FIRST, "cat", file).stdout)
                on(FIRST, "rm", file)
                clocks = {each["place"]: each for each in trace["metadata"]["clocks"]}
                self.assertEqual(sorted(clocks), list(range(6)))
                for place in (0, 1):
                    self.assertEqual(clocks[place]["error_ns"], 0, "on the host of place 0")
                for place in (2, 3, 4, 5):
                    self.assertGreater(clocks[place]["error_ns"], 0)
                self.check_flows(trace["traceEvents"], clocks)

    def check_flows(self, events, clocks):
        """No message arrives before it was sent, but for the error of the clocks."""
        ends = {}
        for event in events:
            if event.get("cat") == "flow" and event["name"] in ("async_at", "at", "reply"):
                ends.setdefault(event["id"], {})[event["ph"]] = event
        hosts = set()
        for end in ends.values():
            begin, arrival = end["s"], end["f"]
            error = sum(clocks[e["pid"] - 1]["error_ns"] for e in (begin, arrival)) / 1e3
            self.assertGreaterEqual(arrival["ts"] - begin["ts"], -error - 0.002, end)
            hosts.add(((begin["pid"] - 1) // 2, (arrival["pid"] - 1) // 2))
        self.assertEqual(hosts, {(a, b) for a in range(3) for b in range(3)})

    def test_the_watchdog_reports_a_deadlock_once_for_all_hosts(self):
        result = apgas_run("-n", "6", "--transport", TRANSPORTS[0], "--env", "APGAS_WATCHDOG=1",
                           "places_behave", "stuck", "0")
        self.assertEqual(result.returncode, 124, result)
        for text in ("nothing has run at any place for", "this is a deadlock"):
            self.assertEqual(result.stderr.count(text), 1, result.stderr)
        self.assertRegex(result.stderr, r"in future::get at .*behave.cpp:\d+, main, .* at place 0")

    def test_top_shows_all_hosts_on_that_of_place_0(self):
        job = Job(TRANSPORTS[0])
        try:
            top = on(FIRST, "apgas-top", "--once", job.places[0])
            self.assertEqual(top.returncode, 0, top)
            rows = re.findall(r"(?m)^(\d) +(node\d) ", top.stdout)
            self.assertEqual(rows, [(str(p), HOSTS[p // 2]) for p in range(PLACES)], top.stdout)
            elsewhere = on(OTHERS[0], "apgas-top", "--once", job.places[2])
            self.assertEqual(elsewhere.returncode, 0, elsewhere)
            self.assertIn("call apgas-top on the host of place 0", elsewhere.stdout)
        finally:
            job.kill(FIRST, 0)
            job.end("a job that was observed")

    def test_ps_shows_what_the_places_of_a_host_do(self):
        job = Job(TRANSPORTS[0])
        try:
            for number, host in enumerate(HOSTS):
                report = on(host, "apgas-ps", job.places[2 * number])
                self.assertEqual(report.returncode, 0, report)
                self.assertIn("working", report.stdout)
                self.assertRegex(report.stdout, rf"places? {2 * number}\b")
        finally:
            job.kill(FIRST, 0)
            job.end("a job that was observed")


if __name__ == "__main__":
    sys.exit(with_cluster())
