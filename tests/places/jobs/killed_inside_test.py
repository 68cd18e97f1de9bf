#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills a place inside a send or a receive through shared memory, after a seeded number of
instructions of a function of ring_sender, ring_receiver or team_board, or while it or another place
reads long data from the memory of the other one. As after any other kill, one line names the place,
the exit code is not 0, and neither a process nor memory is left.

Arguments: the program exchanging, the transport shm, the program kill_inside and the library.
APGAS_TEST_SEED repeats a run, and APGAS_TEST_KILLS=n kills that many places instead of as many as
ten seconds permit.
"""

import os
import pathlib
import random
import re
import subprocess
import sys
import time
import unittest

from failures_test import Case, ENDED, HOST, Job, LONGEST, PLACES, is_running

KILL_INSIDE, LIBRARY = sys.argv[3:5]
SEED = int(os.environ.get("APGAS_TEST_SEED", "0")) or random.randrange(1, 1 << 32)
KILLS = int(os.environ.get("APGAS_TEST_KILLS", "0"))
SECONDS = 10
JOB_SECONDS = 300  # longer than kill_inside may take, which waits for what a job still does
SKIPPED = 77
# Those that other files call, by the arguments of the job; compilers may have inlined the rest into
# them.
RINGS = ("ring_sender::write", "ring_sender::post", "ring_sender::advance",
         "ring_receiver::take_single", "ring_receiver::take_several")
BOARDS = ("team_board::publish", "team_board::look", "team_board::take")
ADDRESSES = ("team_board::publish_address", "out_bytes::append_address")
READ = "comm::read_remote_process"
LONG = ("long", "1000000")
# The arguments of the job, the function, the binary logarithm of the most instructions, and whether
# the place is killed whose memory the function reads, instead of the one that is in the function.
# Then the reader continues when that memory is gone, before its failure detector does.
ENTRIES = [((), name, 8.5, False) for name in RINGS]
ENTRIES += [(("collectives", "1000000"), name, 8.5, False) for name in BOARDS]
ENTRIES += [(LONG, name, 5, False) for name in (*ADDRESSES, READ)]
ENTRIES += 2 * [(LONG, READ, 4, True)]


def functions():
    """The name, the address and the size of each function of these classes, and of READ."""
    table = subprocess.run(["nm", "-C", "-S", "--defined-only", LIBRARY], capture_output=True,
                           text=True, check=True).stdout
    classes = "ring_sender|ring_receiver|team_board|out_bytes"
    lines = re.findall(
        rf"^(\w+) (\w+) [tTwW] \S+::((?:{classes})::\w+|{READ})\((?!.*\[clone)", table, re.M)
    return {name: (int(address, 16), int(size, 16)) for address, size, name in lines}


class Killed(Case):
    def kill_one(self, choices, known):
        """Returns whether the place was killed in one of these functions, not in what they call."""
        place, (arguments, name, most, owner) = choices.randrange(PLACES), choices.choice(ENTRIES)
        steps = int(2 ** choices.uniform(0, most))
        job = Job(*arguments, seconds=JOB_SECONDS)
        self.addCleanup(job.process.kill)
        time.sleep(choices.uniform(0, 0.2))
        killed = subprocess.run([KILL_INSIDE, str(job.places[place]), pathlib.Path(LIBRARY).name,
                                 f"{known[name][0]:x}", str(steps), *(["owner"] if owner else [])],
                                capture_output=True, text=True, check=False)
        if killed.returncode == SKIPPED:
            job.process.terminate()
            job.end("skipped")
            print(f"SKIPPED: {killed.stderr}")
            sys.exit(SKIPPED)
        self.assertEqual(killed.returncode, 0, killed.stderr)
        at, process = int(killed.stdout.split()[0], 16), int(killed.stdout.split()[1])
        reader = place
        place = next(p for p, number in job.places.items() if number == process)
        inside = [f"{function} + {at - begin:#x}" for function, (begin, size) in known.items()
                  if begin <= at < begin + size]
        print(f"place {place}{f', read by place {reader},' if owner else ''} in {name}, {steps} "
              f"instructions: {inside or 'a callee'}", flush=True)
        self.check(job, "killed inside",
                   rf"^apgas: place {place} on {HOST} {ENDED}; this ends the job$", 137)
        self.assertFalse([p for p in job.places.values() if is_running(p)])
        return bool(inside)

    def test_kills(self):
        known = functions()
        self.assertLessEqual({*RINGS, *BOARDS, *ADDRESSES, READ}, set(known))
        names = set(os.listdir("/dev/shm"))
        choices = random.Random(SEED)
        began, kills, inside = time.monotonic(), 0, 0
        while kills < KILLS or (not KILLS and time.monotonic() < began + SECONDS):
            inside += self.kill_one(choices, known)
            kills += 1
        print(f"{kills} places were killed, {inside} of them in the functions themselves")
        self.assertGreater(inside, 0)
        deadline = time.monotonic() + LONGEST  # until other programs have removed theirs
        while (left := set(os.listdir("/dev/shm")) - names) and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertFalse(left)


if __name__ == "__main__":
    print(f"APGAS_TEST_SEED={SEED}", flush=True)
    unittest.main(argv=sys.argv[:1] + sys.argv[5:])
