# SPDX-License-Identifier: Apache-2.0
"""A job on the simulated hosts: its output, and the processes that it leaves when it ends."""

import pathlib
import re
import statistics
import subprocess
import tempfile
import time
import unittest

from simulated_cluster import CLUSTER, HOSTS, NAME, cluster, with_cluster

PLACES = 6  # two on each host
HEARTBEAT = 3
LONGEST = 60  # seconds that the end of a job may take, however loaded the host is
WORKING = 300  # seconds that a job works unless a test ends it, longer than any command takes
STARTED = 400  # seconds after which apgas-run ends a job, so that no test waits for ever
ENDED = r"ended unexpectedly \(killed, for example by the kernel for lack of memory\)"
TOOK = {}  # failure: [seconds until the line was printed, seconds until the job had ended]


class Job:
    """A run of places_working on the hosts. The constructor returns when all places are working."""

    found = False  # left() has found a process, so that it can be trusted when it finds none

    def __init__(self, transport, *failure, name=NAME, hosts=HOSTS, options=()):
        self.name = name
        self.errors = tempfile.NamedTemporaryFile("w+")
        command = [CLUSTER, "--name", name, "run", "--", "apgas-run", "--timeout", str(STARTED),
                   "-n", str(PLACES), "--transport", transport, "--hosts",
                   ",".join(f"{h}:2" for h in hosts),
                   "--env", f"APGAS_HEARTBEAT={HEARTBEAT}", *options, "places_working",
                   str(WORKING), *failure]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=self.errors, text=True)
        self.places = {}
        working = False
        while not working or len(self.places) < PLACES:
            line = self.process.stdout.readline()
            assert line, self.heard()
            working |= line == "working\n"
            if found := re.fullmatch(r"place (\d+) process (\d+) launcher \d+\n", line):
                self.places[int(found[1])] = found[2]
        if not failure and not Job.found:  # a job with a failure may end before left() is called
            Job.found = bool(self.left())
            assert Job.found, "the processes of a job are not found"
        self.began = time.monotonic()

    def kill(self, host, place, signal="KILL"):
        """Sends the signal. Time is measured from its arrival, since an engine may take seconds."""
        command = f"date +%s.%N && kill -{signal} {self.places[place]}"
        sent = cluster("exec", host, "--", "sh", "-c", command, name=self.name)
        assert sent.returncode == 0, sent
        self.began = time.monotonic() - (time.time() - float(sent.stdout))

    def heard(self):
        return pathlib.Path(self.errors.name).read_text()

    def own_lines(self):
        return [line for line in self.heard().splitlines() if re.match("apgas(-run)?: ", line)]

    def finish(self):
        """Waits for the end. Returns the exit code, the output since the start, and the errors."""
        out = self.process.communicate(timeout=LONGEST)[0]
        return self.process.returncode, out, self.heard()

    def end(self, what):
        """Waits for the first line of apgas, for the end, and until no process is left."""
        while not self.own_lines() and self.process.poll() is None:
            time.sleep(0.02)
        said = time.monotonic() - self.began
        self.process.wait(LONGEST)
        TOOK.setdefault(what, []).append((said, time.monotonic() - self.began))
        self.wait_until_gone()
        self.process.stdout.close()
        return self.process.returncode, self.own_lines()

    def wait_until_gone(self):
        deadline = time.monotonic() + LONGEST
        left = self.left()
        while left and time.monotonic() < deadline:
            time.sleep(0.1)
            left = self.left()
        assert not left, f"left behind: {left}; {self.heard()}"

    def left(self):
        """The processes of the job on running hosts: places, mpirun and its daemons."""
        states = [line.split() for line in
                  cluster("status", name=self.name).stdout.splitlines()]
        alive = [host for host, state in states if state in ("running", "cut")]
        # Hosts made of namespaces see all processes of the real host. Only those in their network
        # belong to them.
        names = "mpirun|orted|working|apgas-detector"
        find = f"pgrep -l --runstates RSDT --ns $$ --nslist net '{names}'"
        return [f"{host}: {process}" for host in alive
                for process in cluster("exec", host, "--", "sh", "-c", find,
                                       name=self.name).stdout.splitlines()]


class Case(unittest.TestCase):
    def check(self, job, what, pattern, *codes):
        code, lines = job.end(what)
        self.assertEqual(len(lines), 1, job.heard())
        self.assertRegex(lines[0], pattern)
        self.assertNotEqual(code, 0)
        if codes:
            self.assertIn(code, codes, job.heard())


def main():
    """Runs the tests of the main module; returns the exit code of the program."""
    code = with_cluster()
    for what, times in TOOK.items():
        said, over = (statistics.median(each) for each in zip(*times))
        longest = max(times)
        print(f"{what}: line after {said:.1f} s, end after {over:.1f} s (median of {len(times)}; "
              f"slowest {longest[0]:.1f}, {longest[1]:.1f})")
    return code
