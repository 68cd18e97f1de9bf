#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests apgas-trace with traces whose numbers are known, in JSON and in Perfetto's format."""

import json
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import perfetto_format as pf  # noqa: E402

TOOL = HERE.parent.parent / "launch/apgas-trace"


def names(places=1, workers=2):
    for place in range(places):
        yield {"ph": "M", "name": "process_name", "pid": place + 1,
               "args": {"name": f"place {place}"}}
        for worker in range(workers):
            yield {"ph": "M", "name": "thread_name", "pid": place + 1, "tid": worker + 1,
                   "args": {"name": f"worker {worker}"}}


def piece(worker, begin, end, name, task, then="ended", category="task", place=0):
    common = {"pid": place + 1, "tid": worker + 1, "cat": category}
    return [(begin, {"ph": "B", **common, "ts": begin, "name": name,
                     "args": {"task": task, "site": f"/src/{name}"}}),
            (end, {"ph": "E", **common, "ts": end, "args": {"then": then}})]


def arrow(name, number, leaves, arrives):
    return [(time, {"ph": kind, "pid": 1, "tid": worker + 1, "id": number, "ts": time,
                    "cat": "flow", "name": name, **({"bp": "e"} if kind == "f" else {})})
            for kind, (worker, time) in (("s", leaves), ("f", arrives))]


def wait(number, begin, end, construct, where):
    common = {"pid": 1, "tid": 1, "id": number, "cat": "wait", "name": construct}
    return [(begin, {"ph": "b", **common, "ts": begin,
                     "args": {"task": "0.1", "site": "/src/main.cpp:1", "where": where}}),
            (end, {"ph": "e", **common, "ts": end})]


# Worker 0 runs main for 100 us, with a task of 30 us on top of it, until it waits for the task that
# worker 1 has stolen, from 40 to 300 us; then it goes on, from 310 to 400 us.
EXAMPLE = [*piece(0, 0, 100, "main", "0.1", "waits"), *piece(0, 50, 80, "a.cpp:5", "0.2"),
           *piece(0, 100, 310, "search", None, category="search"),
           *piece(1, 40, 300, "a.cpp:7", "0.3"), *piece(0, 310, 400, "main", "0.1"),
           *arrow("spawn", 1, (0, 20), (1, 40)), *arrow("resume", 2, (1, 300), (0, 310)),
           *wait("0x1", 100, 310, "finish", "/src/a.cpp:9"),
           *wait("0x2", 5, 6, "at", "/src/a.cpp:3")]


def as_json(events, metadata=None):
    ordered = sorted(events, key=lambda e: (e[0], "EeBbsf".index(e[1]["ph"])))
    lines = ",\n".join(json.dumps(event) for event in [*names(), *(e for _, e in ordered)])
    return f'{{"traceEvents":[\n{lines}\n],"metadata":{json.dumps(metadata or {})}}}\n'.encode()


class Tool(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name, "run.json")

    def run_tool(self, content, *options):
        if content is not None:
            self.path.write_bytes(content)
        return subprocess.run([sys.executable, TOOL, "summary", str(self.path), *options],
                              capture_output=True, text=True, check=False)

    def numbers(self, content):
        done = self.run_tool(content, "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def test_utilisation(self):
        found = self.numbers(as_json(EXAMPLE))
        self.assertEqual(found["duration"], 400)
        (place,) = found["places"]
        self.assertEqual((place["name"], place["workers"]), ("place 0", 2))
        self.assertAlmostEqual(place["percent"]["task"], 100 * (100 + 90 + 260) / 800)
        self.assertAlmostEqual(place["percent"]["search"], 100 * 210 / 800)

    def test_spawn_sites_by_time_and_number(self):
        found = self.numbers(as_json([*EXAMPLE, *piece(1, 301, 302, "a.cpp:5", "0.4")]))
        self.assertEqual([(s["site"], s["tasks"], round(s["time"], 6))
                          for s in found["spawn_sites"]],
                         [("a.cpp:7", 1, 260), ("main", 1, 160), ("a.cpp:5", 2, 31)])
        self.assertEqual(found["by_count"][0], 2)

    def test_waits(self):
        found = self.numbers(as_json(EXAMPLE))
        self.assertEqual([(w["time"], w["in"], w["where"], w["by"], w["begin"])
                          for w in found["waits"]],
                         [(210, "finish", "/src/a.cpp:9", "main", 100),
                          (1, "at", "/src/a.cpp:3", "main", 5)])

    def test_a_wait_that_began_before_the_recording(self):
        trace = as_json([*EXAMPLE, *wait("0x3", -2_720_739.348, 50, "latch::wait", "/src/b.cpp:4")])
        self.assertEqual(self.numbers(trace)["waits"][0]["begin"], -2_720_739.348)
        text = self.run_tool(trace).stdout
        self.assertRegex(text, r"2\.721 s +in latch::wait .* began before the recording\n")
        self.assertRegex(text, r"210\.000 us +in finish .* after 100\.000 us\n")

    def test_critical_path(self):
        found = self.numbers(as_json(EXAMPLE))["critical_path"]
        # main up to the spawn, the stolen task, main after the finish
        self.assertEqual((found["begin"], found["end"]), (0, 400))
        self.assertEqual({t["site"]: round(t["time"], 6) for t in found["tasks"]},
                         {"a.cpp:7": 260, "main": 110})
        self.assertEqual({name: round(time, 6) for name, time in found["between"].items()},
                         {"spawn to its arrival": 20, "resume to its arrival": 10})

    def test_critical_path_without_arrows_goes_on_where_a_task_ended_last(self):
        found = self.numbers(as_json([*piece(0, 0, 3, "a.cpp:1", "0.0"),
                                      *piece(1, 0, 10, "a.cpp:5", "0.1"),
                                      *piece(0, 15, 20, "a.cpp:7", "0.2")]))["critical_path"]
        self.assertEqual({t["site"]: t["time"] for t in found["tasks"]},
                         {"a.cpp:5": 10, "a.cpp:7": 5})
        self.assertEqual(found["between"], {"between tasks without an arrow": 5})

    def test_grain_sizes_count_a_task_once(self):
        found = self.numbers(as_json(EXAMPLE))
        self.assertEqual([(g["size"], g["tasks"], round(g["time"], 6)) for g in found["grains"]],
                         [("10 to 100 us", 1, 30), ("100 us to 1 ms", 2, 420)])

    def test_the_text_has_all_tables(self):
        done = self.run_tool(as_json(EXAMPLE, {"dropped": [{"place": 0, "worker": 1,
                                                            "events": 7}]}))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for text in ("1 place, 400.000 us", "worker 1 of place 0 has left out its 7 oldest events",
                     "Utilisation", "Spawn sites by time", "Spawn sites by number of tasks",
                     "Longest of 2 waits", "in finish", "at a.cpp:9", "Critical path",
                     "(resume to its arrival)", "Grain size", "100 us to 1 ms"):
            self.assertIn(text, done.stdout)

    def test_long_tables_are_cut(self):
        events = [e for i in range(30)
                  for e in piece(0, 10 * i, 10 * i + 1, f"a.cpp:{i}", f"0.{i}")]
        done = self.run_tool(as_json(events), "--top", "3")
        self.assertIn("... and 27 more", done.stdout)
        by_time = done.stdout.partition("by number of tasks")[0]
        self.assertEqual(by_time.count("a.cpp:"), 3)

    def test_the_format_of_perfetto(self):
        found = self.numbers(pf.example())
        self.assertEqual(found["duration"], 4)
        self.assertEqual([(s["site"], s["time"]) for s in found["spawn_sites"]],
                         [("first", 2), ("second", 1)])
        self.assertEqual(found["places"][0]["name"], "place 0")

    def test_files_that_are_no_traces_give_one_line(self):
        whole = as_json(EXAMPLE)
        for content, reason in ((b"", "is empty"), (b"hello\n", "is not a trace"),
                                (whole[:-60], "is not a whole trace"),
                                (pf.example()[:-3], "is not a whole trace"),
                                (b'{"traceEvents":[\n]}\n', "has no slices"),
                                (None, "cannot be read: no such file")):
            with self.subTest(reason=reason, content=(content or b"")[:20]):
                self.path.unlink(missing_ok=True)
                done = self.run_tool(content)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertRegex(done.stderr, rf"^apgas-trace: {self.path} {reason}.*\n$")

    def test_damaged_files_give_at_most_one_line(self):
        for content in (as_json(EXAMPLE), pf.example()):
            choose = random.Random(len(content))
            refused = 0
            for _ in range(30):
                damaged = bytearray(content)
                for _ in range(3):
                    damaged[choose.randrange(len(damaged))] = choose.randrange(256)
                done = self.run_tool(bytes(damaged))
                self.assertIn((done.returncode, done.stderr.count("\n")), ((0, 0), (1, 1)),
                              (bytes(damaged), done.stderr))
                refused += done.returncode
            self.assertGreater(refused, 5)

    def test_a_number_that_has_become_a_text(self):
        content = pf.track(20, 7, 8, "worker 0") + pf.event(
            1000, 1, (23, "first"), (4, pf.message((10, "key"), (5, "no double"))))
        done = self.run_tool(content)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"^apgas-trace: .* is damaged: .*\n$")

    def test_wrong_options(self):
        for arguments, reason in (([], "required: COMMAND"), (["show"], "invalid choice"),
                                  (["summary"], "required: FILE"),
                                  (["summary", "x", "--top", "0"], "--top 0: write a whole")):
            with self.subTest(arguments):
                done = subprocess.run([sys.executable, TOOL, *arguments], capture_output=True,
                                      text=True, check=False)
                self.assertEqual(done.returncode, 2)
                self.assertRegex(done.stderr, rf"^apgas-trace: .*{reason}.*\n$")


if __name__ == "__main__":
    unittest.main(verbosity=1)
