#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The trail that a place leaves which dies (APGAS_TRAIL).

Arguments: see jobs.py.
"""

import os
import pathlib
import re
import signal
import stat
import tempfile
import unittest
import unittest.mock

from jobs import Job, is_local, jobs, main, own_lines

HEAD = "apgas: the last events at place "
EVENT = re.compile(r"(?:apgas:   )?  \d+\.\d{3} (?:us|s) before: .")


def events(lines):
    return [line for line in lines if EVENT.match(line)]


class Trails(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.enterContext(unittest.mock.patch.dict(os.environ, TMPDIR=str(self.folder)))
        self.path = self.folder / "trail.txt"


class Printed(Trails):
    def check_crash(self, what, number):
        code, _, err = Job(what, "0", APGAS_TRAIL="1", APGAS_WORKERS="2").end()
        self.assertEqual(code, -number, err)
        lines = own_lines(err)
        self.assertIn(f"ended by signal {number:d}", lines[0])
        self.assertTrue(lines[1].startswith(f"{HEAD}0, of each worker at most 10"), err)
        self.assertRegex(err, r"before: task \d+ was spawned at \S*behave.cpp:\d+\n")
        for worker in range(2):
            self.assertEqual(len([line for line in lines[2:]
                                  if line.startswith(f"apgas:   worker {worker}")]), 1, err)
        return err

    def test_ten_events_of_each_worker(self):
        _, _, err = Job("late", APGAS_TRAIL="1", APGAS_WORKERS="1").end()
        self.assertEqual(len(events(own_lines(err))), 10, err)

    def test_crash(self):
        for what, number in (("segv", signal.SIGSEGV), ("abort", signal.SIGABRT)):
            with self.subTest(what=what):
                err = self.check_crash(what, number)
                self.assertEqual(err.count(", which ended the process"), 1, err)

    def test_exception_of_a_foreign_thread(self):
        err = self.check_crash("foreign", signal.SIGABRT)
        self.assertNotIn("which ended the process", err)

    def test_deadlock(self):
        code, _, err = Job("stuck", APGAS_TRAIL="1", APGAS_WATCHDOG="1").end()
        self.assertEqual(code, 124, err)
        self.assertRegex(err, r"before: task \d+ waits in future::get at \S*behave.cpp:\d+\n")
        self.assertLess(err.index("this is a deadlock"), err.index(HEAD))

    def test_only_the_place_that_crashes(self):
        for way in jobs(2):
            with self.subTest(way=way):
                _, _, err = Job("segv", "1", APGAS_TRAIL="1", **way).end()
                self.assertEqual(err.count(f"{HEAD}1,"), 1, err)
                if not is_local(way):
                    self.assertNotIn(f"{HEAD}0,", err)

    def test_end_in_order(self):
        for way in jobs(2):
            with self.subTest(way=way):
                code, _, err = Job("hello", APGAS_TRAIL="1", **way).end()
                self.assertEqual((code, own_lines(err)), (0, []))


class Unnamed(Trails):
    """The file of a run that names none."""

    def left(self):
        return sorted(self.folder.glob("apgas-trail-*"))

    def test_has_a_thousand_events_for_the_user_alone(self):
        _, _, err = Job("late", APGAS_TRAIL="1", APGAS_WORKERS="1").end()
        (path,) = self.left()
        self.assertIn(f"apgas: the last events of each worker of place 0 are in {path}\n", err)
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
        self.assertEqual(len(events(path.read_text().splitlines())), 1000)

    def test_only_the_place_that_says_why_the_job_ends_leaves_one(self):
        for way in jobs(2):
            if is_local(way):
                continue  # both places are in the process that dies
            with self.subTest(way=way):
                _, _, err = Job("segv", "1", APGAS_TRAIL="1", **way).end()
                (path,) = self.left()
                self.assertIn(f"of place 1 are in {path}\n", err)
                path.unlink()

    def test_end_in_order_leaves_none(self):
        Job("hello", APGAS_TRAIL="1").end()
        self.assertEqual(self.left(), [])

    def test_without_the_directory_that_TMPDIR_names(self):
        gone = self.folder / "gone"
        _, _, err = Job("late", APGAS_TRAIL="1", TMPDIR=str(gone)).end()
        self.assertIn("of place 0 are in /tmp/apgas-trail-", err)
        pathlib.Path(re.search(r"are in (/tmp/apgas-trail-\S+)\n", err)[1]).unlink()

    def test_in_a_directory_that_cannot_be_written(self):
        # Not even root can make a file in /proc.
        code, _, err = Job("late", APGAS_TRAIL="1", TMPDIR="/proc").end()
        self.assertEqual(code, -signal.SIGABRT, err)
        lines = [line for line in own_lines(err) if "of each worker of place" in line]
        self.assertEqual(len(lines), 1, err)
        self.assertIn("of place 0 could not all be written to /proc/apgas-trail-", lines[0])

    def test_none_is_left_if_the_setting_says_so(self):
        _, _, err = Job("late", APGAS_TRAIL="/dev/null").end()
        self.assertIn("are in /dev/null\n", err)
        self.assertEqual(self.left(), [])


class File(Trails):
    def test_has_a_thousand_events(self):
        code, _, err = Job("late", APGAS_TRAIL=str(self.path), APGAS_WORKERS="1").end()
        self.assertEqual(code, -signal.SIGABRT, err)
        lines = self.path.read_text().splitlines()
        self.assertEqual(lines[0], "worker 0, which ended the process")
        self.assertEqual(len(events(lines)), 1000)
        self.assertEqual(len(lines), 1001)
        self.assertRegex(lines[-1], r'task \d+ is "the last", spawned at \S*behave.cpp:\d+$')
        self.assertIn(f"apgas: the last events of each worker of place 0 are in {self.path}", err)
        times = [float(line.split()[0]) for line in lines[1:]]
        self.assertEqual(times, sorted(times, reverse=True))

    def test_every_place_leaves_one(self):
        for way in jobs(2):
            with self.subTest(way=way):
                Job("segv", "1", APGAS_TRAIL=str(self.path), **way).end()
                for place in (0, 1):
                    text = pathlib.Path(f"{self.path}.{place}").read_text()
                    self.assertGreater(len(events(text.splitlines())), 0, text)

    def test_beside_a_trace(self):
        trace = self.path.with_name("run.json")
        _, _, err = Job("late", APGAS_TRAIL="1", APGAS_TRACE=str(trace)).end()
        self.assertIn(HEAD, err)
        self.assertIn("apgas: what place 0 did is in ", err)
        self.assertGreater(len(events(own_lines(err))), 0, err)

    def test_end_in_order_leaves_none(self):
        for places in (1, 2):
            code, _, err = Job("hello", APGAS_TRAIL=str(self.path), APGAS_PLACES=str(places),
                               APGAS_TRANSPORT="local").end()
            self.assertEqual((code, own_lines(err)), (0, []))
        self.assertEqual(list(self.path.parent.iterdir()), [])

    def test_end_in_order_leaves_an_older_one_alone(self):
        self.path.write_text("of yesterday\n")
        code, _, err = Job("hello", APGAS_TRAIL=str(self.path)).end()
        self.assertEqual((code, own_lines(err)), (0, []))
        self.assertEqual(self.path.read_text(), "of yesterday\n")

    def test_that_cannot_be_written(self):
        for way in jobs(2):
            with self.subTest(way=way):
                code, out, err = Job("hello", APGAS_TRAIL="/nonexistent/trail.txt", **way).end()
                self.assertNotEqual(code, 0)
                self.assertEqual(out, "")
                self.assertEqual(len(own_lines(err)), 1, err)
                self.assertIn("APGAS_TRAIL=/nonexistent/trail.txt: the file ", err)

    def test_of_another_place_that_cannot_be_written(self):
        pathlib.Path(f"{self.path}.1").mkdir()
        _, _, err = Job("segv", "1", APGAS_TRAIL=str(self.path), APGAS_PLACES="2",
                        APGAS_TRANSPORT="local").end()
        self.assertIn(f"of place 1 could not all be written to {self.path}.1", err)
        self.assertIn(f"of place 0 are in {self.path}.0", err)

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    def test_full_disk(self):
        _, _, err = Job("segv", "0", APGAS_TRAIL="/dev/full").end()
        self.assertEqual(err.count("/dev/full"), 1, err)
        self.assertIn("could not all be written to /dev/full", own_lines(err)[-1])
        self.assertTrue(os.path.exists("/dev/full"))

    def test_wrong_value(self):
        for value in ("7", "", "folder/"):
            code, _, err = Job("hello", APGAS_TRAIL=value).end()
            self.assertNotEqual(code, 0)
            self.assertIn(f"APGAS_TRAIL={value}: expected 1, 0 or the path", err)


if __name__ == "__main__":
    main()
