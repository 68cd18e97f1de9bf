#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traces that cannot be written, and records that are damaged or missing: what users are told.

Arguments: those of trace_test.py.
"""

import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "trace"))
from trace_checks import run_tests  # noqa: E402
from trace_events import Events  # noqa: E402
from traced_job import MERGE, TRACED, WITH_MPI, WITHOUT_TOOL, Traces  # noqa: E402
from traced_job import environment, job, ways  # noqa: E402


class Refusals(Traces):
    def test_a_folder_that_is_not_there(self):
        for way in ways():
            with self.subTest(way=way):
                code, lines = job("/nonexistent/run.json", **way)
                self.assertEqual((code, len(lines)), (2, 1), lines)
                self.assertRegex(lines[0],
                                 "APGAS_TRACE=/nonexistent/run.json: .*folder that exists")

    def check_records(self, lines, places, by_launcher=False):
        """Each place has left what it has recorded, and that makes a whole trace."""
        if by_launcher:  # what stands in the way of place 0 does so for the launcher, too
            self.assertRegex(lines.pop(), "there is no trace of all places: .*Is a directory")
        self.assertEqual(len(lines), 1, lines)
        self.assertTrue(lines[0].endswith(
            f"; each place leaves its record if there is space for it, {self.path}.place0 for "
            f"example, and apgas-trace-merge {self.path} makes a trace of them"), lines)
        self.assertEqual(self.files(), [f"run.json.place{p}" for p in range(places)])
        self.assertEqual(self.merge(), (0, ""))
        self.check(self.path)
        self.assertEqual(self.files(), ["run.json"])
        self.assertEqual(Events(self.path).metadata["died"], [])

    def test_a_full_disk(self):
        self.path.symlink_to("/dev/full")
        code, lines = job(self.path, APGAS_PLACES="2", APGAS_TRANSPORT="local")
        self.assertEqual(code, 0)
        self.assertRegex(lines[0], f"the trace {self.path} is not complete: .*No space left")
        self.path.unlink()
        self.check_records(lines, 2)

    def test_a_trace_that_is_too_large_makes_space_for_the_records(self):
        way = {"APGAS_PLACES": "2", "APGAS_TRANSPORT": "local"}
        self.assertEqual(job(self.path, **way), (0, []))
        whole = self.path.stat().st_size  # ten times as large as the record of a place
        linked = self.folder / "linked.json"
        for is_link in False, True:
            self.path.unlink()
            if is_link:
                linked.touch()
                self.path.symlink_to(linked)
            with self.subTest(is_link=is_link):
                code, lines = job(self.path, most_bytes=whole // 2, **way)
                self.assertEqual(code, 0)
                self.assertRegex(lines[0],
                                 f"the trace {self.path} is not complete: .*File too large")
                if is_link:
                    self.assertEqual((self.path.readlink(), linked.stat().st_size), (linked, 0))
                    linked.unlink()
                    self.path.unlink()
                self.check_records(lines, 2)

    def test_a_full_device(self):
        code, lines = job("/dev/full")
        self.assertEqual((code, len(lines)), (0, 1), lines)
        self.assertRegex(lines[0], r"the trace /dev/full is not complete: .*No space left on "
                                   r"device\)$")
        self.assertFalse(pathlib.Path("/dev/full.place0").exists())

    def test_a_trace_that_cannot_be_written_at_the_end(self):
        ways = [{"APGAS_TRANSPORT": "local"}] + ([{}] if WITH_MPI else [])
        for way in ways:
            with self.subTest(way=way):
                code, lines = job(self.path, "blocked", APGAS_PLACES="2", **way)
                self.assertEqual(code, 0)
                self.assertRegex(lines[0], "there is no trace: .*Is a directory")
                self.path.rmdir()
                self.check_records(lines, 2, by_launcher=not way)
                for name in self.files():
                    (self.folder / name).unlink()

    def test_a_forked_child_leaves_nothing(self):
        code, lines = job(self.path, "fork")
        self.assertEqual((code, lines), (0, []))
        self.assertEqual(self.files(), ["run.json"])
        self.check(self.path)

    def test_the_record_of_place_0_is_missing(self):
        self.assertEqual(self.leave_records(3), -6)
        (self.folder / "run.json.place0").unlink()
        code, warning = self.merge()
        self.assertEqual((code, len(warning.splitlines())), (0, 1), warning)
        self.assertIn("warning: nothing is here of place 0, which was killed", warning)
        self.check(self.path)
        self.assertEqual({e["pid"] for e in Events(self.path).of("task", "B")}, {2, 3})

    def test_a_place_that_was_killed_while_it_wrote(self):
        self.assertEqual(self.leave_records(3), -6)
        records = [self.folder / f"run.json.place{p}" for p in range(3)]
        for record in records[:2]:
            unfinished = record.with_name(record.name + ".unfinished")
            unfinished.write_bytes(record.read_bytes()[:-8])
            record.unlink()
        code, warning = self.merge()
        self.assertEqual((code, len(warning.splitlines())), (0, 1), warning)
        self.assertIn("warning: killed while it wrote its record: place 0, 1; give places more "
                      "time", warning)
        self.check(self.path)
        self.assertEqual({e["pid"] for e in Events(self.path).of("task", "B")}, {3})
        records[2].unlink()
        code, warning = self.merge()
        self.assertEqual((code, len(warning.splitlines())), (1, 1), warning)
        self.assertIn("killed while it wrote its record: place 0, 1; give", warning)
        # The next job does not take them for its own.
        self.assertEqual(job(self.path, APGAS_PLACES="3", APGAS_TRANSPORT="local"), (0, []))
        self.assertEqual(self.files(), ["run.json"])

    def test_a_record_that_cannot_be_written(self):
        (self.folder / "run.json.place1.unfinished").mkdir()
        code, lines = job(self.path, "abort", APGAS_PLACES="2", APGAS_TRANSPORT="local")
        self.assertEqual(code, -6)
        self.assertRegex("\n".join(lines), "warning: place 1 cannot write .*/run.json.place1, so "
                                           "the trace lacks it; make space on the disk")
        (self.folder / "run.json.place1.unfinished").rmdir()
        limits = "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); " \
                 "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)); "
        script = limits + "import os, sys; os.execv(sys.argv[1], sys.argv[1:])"
        done = subprocess.run([sys.executable, "-c", script, TRACED, "abort"],
                              env=environment(self.path), capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, -6)
        self.assertIn("warning: place 0 cannot write", done.stderr)
        self.assertEqual(self.files(), ["run.json"])  # nor is a part of the record left

    def test_a_name_that_is_no_utf8(self):
        for path in (self.path, self.folder / "run.pftrace"):
            code, lines = job(path, "latin1")
            self.assertEqual((code, lines), (0, []))
            self.check(path)
        names = {e["name"] for e in Events(self.path).of("task", "B")}
        self.assertIn("caf\ufffd", names)

    def test_records_that_are_damaged_or_missing(self):
        merged = subprocess.run([MERGE, self.path], capture_output=True, text=True, check=False)
        self.assertEqual(merged.returncode, 1)
        self.assertRegex(merged.stderr, "run.json.place0 cannot be read: No such file")
        record = self.folder / "run.json.place0"
        self.assertEqual(job(self.path, "exit", **WITHOUT_TOOL)[0], 5)
        whole = record.read_bytes()
        for text, why in ((whole[:20], "its end is missing"), (whole[:-8], "its end is missing"),
                          (b"x" * len(whole), "is not a record that a place has left")):
            record.write_bytes(text)
            merged = subprocess.run([MERGE, self.path], capture_output=True, text=True, check=False)
            self.assertEqual((merged.returncode, len(merged.stderr.splitlines())), (1, 1))
            self.assertIn(why, merged.stderr)

    def test_the_command_line(self):
        usage = subprocess.run([MERGE], capture_output=True, text=True, check=False)
        self.assertEqual(usage.returncode, 2)
        self.assertIn("usage: apgas-trace-merge FILE", usage.stderr)
        shown = subprocess.run([MERGE, "--help"], capture_output=True, text=True, check=False)
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))


if __name__ == "__main__":
    run_tests(sys.argv[:1] + sys.argv[4:])
