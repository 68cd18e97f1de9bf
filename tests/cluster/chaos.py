#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""At random places and nodes are killed, stopped, cut off, slowed down or made to lose packets, and
messages delayed, while programs run that verify themselves. Each run verifies, or ends within its
bound with one line that names what was lost.

Arguments: as in nodes.py. APGAS_TEST_CHAOS_SECONDS: how long, 30 by default. APGAS_TEST_CHAOS_SEED:
what is drawn, told at the start; with APGAS_TEST_CHAOS_RUN only that run of it.
"""

import collections
import contextlib
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

from nodes import CLUSTER, HOSTS, NAME, ROOT, TRANSPORTS, cluster, up, with_nodes

sys.path.insert(0, str(ROOT / "launch/tools"))
from launchers import TELLS_THE_END  # noqa: E402

SECONDS = float(os.environ.get("APGAS_TEST_CHAOS_SECONDS", "30"))
SEED = int(os.environ.get("APGAS_TEST_CHAOS_SEED", random.SystemRandom().randrange(10**6)))
ONLY = os.environ.get("APGAS_TEST_CHAOS_RUN")
HEARTBEAT = 2
# Seconds after which apgas-run ends a run, and for its end. A program takes one to three alone, and
# over mpi more than a minute beside four others that compute on two cores.
ENOUGH = 150
LONGEST = 180
PROGRAMS = ["uts -t 1 -a 3 -d 10 -b 4 -r 19".split(), "imsuite LCR --nodes 150 --repeat 5".split(),
            "imsuite KC --nodes 60 --repeat 60".split()]
FAULTS = ["none", "kill a place", "kill a place", "crash a place", "stop a place", "short cut",
          "cut", "kill a node", "limit", "lose"]
HARMLESS = ("short cut", "limit", "lose")  # they end: the run has to verify
RATES = ["2mbit", "10mbit", "50mbit"]
LOSSES = ["1", "3", "6"]  # of a hundred packets
DELAYS = [0, 0, 100, 300]  # us, of messages by the program itself
DONE = VERIFIED, LOST_LATE = "verified", "lost when the program was done"
FIND = "pgrep -x --ns $$ --nslist net 'uts|imsuite'"
ALL = "pgrep -l --runstates RSDT --ns $$ --nslist net 'mpirun|orted|uts|imsuite|apgas-watch'"
CONNECT = ("import socket, sys\ntry: socket.create_connection((sys.argv[1], 7777), 1)\n"
           "except ConnectionRefusedError: pass")


class Wrong(Exception):
    """What a run did that it may not."""


def at(node, script):
    return cluster("exec", node, "--", "sh", "-c", script).stdout.split()


class Run:
    """One run with at most one fault."""

    def __init__(self, number):
        draw = random.Random(f"{SEED}:{number}")
        self.program = draw.choice(PROGRAMS)
        self.transport = draw.choice(TRANSPORTS)
        self.fault = draw.choice(FAULTS)
        # The first node has mpirun: without it nobody is left to be told.
        far = "cut" in self.fault or "node" in self.fault
        self.node = draw.choice(HOSTS[1:] if far else HOSTS)
        self.which = draw.randrange(2)
        self.delay = draw.uniform(0, 1)
        self.lasting = 0.3 if self.fault == "short cut" else draw.uniform(0.3, 1.5)
        self.degree = draw.choice({"limit": RATES, "lose": LOSSES}.get(self.fault, [""]))
        self.late = draw.choice(DELAYS)
        self.late_seed = draw.randrange(10**6)
        self.done = "too late"  # for the fault

    def __str__(self):
        late = f", messages up to {self.late} us late" if self.late else ""
        degree = f" {self.degree} for {self.lasting:.1f} s" if self.degree else ""
        return (f"{self.program[0]} over {self.transport}, {self.fault}{degree} at {self.node} "
                f"after {self.delay:.1f} s{late}")

    def kind(self):
        return f"{self.fault}{', late messages' if self.late else ''}"

    def make_fault(self):
        if self.fault == "none":
            self.done = "none"
        elif "a place" in self.fault:
            signal = {"kill": "KILL", "crash": "SEGV", "stop": "STOP"}[self.fault.split()[0]]
            places = at(self.node, FIND)
            if len(places) == 2 and at(self.node, f"kill -{signal} {places[self.which]} && echo y"):
                self.done = "made"
        elif self.fault == "kill a node":
            cluster("kill", self.node)
            self.done = "made"
        else:
            command = [self.fault, self.node, self.degree] if self.degree else ["cut", self.node]
            made = cluster(*command).returncode == 0
            self.done = "made" if made else "not possible here"
            if self.fault in HARMLESS:
                time.sleep(self.lasting)
                cluster("heal", self.node)

    def carry_out(self):
        """Seconds from the fault to the end, and what became of it. Raises Wrong."""
        with tempfile.NamedTemporaryFile("w+") as errors, tempfile.TemporaryFile("w+") as output:
            command = [CLUSTER, "--name", NAME, "run", "--", "apgas-run", "-n", "6",
                       "--timeout", str(ENOUGH), "--env", "APGAS_STATS=1", "--env",
                       f"APGAS_HEARTBEAT={HEARTBEAT}", "--transport", self.transport]
            if self.late:
                command += ["--env", f"APGAS_TEST_DELAY={self.late}", "--env",
                            f"APGAS_TEST_DELAY_SEED={self.late_seed}"]
            command += self.program
            with subprocess.Popen(command, stdout=output, stderr=errors) as job:
                try:
                    heard = pathlib.Path(errors.name).read_text
                    while "on 3 hosts" not in heard() and job.poll() is None:
                        time.sleep(0.02)
                    time.sleep(self.delay)
                    begin = time.monotonic()
                    self.make_fault()
                    code = job.wait(LONGEST)
                except subprocess.TimeoutExpired:
                    job.kill()
                    raise Wrong(f"not over after {LONGEST} s: {heard()}") from None
            took = time.monotonic() - begin
            output.seek(0)
            return took, self.judge(code, output.read(), heard())

    def judge(self, code, out, err):
        own = [line for line in err.splitlines()
               if line.startswith("apgas") and TELLS_THE_END.search(line.encode())]
        if code == 0:
            if own or not json.loads(out.splitlines()[-1])["verified"]:
                raise Wrong(f"code 0, but {own} {out}")
            return VERIFIED
        if self.done != "made" or self.fault in HARMLESS:
            raise Wrong(f"code {code} without a reason: {err}")
        if not own and '"verified":true' in out:
            return LOST_LATE
        words = rf" on {self.node}( is gone| are gone|: ended by)"
        if len(own) != 1 or not re.search(words, own[0]):
            raise Wrong(f"code {code}, not one line that names {self.node}: {err}")
        return "ended with the right words"

    def mend(self, done):
        """All nodes up and on the network, and nothing of the job left at them."""
        deadline = time.monotonic() + LONGEST
        if done:  # the daemon of a node that is cut off then learns of the end only when it heals
            cluster("heal")
        while left := [each for node in self.alive() for each in at(node, ALL)]:
            if time.monotonic() > deadline:
                raise Wrong(f"left behind: {left}")
            time.sleep(0.1)
        cluster("heal")
        if len(self.alive()) < len(HOSTS):
            cluster("down")
            if up(NAME, len(HOSTS)).returncode != 0:
                raise Wrong("the nodes do not come up again")
        while not all(self.reaches(node) for node in HOSTS[1:]):
            if time.monotonic() > deadline:
                raise Wrong("the network does not heal")
            time.sleep(0.1)

    def reaches(self, node):
        """Whether something there answers node1, be it that nobody listens."""
        return cluster("exec", HOSTS[0], "--", "python3", "-c", CONNECT, node).returncode == 0

    def alive(self):
        states = [line.split() for line in cluster("status").stdout.splitlines()]
        return [node for node, state in states if state in ("running", "cut")]


def tell_what_is_impossible():
    """Such a fault is still drawn, so that a seed means the same everywhere, and not made."""
    for fault, degree in (("limit", RATES[0]), ("lose", LOSSES[0])):
        if (tried := cluster(fault, HOSTS[1], degree)).returncode != 0:
            print(f"LEFT OUT: {fault}: {tried.stderr.strip()}", flush=True)
    cluster("heal")


def run_for_so_long():
    """Statistics by fault; the number of runs that did what they may not."""
    found, slowest, wrong = collections.Counter(), collections.defaultdict(float), 0
    tell_what_is_impossible()
    end, number = time.monotonic() + SECONDS, int(ONLY or 0)
    while time.monotonic() < end:
        run = Run(number)
        try:
            took, what = run.carry_out()
            run.mend(what in DONE)
            print(f"run {number}: {run}: {what}, {took:.1f} s", flush=True)
            slowest[run.kind(), what] = max(slowest[run.kind(), what], took)
        except Wrong as reason:
            what, wrong = "WRONG", wrong + 1
            print(f"run {number}: {run}: WRONG: {reason}", flush=True)
            with contextlib.suppress(Wrong):
                run.mend(True)
        found[run.kind(), run.done, what] += 1
        number += 1
        if ONLY:
            break
    for (kind, done, what), count in sorted(found.items()):
        print(f"{kind} ({done}): {what} {count} times, {slowest[kind, what]:.1f} s at most")
    print(f"{found.total()} runs, of which {wrong} did what they may not")
    return wrong


def main():
    print(f"APGAS_TEST_CHAOS_SEED={SEED}", flush=True)
    return with_nodes(lambda: 1 if run_for_so_long() else 0)


if __name__ == "__main__":
    sys.exit(main())
