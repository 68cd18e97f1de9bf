#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The profile of work and span (APGAS_PROFILE): the text and the file at the end of a run.

Arguments: see jobs.py. The numbers themselves are tested with an invented clock
(tests/unit/scheduler/span_profile).
"""

import json
import pathlib
import re
import subprocess
import tempfile
import unittest

from jobs import APPS, Job, environment_with, jobs, main, own_lines


def nqueens(**variables):
    return subprocess.run([APPS / "nqueens", "--n", "9"], capture_output=True, text=True,
                          check=True, env=environment_with(variables))


class Profile(unittest.TestCase):
    def test_the_text_ends_with_what_bounds_the_speed_up(self):
        done = nqueens(APGAS_PROFILE="span", APGAS_WORKERS="2")
        lines = own_lines(done.stderr)
        self.assertRegex(lines[0], r"work and span, on 2 workers:$")
        self.assertRegex(lines[-1], r"speed-up bounded by \d+\.\d: .* \(\d+ % of the critical "
                                    r"path; \d+ % is in .*\)(; with scheduling by .*)?$")
        self.assertIn("burdened parallelism", done.stderr)

    def test_the_file_adds_up(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "span.json")
            done = nqueens(APGAS_PROFILE=f"span:json:{path}", APGAS_WORKERS="2")
            self.assertEqual(own_lines(done.stderr), [])
            found = json.loads(path.read_text())
        sites = found["spawn_sites"]
        self.assertGreater(found["tasks"], 100)
        self.assertEqual(found["tasks"], sum(site["tasks"] for site in sites))
        self.assertAlmostEqual(found["work"] / sum(site["work"] for site in sites), 1, 5)
        on_path = sum(site["on_critical_path"] for site in sites)
        self.assertAlmostEqual(found["span"] / on_path, 1, 5)
        self.assertLessEqual(found["span"], found["work"])
        self.assertLessEqual(found["span"], found["burdened_span"])
        on_burdened = sum(site["on_burdened_path"] for site in sites)
        self.assertAlmostEqual(found["burdened_span"] / on_burdened, 1, 5)
        for site in sites:
            self.assertLessEqual(site["burden"], site["on_burdened_path"], site)
        finishes = [each["site"] for each in found["finishes"]]
        self.assertTrue(any(re.match(r"finish at nqueens.cpp:\d+$", each) for each in finishes),
                        finishes)
        self.assertIn(found["bounded_by"], [*finishes, "code outside any finish"])

    def test_one_report_is_of_all_places(self):
        for way in jobs(2):
            with self.subTest(way=way):
                code, _, err = Job("hello", APGAS_PROFILE="span", APGAS_WORKERS="1", **way).end()
                self.assertEqual(code, 0, err)
                self.assertEqual(len(re.findall("work and span, on 2 workers at 2 places:", err)),
                                 1, err)
                self.assertEqual(len(re.findall("speed-up bounded by", err)), 1, err)

    def test_one_file_is_of_all_places(self):
        for way in jobs(2):
            with self.subTest(way=way), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "run.json")
                code, _, err = Job("hello", APGAS_PROFILE=f"span:json:{path}", **way).end()
                self.assertEqual((code, own_lines(err)), (0, []))
                self.assertEqual([each.name for each in pathlib.Path(folder).iterdir()],
                                 ["run.json"])
                found = json.loads(path.read_text())
                self.assertEqual(found["places"], 2)
                self.assertLessEqual(found["span"], found["work"])
                sites = [each["site"] for each in found["spawn_sites"]]
                self.assertIn("behave.cpp", " ".join(sites))
                self.assertNotIn("", sites)

    def test_a_trace_of_the_same_run(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "run.json")
            done = nqueens(APGAS_PROFILE="span", APGAS_TRACE=str(path), APGAS_WORKERS="2")
            self.assertRegex(own_lines(done.stderr)[-1], "^apgas: speed-up bounded by")
            self.assertGreater(len(json.loads(path.read_text())["traceEvents"]), 100)

    def test_a_file_that_cannot_be_written(self):
        for way in jobs(2):
            with self.subTest(way=way):
                code, out, err = Job("hello", APGAS_PROFILE="span:json:/nonexistent/run.json",
                                     **way).end()
                self.assertEqual((code, "hello" in out), (2, False))
                self.assertEqual(len(own_lines(err)), 1, err)
                self.assertRegex(own_lines(err)[0],
                                 r"APGAS_PROFILE=span:json:/nonexistent/run.json: .*folder")

    def test_a_full_disk_is_told(self):
        code, _, err = Job("hello", APGAS_PROFILE="span:json:/dev/full").end()
        self.assertEqual((code, len(own_lines(err))), (0, 1), err)
        self.assertRegex(own_lines(err)[0],
                         r"the profile /dev/full is not complete: .*No space left")

    def test_a_wrong_value(self):
        code, out, err = Job("hello", APGAS_PROFILE="spam").end()
        self.assertEqual((code, "hello" in out), (2, False))
        self.assertRegex(own_lines(err)[0], "APGAS_PROFILE=spam: expected span, span:json:")


if __name__ == "__main__":
    main()
