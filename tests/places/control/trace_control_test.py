#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traces that apgas-ps starts and stops while a job runs. Arguments as for control_test.py."""

import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from control_test import HERE, TOOLS, WITH_MPI, job, members, run

import control_socket  # these paths are set by control_test
import job_traces
import running_jobs

sys.path.insert(0, str(HERE.parent.parent / "trace"))
sys.path.insert(0, str(HERE.parent / "traces"))
from trace_checks import has_perfetto, perfetto_problems, problems, run_tests  # noqa: E402
from trace_events import Events  # noqa: E402

RECORDED = 0.3  # seconds


def ways():
    yield {}
    yield {"APGAS_TRANSPORT": "local", "APGAS_PLACES": "3"}
    if WITH_MPI:
        yield {"APGAS_PLACES": "2"}


class Traces(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.path = self.folder / "run.json"

    def start(self, process, path=None):
        return run("apgas-ps", members(process)[0].pid, "--trace-start", path or self.path)

    def stop(self, process):
        return run("apgas-ps", members(process)[0].pid, "--trace-stop")

    def record(self, process, path):
        code, out, err = self.start(process, path)
        self.assertEqual((code, err), (0, ""))
        self.assertIn(f"{path} is being recorded", out)
        time.sleep(RECORDED)
        code, out, err = self.stop(process)
        self.assertEqual((code, out, err), (0, f"{path} is written\n", ""))
        self.check(path)

    def check(self, path, by_perfetto=False):
        self.assertEqual(problems(path), [])
        if by_perfetto and has_perfetto():  # takes seconds
            self.assertEqual(perfetto_problems(path), [])

    def refused(self, answer, message):
        code, out, err = answer
        self.assertEqual((code, out), (3, ""), err)
        self.assertRegex(err, message)
        self.assertEqual(len(err.splitlines()), 1, err)


class Recorded(Traces):
    def test_all_places_of_a_running_job(self):
        for way in ways():
            with self.subTest(way=way):
                with job("working", **way) as process:
                    time.sleep(0.2)
                    self.record(process, self.path)
                self.check(self.path, by_perfetto=True)
                events = Events(self.path)
                places = int(way.get("APGAS_PLACES", "1"))
                tasks = events.of("task", "B")
                self.assertEqual({e["pid"] for e in tasks}, set(range(1, places + 1)))
                self.assertTrue(any(e["args"].get("inline") for e in tasks))
                self.assertTrue(any(e["args"].get("branch") for e in tasks))
                self.assertTrue(all(e["name"].startswith("observed.cpp:") for e in tasks
                                    if "observed" in e["args"].get("site", "")))
                times = [e["ts"] for e in events.all if "ts" in e]
                self.assertGreaterEqual(min(times), 0)
                self.assertGreater(max(times), RECORDED * 1e6 / 2)
                self.assertLess(max(times), 60e6, "the trace begins when it is started")
                phases = {e["name"] for e in events.of("phase", "b")}
                self.assertIn("phase 1", phases)
                self.assertEqual(events.metadata["died"], [])
                if places == 1:
                    continue
                for name in "async_at", "at", "reply":
                    between = [p for p in events.flows(name) if p[0]["pid"] != p[1]["pid"]]
                    self.assertTrue(between, name)
                    for begin, end in between:
                        self.assertLessEqual(begin["ts"], end["ts"] + 0.001)

    def test_several_traces_of_one_job(self):
        for way in ways():
            with self.subTest(way=way), job("working", **way) as process:
                for number in range(3):
                    self.record(process, self.folder / f"{number}.pftrace")
                self.check(self.folder / "2.pftrace", by_perfetto=True)

    def test_a_trace_that_the_end_of_the_job_ends(self):
        for way in ways():
            with self.subTest(way=way):
                with job("working", **way) as process:
                    self.assertEqual(self.start(process)[0], 0)
                    time.sleep(RECORDED)
                self.check(self.path)
                self.path.unlink()

    def test_waits_that_began_before_the_recording(self):
        with job("suspended") as process:
            self.assertEqual(self.start(process)[0], 0)
        done = subprocess.run([sys.executable, TOOLS / "apgas-trace", "summary", self.path],
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, "in latch::wait .* began before the recording\n")
        self.assertNotIn("after -", done.stdout)

    def test_a_job_that_was_never_recorded_writes_nothing(self):
        with job("working") as process:
            found = running_jobs.choose_job(str(process.pid))
            self.assertEqual(job_traces.state_of(found),
                             {"state": "off", "path": "", "problems": []})
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_trace_of_the_start_can_be_stopped(self):
        for way in ways():
            with self.subTest(way=way):
                first, second = self.folder / "first.json", self.folder / "second.json"
                with job("working", APGAS_TRACE=str(first), **way) as process:
                    self.refused(self.start(process, second), f"recorded already, to {first}")
                    self.assertEqual(self.stop(process), (0, f"{first} is written\n", ""))
                    self.check(first)
                    size = first.stat().st_size
                    self.record(process, second)
                self.assertEqual(first.stat().st_size, size)

    def test_a_job_that_dies(self):
        with job("working", ends=False) as process:
            self.assertEqual(self.start(process)[0], 0)
            time.sleep(RECORDED)
            process.send_signal(signal.SIGABRT)
            process.wait(60)
        self.assertTrue((self.folder / "run.json.place0").exists())

    def test_workers_that_are_busy(self):
        with job("computing") as process:
            found = running_jobs.choose_job(str(process.pid))
            job_traces.start(found, self.path)
            with self.assertRaisesRegex(control_socket.Unanswered, "their workers are busy"):
                job_traces.wait_while(found, "starting", 0.3)
            self.refused(self.start(process), "recorded already")
            self.refused(self.stop(process), "is not done yet")
        # The recording begins when the tasks end, and so does the program soon afterwards.
        self.assertLessEqual(set(problems(self.path)), {f"{self.path} has no slices"})


class Refused(Traces):
    def test_what_makes_no_sense(self):
        with job("working") as process:
            self.refused(self.stop(process), "no trace is being recorded; start one first")
            self.assertEqual(self.start(process)[0], 0)
            self.refused(self.start(process, self.folder / "other.json"),
                         f"a trace is being recorded already, to {self.path}; stop it first")
            self.assertEqual(self.stop(process)[0], 0)
            self.refused(self.stop(process), "no trace is being recorded")

    def test_a_file_that_cannot_be_written(self):
        with job("working") as process:
            for path in "/nonexistent/run.json", self.folder:
                self.refused(self.start(process, path), rf"{path}: that file cannot be written \(")
            self.record(process, self.path)

    def test_a_job_with_a_profile_of_work_and_span(self):
        with job("working", APGAS_PROFILE="span",
                 APGAS_PROFILE_FILE=str(self.folder / "profile.json")) as process:
            self.refused(self.start(process), "which a trace would change; start the job with "
                                              "APGAS_TRACE=<file>, too")

    def test_a_full_disk(self):
        with job("working") as process:
            self.path.symlink_to("/dev/full")
            self.assertEqual(self.start(process)[0], 0)
            self.refused(self.stop(process), f"{self.path} is not complete: .*No space left")
            self.refused(self.start(process), "is not written yet: make space")
            self.path.unlink()
            self.assertEqual(self.stop(process), (0, f"{self.path} is written\n", ""))
            self.check(self.path)

    @unittest.skipUnless(WITH_MPI, "there is no mpirun")
    def test_place_zero_must_be_here(self):
        with job("working", APGAS_PLACES="2") as process:
            found = running_jobs.choose_job(str(members(process)[0].pid))
            found.members = found.members[1:]
            with self.assertRaisesRegex(control_socket.Unanswered, "runs on another host"):
                job_traces.start(found, self.path)

    def test_the_command_line(self):
        for arguments, message in ((["--trace-stop"], "a trace needs a JOB"),
                                   (["1", "--trace-start", ""], "needs the name of a FILE"),
                                   (["1", "--trace-stop", "--stacks"], "one thing at a time"),
                                   (["1", "--trace-stop", "--json"], "one thing at a time"),
                                   (["1", "--trace-stop", "--trace-start", "x"], "one thing")):
            code, _, err = run("apgas-ps", *arguments)
            self.assertEqual(code, 2, arguments)
            self.assertIn(message, err)


if __name__ == "__main__":
    run_tests()
