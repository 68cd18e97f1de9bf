# SPDX-License-Identifier: Apache-2.0
"""What a job says: handed on as it comes, with the place in front where that is wanted, and looked
at, whether a place has said why the job ends. Then its launcher need not, and what Open MPI adds
is left out: many lines that name neither place nor cause.

All by one thread: the kernel tells a child that its parent is gone once for each thread of that,
and at a second signal Open MPI leaves its places behind."""

import os
import re
import selectors
import subprocess
import time

from launchers import TELLS_THE_END

STDOUT, STDERR = 1, 2
LONGEST_END = 20  # seconds of a job that has said why it ends
LONGEST_LINE = 4096  # that waits for its end, to be looked at
# Open MPI's messages: a block between two such lines, or a line that names host and process.
RULE = re.compile(rb"-{74}\s*$")
REMARK = re.compile(rb"\[[\w.-]+:\d+\] ")


class Lost(Exception):
    """Why an output of this process takes no more."""


class Stream:
    """One output of the job, on its way to the same one of this process, a descriptor."""

    def __init__(self, words, sink):
        self.words, self.sink = words, sink
        self.begun, self.shown = b"", 0  # the last line, and how much of it went on already
        self.in_block = False

    def write(self, part):
        """Raises Lost the first time that a stream of the job fails; then that is told."""
        try:
            while part:
                part = part[os.write(self.sink, part):]
        except OSError as error:
            told, self.words.lost = self.words.lost, True
            if not told:
                raise Lost(error) from None

    def take(self, part):
        *lines, self.begun = (self.begun + part).split(b"\n")
        for line in lines:
            self.hand_on(line, b"\n")
        waits = self.words.label or self.words.told_the_end
        if not waits or len(self.begun) > LONGEST_LINE and not self.words.label:
            self.write(self.begun[self.shown:])
            self.shown = len(self.begun)

    def end(self):
        if self.begun:
            self.hand_on(self.begun, b"\n" if self.words.label else b"")

    def hand_on(self, line, end):
        if not self.is_noise(line):
            self.write(self.words.labelled(line)[self.shown:] + end)
        if self.sink == STDERR:
            self.words.look_at(line)
        self.shown = 0

    def is_noise(self, line):
        if self.sink == STDOUT or not self.words.told_the_end:
            return False
        if RULE.match(line):
            self.in_block = not self.in_block
            return True
        return self.in_block or bool(REMARK.match(line))


class Words:
    """The output of a job, as far as it comes through pipes, until the job has ended."""

    def __init__(self, job, label, mark):
        self.job, self.label, self.mark = job, label, mark
        self.told_the_end = None  # or when
        self.lost = False  # a part of the output
        self.sources = selectors.DefaultSelector()
        for source, sink in ((job.stdout, STDOUT), (job.stderr, STDERR)):
            if source:
                self.sources.register(source, selectors.EVENT_READ, Stream(self, sink))
        self.pipes = len(self.sources.get_map())
        self.is_told = hasattr(os, "pidfd_open")  # when the job has ended
        if self.is_told:
            self.sources.register(os.pidfd_open(job.pid), selectors.EVENT_READ, None)

    def labelled(self, line):
        """With the place in front: by the launcher's mark, or place 0 where there is none."""
        if not self.label:
            return line
        if self.mark is None:
            return b"place 0: " + line
        found = self.mark.match(line)
        return b"place %d: " % int(found[1]) + line[found.end():] if found else line

    def look_at(self, line):
        if not self.told_the_end and TELLS_THE_END.search(line):
            self.told_the_end = time.monotonic()

    def wait(self, timeout):
        """As that of the job. Open MPI waits for minutes for a host that does not answer."""
        deadline = time.monotonic() + timeout if timeout else None
        while self.job.poll() is None:
            now = time.monotonic()
            if deadline and now >= deadline:
                raise subprocess.TimeoutExpired(self.job.args, timeout)
            if self.told_the_end and now > self.told_the_end + LONGEST_END:
                self.job.kill()
            longest = 1 if self.is_told else 0.1
            self.hand_on(min(longest, deadline - now) if deadline else longest)
        return self.job.returncode

    def finish(self, patience):
        """Waits for the rest; not for ever, since a process of the program may live on."""
        deadline = time.monotonic() + patience
        while self.pipes > 0 and time.monotonic() < deadline:
            self.hand_on(0.1, waits_for_job=False)

    def hand_on(self, seconds, waits_for_job=True):
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
