#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cores_change_test.py PROGRAM ARGUMENT...: the cores that a program may use change while it runs.

A batch system that shrinks a cpuset, and a core that is taken off line, both leave the threads of
a running program with other cores than those that it saw at its start. The test gives every thread
one core, then another, then all, until the program ends; its result must be right.
"""

import itertools
import os
import subprocess
import sys
import time


def main():
    cores = sorted(os.sched_getaffinity(0))
    environment = dict(os.environ, APGAS_WORKERS="2")
    program = subprocess.Popen(sys.argv[1:], env=environment, stdout=subprocess.PIPE, text=True)
    changes = 0
    for allowed in itertools.cycle([[cores[0]], [cores[-1]], cores]):
        if program.poll() is not None:
            break
        for thread in os.listdir(f"/proc/{program.pid}/task"):
            try:
                os.sched_setaffinity(int(thread), allowed)
                changes += 1
            except OSError:  # the thread has ended
                pass
        time.sleep(0.02)
    output = program.stdout.read()
    if program.returncode != 0 or '"verified":true' not in output:
        sys.exit(f"exit code {program.returncode} after {changes} changes: {output}")
    if changes < 20:
        sys.exit(f"the program ended after {changes} changes; give it more to do")


if __name__ == "__main__":
    main()
