#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""apgas-top in a terminal and without one. Arguments as for control_test.py."""

import contextlib
import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

from control_test import HERE, TOOLS, WITH_MPI, job, line, members, report_when, run

import job_traces  # these paths are set by control_test
import observed_job
import running_jobs

sys.path.insert(0, str(HERE.parent.parent / "trace"))
from trace_checks import problems  # noqa: E402


class Batch(unittest.TestCase):
    def test_once(self):
        with job("computing") as process:
            report_when("workers 0-1 run", process.pid)
            code, out, err = run("apgas-top", "--once", process.pid)
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, rf"^job {process.pid}: places_observed, 1 place, since ")
        self.assertRegex(out, r"(?m)^PLACE +HOST +AWAKE% +RUNNING ")
        self.assertRegex(out, r"(?m)^0 +\S+ +100\.0 +2 of 2 ")
        self.assertRegex(out, rf"(?m)^ +\d+\.\d%  {line('spawn of computing')}$")

    def test_the_peak_is_not_less_than_the_resident_memory(self):
        with job("suspended") as process:
            _, out, _ = run("apgas-top", "--once", "--sort", "peak", process.pid)
        head, row = (re.search(f"(?m)^{first} .*", out)[0].split() for first in ("PLACE", "0"))
        resident, peak = (float(row[head.index(name) - len(head)].removesuffix("M"))
                          for name in ("RSS", "PEAK"))
        self.assertLessEqual(resident, peak, out)

    def test_several_looks_at_several_places(self):
        with job("suspended", APGAS_TRANSPORT="local", APGAS_PLACES="2") as process:
            code, out, err = run("apgas-top", "--batch", "-n", "2", "--interval", "0.2",
                                 process.pid)
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(len(re.findall("(?m)^all ", out)), 2)
        self.assertEqual(len(re.findall("(?m)^1 ", out)), 2)

    def test_the_end_of_the_job(self):
        with job("suspended") as process:
            with subprocess.Popen([sys.executable, TOOLS / "apgas-top", "--batch", "--interval",
                                   "0.2", str(process.pid)], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True) as top:
                self.assertRegex(top.stdout.readline(), "^job ")
                process.stdin.close()
                out, err = top.communicate(timeout=60)
            self.assertEqual((top.returncode, err), (0, ""))
            self.assertEqual(out.splitlines()[-1],
                             f"apgas-top: job {process.pid} (places_observed) has ended")

    def test_a_job_that_is_killed(self):
        with job("suspended", ends=False) as process:
            with subprocess.Popen([sys.executable, TOOLS / "apgas-top", "--batch", "--interval",
                                   "0.2", str(process.pid)], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True) as top:
                self.assertRegex(top.stdout.readline(), "^job ")
                process.kill()
                process.wait()
                out, err = top.communicate(timeout=60)
            self.assertEqual((top.returncode, err), (0, ""))
            self.assertTrue(out.endswith(" has ended\n"), out)
            self.assertEqual(members(process), [])

    @unittest.skipUnless(WITH_MPI, "there is no mpirun")
    def test_several_processes(self):
        with job("suspended", APGAS_PLACES="2") as process:
            code, out, err = run("apgas-top", "--once", "--interval", "0.2",
                                 members(process)[0].pid)
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"(?s)\nall .*\n0 .*\n1 ")


class OtherHosts(unittest.TestCase):
    """A process is left out, as if it ran on another host."""

    @staticmethod
    def observe(process, seen):
        observed = observed_job.ObservedJob(running_jobs.choose_job(str(members(process)[0].pid)))
        observed.refresh_members = lambda: None
        observed.job.members = [each for each in observed.job.members if each.place in seen]
        observed.look()
        return observed

    @unittest.skipUnless(WITH_MPI, "there is no mpirun")
    def test_place_zero_asks_the_others(self):
        with job("suspended", APGAS_PLACES="2") as process:
            observed = self.observe(process, {0})
        self.assertEqual([row["place"] for row in observed.rows], [0, 1])
        self.assertEqual(observed.problem, "")

    @unittest.skipUnless(WITH_MPI, "there is no mpirun")
    def test_without_place_zero_a_line_says_what_is_missing(self):
        with job("suspended", APGAS_PLACES="2") as process:
            observed = self.observe(process, {1})
        self.assertEqual([row["place"] for row in observed.rows], [1])
        self.assertEqual(observed.problem, "without place 0: call apgas-top on the host of place 0")


class Terminal:
    """apgas-top in a pseudo-terminal."""

    def __init__(self, *arguments, rows=24, columns=80, term="xterm"):
        self.main, other = pty.openpty()
        self.resize(rows, columns)
        self.before = termios.tcgetattr(other)
        self.other = other
        self.process = subprocess.Popen(
            [sys.executable, TOOLS / "apgas-top", *map(str, arguments)], stdin=other, stdout=other,
            stderr=other, env=dict(os.environ, TERM=term), start_new_session=True)
        self.seen = ""

    def resize(self, rows, columns):
        fcntl.ioctl(self.main, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read_until(self, wanted, seconds=60):
        """Returns what was written up to the first match of a pattern."""
        deadline = time.monotonic() + seconds
        while not re.search(wanted, self.seen):
            left = deadline - time.monotonic()
            assert left > 0, f"{wanted} is not in {self.seen!r}"
            if select.select([self.main], [], [], left)[0]:
                self.seen += os.read(self.main, 65536).decode(errors="replace")
        seen, self.seen = self.seen, ""
        return seen

    def press(self, keys):
        os.write(self.main, keys.encode())

    def end(self, seconds=60):
        """Returns the exit code and what was written last."""
        deadline = time.monotonic() + seconds
        while self.process.poll() is None:
            assert time.monotonic() < deadline, f"it does not end: {self.seen!r}"
            if select.select([self.main], [], [], 0.1)[0]:
                self.seen += os.read(self.main, 65536).decode(errors="replace")
        while select.select([self.main], [], [], 0.1)[0]:
            self.seen += os.read(self.main, 65536).decode(errors="replace")
        return self.process.returncode, self.seen

    def is_restored(self):
        return termios.tcgetattr(self.other) == self.before

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.main)
        os.close(self.other)


@contextlib.contextmanager
def terminal(*arguments, **options):
    made = Terminal(*arguments, **options)
    try:
        yield made
    finally:
        made.close()


class Screen(unittest.TestCase):
    LEAVES = "\x1b\\[\\?1049l"  # the alternate screen of xterm

    def test_shows_and_quits(self):
        with job("computing") as process, terminal(process.pid, "--interval", "0.5") as top:
            top.read_until("AWAKE%")
            top.read_until(r"observed\.cpp:\d+")
            top.press("q")
            code, last = top.end()
            self.assertEqual(code, 0)
            self.assertRegex(last, self.LEAVES)
            self.assertTrue(top.is_restored())

    def test_keys_sort_and_show_the_waiting_tasks(self):
        with job("suspended") as process, terminal(process.pid, columns=120) as top:
            top.read_until("q quit")
            top.press("b+")
            top.read_until(r"0\.5")
            top.press("h")
            top.read_until("in latch::wait")
            top.press(" ")
            top.read_until("q quit")
            top.press("q")
            self.assertEqual(top.end()[0], 0)

    def test_a_key_starts_and_stops_a_trace(self):
        with tempfile.TemporaryDirectory() as folder, job("working") as process:
            path = pathlib.Path(folder, "run.json")
            found = running_jobs.choose_job(str(process.pid))
            with terminal(process.pid, "--interval", "0.5", "--trace", path, columns=200) as top:
                top.read_until("q quit")
                top.press("x")
                top.read_until(f"records {path}")
                top.press("x")
                job_traces.wait_while(found, "recording")
                self.assertEqual(job_traces.wait_while(found, "stopping")["state"], "off")
                top.press("q")
                self.assertEqual(top.end()[0], 0)
            self.assertEqual(problems(path), [])

    def test_a_trace_that_cannot_be_written(self):
        with job("suspended") as process:
            with terminal(process.pid, "--trace", "/nonexistent/run.json", columns=200) as top:
                top.read_until("q quit")
                top.press("x")
                top.read_until(r"/nonexistent/run.json: that file cannot be written")
                top.press("q")
                self.assertEqual(top.end()[0], 0)

    def test_signals_restore_the_terminal(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with job("suspended") as process, terminal(process.pid) as top:
                top.read_until("q quit")
                top.process.send_signal(number)
                code, last = top.end()
                self.assertEqual(code, 0)
                self.assertRegex(last, self.LEAVES)
                self.assertNotIn("Traceback", last)
                self.assertTrue(top.is_restored())

    def test_the_end_of_the_job_restores_the_terminal(self):
        with job("suspended", ends=False) as process, terminal(process.pid) as top:
            top.read_until("q quit")
            process.kill()
            process.wait()
            code, last = top.end()
            self.assertEqual(code, 0)
            self.assertRegex(last, self.LEAVES + r"(.|\n|\r)*has ended")
            self.assertTrue(top.is_restored())

    def test_sizes(self):
        with job("computing") as process, terminal(process.pid, rows=3, columns=12) as top:
            top.read_until("job")
            for rows, columns in ((1, 1), (2, 200), (50, 20), (24, 80)):
                top.resize(rows, columns)
                top.process.send_signal(signal.SIGWINCH)
                time.sleep(0.3)
            top.read_until("q quit")
            top.press("q")
            code, last = top.end()
            self.assertEqual(code, 0, last)

    def test_a_stopped_job_is_shown_until_it_goes_on(self):
        with job("suspended") as process, terminal(process.pid, columns=150) as top:
            top.read_until("q quit")
            os.kill(process.pid, signal.SIGSTOP)
            try:
                top.read_until("is stopped")
            finally:
                os.kill(process.pid, signal.SIGCONT)
            top.read_until("q quit")
            top.press("q")
            self.assertEqual(top.end()[0], 0)

    def test_an_unknown_terminal(self):
        with job("suspended") as process, terminal(process.pid, term="no-such-terminal") as top:
            code, last = top.end()
            self.assertEqual(code, 2)
            self.assertIn("set TERM, or use --batch", last)


if __name__ == "__main__":
    unittest.main()
