# SPDX-License-Identifier: Apache-2.0
"""The commands."""
import collections
import re

import gdb

from .fibers import fibers
from .frames import Pretend, count_to
from .memory import offset_of, read, type_of
from .stackless import stackless_tasks
from .tasks import spawner_is_suspended, tasks, thread_on

PENDING = (1 << 40) - 1  # the bits of a task_counter that hold its count


class Apgas(gdb.Command):
    """Commands for the tasks of apgas.

    apgas tasks    lists the tasks that run or wait
    apgas where    groups the tasks by what they wait for
    apgas bt N     shows the stack of task N
    apgas finish   lists the finishes that these tasks belong to"""

    def __init__(self):
        super().__init__("apgas", gdb.COMMAND_STACK, gdb.COMPLETE_NONE, True)


def select_frame(level):
    """Unlike the command frame, this prints nothing."""
    frame = gdb.newest_frame()
    for _ in range(level):
        frame = frame.older()
    frame.select()


class Command(gdb.Command):
    """A subcommand. It leaves the selected thread and frame as they were."""

    def __init__(self, name):
        super().__init__("apgas " + name, gdb.COMMAND_STACK)

    def invoke(self, argument, _from_tty):
        if not gdb.selected_inferior().threads():
            raise gdb.GdbError("there is no process and no core file; start the program first")
        thread = gdb.selected_thread()
        frame = gdb.selected_frame() if thread is not None else None
        level = frame.level() if frame is not None and hasattr(frame, "level") else 0
        if thread is None:
            gdb.selected_inferior().threads()[0].switch()
        try:
            self.run(gdb.string_to_argv(argument))
        finally:
            if thread is not None and thread.is_valid():
                thread.switch()
                select_frame(level)


def description(fiber):
    name, site = fiber.name(), fiber.site()
    named = f'"{name}", ' if name is not None else ""
    if site is not None:
        return f"{named}spawned at {site}"
    return named + ("main" if fiber.runs_main() else "without a spawn site")


class Tasks(Command):
    """List the tasks that run or wait: number, worker, state, name and spawn site.

    If tasks run inline inside each other on one stack, the innermost is listed. A coroutine that
    waits has no stack, and so neither number nor worker. Tasks that have not started are not
    listed."""

    def run(self, _arguments):
        count = 0
        for fiber, state in tasks():
            worker = fiber.worker()
            on = f"worker {worker}" if worker is not None else "worker ?"
            print(f"{fiber.number:>6}  {on:<10}  {state}: {description(fiber)}")
            count += 1
        without = list(stackless_tasks())
        for task in without:
            print(f"     -             waits in {task.awaited()}: {description(task)}")
        more = f", {len(without)} without one" if without else ""
        print(f"{count} task{'' if count == 1 else 's'} with a stack{more}")


class Where(Command):
    """Group the tasks by what they wait for and where they were spawned, most frequent first."""

    def run(self, _arguments):
        groups = {}
        for fiber, state in tasks():
            state = re.sub(r" in thread \d+", "", state)
            groups.setdefault((state, description(fiber)), []).append(fiber.number)
        for task in stackless_tasks():
            groups.setdefault((f"waits in {task.awaited()}", description(task)), []).append(None)
        if not groups:
            print("no task runs or waits")
        for (state, what), numbers in sorted(groups.items(), key=lambda g: -len(g[1])):
            known = [str(n) for n in numbers if n is not None]
            some = ", ".join(known[:4]) + (", ..." if len(known) > 4 else "")
            stacks = f"apgas bt {some}" if known else "without a stack"
            print(f"{len(numbers):>6}  {state}: {what}  ({stacks})")


class Bt(Command):
    """Show the stack of a task: apgas bt N, with a number from `apgas tasks`.

    Further words are options of the command backtrace: apgas bt 3 -full."""

    def run(self, arguments):
        if not arguments or not arguments[0].isdigit():
            raise gdb.GdbError("say which task: apgas bt N, with a number from `apgas tasks`")
        number = int(arguments[0])
        options = " ".join(arguments[1:])
        for fiber in fibers():
            if fiber.number == number:
                break
        else:
            raise gdb.GdbError(f"there is no task {number}; `apgas tasks` lists them")
        if fiber.is_running():
            if thread_on(fiber) is None:
                raise gdb.GdbError(f"task {number} runs, but no thread is on its stack")
            print(gdb.execute(f"backtrace {options}", to_string=True), end="")
            return
        if fiber.awaited() is None and not spawner_is_suspended(fiber):
            raise gdb.GdbError(f"stack {number} has no task now; `apgas tasks` lists them")
        print(f"task {number}, {description(fiber)}")
        with Pretend(fiber) as newest:
            skipped = count_to(newest)
            lines = gdb.execute(f"backtrace {options}", to_string=True)
        # The newest frames are those of the thread, so they are left out.
        for part in re.split(r"(?m)^(?=#\d)", lines)[1 + skipped:]:
            print(re.sub(r"^#(\d+) *", lambda m: f"#{int(m[1]) - skipped:<3}", part), end="")


class Finish(Command):
    """List the finishes that tasks belong to or wait for, with their counts.

    A count is the number of tasks, and of threads or places on their behalf, that the finish waits
    for. Tasks that only their spawner's deque holds are not counted yet."""

    def run(self, _arguments):
        found = list(tasks())
        counter = type_of("task_counter")
        count_at, waiter_at = offset_of(counter, "count_"), offset_of(counter, "waiter_")
        members, waiting = {}, {}
        for fiber, _ in found:
            if fiber["task.finish"] != 0:
                members.setdefault(fiber["task.finish"], []).append(fiber.number)
            waiting[fiber.address] = fiber
        without = collections.Counter(task["finish"] for task in stackless_tasks())
        for address in without:
            members.setdefault(address, [])
        for address, numbers in sorted(members.items()):
            try:
                count = read(address + count_at)[0] & PENDING
                waiter = waiting.get(read(address + waiter_at)[0])
            except gdb.MemoryError:
                continue
            # The member waiter_ has a value only while the owner waits.
            by = ""
            if waiter is not None and "finish" in (waiter.awaited() or ""):
                by = f", awaited by task {waiter.number}"
            parts = []
            if numbers:
                parts.append("tasks " + ", ".join(str(n) for n in numbers[:8])
                             + (", ..." if len(numbers) > 8 else ""))
            if without[address]:
                parts.append(f"{without[address]} without a stack")
            print(f"{address:#x}  count {count}{by}; {', '.join(parts)}")
        if not members:
            print("no task that runs or waits belongs to a finish")


def define():
    Apgas()
    for name, command in (("tasks", Tasks), ("where", Where), ("bt", Bt), ("finish", Finish)):
        command(name)
