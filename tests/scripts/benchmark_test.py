#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of launch/benchmark: its comparison, its page, and what it refuses. Nothing is measured."""

import argparse
import contextlib
import copy
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests/bench/report"))
import comparison  # noqa: E402
import measurement  # noqa: E402
import plots  # noqa: E402
import programs  # noqa: E402
import runtimes  # noqa: E402

FINDINGS = {"findings": [{"benchmark": "fib", "operations": 1000, "results": [
    {"variant": "apgas fork_join", "workers": 1, "min_s": 4e-6, "correct": True},
    {"variant": "OpenMP task", "workers": 1, "min_s": 80e-6, "correct": True}]}]}


def report(ours, theirs=(80, 81, 82, 83), quick=False):
    samples = {"spawn": {programs.Key("fib", "apgas fork_join", 1, 1): list(ours),
                         programs.Key("fib", "OpenMP task", 1, 1): list(theirs)}}
    return {"format": comparison.FORMAT, "quick": quick, "rounds": 5, "notes": ["a <note>"],
            "machine": {"cores": 2}, "versions": {"g++": "12"}, "cores_used_by_others": 0.25,
            "commands": ["spawn_bench"], "records": comparison.records(samples)}


OLD = report([4.0, 4.1, 4.0, 4.1])


class Comparison(unittest.TestCase):
    def describe(self, new, again=()):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            worse = comparison.describe(OLD, new, again)
        return worse, output.getvalue()

    def test_the_same_is_no_change(self):
        self.assertEqual(self.describe(copy.deepcopy(OLD)),
                         (False, "no variant of apgas is slower\n"))

    def test_slower(self):
        worse, output = self.describe(report([5.0, 5.1, 5.0, 5.1]))
        self.assertTrue(worse)
        self.assertIn("slower: fib, apgas fork_join, 1 workers, 1 places: 1.25 times", output)

    def test_faster(self):
        worse, output = self.describe(report([3.0, 3.1, 3.0, 3.1]))
        self.assertFalse(worse)
        self.assertIn("faster: fib, apgas fork_join", output)

    def test_a_change_within_the_spread(self):
        worse, _ = self.describe(report([3.5, 4.0, 5.0, 6.5]))
        self.assertFalse(worse)

    def test_a_change_with_one_sample_as_before(self):
        worse, _ = self.describe(report([5.0, 5.1, 5.0, 4.05]))
        self.assertFalse(worse)
        worse, _ = self.describe(report([5.0, 5.1, 5.0, 4.2]))
        self.assertTrue(worse)
        worse, output = self.describe(report([3.0, 3.1, 3.0, 4.0]))
        self.assertEqual((worse, output), (False, "no variant of apgas is slower\n"))

    def test_the_samples_of_a_slower_machine_are_corrected(self):
        worse, _ = self.describe(report([10.0, 10.1, 10.0, 8.1], [160, 161, 164, 166]))
        self.assertFalse(worse)
        worse, _ = self.describe(report([10.0, 10.1, 10.0, 9.0], [160, 161, 164, 166]))
        self.assertTrue(worse)

    def test_peers_that_became_faster_make_nothing_slower(self):
        worse, output = self.describe(report([4.0, 4.1, 4.0, 4.1], [60, 61, 62, 63]))
        self.assertFalse(worse)
        self.assertNotIn("apgas fork_join", output)

    def test_what_is_not_confirmed_does_not_count(self):
        slower = report([5.0, 5.1, 5.0, 5.1])
        worse, output = self.describe(slower, [slower, slower])
        self.assertTrue(worse)
        self.assertIn("\na variant of apgas is slower\n", output)
        for again in ([OLD], [slower, OLD], [OLD, slower]):
            worse, output = self.describe(slower, again)
            self.assertFalse(worse)
            self.assertIn("slower at first, but not when measured again: fib, apgas fork_join",
                          output)

    def test_what_cannot_be_measured_again_remains_slower(self):
        worse, output = self.describe(report([5.0, 5.1, 5.0, 5.1]), [{"records": []}])
        self.assertTrue(worse)
        self.assertIn("slower: fib, apgas fork_join", output)

    def test_a_slower_machine(self):
        worse, output = self.describe(report([5.0, 5.1, 5.0, 5.1], [100, 101, 102, 103]))
        self.assertFalse(worse)
        self.assertIn("slower: fib, OpenMP task", output)

    def test_another_machine(self):
        new = OLD | {"machine": {"processor": "one that is new", "cores": 4}}
        self.assertIn("different machines: the old one of an unknown processor with 2 cores, and "
                      "the new one of one that is new with 4 cores;", self.describe(new)[1])

    def test_what_one_report_lacks(self):
        new = copy.deepcopy(OLD)
        del new["records"][1]
        worse, output = self.describe(new)
        self.assertFalse(worse)  # a peer may vanish
        self.assertTrue(output.startswith("only in the old report: spawn, fib, OpenMP task, 1, 1"))

    def test_a_variant_that_has_vanished(self):
        new = copy.deepcopy(OLD)
        new["records"][0]["variant"] = "apgas forked"
        worse, output = self.describe(new)
        self.assertTrue(worse)
        self.assertIn("vanished, only in the old report: spawn, fib, apgas fork_join, 1, 1\n"
                      "only in the new report: spawn, fib, apgas forked, 1, 1\n", output)
        self.assertIn("\na variant of apgas has vanished: measure it again", output)

    def test_what_the_options_left_out_has_not_vanished(self):
        def vanished(left_out, **asked_for):
            old, new = (copy.deepcopy(OLD) for _ in range(2))
            old["records"].append(OLD["records"][0] | left_out)
            old |= {"workers": [1, 2], "places": [1, 2]}
            return comparison.vanished(old, new | asked_for)
        more = {"workers": {"workers": 2}, "places": {"places": 2}}
        everything = {"workers": [1, 2], "places": [1, 2]}
        for name, left_out in more.items():
            self.assertEqual(vanished(left_out, **everything | {name: [1]}), set())
            self.assertEqual(vanished(left_out), set())  # the records of an older report: both 1
            self.assertEqual(len(vanished(left_out, **everything)), 1)
        self.assertEqual(vanished({"group": "sync"}, **everything), set())  # by --only
        # A program may run with a number of workers of its own, whatever --workers says.
        self.assertEqual(len(vanished({"workers": 3}, workers=[1, 2], places=[1, 2])), 1)

    def test_groups_are_apart(self):
        two = copy.deepcopy(OLD)
        two["records"] += [each | {"group": "peers", "median": each["median"] * 9}
                           for each in two["records"]]
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            self.assertFalse(comparison.describe(two, copy.deepcopy(two)))
        self.assertEqual(output.getvalue(), "no variant of apgas is slower\n")


class Parts(unittest.TestCase):
    def test_findings(self):
        found = programs.read_findings(2)(FINDINGS)
        self.assertAlmostEqual(found[programs.Key("fib", "apgas fork_join", 1, 2)], 4.0)

    def test_a_wrong_result(self):
        wrong = copy.deepcopy(FINDINGS)
        wrong["findings"][0]["results"][0]["correct"] = False
        with self.assertRaisesRegex(ValueError, "a result is wrong"):
            programs.read_findings(1)(wrong)

    def test_a_program_that_fails(self):
        command = programs.Command(["sh", "-c", "echo reason >&2; exit 3"], None, json_file=False)
        with self.assertRaisesRegex(measurement.Failed, "code 3; reason"):
            measurement.run(command)

    def test_a_program_that_is_not_there(self):
        with self.assertRaisesRegex(measurement.Failed, "/none cannot be started: No such file"):
            measurement.run(programs.Command(["/none"], None))

    def test_the_first_round_warms_up(self):
        line = json.dumps({"app": "fib", "seconds": 1, "verified": True})
        both = [(name, programs.Command(["echo", line], programs.read_app(1, 1), json_file=False))
                for name in ("spawn", "speed-up")]
        shown = io.StringIO()
        with contextlib.redirect_stderr(shown):
            found = measurement.measure(both, 3, True)
        self.assertEqual((found.failures, list(found.samples["speed-up"].values())),
                         ([], [[1e9, 1e9]]))
        self.assertEqual(found.commands_of, {("spawn", "speed-up of fib"): both[:1],
                                             ("speed-up", "speed-up of fib"): both[1:]})
        self.assertRegex(shown.getvalue(), r"^\[\.+\] 0:00:\d\d left: spawn, round 1 of 3\n"
                         r"\[#+\.+\] 0:00:\d\d left: speed-up, round 1 of 3\n"
                         r"\[#+\.+\] 0:00:\d\d left: spawn, round 2 of 3\n"
                         r"(.*\n){3}\[#+\] 0:00:00 left: done\n$")

    def test_a_program_that_is_left_out(self):
        reason = "fft is left out at 3 places: choose multiples"
        line = json.dumps({"runs": {}, "left_out": [reason]})
        command = programs.Command(["echo", line], programs.read_peers, json_file=False)
        shown = io.StringIO()
        with contextlib.redirect_stderr(shown):
            found = measurement.measure([("programs", command)], 3, True)
        self.assertEqual((found.failures, found.left_out), ([], [f"programs: {reason}"]))
        self.assertEqual(shown.getvalue().count(f"programs: {reason}\n"), 1)

    def test_what_a_program_reports_as_left_out_is_said_once(self):
        parts = ["OpenMP is left out", "Argobots is left out"]
        line = json.dumps(FINDINGS | {"left_out": parts})
        command = programs.Command(["echo", line], programs.read_findings(1), json_file=False)
        notes = ["sync: OpenMP is left out"]
        shown = io.StringIO()
        with contextlib.redirect_stderr(shown):
            found = measurement.measure([("sync", command)], 1, True, notes)
        self.assertEqual((len(found.samples["sync"]), found.failures), (2, []))
        self.assertEqual((found.left_out, notes),
                         ([*notes, "sync: Argobots is left out"], notes[:1]))
        self.assertNotIn("OpenMP", shown.getvalue())  # launch/benchmark has printed the notes

    def test_a_peer_that_is_not_built_in(self):
        reason = "comd_peers: --variant: tbb is not built into this program, because oneTBB was not"
        command = programs.Command(["sh", "-c", f"echo '{reason} found' >&2; exit 2"], None)
        self.assertEqual(measurement.run(command), ({}, [f"{reason} found"]))

    def test_the_workers_and_places_of_a_program_beside_mpi(self):
        found = programs.read_peers({"runs": {"uts T3": {"tasks 1x2": [
            {"seconds": 3e-9, "places": 1, "workers": 2},
            {"seconds": 2e-9, "places": 1, "workers": 2}]}}})
        self.assertEqual(found, {programs.Key("uts T3", "apgas tasks 1x2", 2, 1): 2})

    def test_sizes(self):
        self.assertEqual(plots.size_of("barrier, N = 64"), ("barrier, ", 64))
        self.assertEqual(plots.size_of("round trip, 64 KiB there"), ("round trip there", 65536))
        self.assertIsNone(plots.size_of("hand-over"))


class Peers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def build(self, **program):
        made = runtimes.Program(("sh",), "apt install it", **{
            "build": lambda folder: ["touch", folder / "built"], "start": None} | program)
        with unittest.mock.patch.dict(runtimes.PROGRAMS, {"it": made}):
            return runtimes.build_program("it", self.folder)

    def test_a_program_is_built(self):
        self.assertIsNone(self.build())
        self.assertTrue((self.folder / "built").exists())

    def test_a_tool_is_missing(self):
        made = runtimes.Program(("no-such-tool",), "apt install it", None, None)
        with unittest.mock.patch.dict(runtimes.PROGRAMS, {"it": made}):
            self.assertEqual(runtimes.build_program("it", self.folder),
                             "no-such-tool is not installed: apt install it")

    def test_each_program_says_where_what_it_needs_comes_from(self):
        for name, program in runtimes.PROGRAMS.items():
            self.assertRegex(program.install, r"^apt install |from https://", name)

    def test_a_program_that_does_not_compile(self):
        reason = self.build(build=lambda _: ["sh", "-c", "echo one; echo error: 2 >&2; exit 1"])
        self.assertEqual(reason, "error: 2 (apt install it)")

    def test_a_peer_without_its_program_is_left_out(self):
        def build(name, _):
            return "cargo is not installed: install it" if name == "rust" else None
        with unittest.mock.patch.object(runtimes, "build_program", build):
            found, notes = runtimes.prepare.__wrapped__(self.folder)
        self.assertNotIn("rayon", [peer.name for peer in found])
        self.assertIn("peers is measured without rayon: cargo is not installed: install it",
                      notes)

    def test_an_old_java_has_no_virtual_threads(self):
        line = ("peers is measured without Java, virtual threads: they need Java 21, and this is "
                "Java 17: apt install openjdk-21-jdk-headless, where the distribution has it")
        for version, notes in ((17, [line]), (21, [])):
            with unittest.mock.patch.object(runtimes, "build_program", lambda *_: None), \
                    unittest.mock.patch.object(runtimes, "java_version", lambda: version):
                self.assertEqual(runtimes.prepare.__wrapped__(self.folder)[1], notes)

    def test_the_time_of_a_spawn(self):
        options = argparse.Namespace(quick=True, workers=[4])
        command = next(runtimes.commands_of(runtimes.PEERS[0], self.folder, options))
        key = programs.Key("fib, each spawn", "Go, goroutines", 4, 1)
        self.assertEqual(command.arguments[-1], 16)  # fib(16) begins 1596 tasks
        self.assertEqual(command.read({"seconds": 1596e-9, "verified": True}), {key: 1.0})
        with self.assertRaisesRegex(ValueError, "a result is wrong"):
            command.read({"seconds": 1, "verified": False})


class CommandLine(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, content):
        path = self.folder / name
        path.write_text(json.dumps(content), encoding="utf-8")
        return str(path)

    def benchmark(self, *arguments):
        return subprocess.run([sys.executable, ROOT / "launch/benchmark", "--output",
                               self.folder / "out", *arguments], capture_output=True, text=True,
                              check=False)

    def refused(self, words, *arguments):
        done = self.benchmark(*arguments)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done)
        self.assertIn(words, done.stderr)

    def test_what_is_refused(self):
        other = self.write("other.json", {"format": 0, "records": []})
        quick = self.write("quick.json", report([4], quick=True))
        self.refused("there is no benchmark 'spwan', only spawn, sync", "--only", "spwan")
        self.refused("'1,x' is not a list of numbers", "--workers", "1,x")
        self.refused("'1' is not a number of rounds from 2 to 100", "--rounds", "1")
        self.refused("is no folder that can be written: File exists", "--output", "/dev/null",
                     "--from-json", self.write("old.json", OLD))
        self.refused("--from-json measures nothing, so --rounds has no meaning", "--rounds", "9",
                     "--from-json", self.write("old.json", OLD))
        self.refused("has format 0, and this version reads format 1", "--compare", other)
        self.refused("whose times mean nothing", "--compare", quick)
        self.refused("is no whole report, since it lacks quick: make it again", "--compare",
                     self.write("part.json", {k: v for k, v in OLD.items() if k != "quick"}))
        part = {k: v for k, v in OLD["records"][0].items() if k not in ("median", "ours")}
        self.refused("since it lacks median, ours: make it again", "--from-json",
                     self.write("fields.json", OLD | {"records": OLD["records"] + [part]}))
        for name, records in (("number", 3), ("text", ["fib"])):
            self.refused("is no whole report", "--compare",
                         self.write(f"{name}.json", OLD | {"records": records}))
        (self.folder / "bytes.json").write_bytes(b"\xff")
        self.refused("is not JSON", "--compare", str(self.folder / "bytes.json"))
        self.refused("cannot be read: No such file", "--compare", "/none.json")
        self.refused("has no benchmarks", "--build", "/none")
        without = self.folder / "without"
        (without / "tests/bench").mkdir(parents=True)
        (without / "CMakeCache.txt").write_text("APGAS_BUILD_BENCHMARKS:BOOL=OFF\n")
        self.refused("has no benchmarks: cmake --preset release -DAPGAS_BUILD_BENCHMARKS=ON",
                     "--build", without)
        self.refused("--compare needs times", "--quick", "--compare", other)

    def test_a_page_and_the_exit_code(self):
        old = self.write("old.json", OLD)
        new = self.write("new.json", report([5.0, 5.1, 5.0, 5.1]))
        self.assertEqual(self.benchmark("--compare", old, "--from-json", old).returncode, 0)
        gone = self.write("gone.json", OLD | {"records": OLD["records"][1:]})
        self.assertEqual(self.benchmark("--compare", old, "--from-json", gone).returncode, 1)
        done = self.benchmark("--compare", old, "--from-json", new)
        self.assertEqual(done.returncode, 1, done)
        text = (self.folder / "out/index.html").read_text(encoding="utf-8")
        for words in ("apgas fork_join", "5.05", "a &lt;note&gt;", "spawn_bench", "0.25"):
            self.assertIn(words, text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
