#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests trace_checks.py: it accepts right traces, refuses wrong ones, also by Perfetto."""

import json
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import perfetto_format as pf  # noqa: E402
from trace_checks import has_perfetto, perfetto_problems, problems, run_tests, tracks  # noqa: E402

NAMES = [{"ph": "M", "name": "process_name", "pid": 0, "args": {"name": "place 0"}},
         {"ph": "M", "name": "thread_name", "pid": 0, "tid": 1, "args": {"name": "worker 0"}}]


def piece(name, begin, duration, **more):
    return {"ph": "X", "name": name, "cat": "task", "pid": 0, "tid": 1, "ts": begin,
            "dur": duration, **more}


def arrow(kind, time, number=7):
    return {"ph": kind, "name": "spawn", "cat": "flow", "pid": 0, "tid": 1, "ts": time,
            "id": number, **({"bp": "e"} if kind == "f" else {})}


def counter(name, value):
    return {"ph": "C", "name": name, "pid": 0, "ts": 3, "args": {"value": value}}


GOOD = [counter("ready tasks", 5), counter("idle workers", 1),
        piece("outer", 1, 10), arrow("s", 2), piece("inner", 2, 9), piece("next", 12, 3),
        arrow("f", 12)]
WRONG = {"negative": [*GOOD, piece("x", 20, -3)],
         "negative counter": [*GOOD, counter("ready tasks", -1)],
         "more idle workers than workers": [*GOOD, counter("idle workers", 2)],
         "overlap": [*GOOD, piece("x", 14, 3)],
         "no end of the flow": [*GOOD, arrow("s", 3, 8)],
         "no begin of the flow": [*GOOD, arrow("f", 13, 8)],
         "backwards": [*GOOD, arrow("f", 3, 8), arrow("s", 13, 8)]}


class Checks(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def file(self, content):
        path = pathlib.Path(self.folder.name, "trace")
        if isinstance(content, list):
            lines = ",\n".join(json.dumps(event) for event in NAMES + content)
            content = f'{{"traceEvents":[\n{lines}\n]}}\n'.encode()
        path.write_bytes(content)
        return path

    def check_good(self, path):
        self.assertEqual(problems(path), [])
        self.assertEqual(tracks(path), [("place 0", "worker 0")])
        if has_perfetto():
            self.assertEqual(perfetto_problems(path), [])

    def test_a_right_trace(self):
        self.check_good(self.file(GOOD))

    def test_a_right_trace_in_the_format_of_perfetto(self):
        self.check_good(self.file(pf.example()))

    def test_wrong_traces(self):
        for name, events in WRONG.items():
            with self.subTest(name):
                path = self.file(events)
                self.assertEqual(len(problems(path)), 1, problems(path))
                if has_perfetto() and name != "backwards":
                    self.assertNotEqual(perfetto_problems(path), [])

    def test_a_wrong_trace_in_the_format_of_perfetto(self):
        path = self.file(pf.example(ended=False))
        self.assertRegex(problems(path)[0], "has no end")
        if has_perfetto():
            self.assertNotEqual(perfetto_problems(path), [])

    def test_files_that_are_no_traces(self):
        for content, reason in ((b"", "is empty"), (b"hello\n", "is not a trace"),
                                (b'{"a": 1}\n', "is not a trace"), (b"[1, 2]", "is not a trace"),
                                (b"\x7fELF", "is not a trace"),
                                (b'{"traceEvents":[\n{"ph":"X"', "is not a whole trace"),
                                (b'{"traceEvents":[{"ph":"X"', "is not a whole trace"),
                                (pf.example()[:-5], "is not a whole trace")):
            with self.subTest(content=content[-40:]):
                found = problems(self.file(content))
                self.assertEqual(len(found), 1)
                self.assertIn(reason, found[0])
        self.assertIn("cannot be read", problems("/nonexistent/trace")[0])

    def test_a_trace_that_ends_after_any_line_is_refused(self):
        lines = self.file(GOOD).read_text().splitlines(keepends=True)
        for count in range(1, len(lines)):
            with self.subTest(count=count):
                found = problems(self.file("".join(lines[:count]).encode()))
                self.assertRegex(found[0], "is not a whole trace")

    def test_perfetto_refuses_what_is_no_trace(self):
        if has_perfetto():
            self.assertNotEqual(perfetto_problems(self.file(b"hello hello hello hello\n")), [])


if __name__ == "__main__":
    run_tests()
