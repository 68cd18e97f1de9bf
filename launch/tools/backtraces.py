# SPDX-License-Identifier: Apache-2.0
"""Backtraces of the suspended tasks and of the workers of a process.

The process sends the saved registers and the upper part of the stack of a suspended task through
its control socket, so that this needs no access to its memory. A stack is unwound by libdw of
elfutils, which is loaded when it is needed. The workers are stopped for some milliseconds, one
after the other, by ptrace.
"""

import glob
import platform
import re

import elfutils

# What a switch of fibers saves, from the stack pointer up (scheduler/fibers/src/context.cpp), by
# DWARF number, and the bytes that it takes. None: something else.
X86_64 = {"own": ((15, 14, 13, 12, 3, 6, 16), 56), "boost": ((None, 12, 13, 14, 15, 3, 6, 16), 64)}
X86_64_STACK_POINTER, X86_64_PC = 7, 16
AARCH64 = {"own": ((29, 30, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28), 160),
           "boost": ((None,) * 8 + (19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30), 176)}
AARCH64_STACK_POINTER, AARCH64_PC = 31, 30
NO_STACK = "a coroutine, which has no stack while it waits"
WORKER = re.compile(r"apgas-\d+")


class SavedStack:
    """The registers and the stack of a suspended task."""

    def __init__(self, stack, switched_by):
        self.begin, self.bytes = stack["stack_pointer"], bytes.fromhex(stack["bytes"])
        if platform.machine() == "aarch64":
            (numbers, size), pointer, pc = AARCH64[switched_by], AARCH64_STACK_POINTER, AARCH64_PC
        else:
            (numbers, size), pointer, pc = X86_64[switched_by], X86_64_STACK_POINTER, X86_64_PC
        self.registers = {number: self.word(self.begin + 8 * i) or 0
                          for i, number in enumerate(numbers) if number is not None}
        self.registers[pointer] = self.begin + size
        self.pc = self.registers[pc]

    def word(self, address):
        """The word at an address, or None."""
        at = address - self.begin
        if at < 0 or at + 8 > len(self.bytes):
            return None
        return int.from_bytes(self.bytes[at:at + 8], "little")


def suspended(reply):
    """Returns (place, task, how many, frames) of each kind of stack; frames are lists of texts."""
    found = {}
    with elfutils.Process(reply["process"]) as process:
        for place in reply["places"]:
            for stack in place["stacks"]:
                if stack["stack_pointer"] == 0:
                    frames = (NO_STACK,)
                else:
                    frames = tuple(process.frames_of_stack(SavedStack(stack, reply["switch"])))
                task = {name: stack[name] for name in
                        ("construct", "where", "spawned", "name", "main")}
                key = (place["place"], tuple(task.items()), frames)
                found.setdefault(key, [place["place"], task, 0, list(frames)])[2] += 1
    return list(found.values())


def thread_name(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""


def workers(pid):
    """Returns (thread name, frames) of each worker. Raises elfutils.Failed if ptrace is refused."""
    threads = []
    for path in glob.glob(f"/proc/{pid}/task/*/comm"):
        name = thread_name(path)
        if WORKER.fullmatch(name):
            threads.append((name, int(path.split("/")[-2])))
    threads.sort(key=lambda thread: (len(thread[0]), thread))
    with elfutils.Process(pid, threads_too=True) as process:
        return [(name, list(process.frames_of_thread(thread))) for name, thread in threads]
