#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cores_change_test.py PROGRAM ARGUMENT...: the cores that a program may use change while it runs.

A batch system that shrinks a cpuset, and a core that is taken off line, both leave the threads of
a running program with other cores than those that it saw at its start. The test gives every thread
one core until the program has said so, then another, then all, and so on until the program ends.
Its result must be right, and it must not say it again.
"""

import itertools
import os
import subprocess
import sys
import threading
import time

MANY = 20


class Program:
    def __init__(self, command):
        environment = dict(os.environ, APGAS_WORKERS="2")
        self.process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.lines, self.changes = [], 0
        self.reader = threading.Thread(target=lambda: self.lines.extend(self.process.stderr))
        self.reader.start()

    def allow(self, cores):
        for thread in os.listdir(f"/proc/{self.process.pid}/task"):
            try:
                os.sched_setaffinity(int(thread), cores)
                self.changes += 1
            except OSError:  # the thread has ended
                pass
        time.sleep(0.02)

    def runs(self):
        return self.process.poll() is None


def main():
    cores = sorted(os.sched_getaffinity(0))
    program = Program(sys.argv[1:])
    while program.runs() and len(os.listdir(f"/proc/{program.process.pid}/task")) < 3:
        time.sleep(0.05)  # until both workers run
    time.sleep(1)  # and have seen the cores that they have at the start
    while program.runs() and not program.lines:
        program.allow([cores[0]])
    for allowed in itertools.cycle([[cores[-1]], cores, [cores[0]]]):
        if not program.runs():
            break
        program.allow(allowed)
    output = program.process.stdout.read()
    program.reader.join()
    about = f"after {program.changes} changes: {output}{program.lines}"
    if program.process.returncode != 0 or '"verified":true' not in output:
        sys.exit(f"exit code {program.process.returncode} {about}")
    if program.changes < MANY:
        sys.exit(f"the program ended {about}; give it more to do")
    # On a host with one core nothing changes.
    said = [line for line in program.lines if "the cores of place 0 changed from" in line]
    if len(said) != (len(cores) > 1) or len(program.lines) != len(said):
        sys.exit(f"not one line about the cores {about}")
    if said and f" to {cores[0]}; its 2 workers now share them" not in said[0]:
        sys.exit(f"the line does not name the cores {about}")


if __name__ == "__main__":
    main()
