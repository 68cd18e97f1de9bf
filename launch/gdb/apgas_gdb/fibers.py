# SPDX-License-Identifier: Apache-2.0
"""The records of all fibers.

All stacks of a process lie in one range of addresses, one after the other, and the record of a
fiber is at the upper end of its stack (scheduler/fiber.hpp). So the fibers are found without any
list: the first stack whose record is still empty ends the search. The layout of the records comes
from the debug information of the program or of the library, so this file depends on names only.
"""
import gdb

from .memory import NAMESPACE, all_stacks, offset_of, read, text_at, type_of


class Layout:
    """Where the members of the records of this version of the library lie."""

    def __init__(self):
        fiber = type_of("fiber")
        self.fiber_type = fiber
        self.fiber_bytes = -(-fiber.sizeof // 256) * 256  # fiber_record_bytes
        members = ("on", "stack_pointer", "task.registrations", "task.finish", "task.site",
                   "task.name", "waits_for", "spawner", "stack_bottom")
        self.at = {m: offset_of(fiber, m) // 8 for m in members}
        self.runs_main = offset_of(fiber, "runs_main")
        self.worker_id = self.running = self.deque = None
        try:
            worker = gdb.lookup_type(NAMESPACE + "worker")
            self.worker_id = offset_of(worker, "id")
            self.running = offset_of(worker, "running")
            self.deque = [offset_of(worker, f"tasks.{end}") for end in ("tail_", "head_")]
        except gdb.error:
            pass  # the debug information only names it


def line_of(location):
    """A std::source_location, which is a pointer to file, function and line; file:line or None."""
    if location == 0:
        return None
    try:
        file, _, line = read(location, 3)
    except gdb.MemoryError:
        return None
    return f"{text_at(file)}:{line & 0xffffffff}" if line & 0xffffffff else None


class Fiber:
    """The record of a fiber. `number` is what the commands call its task."""

    def __init__(self, layout, number, address, stack):
        self.number = number
        self.address = address
        self.stack = stack  # its range of addresses
        self.words = read(address, layout.fiber_type.sizeof // 8)
        self.layout = layout

    def __getitem__(self, member):
        return self.words[self.layout.at[member]]

    def worker(self):
        """The number of its worker, or None."""
        if self["on"] == 0 or self.layout.worker_id is None:
            return None
        return read(self["on"] + self.layout.worker_id)[0] & 0xffffffff

    def is_running(self):
        if self["on"] == 0 or self.layout.running is None:
            return False
        return read(self["on"] + self.layout.running)[0] == self.address

    def awaited(self):
        """What a suspended task waits for and where, or None."""
        record = self["waits_for"]  # a wait_record: construct, object, line of the call
        if record == 0:
            return "a phase of a clock or phaser" if self["task.registrations"] != 0 else None
        construct, _, where = read(record, 3)
        if construct == 0:  # the main task of a runtime, which waits for its end
            return None
        line = line_of(where)
        return text_at(construct) + (f" at {line}" if line else "")

    def name(self):
        return text_at(self["task.name"])

    def site(self):
        """Where the task was spawned, as file:line, or None."""
        return line_of(self["task.site"])

    def runs_main(self):
        """Whether the task is main, if it has no spawn site."""
        at = self.layout.runs_main
        return self.words[at // 8] >> at % 8 * 8 & 0xff != 0


def continuations(found):
    """The addresses of fibers whose continuation lies in the deque of a worker (drain.cpp)."""
    for worker in {f["on"] for f in found} - {0}:
        if found[0].layout.deque is None:
            return
        tail, head = (read(worker + at)[0] for at in found[0].layout.deque)
        words = read(tail, (head - tail) // 8)
        for slot in range(0, len(words), 8):
            if words[slot + 1] & 3 == 2:  # slot_kind::continuation; its closure is the fiber
                yield words[slot + 3]


def fibers():
    """All fibers that were ever made. Most programs make a few per worker and suspended task."""
    begin, length, size = all_stacks()
    layout = Layout()
    for number in range(length // size):
        end = begin + (number + 1) * size
        try:
            fiber = Fiber(layout, number, end - layout.fiber_bytes, range(end - size, end))
        except gdb.MemoryError:
            return
        if fiber["stack_bottom"] == 0:
            return
        yield fiber
