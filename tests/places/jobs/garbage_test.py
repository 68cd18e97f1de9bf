#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Another process of the same user writes garbage into the memory through which places send each
other messages. The job goes on if nothing was hit, or ends with a line that names a place.
No place crashes, and the job does not hang.

After the start no process without privileges can open this memory any more, so the test writes
through the memory of a place (/proc/<pid>/mem). To hit records, it stops a place until records wait
there.

Arguments: the program exchanging and the transport shm. APGAS_TEST_SEED repeats a run, and
APGAS_TEST_GARBAGE=n has n jobs for each case.
"""

import contextlib
import os
import pathlib
import random
import signal
import struct
import subprocess
import sys
import time
import unittest

from failures_test import Job, PLACES, own_lines

SEED = int(os.environ.get("APGAS_TEST_SEED", "0")) or random.randrange(1, 1 << 32)
JOBS = int(os.environ.get("APGAS_TEST_GARBAGE", "1"))
SKIPPED = 77
LONGEST = 150  # seconds that a job of two seconds may take under any load

# As in comm/transports/shm/src: host_segment.hpp, ring.hpp and ring_record.hpp.
SLEEPING, HEADER, POSITIONS, COPY, READ, RINGS = 64, 640, 256, 8, 128, 4096
COPY_BYTES, FLAGS = 120, 7  # of a position
RING, SLACK, WORD = 256 << 10, 16 << 10, 8
# As in host_segment.hpp and places/teams/src/team_board.hpp; world() has the first board.
AREA, BOARD, CONTROL, POST, POSTS, ADDRESS = 4 << 20, 512 << 10, 4096, 64, 512, 48
# As in comm/frames/include/apgas/comm/message.hpp.
FRAME_HEADER, TASK = 32, 1


class Missed(Exception):
    """The job ended before the test could write."""


class Segment:
    """The memory of one place, as it lies in the memory of a process."""

    def __init__(self, process, begin, end):
        self.process, self.begin, self.size = process, begin, end - begin
        self.seen = [0] * PLACES  # positions up to which records do not count as waiting

    def access(self, offset, mode, function):
        try:
            with open(f"/proc/{self.process}/mem", mode, buffering=0) as memory:
                memory.seek(self.begin + offset)
                return function(memory)
        except OSError as error:
            raise Missed from error

    def write(self, offset, data):
        if self.access(offset, "r+b", lambda memory: memory.write(data)) != len(data):
            raise Missed

    def read(self, offset, size):
        data = self.access(offset, "rb", lambda memory: memory.read(size))
        if len(data) != size:
            raise Missed
        return data

    def position(self, sender):
        """How far it has written, with the flags."""
        return struct.unpack("<Q", self.read(HEADER + sender * POSITIONS, 8))[0]

    def written(self):
        """How far each sender has written."""
        return [self.position(sender) & ~FLAGS for sender in range(PLACES)]

    def waiting(self):
        """The sender and the offset of each record that has been written since `seen` and that the
        receiver will read in the ring: not of one that is alone and has a copy."""
        found = []
        for sender in range(PLACES):
            position, at, of_sender = self.position(sender), self.seen[sender], []
            while at < position & ~FLAGS:
                of_sender.append((sender, RINGS + sender * (RING + SLACK) + at % RING))
                length, = struct.unpack("<I", self.read(of_sender[-1][1], 4))
                at += WORD + (length + 7) // 8 * 8
            if not position & FLAGS or len(of_sender) > 1:
                found += of_sender
        return found

    def task_frames(self):
        """The offset and the size of task frames that wait."""
        for _, at in self.waiting():
            length, kind = struct.unpack("<IB", self.read(at + WORD, 5))
            if self.read(at + 4, 1) in (b"\1", b"\2") and kind == TASK:
                yield at + WORD, FRAME_HEADER + length


def segments(process):
    lines = pathlib.Path(f"/proc/{process}/maps").read_text().splitlines()
    ranges = [line.split()[0].split("-") for line in lines if "/memfd:apgas" in line]
    return [Segment(process, int(begin, 16), int(end, 16)) for begin, end in ranges]


def segment_of(place, found):
    """The one to which the place itself does not send, but all others do."""
    for each in found:
        if [sender for sender, at in enumerate(each.written()) if at == 0] == [place]:
            return each
    raise Missed


def stopped_with_records(job, place, found):
    """Stops the place when records wait for it, and returns its segment. A receiver does not say
    which records it has read until it has read several, so only those count that are written while
    it is stopped: by its neighbour, where messages have gathered."""
    own = segment_of(place, found)
    neighbour = (place + 1) % PLACES
    job.kill(neighbour, signal.SIGSTOP)
    try:
        time.sleep(0.05)
        job.kill(place, signal.SIGSTOP)
        time.sleep(0.05)
        own.seen = own.written()
    finally:
        job.kill(neighbour, signal.SIGCONT)
    for _ in range(40):
        before = own.waiting()
        time.sleep(0.05)
        if before and own.waiting() == before:
            return own
    raise Missed


class Garbage(unittest.TestCase):
    def setUp(self):
        self.choices = random.Random(f"{SEED} {self.id()}")

    def fill(self, size):
        return self.choices.choice((bytes(size), b"\xff" * size, self.choices.randbytes(size)))

    def any_positions(self):
        return HEADER + self.choices.randrange(PLACES) * POSITIONS

    def hit(self, job, overwrite, stop):
        place = self.choices.randrange(PLACES)
        found = segments(job.places[place])
        self.assertEqual(len(found), PLACES)
        time.sleep(self.choices.uniform(0, 0.3))
        try:
            segment = self.choices.choice(found)
            if stop is not None:
                segment = stopped_with_records(job, place, found)
            if stop == "all":
                for other in range(PLACES):
                    job.kill(other, signal.SIGSTOP)
                time.sleep(0.05)
            overwrite(segment)
        finally:
            for each in range(PLACES):
                job.kill(each, signal.SIGCONT)

    def check(self, overwrite, *arguments, stop=None, must_end=False):
        """`overwrite` gets a segment of a running job: with `stop`, that of a place for which
        records wait. It is stopped, as are its senders if `stop` is "all"."""
        done, misses = 0, 0
        while done < JOBS:
            self.assertLess(misses, 10)
            job = Job(*arguments, seconds=2)
            self.addCleanup(job.process.kill)
            missed = False
            try:
                self.hit(job, overwrite, stop)
            except (Missed, FileNotFoundError, ProcessLookupError):
                missed = True
            try:
                job.process.wait(LONGEST)
            except subprocess.TimeoutExpired:
                with contextlib.suppress(ProcessLookupError):
                    for place in range(PLACES):
                        job.kill(place, signal.SIGQUIT)  # for a report
                time.sleep(5)
                self.fail(f"the job hangs: {job.heard()}")
            code, _, errors = job.end("garbage")
            print(f"{self.id()}: {code}{' missed' if missed else ''} {errors.strip()}", flush=True)
            done += not missed
            misses += missed
            if code == 0 and (missed or not must_end):
                self.assertEqual(errors, "")
                continue
            self.assertEqual(code, 1, errors)
            self.assertTrue(own_lines(errors), errors)
            for line in own_lines(errors):  # each place that finds something wrong has one
                self.assertRegex(line, r"^apgas: .*(place|rank) \d")

    def test_the_position_of_a_sender(self):
        def overwrite(segment):
            sender, _ = self.choices.choice(segment.waiting())
            segment.write(HEADER + sender * POSITIONS, self.fill(8))
        self.check(overwrite, stop="all", must_end=True)

    def test_the_position_of_a_receiver(self):
        self.check(lambda segment: segment.write(self.any_positions() + READ, self.fill(8)))

    def test_all_positions(self):
        self.check(lambda segment: segment.write(HEADER, self.fill(PLACES * POSITIONS)), stop="all",
                   must_end=True)

    def test_the_header(self):
        self.check(lambda segment: segment.write(0, self.fill(HEADER)))

    def test_the_flag_of_places_that_sleep(self):
        """The other places sleep while one is stopped, and nobody wakes them when it continues."""
        def overwrite(segment):
            for each in segments(segment.process):
                each.write(SLEEPING, bytes(4))
        self.check(overwrite, stop="one")

    def test_the_word_of_a_record(self):
        """Its length, kind, run or position."""
        def overwrite(segment):
            _, at = self.choices.choice(segment.waiting())
            field, size = self.choices.choice(((0, 4), (4, 1), (5, 1), (6, 2)))
            before = segment.read(at + field, size)
            plausible = range(1, 5) if field == 4 else ()  # other kinds are
            data = self.fill(size)
            while data == before or data[0] in plausible:
                data = self.choices.randbytes(size)
            segment.write(at + field, data)
        self.check(overwrite, stop="all", must_end=True)

    def test_the_contents_of_a_record(self):
        def overwrite(segment):
            frames = list(segment.task_frames())
            if not frames:
                raise Missed
            at, size = self.choices.choice(frames)
            begin = self.choices.randrange(0, size)
            segment.write(at + begin, self.fill(self.choices.randrange(1, size - begin + 1)))
        self.check(overwrite, stop="all")

    def test_the_copy_of_a_record(self):
        """Beside the position of a sender, if it is of a task. It may be read, or only the records
        in the ring."""
        def overwrite(segment):
            at = HEADER + self.choices.randrange(PLACES) * POSITIONS + COPY
            if segment.read(at + 4, 1)[0] != TASK:
                raise Missed
            begin = self.choices.randrange(COPY_BYTES)
            segment.write(at + begin, self.fill(COPY_BYTES - begin))
        self.check(overwrite, stop="all")

    def test_records(self):
        def overwrite(segment):
            _, at = self.choices.choice(segment.waiting())
            segment.write(at, self.fill(4096))
        self.check(overwrite, stop="all", must_end=True)

    def check_board(self, begin, size):
        """Overwrites that part of a bulletin board while the places make collective calls."""
        self.check(lambda segment: segment.write(segment.size - AREA + begin, self.fill(size)),
                   "collectives", "3000")

    def test_the_control_page_of_a_bulletin_board(self):
        self.check_board(0, CONTROL)

    def test_the_headers_of_a_bulletin_board(self):
        self.check_board(CONTROL, POSTS * POST)

    def test_a_header_of_a_bulletin_board(self):
        self.check_board(CONTROL + self.choices.randrange(POSTS) * POST, POST)

    def test_a_key_of_a_bulletin_board(self):
        self.check_board(CONTROL + self.choices.randrange(POSTS) * POST, 8)

    def test_a_bulletin_board(self):
        self.check_board(0, BOARD)

    def test_the_addresses_of_a_bulletin_board(self):
        """Those of data that other places read from the memory of its owner."""
        def overwrite(segment):
            begin = segment.size - AREA + CONTROL + ADDRESS
            segment.write(begin, self.fill(8))
            until = time.monotonic() + 1
            with contextlib.suppress(Missed):  # the job ends soon after that
                while time.monotonic() < until:
                    for post in range(POSTS):
                        segment.write(begin + post * POST, self.fill(8))
        self.check(overwrite, "long", "300")

    def test_everything(self):
        self.check(lambda segment: segment.write(0, self.fill(segment.size)), stop="all",
                   must_end=True)

    def test_a_change_of_the_size(self):
        def change(segment):
            end = segment.begin + segment.size
            path = f"/proc/{segment.process}/map_files/{segment.begin:x}-{end:x}"
            try:
                file = os.open(path, os.O_RDWR)
            except PermissionError:
                self.skipTest("/proc/<pid>/map_files needs CAP_SYS_ADMIN")
            for size in (0, segment.size - 4096, segment.size + 4096):
                with self.assertRaises(PermissionError):
                    os.truncate(file, size)
            os.close(file)
        self.check(change)


def may_write():
    """Whether this process may write to the memory of another one of its user."""
    with subprocess.Popen(["sleep", "60"]) as child:
        try:
            with open(f"/proc/{child.pid}/mem", "r+b"):
                return True
        except PermissionError as error:
            print(f"SKIPPED: {error}")
            return False
        finally:
            child.kill()


if __name__ == "__main__":
    print(f"APGAS_TEST_SEED={SEED}", flush=True)
    if not may_write():
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
