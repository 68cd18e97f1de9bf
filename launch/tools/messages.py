# SPDX-License-Identifier: Apache-2.0
"""The messages of a job. Forwards its output as it comes, prefixes each line with its place if
asked to, and detects whether a place has reported why the job ends. If so, the launcher need not
report it, and the messages of Open MPI are left out, which name neither place nor cause.

One thread does all of this. The kernel signals a child at the end of each thread of its parent, not
only of the process, and at a second signal Open MPI leaves its places behind."""

import os
import re
import selectors
import subprocess
import time

from launchers import REPORTS_THE_END

STDOUT, STDERR = 1, 2
LONGEST_END = 20  # seconds until a job must have ended after a place has reported its end
LONGEST_LINE = 4096  # bytes of an incomplete line that are held back to be examined
# A message of Open MPI is a block between two RULE lines, or a REMARK line.
RULE = re.compile(rb"-{74}\s*$")
REMARK = re.compile(rb"\[[\w.-]+:\d+\] ")


class OutputLost(Exception):
    """Output of this process can no longer be written. Argument: the OSError."""


class Stream:
    """Forwards standard output or standard error of the job to that of this process, `sink`."""

    def __init__(self, job_output, sink):
        self.job_output, self.sink = job_output, sink
        self.incomplete, self.shown = b"", 0  # the incomplete last line; how much of it was written
        self.in_block = False

    def write(self, part):
        """Raises OutputLost at the first failure of any stream; later output is dropped."""
        try:
            while part:
                part = part[os.write(self.sink, part):]
        except OSError as error:
            was_lost, self.job_output.lost = self.job_output.lost, True
            if not was_lost:
                raise OutputLost(error) from None

    def take(self, part):
        *lines, self.incomplete = (self.incomplete + part).split(b"\n")
        for line in lines:
            self.forward(line, b"\n")
        waits = self.job_output.label or self.job_output.end_is_reported
        if not waits or len(self.incomplete) > LONGEST_LINE and not self.job_output.label:
            self.write(self.incomplete[self.shown:])
            self.shown = len(self.incomplete)

    def end(self):
        if self.incomplete:
            self.forward(self.incomplete, b"\n" if self.job_output.label else b"")

    def forward(self, line, end):
        if not self.is_noise(line):
            self.write(self.job_output.labelled(line)[self.shown:] + end)
        if self.sink == STDERR:
            self.job_output.examine(line)
        self.shown = 0

    def is_noise(self, line):
        if self.sink == STDOUT or not self.job_output.end_is_reported:
            return False
        if RULE.match(line):
            self.in_block = not self.in_block
            return True
        return self.in_block or bool(REMARK.match(line))


class JobOutput:
    """Forwards all output of a job that comes through pipes, until the job has ended."""

    def __init__(self, job, label, prefix):
        self.job, self.label, self.prefix = job, label, prefix
        self.end_is_reported = None  # otherwise the time at which a place reported the end
        self.lost = False  # whether output could not be written
        self.sources = selectors.DefaultSelector()
        for source, sink in ((job.stdout, STDOUT), (job.stderr, STDERR)):
            if source:
                self.sources.register(source, selectors.EVENT_READ, Stream(self, sink))
        self.pipes = len(self.sources.get_map())
        self.has_pidfd = hasattr(os, "pidfd_open")  # wakes this process when the job has ended
        if self.has_pidfd:
            self.sources.register(os.pidfd_open(job.pid), selectors.EVENT_READ, None)

    def labelled(self, line):
        """Returns the line with its place in front, from the launcher's prefix if it adds one."""
        if not self.label:
            return line
        if self.prefix is None:
            return b"place 0: " + line
        found = self.prefix.match(line)
        return b"place %d: " % int(found[1]) + line[found.end():] if found else line

    def examine(self, line):
        if not self.end_is_reported and REPORTS_THE_END.search(line):
            self.end_is_reported = time.monotonic()

    def wait(self, timeout):
        """Waits for the job like Popen.wait, but kills a job that does not end after a place has
        reported its end: Open MPI waits for minutes for a host that does not answer."""
        deadline = time.monotonic() + timeout if timeout else None
        while self.job.poll() is None:
            now = time.monotonic()
            if deadline and now >= deadline:
                raise subprocess.TimeoutExpired(self.job.args, timeout)
            if self.end_is_reported and now > self.end_is_reported + LONGEST_END:
                self.job.kill()
            longest = 1 if self.has_pidfd else 0.1
            self.forward(min(longest, deadline - now) if deadline else longest)
        return self.job.returncode

    def finish(self, patience):
        """Forwards the rest of the output, for at most `patience` seconds: a process that the
        program has started may live on and keep the pipes open."""
        deadline = time.monotonic() + patience
        while self.pipes > 0 and time.monotonic() < deadline:
            self.forward(0.1, waits_for_job=False)

    def forward(self, seconds, waits_for_job=True):
        for ready, _ in self.sources.select(seconds):
            if ready.data is None:
                if not waits_for_job:
                    self.sources.unregister(ready.fileobj)
                continue
            part = os.read(ready.fd, 65536)
            if part:
                ready.data.take(part)
            else:
                ready.data.end()
                self.sources.unregister(ready.fileobj)
                self.pipes -= 1
