# SPDX-License-Identifier: Apache-2.0
"""Which fibers have a task, and what it does."""
import re

import gdb

from .fibers import continuations, fibers
from .frames import WORD, Pretend
from .memory import NAMESPACE

# Functions between the scheduling loop and the top of the stack, if the loop runs no task.
IDLE = re.compile(r"scheduler::.*\b(loop|search|choose|steal|sleep|poll_outside|switch_to|begin|"
                  r"enter|cache_fiber|arrived_on)\b|switch_context|apgas_switch_stack")


def thread_on(fiber):
    """The thread that runs on the stack of the fiber, or None."""
    for thread in gdb.selected_inferior().threads():
        thread.switch()
        if int(gdb.newest_frame().read_register("sp")) & WORD in fiber.stack:
            return thread
    return None


def runs_task(fiber):
    """The thread that runs a task on this fiber, or None if the fiber is in the scheduling loop.

    What the loop does for the runtime itself, such as the work of a timer, belongs to no finish."""
    if fiber["task.finish"] == 0:
        return None
    before = gdb.selected_thread()
    try:
        thread = thread_on(fiber)
        frame = gdb.newest_frame() if thread is not None else None
        inner = ""
        while frame is not None:
            name = frame.name() or ""
            if name.startswith(NAMESPACE + "loop") or "scheduler::loop" in name:
                return None if inner == "" or IDLE.search(inner) else thread
            inner = name
            frame = frame.older()
        return thread
    except gdb.error:
        return None
    finally:
        if before is not None and before.is_valid():
            before.switch()


def spawner_is_suspended(fiber):
    """Whether the fiber was left in a spawn, while another runs its tasks (drain.cpp)."""
    with Pretend(fiber) as frame:
        for _ in range(6):
            if frame is None:
                return False
            if re.search(r"scheduler::(drain|attend)\b", frame.name() or ""):
                return True
            frame = frame.older()
    return False


def tasks():
    """All tasks that exist as fibers, as pairs of the fiber and what the task does."""
    found = list(fibers())
    spawners = {f["spawner"] for f in found} - {0} | set(continuations(found))
    for fiber in found:
        if fiber["on"] == 0:
            continue
        if fiber.is_running():
            thread = runs_task(fiber)
            if thread is not None:
                yield fiber, f"running in thread {thread.num}"
        elif (awaited := fiber.awaited()) is not None:
            yield fiber, f"waits in {awaited}"
        elif fiber.address in spawners and spawner_is_suspended(fiber):
            yield fiber, "suspended in a spawn, while its worker runs its tasks"
