#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The statistics of jobs: the table and the file at the end, and the page for Prometheus.

Arguments: see jobs.py.
"""

import contextlib
import json
import os
import pathlib
import random
import re
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request

from jobs import APPS, Job, environment_with, jobs, main, own_lines


def free_port():
    """A port that no other program uses, nor gets by chance, as from the range for clients."""
    while True:
        port = random.randrange(20_000, 30_000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def fetch(port, path="/metrics", host="127.0.0.1", **request):
    """Fetches a page; waits for the server."""
    deadline = time.monotonic() + 30
    while True:
        try:
            asked = urllib.request.Request(f"http://{host}:{port}{path}", **request)
            with urllib.request.urlopen(asked, timeout=20) as page:
                return page.status, page.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


class AtTheEnd(unittest.TestCase):
    def test_table(self):
        for places in (1, 2):
            for way in jobs(places):
                with self.subTest(way=way):
                    code, _, err = Job("hello", APGAS_STATS="1", **way).end()
                    self.assertEqual(code, 0, err)
                    self.assertEqual(err.count("statistics of"), 1, err)
                    self.assertRegex(err, r"tasks stolen +\d")
                    self.assertEqual("1 to 0" in err, places == 2, err)

    def test_file(self):
        for way in jobs(2):
            with self.subTest(way=way), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "all.json"
                code, _, err = Job("hello", APGAS_STATS=f"json:{path}", **way).end()
                self.assertEqual((code, own_lines(err)), (0, []))
                read = json.loads(path.read_text())
                self.assertEqual([p["place"] for p in read["places"]], [0, 1])
                frames = [p["counters"]["frames_sent"] for p in read["places"]]
                self.assertEqual(read["all"]["frames_sent"], sum(frames))
                self.assertGreater(frames[0], 0)
                self.assertEqual(read["places"][0]["sent"][0]["to"], 1)

    def test_counts_that_are_known(self):
        for places in (1, 2):
            for way in jobs(places):
                with self.subTest(way=way), tempfile.TemporaryDirectory() as folder:
                    path = pathlib.Path(folder) / "all.json"
                    code, _, err = Job("count", APGAS_STATS=f"json:{path}", **way).end()
                    self.assertEqual((code, own_lines(err)), (0, []))
                    read = json.loads(path.read_text())
                    for place in read["places"]:
                        self.check_place(place["counters"])
                    self.assertEqual(read["all"]["sleep_suspensions"], 10 * places)
                    self.assertLess(read["all"]["deepest_stack"], 400 << 10)

    def check_place(self, counters):
        self.assertEqual(counters["sleep_suspensions"], 10)
        self.assertEqual(counters["clock_phases"], 5)
        self.assertEqual(counters["phaser_phases"], 0)
        # Three tasks wait for each phase, unless the one that comes last goes on at once.
        self.assertGreaterEqual(counters["clock_suspensions"], 2 * 5)
        self.assertLessEqual(counters["clock_suspensions"], 3 * 5)
        self.assertEqual(counters["other_suspensions"], 0)
        parts = sum(n for name, n in counters.items() if name.endswith("_suspensions"))
        self.assertEqual(counters["suspensions"], parts)
        self.assertGreaterEqual(counters["steal_attempts"], counters["steals"])
        self.assertGreaterEqual(counters["deepest_stack"], 300 << 10)
        self.assertLess(counters["deepest_stack"], 400 << 10)
        self.assertGreater(counters["serialization_ns"], 10_000)
        self.assertLess(counters["serialization_ns"], counters["elapsed_ns"])

    def test_parts_that_did_not_occur_are_left_out(self):
        code, _, err = Job("count", APGAS_STATS="1").end()
        self.assertEqual(code, 0, err)
        self.assertRegex(err, r"\n +in sleep +10\n")
        self.assertNotIn("in mutexes", err)

    def test_file_that_cannot_be_written(self):
        code, out, err = Job("hello", APGAS_STATS="json:/nonexistent/all.json").end()
        self.assertNotEqual(code, 0)
        self.assertEqual(out, "")
        self.assertEqual(len(own_lines(err)), 1, err)
        self.assertIn("APGAS_STATS=json:/nonexistent/all.json: that file cannot be written", err)

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    def test_full_disk(self):
        code, _, err = Job("hello", APGAS_STATS="json:/dev/full").end()
        self.assertEqual(code, 0, err)
        self.assertEqual(len(own_lines(err)), 1, err)
        self.assertIn("the statistics /dev/full are not complete", own_lines(err)[0])

    def test_wrong_value(self):
        for value in ("json:", "json:folder/", "xml:a"):
            code, _, err = Job("hello", APGAS_STATS=value).end()
            self.assertNotEqual(code, 0)
            self.assertIn(f"APGAS_STATS={value}: expected 1, 0 or json:", err)


class Metrics(unittest.TestCase):
    def test_page_of_a_running_job(self):
        for way in jobs(2):
            with self.subTest(way=way):
                port = free_port()
                job = Job("idle", "3", APGAS_METRICS=str(port), **way)
                status, page = fetch(port)
                self.assertEqual(status, 200, page)
                for place in (0, 1):
                    self.assertRegex(page, rf'apgas_workers{{place="{place}"}} [1-9]')
                for line in page.splitlines():
                    self.assertRegex(line, r'^(# (HELP|TYPE) \w+ .+|\w+{[^}]+} [0-9.]+)$')
                self.assertEqual(fetch(port, "/")[0], 404)
                self.assertEqual(fetch(port, method="POST", data=b"x")[0], 405)
                code, _, err = job.end()
                self.assertEqual((code, own_lines(err)), (0, []))

    def test_page_of_a_job_that_computes(self):
        for variant in ("fork_join", "finish"):
            with self.subTest(variant=variant):
                port = free_port()
                command = [APPS / "fib", "-n", "60", "--variant", variant]
                environment = environment_with({"APGAS_METRICS": str(port)})
                with subprocess.Popen(command, env=environment) as job:
                    pages = [fetch(port) for _ in range(3)]
                    job.kill()
                for status, page in pages:
                    self.assertEqual(status, 200, page)

    def test_clients_that_misbehave(self):
        port = free_port()
        job = Job("idle", "3", APGAS_METRICS=str(port))
        fetch(port)
        for sent in (b"", b"\x00\xff" * 100 + b"\r\n\r\n", b"GET", b"x" * 100000):
            with socket.create_connection(("127.0.0.1", port)) as client:
                try:
                    client.sendall(sent)
                except ConnectionError:
                    pass
        self.assertEqual(fetch(port)[0], 200)
        self.assertEqual(job.end()[0], 0)

    def test_job_ends_beside_a_silent_client(self):
        port = free_port()
        job = Job("idle", "2", APGAS_METRICS=str(port))
        fetch(port)
        with socket.create_connection(("127.0.0.1", port)):
            self.assertEqual(job.end()[0], 0)

    def test_only_loopback_by_default(self):
        port = free_port()
        job = Job("idle", "2", APGAS_METRICS=str(port))
        fetch(port)
        listening = pathlib.Path("/proc/net/tcp").read_text()
        self.assertRegex(listening, rf"0100007F:{port:04X} 00000000:0000 0A")
        self.assertIsNone(re.search(rf"00000000:{port:04X} 00000000:0000 0A", listening))
        self.assertEqual(job.end()[0], 0)

    def test_another_address(self):
        # The address that listens, as /proc/net/tcp has it, and one at which it answers.
        for address, listens, host in (("127.0.0.2", "0200007F", "127.0.0.2"),
                                       ("0.0.0.0", "00000000", "127.0.0.1")):
            with self.subTest(address=address):
                port = free_port()
                job = Job("idle", "2", APGAS_METRICS=f"{address}:{port}")
                status, page = fetch(port, host=host)
                self.assertEqual(status, 200, page)
                self.assertRegex(page, r'apgas_workers{place="0"} [1-9]')
                self.assertRegex(pathlib.Path("/proc/net/tcp").read_text(),
                                 rf"{listens}:{port:04X} 00000000:0000 0A")
                code, _, err = job.end()
                self.assertEqual((code, own_lines(err)), (0, []))

    def test_port_in_use(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            for way in jobs(2):
                with self.subTest(way=way):
                    code, out, err = Job("hello", APGAS_METRICS=str(port), **way).end()
                    self.assertNotEqual(code, 0)
                    self.assertEqual(len(own_lines(err)), 1, err)
                    self.assertIn(f"APGAS_METRICS={port}: place 0 cannot listen there", err)

    def test_wrong_value(self):
        for value in ("0", "http", "1.2.3.4:", ":9100", "70000"):
            code, _, err = Job("hello", APGAS_METRICS=value).end()
            self.assertNotEqual(code, 0)
            self.assertIn(f"APGAS_METRICS={value}: ", err)
        code, _, err = Job("hello", APGAS_METRICS="no.address:9100").end()
        self.assertNotEqual(code, 0)
        self.assertIn("cannot listen there", err)


if __name__ == "__main__":
    main()
