#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random failures. While programs run that verify their results, places and hosts are killed,
stopped, disconnected, slowed down or made to lose packets, and messages are delayed. Each run
verifies its result, or ends within its bound with one line that names what has failed.

Arguments: as in simulated_cluster.py. APGAS_TEST_CHAOS_SECONDS sets the duration, 30 by default.
APGAS_TEST_CHAOS_SEED sets the seed, which is printed at the start. With APGAS_TEST_CHAOS_RUN only
that run is repeated.
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

from simulated_cluster import CLUSTER, HOSTS, NAME, ROOT, WAYS, cluster, up, with_cluster

sys.path.insert(0, str(ROOT / "launch/tools"))
from launchers import REPORTS_THE_END  # noqa: E402

SECONDS = float(os.environ.get("APGAS_TEST_CHAOS_SECONDS", "30"))
SEED = int(os.environ.get("APGAS_TEST_CHAOS_SEED", random.SystemRandom().randrange(10**6)))
ONLY = os.environ.get("APGAS_TEST_CHAOS_RUN")
HEARTBEAT = 2
# Seconds after which apgas-run ends a run, and after which the run must have ended. A program takes
# one to three seconds alone, and over mpi more than a minute beside four computing programs on two
# cores.
ENOUGH = 150
LONGEST = 180
PROGRAMS = ["uts -t 1 -a 3 -d 10 -b 4 -r 19".split(), "imsuite LCR --nodes 150 --repeat 5".split(),
            "imsuite KC --nodes 60 --repeat 60".split()]
FAULTS = ["none", "kill a place", "kill a place", "crash a place", "stop a place", "short cut",
          "cut", "kill a host", "limit", "lose"]
HARMLESS = ("short cut", "limit", "lose")  # temporary: the run has to verify its result
RATES = ["2mbit", "10mbit", "50mbit"]
LOSSES = ["1", "3", "6"]  # percent of the packets
DELAYS = [0, 0, 100, 300]  # us, by APGAS_TEST_DELAY
DONE = VERIFIED, LOST_LATE = "verified", "lost after the program was done"
FIND = "pgrep -x --ns $$ --nslist net 'uts|imsuite'"
ALL = "pgrep -l --runstates RSDT --ns $$ --nslist net 'mpirun|orted|uts|imsuite|apgas-detector'"
CONNECT = ("import socket, sys\ntry: socket.create_connection((sys.argv[1], 7777), 1)\n"
           "except ConnectionRefusedError: pass")


class Wrong(Exception):
    """A violation of the guarantees by a run."""


def at(host, script):
    return cluster("exec", host, "--", "sh", "-c", script).stdout.split()


class Run:
    """One run with at most one fault."""

    def __init__(self, number):
        draw = random.Random(f"{SEED}:{number}")
        self.program = draw.choice(PROGRAMS)
        self.transport = WAYS[number % len(WAYS)]
        self.fault = draw.choice(FAULTS)
        # The first host runs mpirun. Without it no line could be printed.
        far = "cut" in self.fault or "host" in self.fault
        self.host = draw.choice(HOSTS[1:] if far else HOSTS)
        self.which = draw.randrange(2)
        self.delay = draw.uniform(0, 1)
        self.lasting = 0.3 if self.fault == "short cut" else draw.uniform(0.3, 1.5)
        self.degree = draw.choice({"limit": RATES, "lose": LOSSES}.get(self.fault, [""]))
        self.late = draw.choice(DELAYS)
        self.late_seed = draw.randrange(10**6)
        self.done = "too late"  # whether the fault was injected

    def __str__(self):
        late = f", messages up to {self.late} us late" if self.late else ""
        degree = f" {self.degree} for {self.lasting:.1f} s" if self.degree else ""
        return (f"{self.program[0]} over {self.transport}, {self.fault}{degree} at {self.host} "
                f"after {self.delay:.1f} s{late}")

    def kind(self):
        return f"{self.fault}{', late messages' if self.late else ''}"

    def make_fault(self):
        if self.fault == "none":
            self.done = "none"
        elif "a place" in self.fault:
            signal = {"kill": "KILL", "crash": "SEGV", "stop": "STOP"}[self.fault.split()[0]]
            places = at(self.host, FIND)
            if len(places) == 2 and at(self.host, f"kill -{signal} {places[self.which]} && echo y"):
                self.done = "made"
        elif self.fault == "kill a host":
            cluster("kill", self.host)
            self.done = "made"
        else:
            command = [self.fault, self.host, self.degree] if self.degree else ["cut", self.host]
            made = cluster(*command).returncode == 0
            self.done = "made" if made else "not possible here"
            if self.fault in HARMLESS:
                time.sleep(self.lasting)
                cluster("heal", self.host)

    def carry_out(self):
        """Runs the program. Returns the seconds from the fault to the end, and the result.

        Raises Wrong.
        """
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
                    raise Wrong(f"still running after {LONGEST} s: {heard()}") from None
            took = time.monotonic() - begin
            output.seek(0)
            return took, self.judge(code, output.read(), heard())

    def judge(self, code, out, err):
        own = [line for line in err.splitlines()
               if line.startswith("apgas") and REPORTS_THE_END.search(line.encode())]
        if code == 0:
            if own or not json.loads(out.splitlines()[-1])["verified"]:
                raise Wrong(f"code 0, but {own} {out}")
            return VERIFIED
        if self.done != "made" or self.fault in HARMLESS:
            raise Wrong(f"code {code} without a failure: {err}")
        if not own and '"verified":true' in out:
            return LOST_LATE
        words = rf" on {self.host}( ended unexpectedly| ha(s|ve) sent no heartbeat|: ended by)"
        if len(own) != 1 or not re.search(words, own[0]):
            raise Wrong(f"code {code}, but not one line that names {self.host}: {err}")
        return "ended with the right line"

    def mend(self, done):
        """Restores all hosts and their network. Raises Wrong if processes of the job are left."""
        deadline = time.monotonic() + LONGEST
        if done:  # the daemon on a disconnected host learns of the end only now
            cluster("heal")
        while left := [each for host in self.alive() for each in at(host, ALL)]:
            if time.monotonic() > deadline:
                raise Wrong(f"left behind: {left}")
            time.sleep(0.1)
        cluster("heal")
        if len(self.alive()) < len(HOSTS):
            cluster("down")
            if up(NAME, len(HOSTS)).returncode != 0:
                raise Wrong("the hosts cannot be restarted")
        while not all(self.reaches(host) for host in HOSTS[1:]):
            if time.monotonic() > deadline:
                raise Wrong("the network cannot be restored")
            time.sleep(0.1)

    def reaches(self, host):
        """Whether the host answers node1, even if it only refuses the connection."""
        return cluster("exec", HOSTS[0], "--", "python3", "-c", CONNECT, host).returncode == 0

    def alive(self):
        states = [line.split() for line in cluster("status").stdout.splitlines()]
        return [host for host, state in states if state in ("running", "cut")]


def print_unsupported_faults():
    """They are still drawn, so that a seed has the same meaning everywhere, but not injected."""
    for fault, degree in (("limit", RATES[0]), ("lose", LOSSES[0])):
        if (tried := cluster(fault, HOSTS[1], degree)).returncode != 0:
            print(f"LEFT OUT: {fault}: {tried.stderr.strip()}", flush=True)
    cluster("heal")


def run_for_so_long():
    """Runs programs for SECONDS and prints statistics. Returns the number of wrong runs."""
    found, slowest, wrong = collections.Counter(), collections.defaultdict(float), 0
    print_unsupported_faults()
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
    print(f"{found.total()} runs, {wrong} of them wrong")
    return wrong


def main():
    print(f"APGAS_TEST_CHAOS_SEED={SEED}", flush=True)
    return with_cluster(lambda: 1 if run_for_so_long() else 0)


if __name__ == "__main__":
    sys.exit(main())
