#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the groups of launch/benchmark: their commands, and their figures. Nothing is measured.
"""

import argparse
import pathlib
import re
import sys
import tempfile
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests/bench/report"))
import groups  # noqa: E402
import painting  # noqa: E402
import papers  # noqa: E402
import pbbs  # noqa: E402
import plots  # noqa: E402
import programs  # noqa: E402
import runtimes  # noqa: E402
import sizes  # noqa: E402
import threads  # noqa: E402


def record(benchmark, variant, workers, median, places=1):
    return {"benchmark": benchmark, "variant": variant, "workers": workers, "places": places,
            "median": median}


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
        self.assertEqual(len(found), 9)

    def test_the_published_sizes(self):
        def measured(workers, quick=False):
            options = argparse.Namespace(quick=quick, workers=workers, places=[])
            found = {}
            for command in groups.GROUPS["sizes"].commands(pathlib.Path("b"), options):
                (key, _), = command.read({"seconds": 1, "verified": True}).items()
                found.setdefault(key.benchmark, {})[key.variant] = command
            return found
        with unittest.mock.patch("os.sched_getaffinity", lambda _: {0, 1}):
            one, two, quick = measured([1]), measured([2]), measured([1], quick=True)
        self.assertEqual(len(one), 14 + 2)
        self.assertEqual(len(two), 2 * 14 + 2)
        self.assertEqual(set(one["sizes: LUFact C (1 task)"]),
                         {"serial", "apgas phaser", "apgas phaser, tree", "OpenMP",
                          "OpenMP, passive"})
        eight = two["sizes: MG A (8 tasks)"]
        self.assertNotIn("serial", eight)
        self.assertEqual(eight["OpenMP, passive"].arguments[1:],
                         ["mg", "--class", "A", "--variant", "openmp", "--tasks", 8])
        self.assertEqual(eight["OpenMP, passive"].environment["OMP_WAIT_POLICY"], "passive")
        self.assertNotIn("OMP_WAIT_POLICY", eight["OpenMP"].environment)
        self.assertEqual(len(two["sizes: Stream"]), 6)
        self.assertIn("sizes: LUFact A (1 task)", quick)
        self.assertNotIn("sizes: LUFact B (1 task)", quick)
        self.assertEqual([name for name, group in groups.GROUPS.items() if not group.by_default],
                         ["sizes"])

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
                         {True: 16, False: 48})
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

    def test_short_variants_run_several_times_in_a_round(self):
        options = argparse.Namespace(quick=False, workers=[1], places=[1])
        for name, times in (("spawn", "1"), ("algorithm", "5"), ("rma", "5")):
            command, *_ = groups.GROUPS[name].commands(pathlib.Path("build"), options)
            self.assertEqual(command.arguments[-2:], ["--reps", times], name)


CACHE = """# of CMake
TBB_DIR:PATH=TBB_DIR-NOTFOUND
OpenMP_CXX_FLAGS:STRING=NOTFOUND
boost_fiber_DIR:PATH=/usr/lib/cmake/boost_fiber-1.74.0
Java_JAVAC_EXECUTABLE:FILEPATH=/usr/bin/javac
ucx_FOUND:INTERNAL=
"""


class MissingPeers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def missing(self, cache):
        """Maps each group with missing peers to these."""
        (self.folder / "CMakeCache.txt").write_text(cache, encoding="utf-8")
        found = {}
        for name in groups.GROUPS:
            for line in groups.missing_peers(name, self.folder):
                group, peer, package = re.fullmatch(
                    "(.*): (.*) is left out, because it is not built in: apt install (.*), then "
                    "configure and build again", line).groups()
                self.assertEqual(package, groups.LIBRARIES[peer][1])
                found.setdefault(group, []).append(peer)
        return found

    def test_what_cmake_has_not_found(self):
        both = ["oneTBB", "OpenMP"]
        self.assertEqual(self.missing(CACHE), {
            "spawn": both, "sync": ["OpenMP"], "algorithm": ["std::execution::par", "OpenMP"],
            "place": ["UCX"], "rma": ["UCX"], "programs": both, "pbbs": both, "peers": both,
            "papers": both, "sizes": both})
        self.assertEqual(groups.missing_peers("rma", self.folder), [
            "rma: UCX is left out, because it is not built in: apt install libucx-dev, then "
            "configure and build again"])

    def test_what_cmake_has_found(self):
        there = {variable: "/usr" for variable, _ in groups.LIBRARIES.values()}
        def cache(lines):
            return "".join(f"{variable}:PATH={value}\n" for variable, value in lines.items())
        self.assertEqual(self.missing(cache(there)), {})
        del there["Java_JAVAC_EXECUTABLE"]  # CMake did not look for it
        self.assertEqual(self.missing(cache(there)), dict.fromkeys(("sync", "peers"),
                                                                   ["Java's Phaser"]))

    def test_a_folder_without_a_cache(self):
        self.assertEqual(groups.missing_peers("papers", pathlib.Path("/none")), [
            "/none/CMakeCache.txt cannot be read, so that peers may be left out without a line "
            "here: No such file or directory"])
        self.assertEqual(groups.missing_peers("speed-up", pathlib.Path("/none")), [])

    def test_the_groups_name_peers_that_are_known(self):
        for name, group in groups.GROUPS.items():
            self.assertLessEqual(set(group.peers), set(groups.LIBRARIES), name)

    def test_the_programs_say_the_same_as_the_groups(self):
        call = re.compile(r'  (?:add|not_built)\((?:"\w+", )?"(.*)", "(.*)"\);')
        packages = {peer: package for peer, (_, package) in groups.LIBRARIES.items()}
        for file, peers in (("tests/bench/sync_peer_process.cpp", groups.GROUPS["sync"].peers),
                            ("apps/support/peers.hpp", groups.GROUPS["papers"].peers)):
            text = (ROOT / file).read_text(encoding="utf-8")
            self.assertEqual(dict(call.findall(text)), {peer: packages[peer] for peer in peers})
        bench = (ROOT / "tests/bench/sync_bench.cpp").read_text(encoding="utf-8")
        self.assertIn('report.note("left_out", bench::missing_peers());', bench)
        (self.folder / "CMakeCache.txt").touch()
        line = groups.missing_peers("sync", self.folder)[0].removeprefix("sync: ")
        text = (ROOT / "tests/bench/sync_peer_process.cpp").read_text(encoding="utf-8")
        self.assertIn(line.replace("OpenMP", "{}").replace(packages["OpenMP"], "{}"),
                      re.sub(r'"\s+"', "", text))

    def test_a_program_without_peers_takes_the_place_of_the_one_with_them(self):
        def program():
            command, *_ = papers.kernels(self.folder, argparse.Namespace(quick=True), 1,
                                         threads.WITHIN, threads.CASES)
            return command.arguments[0].name
        self.assertEqual(program(), "cg")
        (self.folder / "apps").mkdir()
        (self.folder / "apps/cg_peers").touch()
        self.assertEqual(program(), "cg_peers")


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


if __name__ == "__main__":
    unittest.main(verbosity=2)
