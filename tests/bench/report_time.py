#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints how long the report of many waiting tasks over four places takes, from SIGQUIT to its
first line, how long its text is, and how much memory the job has before it and at most.

    report_time.py build/release/tests/bench/waiting_tasks [--tasks 1000000] [--repeat 5]
        [--processes]

All places are in one process; with --processes, mpirun starts a process for each. A waiting task
has a stack of its own, so a million tasks need 6 GB. With --check, it fails if the text or the
memory grows with the number of tasks as it must not.
"""

import argparse
import contextlib
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import time

PLACES = 4
MEMORY = re.compile(r"^(VmRSS|VmHWM):\s+(\d+) kB$", re.M)
# While a place makes its part of a report, it keeps some words for each waiting task: these are
# bytes, of which the stack of the task takes 4096 at least. Only some thousand calls of other
# places are nodes of the graph, however many there are; but tasks that wait for different objects
# of their place are nodes of their own.
BYTES_FOR_A_TASK = 120
BYTES_FOR_A_TASK_WITH_AN_OBJECT = 600
KINDS = [("for a latch", [], BYTES_FOR_A_TASK),
         ("half of them in an `at`", ["calls"], BYTES_FOR_A_TASK),
         ("each for a latch of its own", ["latches"], BYTES_FOR_A_TASK_WITH_AN_OBJECT)]
BYTES_FOR_A_REPORT = 32 << 20
TEXT_AT_MOST = 8192


@contextlib.contextmanager
def job(program, tasks, kind, processes):
    """A job with so many waiting tasks, and the processes of its places."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("APGAS_")}
    settings = {"APGAS_PLACES": str(PLACES), "APGAS_WORKERS": "1"}
    if not processes:
        settings["APGAS_TRANSPORT"] = "local"
    command = [program, str(tasks // PLACES), *kind]
    with subprocess.Popen(
            command, env=kept | settings, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGQUIT, signal.SIG_DFL)) as process:
        try:
            if process.stdout.readline() != "ready\n":
                sys.exit(f"{' '.join(command)} failed: {process.stderr.read()[-500:]}")
            time.sleep(0.5)
            yield process, leaves(process.pid)
            process.stdin.close()
            process.wait(300)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def leaves(pid):
    """The processes below this one that have started no other, or itself."""
    children = [int(child) for thread in pathlib.Path(f"/proc/{pid}/task").iterdir()
                for child in (thread / "children").read_text(encoding="ascii").split()]
    return [leaf for child in children for leaf in leaves(child)] or [pid]


def memory_of(pids):
    """Resident bytes now and at most so far, of all together."""
    now = most = 0
    for pid in pids:
        status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii")
        found = {name: int(kib) << 10 for name, kib in MEMORY.findall(status)}
        now, most = now + found["VmRSS"], most + found["VmHWM"]
    return now, most


def report_of(process, place):
    """The seconds until the first line of the report, and its text."""
    begun = time.monotonic()
    os.kill(place, signal.SIGQUIT)
    text = ""
    while "on SIGQUIT, " not in text:  # the last report may have had more lines
        text = process.stderr.readline()
        if not text:
            sys.exit("the program ended before its report")
    return time.monotonic() - begun, text


def measure(options, kind):
    with job(options.program, options.tasks, kind, options.processes) as (process, places):
        before, _ = memory_of(places)
        reports = []
        for _ in range(options.repeat):
            reports.append(report_of(process, places[0]))
            time.sleep(0.3)
        _, most = memory_of(places)
    text = reports[-1][1]
    waiting = int(re.search(r"on SIGQUIT, (\d+) tasks wait", text)[1])
    return waiting, [seconds for seconds, _ in reports], len(text), before, most - before


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--tasks", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--processes", action="store_true", help="each place is a process")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    print("| tasks wait | number | seconds, median (least to most) | bytes of text "
          "| memory before | memory of the reports |")
    print("|---|---|---|---|---|---|")
    for name, kind, bytes_for_a_task in KINDS:
        waiting, seconds, text, before, more = measure(options, kind)
        print(f"| {name} | {waiting:,} | {statistics.median(seconds):.2f} ({min(seconds):.2f} to "
              f"{max(seconds):.2f}) | {text:,} | {before / 1e9:.2f} GB | {more / 1e6:.0f} MB |",
              flush=True)
        if not options.check:
            continue
        if waiting < options.tasks:
            sys.exit(f"the report has only {waiting} of {options.tasks} tasks")
        if text > TEXT_AT_MOST:
            sys.exit(f"the text has {text} bytes, more than {TEXT_AT_MOST}")
        if more > BYTES_FOR_A_REPORT + bytes_for_a_task * waiting:
            sys.exit(f"the reports took {more} bytes, more than {BYTES_FOR_A_REPORT} and "
                     f"{bytes_for_a_task} for each task")


if __name__ == "__main__":
    main()
