# SPDX-License-Identifier: Apache-2.0
"""The memory of the process, and the types of the library."""
import os

import gdb

NAMESPACE = "apgas::v0::scheduler::"
NO_TYPES = (
    "no debug information about apgas here: compile the program with -g, or build the library with "
    "CMAKE_BUILD_TYPE=RelWithDebInfo")
NO_PROGRAM = (
    "gdb has no symbols, so it finds no tasks: start it as `gdb PROGRAM CORE`, with the program "
    "that has left the core file")
NO_SYMBOLS = (
    "this program does not use apgas, or has not started, or gdb lacks the symbols of apgas: the "
    "program must not be stripped, and its libapgas.so must be where it was")


def type_of(name):
    try:
        return gdb.lookup_type(NAMESPACE + name)
    except gdb.error:
        raise gdb.GdbError(NO_TYPES) from None


def offset_of(of, path):
    """The offset in bytes of a member, such as "task.site"."""
    at = 0
    for part in path.split("."):
        field = next((f for f in of.fields() if f.name == part), None)
        if field is None:
            raise gdb.GdbError(f"this version of apgas has no member {path}; use the gdb commands "
                               "that were installed with the library")
        at += field.bitpos // 8
        of = field.type.strip_typedefs()
    return at


def read(address, count=1):
    """`count` words of 8 bytes. Throws gdb.MemoryError."""
    data = bytes(gdb.selected_inferior().read_memory(address, 8 * count))
    return [int.from_bytes(data[8 * i:8 * i + 8], "little") for i in range(count)]


def text_at(address):
    """The string at an address, or None."""
    if address == 0:
        return None
    try:
        return gdb.Value(address).cast(gdb.lookup_type("char").pointer()).string()
    except (gdb.error, UnicodeDecodeError):
        return None


def all_stacks():
    """The range of all stacks, as (begin, bytes of all, bytes of one)."""
    try:
        at = int(gdb.parse_and_eval(f"(unsigned long)&'{NAMESPACE}all_stacks'"))
        begin, length, mask = read(at, 3)
    except gdb.MemoryError:
        raise gdb.GdbError("the memory of the process cannot be read; start it first") from None
    except gdb.error:
        known = any(os.path.exists(each.filename or "") for each in gdb.objfiles())
        raise gdb.GdbError(NO_SYMBOLS if known else NO_PROGRAM) from None
    if length == 0:
        raise gdb.GdbError("apgas has not started in this process, or has ended")
    return begin, length, mask + 1
