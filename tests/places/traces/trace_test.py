#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traces of programs: APGAS_TRACE with one place and with several, however they end.

Arguments: the program traced, apgas-trace-merge, whether there is mpirun (0 or 1), names of tests.
"""

import collections
import pathlib
import shutil
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
APGAS_RUN = HERE.parents[2] / "launch/apgas-run"
sys.path.insert(0, str(HERE.parent.parent / "trace"))
from trace_checks import NO_PERFETTO, has_perfetto, perfetto, run_tests  # noqa: E402
from trace_events import QUERIES, Events  # noqa: E402
from traced_job import TRACED, WITH_MPI, WITHOUT_TOOL, Traces  # noqa: E402
from traced_job import environment, job, num_places, ways  # noqa: E402

SHORT_CALLS = 200  # of traced.cpp, at each place
LATE_BYTES = 8_000  # the same
NO_MPIRUN = "there is no mpirun"

# mpirun also ends the other places of a job in which one was killed, and kills what has not ended a
# second later: too early for the records of places on a busy machine.
KILLS_LATER = {"OMPI_MCA_odls_base_sigkill_timeout": "5"}


class Programs(Traces):
    def test_one_sound_file_comes_from_all_places(self):
        for way in ways():
            for file in ("run.json", "run.pftrace"):
                with self.subTest(way=way, file=file):
                    path = self.folder / file
                    self.assertEqual(job(path, **way), (0, []))
                    self.assertEqual(self.files(), [file])
                    self.check(path)
                    path.unlink()

    def test_every_task_has_a_slice(self):
        for workers in "1", "2":
            self.assertEqual(job(self.path, "fib", "15", APGAS_WORKERS=workers), (0, []))
            begun = [e for e in Events(self.path).of("task", "B")
                     if e["name"].startswith("traced.cpp") and not e["args"].get("continued")]
            self.assertEqual(len(begun), 986)  # calls of fib(15) with n >= 2
            self.assertEqual(len({e["args"]["task"] for e in begun}), 986)
            self.assertEqual(len({e["name"] for e in begun}), 1)

    def test_tasks_that_could_be_stolen_are_ready(self):
        self.assertEqual(job(self.path, "fib", "22", APGAS_WORKERS="1"), (0, []))
        ready = Events(self.path).counters()["ready tasks"]
        self.assertIn(max(ready), range(1, 22 + 1))  # at most one for each call on the stack

    def test_only_stolen_tasks(self):
        self.assertEqual(job(self.path, "fib", "20", APGAS_WORKERS="1",
                             APGAS_TRACE_DETAIL="stolen"), (0, []))
        events = Events(self.path)
        # Of 10945 tasks, all but a few that a worker leaves to go on with something else.
        self.assertLess(len(events.of("task", "B")), 1000)
        self.assertEqual(events.metadata["detail"], "stolen")
        self.assertEqual(job(self.path, "fib", "25", APGAS_WORKERS="2",
                             APGAS_TRACE_DETAIL="stolen"), (0, []))
        self.check(self.path)
        for e in Events(self.path).of("task", "B"):
            self.assertNotIn("inline", e["args"])

    def test_constructs_waits_and_arrows(self):
        for way in ways():
            with self.subTest(way=way):
                self.assertEqual(job(self.path, **way), (0, []))
                events = Events(self.path)
                names = collections.Counter(e["name"] for e in events.of("task", "B"))
                self.assertIn("main", names)
                self.assertIn('waits for "three"', names)
                waits = events.of("wait", "b")
                self.assertTrue(any("traced.cpp:" in e["args"].get("where", "") for e in waits))
                constructs = {e["name"] for e in waits}
                self.assertIn("a phase of a clock", constructs)
                phases = collections.Counter(e["name"] for e in events.of("phase", "b"))
                self.assertEqual(phases["phase 1"], 1)
                clocks = {(e["pid"], e["args"]["clock"]) for e in events.of("phase", "b")}
                for e in waits:
                    if e["name"] == "a phase of a clock":
                        self.assertIn((e["pid"], e["args"]["object"]), clocks)
                objects = {(e["pid"], e["args"]["object"]) for e in waits if "object" in e["args"]}
                self.assertGreater(len(objects), len(clocks))
                self.assertTrue(events.flows("resume"))
                counters = events.counters()
                self.assertLessEqual({"ready tasks", "bytes in flight"}, set(counters))
                self.assertGreaterEqual(min(min(values) for values in counters.values()), 0)
                workers = int(way["APGAS_WORKERS"])
                if workers > 1 or "idle workers" in counters:  # a single one need not be idle
                    self.assertIn(max(counters["idle workers"]), range(1, workers + 1))
                self.assertIn(0, counters["bytes in flight"])
                if num_places(way) == 1:
                    self.assertEqual(max(counters["bytes in flight"]), 0, "no message was sent")
                    continue
                self.assertIn("at", constructs)
                calls = (1 + SHORT_CALLS) * (num_places(way) - 1)
                for name, least in ("async_at", num_places(way) - 1), ("at", calls), \
                                   ("reply", calls):
                    pairs = [p for p in events.flows(name) if p[0]["pid"] != p[1]["pid"]]
                    self.assertGreaterEqual(len(pairs), least, name)
                sent = collections.Counter(e["args"]["kind"] for e in events.of("message", "i")
                                           if e["name"].startswith("send"))
                self.assertGreaterEqual(sent["reply"], calls)
                self.assertEqual(sent["tasks"], 0)
                clocks = events.metadata["clocks"]
                self.assertEqual([c["place"] for c in clocks], list(range(num_places(way))))
                for c in clocks:
                    self.assertEqual((c["offset_ns"], c["error_ns"]), (0, 0), "one host, one clock")

    def test_an_arrow_leads_from_what_resumes_a_task_to_the_end_of_its_wait(self):
        self.assertEqual(job(self.path, APGAS_WORKERS="1"), (0, []))
        events = Events(self.path)
        (task,) = {e["args"]["task"] for e in events.of("task", "B")
                   if e["name"] == 'waits for "three"'}
        ((begin, end),) = events.waits_of(task)
        self.assertEqual(begin["name"], "future::get")
        ((leaves, arrives),) = [pair for pair in events.flows("resume") if
                                events.slice_around(pair[1]).get("args", {}).get("task") == task]
        self.assertEqual(events.slice_around(leaves)["name"], "main")  # it sets the value
        self.assertTrue(begin["ts"] <= leaves["ts"] <= end["ts"], (begin, leaves, end))
        self.assertTrue(events.slice_around(arrives)["args"]["continued"])
        self.assertAlmostEqual(arrives["ts"], end["ts"], delta=1)

    def test_bytes_that_arrive_late_are_in_flight(self):
        code, lines = job(self.path, "late", APGAS_PLACES="2", APGAS_TRANSPORT="local",
                          APGAS_WORKERS="1", APGAS_TEST_DELAY="50000", APGAS_TEST_DELAY_SEED="1")
        self.assertEqual((code, len(lines)), (0, 1), lines)  # the line says that messages are late
        in_flight = Events(self.path).counters()["bytes in flight"]
        self.assertGreaterEqual(max(in_flight), LATE_BYTES)
        self.assertIn(0, in_flight)

    def test_perfetto_reads_what_the_json_file_has(self):
        if not has_perfetto():
            self.skipTest(NO_PERFETTO)
        self.assertEqual(self.leave_records(2), -6)
        for record in list(self.folder.glob("run.json.place*")):
            shutil.copy(record, self.folder / record.name.replace(".json.", ".pftrace."))
        for path in self.path, self.folder / "run.pftrace":
            self.assertEqual(self.merge(path), (0, ""))
        found = perfetto(path, *QUERIES)
        for rows, wanted in zip(found, Events(self.path).rows_of_queries(), strict=True):
            self.assertTrue(wanted)
            self.assertEqual(collections.Counter(map(tuple, rows)), collections.Counter(wanted))

    def test_stolen_tasks_have_an_arrow_from_their_spawn(self):
        for _ in range(20):  # until there is a steal
            self.assertEqual(job(self.path, "fib", "22", APGAS_WORKERS="3"), (0, []))
            stolen = Events(self.path).flows("steal")
            if stolen:
                break
        self.assertTrue(stolen)
        for begin, end in stolen:
            self.assertNotEqual(begin["tid"], end["tid"])
            self.assertLessEqual(begin["ts"], end["ts"] + 0.001)

    def test_what_does_not_fit_the_memory_is_counted(self):
        code, lines = job(self.path, "fib", "24", APGAS_WORKERS="1", APGAS_TRACE_MEMORY="1M")
        self.assertEqual((code, len(lines)), (0, 1))
        self.assertRegex(lines[0], "warning: the trace leaves out the oldest [1-9][0-9]* events of "
                                   "place 0; raise APGAS_TRACE_MEMORY, or set APGAS_TRACE_DETAIL")
        self.check(self.path)
        dropped = Events(self.path).metadata["dropped"]
        self.assertEqual([(d["place"], d["worker"]) for d in dropped], [(0, 0)])
        self.assertIn(str(dropped[0]["events"]), lines[0])

    def test_an_exception_that_leaves_main(self):
        code, lines = job(self.path, "throw", APGAS_PLACES="2", APGAS_TRANSPORT="local")
        self.assertEqual((code, len(lines)), (1, 1))
        self.assertIn("an exception left the main function", lines[0])
        self.check(self.path)


class Deaths(Traces):
    def end(self, how, code, places, **way):
        for name in self.files():
            (self.folder / name).unlink()
        got, lines = job(self.path, how, APGAS_PLACES=str(places), **way)
        self.assertEqual(got, code, lines)
        records = [x for x in lines if "apgas-trace-merge" in x]
        self.assertEqual(len(records), places, lines)
        self.assertEqual(self.files(), ["run.json"])  # the records have become the trace
        # By the process that started mpirun, or the only one of the job.
        self.assertEqual(lines[-1], f"apgas: the trace {self.path} has what {places} of "
                                    f"{places} places did")
        self.check(self.path)
        events = Events(self.path)
        self.assertEqual(events.metadata["died"], list(range(places)))
        self.assertEqual({e["pid"] for e in events.of("task", "B")},
                         set(range(1, places + 1)))
        return events

    def test_a_signal(self):
        self.end("abort", -6, 2, APGAS_TRANSPORT="local")
        self.end("kill", -11, 1)

    @unittest.skipUnless(WITH_MPI, NO_MPIRUN)
    def test_places_that_end_because_another_has_failed(self):
        self.end("abort", 134, 2)

    @unittest.skipUnless(WITH_MPI, NO_MPIRUN)
    def test_a_killed_place_leaves_a_trace_of_the_others(self):
        code, lines = job(self.path, "killed", APGAS_PLACES="3", **KILLS_LATER)
        self.assertEqual(code, 137, lines)
        self.assertRegex(lines[-1], f"apgas: the trace {self.path} has what 2 of 3 places did; "
                                    "nothing is here of place 2, which was killed")
        self.check(self.path)
        events = Events(self.path)
        self.assertEqual(events.metadata["died"], [0, 1])
        self.assertEqual({e["pid"] for e in events.of("task", "B")}, {1, 2})

    def test_one_process_without_the_program_that_makes_the_trace(self):
        code, lines = job(self.path, "abort", **WITHOUT_TOOL)
        self.assertEqual(code, -6)
        self.assertIn(f"apgas-trace-merge {self.path} makes a trace of it", lines[-1])
        self.assertEqual(self.merge(), (0, ""))
        self.check(self.path)
        self.assertEqual(self.files(), ["run.json"])

    def test_apgas_run(self):
        variables = environment(self.path, **KILLS_LATER)
        ways = [("local", "abort", -6, "apgas: the trace {} has what 3 of 3 places did")]
        if WITH_MPI:
            ways += [("shm", "killed", 137, "apgas-run: the trace {}: 2 of 3 places, which the job "
                                            "has left")]
        for transport, how, code, line in ways:
            with self.subTest(transport=transport):
                done = subprocess.run([APGAS_RUN, "-n", "3", "--transport", transport, TRACED, how],
                                      env=variables, capture_output=True, text=True, timeout=120,
                                      check=False)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(line.format(self.path), done.stderr.splitlines())
                self.check(self.path)
                self.assertIn(Events(self.path).metadata["died"][0], (0, 1))
                for name in self.files():
                    (self.folder / name).unlink()

    @unittest.skipUnless(WITH_MPI, NO_MPIRUN)
    def test_records_of_an_earlier_job_are_no_trace(self):
        self.assertEqual(self.leave_records(3), -6)
        self.path.unlink()
        self.path.mkdir()  # so the next job does not begin
        code, lines = job(self.path, APGAS_PLACES="2")
        self.assertEqual((code, len(lines)), (2, 1), lines)

    def test_exit(self):
        self.end("exit", 5, 1)
        self.end("exit", 1, 2, APGAS_TRANSPORT="local")

    def test_a_deadlock(self):
        ways = [(1, {}), (2, {"APGAS_TRANSPORT": "local"})] + [(2, {})] * WITH_MPI
        for places, way in ways:
            with self.subTest(places=places, way=way):
                events = self.end("deadlock", 124, places, APGAS_WATCHDOG="1", **way)
                open_waits = [e for e in events.of("wait", "b") if e["args"].get("ended") is False]
                self.assertTrue(open_waits)
                self.assertRegex(open_waits[-1]["args"]["where"], r"traced.cpp:\d+")


if __name__ == "__main__":
    run_tests(sys.argv[:1] + sys.argv[4:])
