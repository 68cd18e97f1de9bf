#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of launch/benchmark: what it measures again, and where it finds matplotlib."""

import contextlib
import importlib.machinery
import importlib.util
import io
import json
import pathlib
import sys
import tempfile
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests/bench/report"))
import comparison  # noqa: E402
import programs  # noqa: E402

SPEC = importlib.util.spec_from_loader("launch_benchmark", importlib.machinery.SourceFileLoader(
    "launch_benchmark", str(ROOT / "launch/benchmark")))
launch = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(launch)


class Again(unittest.TestCase):
    """What is measured again because it seems slower than in an old report."""

    @staticmethod
    def reported(seconds):
        samples = {"speed-up": {programs.Key("speed-up of fib", "apgas", 1, 1): seconds}}
        return {"records": comparison.records(samples)}

    def again(self, *arguments):
        command = programs.Command(arguments, programs.read_app(1, 1), json_file=False)
        commands = {("speed-up", "speed-up of fib"): [("speed-up", command)]}
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            return launch.measure_again(self.reported([1e9, 1e9]), self.reported([2e9, 2e9]),
                                        commands, 3)

    def test_it_is_measured_until_it_is_as_fast_as_before(self):
        def line(seconds):
            return json.dumps({"app": "fib", "seconds": seconds, "verified": True})
        again, failed = self.again("echo", line(1))
        self.assertEqual(([each["records"][0]["ns"] for each in again], failed),
                         ([[1e9, 1e9]], False))
        again, failed = self.again("echo", line(2))
        self.assertEqual((len(again), failed), (launch.AGAIN, False))
        self.assertEqual(comparison.slower(self.reported([1e9, 1e9]), again[-1]),
                         {("speed-up", "speed-up of fib", "apgas", 1, 1)})

    def test_a_program_that_fails_then(self):
        again, failed = self.again("false")
        self.assertEqual((again, failed), ([{"records": []}], True))

    def test_nothing_is_measured_if_nothing_seems_slower(self):
        report = self.reported([1e9, 1e9])
        self.assertEqual(launch.measure_again(report, report, {}, 3), ([], False))


class Matplotlib(unittest.TestCase):
    def goes_on_in(self, tools, prefix="/usr"):
        with unittest.mock.patch.object(launch, "has_matplotlib", return_value=False), \
             unittest.mock.patch.object(launch.sys, "prefix", prefix), \
             unittest.mock.patch.object(launch.os, "execv") as execv:
            launch.with_matplotlib(tools)
        return [call.args[0] for call in execv.call_args_list]

    def test_the_python_of_the_tools_is_used_once(self):
        with tempfile.TemporaryDirectory() as folder:
            python = pathlib.Path(folder, "tools/bin/python")
            self.assertEqual(self.goes_on_in(python), [])
            python.parent.mkdir(parents=True)
            python.touch()
            self.assertEqual(self.goes_on_in(python), [python])
            self.assertEqual(self.goes_on_in(python, prefix=str(python.parents[1])), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
