# SPDX-License-Identifier: Apache-2.0
"""Commands of gdb for programs that use apgas: `apgas tasks`, `where`, `bt` and `finish`.

gdb loads them together with libapgas.so (docs/debugging/gdb.md). They work on a live process and on
a core file, and call no function of the program. In the order of dependence:

  memory    the memory of the process, and the types of the library
  fibers    the records of all fibers
  frames    the frames of a suspended fiber
  stackless the tasks that wait without a fiber
  tasks     which fibers have a task, and what it does
  commands  the commands
"""
from . import commands

commands.define()
