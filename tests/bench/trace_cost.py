#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints what an event of a trace costs, in nanoseconds and in instructions, and records a run with
more than ten million events.

    trace_cost.py build/release/apps [--repeat 5] [--quick]

The first program is fib, whose tasks do almost nothing, on one worker. A task has two events, its
begin and its end; the difference between a traced and an untraced run is the cost of both, and so
it has also what the observed spawn of a task costs. Then follow averaging, whose tasks wait for
phases of a clock, and gups, whose tasks arrive in messages, at two places of one process that
record at the same time; their events are counted in a trace. The times are those that the programs
measure themselves, without the writing of the file, and the least of the repetitions counts. For
the instructions see observation_cost.py. The exit code is 1 if a run failed, or events were
dropped, and 77 if all is well but nothing here counts instructions.
"""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from observation_cost import CACHEGRIND, CASES, PERF, SETTINGS, SKIPPED, cost, fibonacci, works

EVENTS_OF_TASK = 2
FIB = CASES[0]


def tasks_of(n):
    return fibonacci(n + 1) - 1


def run_program(apps, command, folder, **settings):
    """Returns the seconds that the tasks took. Ends the program if the run failed or warned about
    its trace."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("APGAS_")}
    name, *arguments = command.split()
    run = subprocess.run([apps / name, *arguments], env=kept | {"APGAS_WORKERS": "1"} | settings,
                         cwd=folder, capture_output=True, text=True, check=False)
    if run.returncode != 0 or "trace" in run.stderr.lower():  # events were left out
        sys.exit(f"{command} ended with {run.returncode}: {run.stderr[-500:]}")
    return json.loads(run.stdout.splitlines()[-1])["seconds"]


def run_fib(apps, n, folder, **settings):
    return run_program(apps, f"fib --variant finish -n {n}", folder, **settings)


def events_in(path):
    """The number of events that the workers have recorded for a JSON trace. A wait has four: it
    begins, another task makes the waiting one ready, the wait ends, and the task goes on. What
    makes a task ready is seen by its arrow, unless that belongs to a message."""
    events = json.loads(path.read_text())["traceEvents"]
    found = collections.Counter(e["cat"] for e in events if e["ph"] == "b")  # waits, phases
    found["counter"] = sum(e["ph"] == "C" and e["name"] != "idle workers" for e in events)
    for before, e in zip(events, events[1:]):
        kind, category = e["ph"], e.get("cat")
        if kind == "i" or kind == "B" or category in ("search", "sleep"):
            found[category] += 1  # sent or received; begun; also the ends of these
        elif kind == "E" and category == "task":
            then = e.get("args", {}).get("then", "")
            found[category] += then == "ended" or then.startswith("waits: ")
        elif kind == "s" and e["name"] != "steal":
            found["ready"] += before["ph"] != "i"
    return sum(found.values())


def print_times(apps, n, repeat):
    settings = {"untraced": {}, "`APGAS_TRACE`": {"APGAS_TRACE": "run.pftrace"},
                "`APGAS_TRACE_DETAIL=stolen`": {"APGAS_TRACE": "run.pftrace",
                                                "APGAS_TRACE_DETAIL": "stolen"}}
    least = dict.fromkeys(settings, float("inf"))
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(repeat):
            for name, variables in settings.items():
                least[name] = min(least[name], run_fib(apps, n, folder, **variables))
    for name, seconds in least.items():
        more = (seconds - least["untraced"]) * 1e9 / tasks_of(n) / EVENTS_OF_TASK
        print(f"| {name} | {seconds * 1e3:.2f} ms | {more:.1f} ns |")


def print_other_programs(apps, quick, repeat):
    for command, small, more in (("averaging -n 64 --epsilon 0.03", "averaging -n 8", {}),
                                 ("gups --variant task -n 14", "gups --variant task -n 4",
                                  {"APGAS_PLACES": "2", "APGAS_TRANSPORT": "local"})):
        command = small if quick else command
        with tempfile.TemporaryDirectory() as folder:
            run_program(apps, command, folder, APGAS_TRACE="run.json", **more)
            events = events_in(pathlib.Path(folder, "run.json"))
            off, traced = (min(run_program(apps, command, folder, **settings, **more)
                               for _ in range(repeat))
                           for settings in ({}, {"APGAS_TRACE": "run.pftrace"}))
        of_a_worker = events / int(more.get("APGAS_PLACES", "1"))
        print(f"| `{command}` | {off * 1e3:.2f} ms, traced {traced * 1e3:.2f} ms | "
              f"{(traced - off) * 1e9 / of_a_worker:.1f} ns of {events:,} |")


def print_instructions(tool, apps, sizes, repeat):
    traced, off = (min(cost(tool, FIB, apps, sizes, SETTINGS[name]) for _ in range(repeat))
                   for name in ("`APGAS_TRACE`", "off"))
    print(f"| instructions of a task, by {tool[0]} | {off:.1f}, traced {traced:.1f} | "
          f"{(traced - off) / EVENTS_OF_TASK:.1f} |")


def record_many(apps, n):
    """Records a run of fib(n) as a whole."""
    with tempfile.TemporaryDirectory() as folder:
        seconds = run_fib(apps, n, folder, APGAS_TRACE="run.pftrace", APGAS_TRACE_MEMORY="2G")
        size = pathlib.Path(folder, "run.pftrace").stat().st_size
    print(f"{EVENTS_OF_TASK * tasks_of(n):,} events of fib {n} were recorded in {seconds:.2f} s, "
          f"none was dropped, and the file has {size / 1e6:.0f} MB")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("apps", type=pathlib.Path)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="small sizes, whose figures are wrong")
    options = parser.parse_args()
    apps = options.apps.resolve()
    print("| | the tasks | an event |")
    print("|---|---|---|")
    print_times(apps, 12 if options.quick else 27, options.repeat)
    print_other_programs(apps, options.quick, options.repeat)
    tool = next((t for t in (PERF, CACHEGRIND) if works(t)), None)
    if tool is not None:
        print_instructions(tool, apps, FIB.quick if options.quick else FIB.sizes,
                           1 if options.quick else options.repeat)
    print(flush=True)
    record_many(apps, 15 if options.quick else 33)
    if tool is None:
        print("neither perf nor valgrind counts instructions here: apt install valgrind")
        return SKIPPED
    return 0


if __name__ == "__main__":
    sys.exit(main())
