# SPDX-License-Identifier: Apache-2.0
"""The tasks that wait without a fiber, as coroutines do.

They are in tables of the process (scheduler/stackless_task.hpp). The library says how these are
laid out, since the debug information of a program need not.
"""
import gdb

from .fibers import line_of
from .memory import NAMESPACE, read, text_at

MEMBERS = ("construct", "where", "site", "name", "finish")  # as in the layout


class Stackless:
    """A task that waits without a fiber."""

    def __init__(self, address, at):
        self.address = address
        self.words = {member: read(address + offset)[0] for member, offset in at.items()}

    def __getitem__(self, member):
        return self.words[member]

    def awaited(self):
        """What it waits for and where; None: it runs now, on the stack of a worker."""
        construct = text_at(self["construct"])
        line = line_of(self["where"])
        return construct and construct + (f" at {line}" if line else "")

    def name(self):
        return text_at(self["name"])

    def site(self):
        return line_of(self["site"])

    def runs_main(self):
        return False


def address_of(name):
    return int(gdb.parse_and_eval(f"(unsigned long)&'{NAMESPACE}{name}'"))


def entries_of(table, used_at, parts_at, part_size):
    """The entries of a table that were ever in use. Each part has twice as many as the last one."""
    used, part = read(table + used_at)[0] & 0xffffffff, 0
    while used > 0:
        count = min(used, part_size << part)
        yield from read(read(table + parts_at + 8 * part)[0], count)
        used, part = used - count, part + 1


def stackless_tasks():
    """All of them that wait now."""
    try:
        tables, layout = address_of("stackless_tables"), address_of("stackless_task::layout")
    except gdb.error:
        return  # another version of the library
    words = [half for word in read(layout, 5) for half in (word & 0xffffffff, word >> 32)]
    count, size, *table_layout = words[:5]
    at = dict(zip(MEMBERS, words[5:]))
    for number in range(count):
        for entry in entries_of(tables + number * size, *table_layout):
            if entry % 2 != 0:
                continue  # it is not in use
            try:
                task = Stackless(entry, at)
            except gdb.MemoryError:
                continue  # the process was stopped while the entry changed
            if task.awaited() is not None:
                yield task
