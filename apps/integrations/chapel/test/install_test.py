#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs the tasking layer into a tree that looks like Chapel's, and builds it there.

Arguments: the folder of the integration, the shared library of the runtime ("" to leave out the
build), and the folder of apgas/c.h.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

INTEGRATION, LIBRARY, INCLUDE = (pathlib.Path(a) if a else None for a in sys.argv[1:4])
STAND_IN = INTEGRATION / "test/stand_in"
# What Chapel's own Makefiles do, in short: the names are theirs.
HEAD = f"""\
CC = cc
RUNTIME_OBJDIR = $(CHPL_MAKE_HOME)/objects
RUNTIME_CFLAGS += -std=c99 -O1 -I{STAND_IN} -I$(CHPL_MAKE_HOME)/runtime/include/tasks/apgas \\
  -DCHPL_TASKS_MODEL_H='"tasks-apgas.h"'
"""
RULES = """\
all: $(TARGETS)
$(RUNTIME_OBJDIR)/%.o: %.c
\tmkdir -p $(RUNTIME_OBJDIR)
\t$(CC) $(RUNTIME_CFLAGS) -c $< -o $@
"""
# The Makefile of the whole runtime, and the one with which a Chapel program is linked.
WHOLE = """\
RUNTIME_ROOT = $(CURDIR)
RUNTIME_INCLUDE_ROOT = $(CURDIR)/include
RUNTIME_BUILD = $(CURDIR)/build
include src/tasks/$(CHPL_MAKE_TASKS)/Makefile.include
show:
\t@echo $(words $(TASKS_OBJS)) $(words $(wildcard $(ALL_SRCS))) $(firstword $(TASKS_OBJS))
"""
LINK = """\
-include $(CHPL_HOME)/make/tasks/Makefile.apgas
-include $(CHPL_HOME)/runtime/etc/Makefile.tasks-apgas
show:
\t@echo $(GEN_LFLAGS) $(LIBS)
threads:
\t@echo $(CHPL_MAKE_THREADS)
"""


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def content(tree):
    return {str(p.relative_to(tree)): p.read_text() for p in tree.rglob("*") if p.is_file()}


class InstallTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.tree = self.folder / "chapel"
        write(self.tree / "runtime/include/chpl-tasks.h",
              (STAND_IN / "chpl-tasks.h").read_text())
        write(self.tree / "runtime/include/tasks/fifo/tasks-fifo.h", "")
        write(self.tree / "runtime/src/tasks/fifo/tasks-fifo.c", "")
        write(self.tree / "runtime/etc/Makefile.tasks-qthreads", "")
        write(self.tree / "make/tasks/Makefile.qthreads", "CHPL_MAKE_THREADS=none\n")

    def run_script(self, *arguments, environment=None):
        return subprocess.run([sys.executable, INTEGRATION / "install.py", *arguments],
                              capture_output=True, text=True, check=False, env=environment)

    def install(self, *arguments):
        done = self.run_script(self.tree, *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def assert_refused(self, *words):
        before = content(self.tree) if self.tree.exists() else None
        done = self.run_script(self.tree)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr.count("\n"), 1)
        for word in (str(self.tree), *words):
            self.assertIn(word, done.stderr)
        if before is not None:
            self.assertEqual(content(self.tree), before)

    def test_installs_again_and_uninstalls(self):
        before = content(self.tree)
        self.install()
        installed = content(self.tree)
        new = installed.keys() - before.keys()
        for name in ("runtime/include/tasks/apgas/tasks-apgas.h",
                     "runtime/src/tasks/apgas/tasks-apgas.c", "runtime/src/tasks/apgas/Makefile",
                     "runtime/src/tasks/apgas/Makefile.include",
                     "runtime/src/tasks/apgas/Makefile.share", "runtime/etc/Makefile.tasks-apgas",
                     "make/tasks/Makefile.apgas"):
            self.assertIn(name, new)
        for name in new:
            self.assertEqual(installed[name], (INTEGRATION / name).read_text())

        write(self.tree / "runtime/src/tasks/apgas/tasks-apgas.c", "changed")
        self.install()
        self.assertEqual(content(self.tree), installed)

        self.assertIn(f"removed {len(new)} files", self.install("--uninstall"))
        self.assertEqual(content(self.tree), before)
        self.assertFalse((self.tree / "runtime/src/tasks/apgas").exists())
        self.assertIn("removed 0 files", self.install("--uninstall"))

    def test_takes_the_tree_of_the_environment(self):
        done = self.run_script(environment={**os.environ, "CHPL_HOME": str(self.tree)})
        self.assertEqual(done.returncode, 0, done.stderr)
        environment = {k: v for k, v in os.environ.items() if k != "CHPL_HOME"}
        done = self.run_script(environment=environment)
        self.assertEqual(done.returncode, 2)
        self.assertIn("CHPL_HOME", done.stderr)

    def test_refuses_other_folders(self):
        shutil.rmtree(self.tree / "make/tasks")
        self.assert_refused("not a source tree of Chapel", "make/tasks", "CHPL_HOME")
        shutil.rmtree(self.tree)
        self.assert_refused("not a folder")
        self.tree.mkdir()
        self.assert_refused("not a source tree of Chapel")

    def test_refuses_other_versions(self):
        header = self.tree / "runtime/include/chpl-tasks.h"
        text = header.read_text()
        header.write_text(text.replace("chpl_task_setSerial", "chpl_task_other"))
        self.assert_refused("chpl_task_setSerial", "Chapel 1.15")
        header.write_text(text + "chpl_task_ChapelData_t* chpl_task_getChapelData(void);\n")
        self.assert_refused("later tasking interface", "Chapel 1.15")

    def make(self, folder, *arguments, **settings):
        environment = {**os.environ, "PKG_CONFIG_PATH": str(self.folder), **settings}
        return subprocess.run(["make", "-C", folder, "--no-print-directory", *arguments],
                              capture_output=True, text=True, check=False, env=environment)

    @unittest.skipIf(LIBRARY is None or not all(map(shutil.which, ("make", "cc", "pkg-config"))),
                     "needs a shared library, make, cc and pkg-config")
    def test_builds_with_the_makefiles(self):
        self.install()
        for name, text in (("head", HEAD), ("subdirrules", RULES), ("foot", "")):
            write(self.tree / f"runtime/make/Makefile.runtime.{name}", text)
        write(self.tree / "runtime/Makefile", WHOLE)
        write(self.folder / "link/Makefile", LINK)
        layer = self.tree / "runtime/src/tasks/apgas"
        home = {"CHPL_HOME": str(self.tree), "CHPL_MAKE_TASKS": "apgas"}

        missing = self.make(layer, **home)
        self.assertNotEqual(missing.returncode, 0)
        self.assertIn("PKG_CONFIG_PATH", missing.stderr)

        write(self.folder / "apgas-c.pc", f"libdir={LIBRARY.parent}\nName: apgas-c\n"
              f"Description: test\nVersion: 1\nCflags: -I{INCLUDE}\nLibs: -L${{libdir}} -lapgas\n")
        built = self.make(layer, **home)
        self.assertEqual(built.returncode, 0, built.stdout + built.stderr)
        objects = sorted((self.tree / "objects").glob("*.o"))
        sources = len(list(layer.glob("*.c")))
        self.assertEqual(len(objects), sources)
        whole = self.make(self.tree / "runtime", "show", **home)
        self.assertEqual(whole.stdout.split(),
                         [str(sources), str(sources + 2),
                          f"{self.tree}/runtime/build/src/tasks/apgas/tasks-apgas.o"])

        flags = self.make(self.folder / "link", "show", **home)
        self.assertEqual(flags.returncode, 0, flags.stderr)
        threads = self.make(self.folder / "link", "threads", **home)
        self.assertEqual(threads.stdout, "none\n")
        program = self.folder / "program"
        linked = subprocess.run(
            ["cc", "-std=c99", '-DCHPL_TASKS_MODEL_H="tasks-apgas.h"', f"-I{STAND_IN}",
             f"-I{self.tree}/runtime/include/tasks/apgas", *(INTEGRATION / "test").glob("*.c"),
             *objects, "-o", program, *flags.stdout.split()],
            capture_output=True, text=True, check=False)
        self.assertEqual(linked.returncode, 0, linked.stderr)
        ran = subprocess.run([program], capture_output=True, text=True, check=False,
                             env={**os.environ, "APGAS_WORKERS": "2"})
        self.assertEqual((ran.stdout, ran.returncode), ("passed\n", 0), ran.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
