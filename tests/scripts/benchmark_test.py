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
import groups  # noqa: E402
import measurement  # noqa: E402
import painting  # noqa: E402
import papers  # noqa: E402
import pbbs  # noqa: E402
import plots  # noqa: E402
import programs  # noqa: E402
import runtimes  # noqa: E402
import threads  # noqa: E402

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
    def describe(self, new):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            worse = comparison.describe(OLD, new)
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

    def test_a_slower_machine(self):
        worse, output = self.describe(report([5.0, 5.1, 5.0, 5.1], [100, 101, 102, 103]))
        self.assertFalse(worse)
        self.assertIn("slower: fib, OpenMP task", output)

    def test_what_one_report_lacks(self):
        new = copy.deepcopy(OLD)
        del new["records"][1]
        self.assertIn("only in the old report: spawn, fib, OpenMP task, 1, 1",
                      self.describe(new)[1])

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
        command = programs.Command(["echo", line], programs.read_app(1, 1), json_file=False)
        with contextlib.redirect_stderr(io.StringIO()):
            samples, failures, _, _ = measurement.measure([("speed-up", command)], 3, True)
        self.assertEqual((failures, list(samples["speed-up"].values())), ([], [[1e9, 1e9]]))

    def test_a_program_that_is_left_out(self):
        reason = "fft is left out at 3 places: choose multiples"
        line = json.dumps({"runs": {}, "left_out": [reason]})
        command = programs.Command(["echo", line], programs.read_peers, json_file=False)
        shown = io.StringIO()
        with contextlib.redirect_stderr(shown):
            _, failures, left_out, _ = measurement.measure([("programs", command)], 3, True)
        self.assertEqual((failures, left_out), ([], [f"programs: {reason}"]))
        self.assertEqual(shown.getvalue().count(f"{left_out[0]}\n"), 1)

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


def record(benchmark, variant, workers, median, places=1):
    return {"benchmark": benchmark, "variant": variant, "workers": workers, "places": places,
            "median": median}


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

    def test_the_time_of_a_spawn(self):
        options = argparse.Namespace(quick=True, workers=[4])
        command = next(runtimes.commands_of(runtimes.PEERS[0], self.folder, options))
        key = programs.Key("fib, each spawn", "Go, goroutines", 4, 1)
        self.assertEqual(command.arguments[-1], 16)  # fib(16) begins 1596 tasks
        self.assertEqual(command.read({"seconds": 1596e-9, "verified": True}), {key: 1.0})
        with self.assertRaisesRegex(ValueError, "a result is wrong"):
            command.read({"seconds": 1, "verified": False})


class Papers(unittest.TestCase):
    def figures(self, *records):
        return {title: series for title, _, _, series in papers.figures(records)}

    def test_quotients_of_the_kernels(self):
        kernel = f"{papers.IMSUITE}: KC"
        found = self.figures(record(kernel, "X10's clocks", 2, 80),
                             record(kernel, "apgas clocks", 2, 20),
                             record(kernel, "apgas finish", 2, 10))
        self.assertEqual(found["uClocks 16"], {
            "X10's clocks / clocks, 2 w": {"KC": 4, "geometric mean": 4}})
        self.assertEqual(found["uClocks 20"]["apgas clocks / finish, 2 w"]["KC"], 2)
        self.assertEqual(found["uClocks 23"], {})  # KC has many synchronisations

    def test_speed_up_and_overhead(self):
        found = self.figures(record("Chapel 6: UTS T1", "serial", 1, 100),
                             record("Chapel 6: UTS T1", "apgas begin", 1, 110),
                             record("Chapel 6: UTS T1", "apgas begin", 2, 50),
                             record("Chapel 8: UTS-REC", "oneTBB", 1, 300))
        self.assertEqual(found["Chapel 6"]["apgas begin, 2 w"], {"UTS T1": 2})
        self.assertAlmostEqual(found["Chapel 7"]["apgas begin"]["UTS T1"], 10)
        self.assertAlmostEqual(found["Chapel 7"]["oneTBB"]["UTS-REC"], 200)
        self.assertEqual(found["Chapel 8"], {"oneTBB, 1 w": {"UTS-REC": 300 / 1e6}})

    def test_an_overhead_below_the_noise_is_left_out(self):
        read = papers.read_epcc("barrier, n = 2", "barrier", 1)
        line = {"verified": True, "barrier_clock_us": 0.5, "barrier_openmp_us": -0.1}
        self.assertEqual(read(line), {programs.Key("barrier, n = 2", "apgas clock", 1, 1): 500})
        with self.assertRaisesRegex(ValueError, "did not verify"):
            read(line | {"verified": False})

    def test_the_programs_of_all_groups_have_a_quick_size(self):
        options = argparse.Namespace(quick=True, workers=[1], places=[1, 2, 4])
        with unittest.mock.patch.object(runtimes, "prepare", lambda _: (runtimes.PEERS, [])):
            for name, group in groups.GROUPS.items():
                commands = group.commands(pathlib.Path("build"), options)
                self.assertTrue(all(command.seconds[1] <= 40 for command in commands), name)

    def test_every_number_of_places_is_measured(self):
        options = argparse.Namespace(quick=True, workers=[2], places=[1, 2, 4])
        for name in ("place", "rma", "team", "programs", "speed-up"):
            counts = [option for command in groups.GROUPS[name].commands(pathlib.Path("b"), options)
                      for flag, option in zip(command.arguments, command.arguments[1:])
                      if flag in ("-n", "--places")]
            self.assertLessEqual({2, 4}, set(counts), name)
            self.assertEqual(1 in counts, name != "speed-up", name)  # it needs no launcher for 1
        alone = groups.GROUPS["rma"].commands(pathlib.Path("b"), options)[0]
        self.assertEqual(alone.arguments[1:5], ["-n", 1, "--transport", "local"])
        first, *_ = programs.speed_up(pathlib.Path("b"), argparse.Namespace(
            quick=True, workers=[], places=[1]))
        self.assertEqual(first.environment, {"APGAS_WORKERS": "1"})

    def test_programs_beside_openmp_and_onetbb(self):
        options = argparse.Namespace(quick=True, workers=[2], places=[])
        found = {}
        for command in groups.GROUPS["programs"].commands(pathlib.Path("b"), options):
            self.assertEqual(command.environment, {"APGAS_WORKERS": "2", "OMP_NUM_THREADS": "2"})
            (key, nanoseconds), = command.read({"seconds": 3e-9, "verified": True}).items()
            self.assertEqual((key.workers, key.places, nanoseconds), (2, 1, 3))
            found.setdefault(key.benchmark, []).append(key.variant)
        self.assertEqual(found["within a place: cg"], ["apgas", "OpenMP"])
        self.assertEqual(found["within a place: comd"], ["apgas forall", "OpenMP", "oneTBB"])
        self.assertEqual(len(found), 8)

    def test_what_a_host_without_mpi_leaves_out(self):
        options = argparse.Namespace(quick=True, workers=[1], places=[1, 2])
        def possible(name, found=None):
            commands = groups.GROUPS[name].commands(pathlib.Path("b"), options)
            with unittest.mock.patch("shutil.which", lambda _: found):
                return len(commands), *groups.possible(name, commands)
        for name in ("place", "rma", "programs", "speed-up"):
            count, some, notes = possible(name)
            self.assertTrue(0 < len(some) < count, name)
            self.assertEqual(notes, [f"{name} is measured without what needs MPI: mpirun is not "
                                     "installed: apt install openmpi-bin"])
        self.assertEqual(possible("team")[1:], ([], ["team is skipped: mpirun is not installed: "
                                                     "apt install openmpi-bin"]))
        for name, found in (("team", "/usr/bin/mpirun"), ("pbbs", None)):
            count, some, notes = possible(name, found)
            self.assertEqual((count, notes), (len(some), []), name)

    def test_kernels_of_pbbs(self):
        made = {quick: groups.GROUPS["pbbs"].commands(pathlib.Path("b"), argparse.Namespace(
            quick=quick, workers=[1, 2], places=[2])) for quick in (True, False)}
        self.assertEqual({quick: len(commands) for quick, commands in made.items()},
                         {True: 16, False: 36})
        line = {"verified": True, "serial_seconds": 1e-9, "apgas_seconds": 2e-9,
                "tbb_seconds": 4e-9}
        one, two = made[True][0], made[True][8]
        self.assertEqual(two.environment, {"APGAS_WORKERS": "2", "OMP_NUM_THREADS": "2"})
        scan = "PBBS: scan, random"
        self.assertEqual(one.read(line), {programs.Key(scan, "serial", 1, 1): 1,
                                          programs.Key(scan, "apgas", 1, 1): 2,
                                          programs.Key(scan, "oneTBB", 1, 1): 4})
        self.assertEqual({key.variant for key in two.read(line)}, {"apgas", "oneTBB"})
        with self.assertRaisesRegex(ValueError, "did not verify"):
            one.read(line | {"verified": False})

    def test_which_numbers_of_places_are_left_out(self):
        why = "places: what is measured there happens within one place"
        self.assertEqual(groups.left_out_places(["spawn", "team"], [1, 2, 4]),
                         [f"spawn leaves out 2 and 4 {why}"])
        self.assertEqual(groups.left_out_places(["spawn", "sync", "papers"], [8]),
                         [f"spawn, sync and papers leave out 8 {why}"])
        self.assertEqual(groups.left_out_places(["place", "rma", "team"], [1, 2, 4]), [])
        self.assertEqual(groups.left_out_places(["spawn"], [1]), [])

    def test_the_numbers_of_workers_reach_the_programs(self):
        options = argparse.Namespace(quick=True, workers=[1, 4], places=[1])
        for name in ("spawn", "sync", "algorithm"):
            command, = groups.GROUPS[name].commands(pathlib.Path("build"), options)
            self.assertEqual(command.arguments[1:3], ["--workers", "1,4"], name)


class Figures(unittest.TestCase):
    def test_programs_beside_their_peers(self):
        (_, _, _, beside), (_, _, _, within) = threads.figures([
            record("bfs", "apgas tasks", 1, 40, 2), record("bfs", "apgas batches", 1, 20, 2),
            record("bfs", "plain MPI", 1, 10, 2), record("uts T3", "apgas glb", 1, 5, 2),
            record("within a place: cg", "apgas", 2, 4),
            record("within a place: cg", "OpenMP", 2, 6)])
        self.assertEqual(beside, {"plain MPI, 2 places": {"bfs": 0.5}})
        self.assertEqual(within, {"OpenMP, 2 workers": {"cg": 1.5}})

    def test_speed_ups_of_the_kernels_of_pbbs(self):
        found = {title: series for title, _, _, series in pbbs.figures(
            [record("PBBS: scan, random", variant, workers, median) for variant, workers, median
             in (("serial", 1, 8), ("apgas", 1, 8), ("apgas", 2, 4), ("oneTBB", 2, 2))])}
        self.assertEqual(found, {
            "kernels, workers: 1": {"apgas": {"scan, random": 1}},
            "kernels, workers: 2": {"apgas": {"scan, random": 2}, "oneTBB": {"scan, random": 4}}})


class Plots(unittest.TestCase):
    def test_units_and_axes(self):
        self.assertEqual([painting.unit_for(ns) for ns in (0.5, 2000, 5e9)],
                         [("ns", 1), ("us", 1e3), ("s", 1e9)])
        self.assertTrue(painting.is_wide([1, 30]))
        self.assertFalse(painting.is_wide([10, 30]))

    def test_lines_by_places(self):
        found = plots.by_places([record("barrier", "apgas team", 1, 3, 2),
                                 record("barrier", "apgas team", 1, 5, 4),
                                 record("fetch_add", "apgas", 1, 5, 2),
                                 record("fetch_add", "apgas", 2, 5, 2)])
        self.assertEqual({name: {label: [x for x, _ in points] for label, points in series.items()}
                          for name, series in found.items()}, {"barrier": {"apgas team": [2, 4]}})

    def test_sizes_in_bytes_have_a_rate(self):
        records = [record("allreduce, 64 KiB", "MPI", 1, 3, 2),
                   record("barrier, N = 2", "Go", 1, 3)]
        self.assertTrue(plots.in_bytes(records, "allreduce"))
        self.assertFalse(plots.in_bytes(records, "barrier, "))

    def test_records_with_other_workers_or_places_have_their_own_label(self):
        self.assertEqual(plots.label_of(record("barrier", "MPI", 1, 3, 4)), "MPI (1 w, 4 p)")
        self.assertEqual(plots.label_of(record("barrier", "Go", 2, 3)), "Go (2 w)")


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
        done = self.benchmark("--compare", old, "--from-json", new)
        self.assertEqual(done.returncode, 1, done)
        text = (self.folder / "out/index.html").read_text(encoding="utf-8")
        for words in ("apgas fork_join", "5.05", "a &lt;note&gt;", "spawn_bench", "0.25"):
            self.assertIn(words, text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
