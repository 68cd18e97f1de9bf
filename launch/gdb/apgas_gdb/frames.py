# SPDX-License-Identifier: Apache-2.0
"""The frames of a suspended fiber, by its saved registers."""
import collections

import gdb
import gdb.unwinder

from .memory import read

WORD = (1 << 64) - 1

# What a switch saves, from the stack pointer up (context.cpp), and the bytes that it takes. The
# second form of each is that of Boost.Context, which the library uses under the sanitizers.
LAYOUTS = {
    "x86-64": ((("r15", "r14", "r13", "r12", "rbx", "rbp", "rip"), 56, "rip", "rsp"),
               ((None, "r12", "r13", "r14", "r15", "rbx", "rbp", "rip"), 64, "rip", "rsp")),
    "aarch64": ((("x29", "pc", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27",
                  "x28"), 160, "pc", "sp"),
                ((None,) * 8 + ("x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27",
                                "x28", "x29", None, "pc"), 176, "pc", "sp")),
}


def has_symbol(name):
    try:
        gdb.parse_and_eval(f"(unsigned long)&{name}")
        return True
    except gdb.error:
        return False


def saved_registers(fiber):
    """The registers of a suspended fiber, by name, with the names of those for pc and sp."""
    architecture = gdb.newest_frame().architecture().name()
    for known, (own, boost) in LAYOUTS.items():
        if known in architecture:
            by_boost = has_symbol("jump_fcontext") and not has_symbol("apgas_switch_stack")
            names, size, pc, sp = boost if by_boost else own
            break
    else:
        raise gdb.GdbError(f"apgas bt does not know the saved registers of {architecture}")
    at = fiber["stack_pointer"]
    values = read(at, len(names))
    saved = {name: value for name, value in zip(names, values) if name is not None}
    saved[sp] = at + size
    return saved, pc, sp


FrameId = collections.namedtuple("FrameId", "sp pc")


class FiberUnwinder(gdb.unwinder.Unwinder):
    """Makes gdb continue after the newest frame of the thread with the frames of a fiber.

    It changes no register, so that it works on a core file, too.
    """

    def __init__(self):
        super().__init__("apgas fibers")
        self.saved = None
        self.enabled = True

    def __call__(self, pending):
        if self.saved is None:
            return None
        registers, pc, sp = self.saved
        if int(pending.read_register(sp)) & WORD != self.newest:
            return None  # not the newest frame
        # gdb requires that an older frame has a higher address.
        info = pending.create_unwind_info(
            FrameId(gdb.Value(registers[sp] - 64), pending.read_register(pc)))
        word = gdb.lookup_type("unsigned long")
        for name, value in registers.items():
            was = pending.read_register(name)
            info.add_saved_register(name, gdb.Value(value).cast(word).cast(was.type))
        return info

    def enter(self, fiber):
        frame = gdb.newest_frame()
        saved = saved_registers(fiber)
        self.newest = int(frame.read_register(saved[2])) & WORD
        self.saved = saved
        gdb.invalidate_cached_frames()

    def leave(self):
        self.saved = None
        gdb.invalidate_cached_frames()


def count_to(frame):
    """The number of frames that are newer than the frame."""
    count, at = 0, gdb.newest_frame()
    while at is not None and at != frame:
        count, at = count + 1, at.older()
    return count


class Pretend:
    """with Pretend(fiber) as frame: the frame is the newest one of the suspended fiber."""

    def __init__(self, fiber):
        self.fiber = fiber

    def __enter__(self):
        UNWINDER.enter(self.fiber)
        frame = gdb.newest_frame()
        while frame.type() == gdb.INLINE_FRAME:  # inlined into the newest frame of the thread
            frame = frame.older()
        return frame.older()

    def __exit__(self, *error):
        UNWINDER.leave()


UNWINDER = FiberUnwinder()
gdb.unwinder.register_unwinder(None, UNWINDER, replace=True)
