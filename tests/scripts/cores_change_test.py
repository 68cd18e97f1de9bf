#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cores_change_test.py [--cpuset] PROGRAM ARGUMENT...: the cores of a program change while it runs.

A batch system that shrinks a cpuset, and a core that is taken off line, both leave the threads of
a running program with other cores than those that it saw at its start. The test gives every thread
one core until the program has said so, then another, then all, and so on until the program ends.
Its result must be right, and it must not say it again.

Without --cpuset the test sets the affinity of each thread. With it, the program runs in a cpuset of
its own, which the test changes, as a batch system does. No test takes a core off line, because that
would disturb all other programs of the machine. Exit code: 77 where no cpuset can be made.
"""

import contextlib
import itertools
import os
import pathlib
import subprocess
import sys
import threading
import time

MANY = 20


class Program:
    def __init__(self, command, before=None):
        environment = dict(os.environ, APGAS_WORKERS="2")
        self.process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, preexec_fn=before)
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


class ProgramInCpuset(Program):
    """Throws OSError where no cpuset can be made."""

    PREFIX = "apgas_test_"  # and the id of the process of the test

    def __init__(self, command, cores):
        top = pathlib.Path("/sys/fs/cgroup")
        version_1 = (top / "cpuset").is_dir()
        if not version_1:
            (top / "cgroup.subtree_control").write_text("+cpuset")
        groups = top / ("cpuset" if version_1 else "")
        self.remove_leftovers(groups)
        self.group = groups / f"{self.PREFIX}{os.getpid()}"
        self.group.mkdir()
        try:
            if version_1:
                (self.group / "cpuset.mems").write_text((top / "cpuset/cpuset.mems").read_text())
            self.write(cores)
            members = self.group / "cgroup.procs"
            super().__init__(command, lambda: members.write_text(str(os.getpid())))
        except BaseException:
            self.group.rmdir()
            raise

    @classmethod
    def remove_leftovers(cls, groups):
        """Removes the cpusets of killed tests, except those in which a program still runs."""
        for group in groups.glob(f"{cls.PREFIX}*"):
            if not pathlib.Path("/proc", group.name.removeprefix(cls.PREFIX)).exists():
                with contextlib.suppress(OSError):
                    group.rmdir()

    def write(self, cores):
        (self.group / "cpuset.cpus").write_text(",".join(map(str, cores)))

    def allow(self, cores):
        self.write(cores)
        self.changes += 1
        time.sleep(0.02)

    def close(self):
        self.process.wait()
        self.group.rmdir()


def started(cores):
    if sys.argv[1] != "--cpuset":
        return Program(sys.argv[1:])
    try:
        return ProgramInCpuset(sys.argv[2:], cores)
    except (OSError, subprocess.SubprocessError) as reason:
        print(f"skipped: no cpuset can be made here ({reason})")
        sys.exit(77)


def main():
    cores = sorted(os.sched_getaffinity(0))
    program = started(cores)
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
    if isinstance(program, ProgramInCpuset):
        program.close()
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
