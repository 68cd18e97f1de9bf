#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Another process of the same user writes garbage into the memory through which places send each
other messages. The job goes on if nothing was hit, or ends with a line that names a place.
No place crashes, and the job does not hang.

After the start no process can open this memory any more, so the test writes through the memory of
a place (/proc/<pid>/mem). To hit records, it stops a place until records wait there.

Arguments: the program exchanging and the transport shm. APGAS_TEST_SEED repeats a run, and
APGAS_TEST_GARBAGE=n has n jobs for each case.
"""

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
LONGEST = 40  # seconds that a job of two seconds may take under any load

# As in comm/transports/shm/src: host_segment.hpp, ring.hpp and ring_record.hpp.
SLEEPING, HEADER, POSITIONS, RINGS = 64, 640, 128, 4096
RING, SLACK, WORD = 256 << 10, 16 << 10, 8
# As in host_segment.hpp and places/teams/src/team_board.hpp; world() has the first board.
AREA, CONTROL, SLOT, SLOTS = 4 << 20, 4096, 64 + 16192, 32
# As in comm/frames/include/apgas/comm/message.hpp.
FRAME_HEADER, TASK = 32, 1


class Missed(Exception):
    """The job ended before the test could write."""


class Segment:
    """The memory of one place, as it lies in the memory of a process."""

    def __init__(self, process, begin, end):
        self.process, self.begin, self.size = process, begin, end - begin

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

    def waiting(self):
        """The sender and the offset of each record that has been written and not yet been read."""
        found = []
        for sender in range(PLACES):
            positions = self.read(HEADER + sender * POSITIONS, POSITIONS)
            written, = struct.unpack_from("<Q", positions)
            read, = struct.unpack_from("<Q", positions, 64)
            while read < written:
                found.append((sender, RINGS + sender * (RING + SLACK) + read % RING))
                length, = struct.unpack("<I", self.read(found[-1][1], 4))
                read += WORD + (length + 7) // 8 * 8
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


def stopped_with_records(job, place, found):
    """Stops the place, and returns those of the segments in which the same records stay."""
    job.kill(place, signal.SIGSTOP)
    for _ in range(40):
        before = [each.waiting() for each in found]
        time.sleep(0.05)
        kept = [each for each, then in zip(found, before) if then and each.waiting() == then]
        if kept:
            return kept
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
            overwrite(self.choices.choice(
                stopped_with_records(job, place, found) if stop else found))
        finally:
            job.kill(place, signal.SIGCONT)

    def check(self, overwrite, *arguments, stop=False, must_end=False):
        """`overwrite` gets a segment of a running job: with `stop`, of a place that is stopped and
        for which records wait."""
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
        self.check(overwrite, stop=True, must_end=True)

    def test_the_position_of_a_receiver(self):
        self.check(lambda segment: segment.write(self.any_positions() + 64, self.fill(8)))

    def test_all_positions(self):
        self.check(lambda segment: segment.write(HEADER, self.fill(PLACES * POSITIONS)), stop=True,
                   must_end=True)

    def test_the_header(self):
        self.check(lambda segment: segment.write(0, self.fill(HEADER)))

    def test_the_flag_of_places_that_sleep(self):
        """The other places sleep while one is stopped, and nobody wakes them when it continues."""
        def overwrite(segment):
            for each in segments(segment.process):
                each.write(SLEEPING, bytes(4))
        self.check(overwrite, stop=True)

    def test_the_word_of_a_record(self):
        """Its length, kind, run or position."""
        def overwrite(segment):
            _, at = self.choices.choice(segment.waiting())
            field, size = self.choices.choice(((0, 4), (4, 1), (5, 1), (6, 2)))
            before = segment.read(at + field, size)
            # Other kinds are plausible, and a record of the next run waits for it.
            plausible = {4: range(1, 5), 5: (before[0], before[0] + 1)}.get(field, ())
            data = self.fill(size)
            while data == before or data[0] in plausible:
                data = self.choices.randbytes(size)
            segment.write(at + field, data)
        self.check(overwrite, stop=True, must_end=True)

    def test_the_contents_of_a_record(self):
        def overwrite(segment):
            frames = list(segment.task_frames())
            if not frames:
                raise Missed
            at, size = self.choices.choice(frames)
            begin = self.choices.randrange(0, size)
            segment.write(at + begin, self.fill(self.choices.randrange(1, size - begin + 1)))
        self.check(overwrite, stop=True)

    def test_records(self):
        def overwrite(segment):
            _, at = self.choices.choice(segment.waiting())
            segment.write(at, self.fill(4096))
        self.check(overwrite, stop=True, must_end=True)

    def check_board(self, begin, size):
        """Overwrites that part of a bulletin board while the places make collective calls."""
        self.check(lambda segment: segment.write(segment.size - AREA + begin, self.fill(size)),
                   "collectives", "3000")

    def test_the_control_page_of_a_bulletin_board(self):
        self.check_board(0, CONTROL)

    def test_the_headers_of_a_bulletin_board(self):
        self.check_board(CONTROL + self.choices.randrange(SLOTS) * SLOT, 64)

    def test_the_keys_of_a_bulletin_board(self):
        self.check_board(CONTROL + self.choices.randrange(SLOTS) * SLOT, 8)

    def test_a_bulletin_board(self):
        self.check_board(0, CONTROL + SLOTS * SLOT)

    def test_everything(self):
        self.check(lambda segment: segment.write(0, self.fill(segment.size)), stop=True,
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
