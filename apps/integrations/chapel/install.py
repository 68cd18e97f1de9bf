#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs the tasking layer CHPL_TASKS=apgas into a source tree of Chapel 1.15, or removes it.

It copies the files of the folder runtime beside this script into the folder runtime of the tree,
and adds the layer to the list in util/chplenv/chpl_threads.py. Installing again replaces the files.
"""
import argparse
import os
import pathlib
import re
import shutil
import sys

SOURCE = pathlib.Path(__file__).resolve().parent
NEEDED = ("runtime/include/chpl-tasks.h", "runtime/include/tasks", "runtime/src/tasks",
          "runtime/etc", "util/chplenv/chpl_tasks.py")
# What the tasking interface of 1.15 has, and what only later ones have.
INTERFACE = ("CHPL_TASKS_MODEL_H", "chpl_task_bundle_t", "chpl_task_addToTaskList",
             "chpl_task_executeTasksInList", "chpl_task_setSerial", "chpl_task_startMovedTask")
LATER = ("chpl_task_ChapelData_t", "chpl_task_getPrvBundle")
# Chapel's scripts know for each tasking layer whether it needs a threading layer.
THREADS = "util/chplenv/chpl_threads.py"
MARK = "  # added for CHPL_TASKS=apgas"
BRANCH = re.compile(r"^( *)elif tasks_val == 'qthreads':", re.MULTILINE)


class Refused(Exception):
    """The folder is not such a tree."""


def files() -> list[pathlib.Path]:
    """The files of the layer, relative to this folder and to the tree."""
    return sorted(path.relative_to(SOURCE) for path in (SOURCE / "runtime").rglob("*")
                  if path.is_file())


def check_tree(tree: pathlib.Path) -> None:
    if not tree.is_dir():
        raise Refused(f"{tree} is not a folder; give the source tree of Chapel 1.15")
    for name in NEEDED:
        if not (tree / name).exists():
            raise Refused(f"{tree} is not a source tree of Chapel: it has no {name}; give the "
                          "folder that Chapel calls CHPL_HOME")


def check_interface(tree: pathlib.Path) -> None:
    header = (tree / "runtime/include/chpl-tasks.h").read_text()
    for name in INTERFACE:
        if not re.search(rf"\b{name}\b", header):
            raise Refused(f"{tree} has another tasking interface: its chpl-tasks.h does not have "
                          f"{name}; the layer is for Chapel 1.15")
    for name in LATER:
        if re.search(rf"\b{name}\b", header):
            raise Refused(f"{tree} has a later tasking interface: its chpl-tasks.h has {name}; "
                          "the layer is for Chapel 1.15")


def without_branch(text: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if MARK not in line)


def with_branch(tree: pathlib.Path, text: str) -> str:
    """The text of chpl_threads.py in which the layer needs no threading layer."""
    text = without_branch(text)
    found = BRANCH.search(text)
    if not found:
        raise Refused(f"{tree / THREADS} is not that of Chapel 1.15: it has no branch for "
                      "qthreads, before which the one for apgas belongs")
    indent = found[1]
    added = (f"{indent}elif tasks_val == 'apgas':{MARK}\n"
             f"{indent}    threads_val = 'none'{MARK}\n")
    return text[:found.start()] + added + text[found.start():]


def install(tree: pathlib.Path) -> None:
    check_interface(tree)
    threads = tree / THREADS
    text = with_branch(tree, threads.read_text()) if threads.exists() else None
    for name in files():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(SOURCE / name, tree / name)
    if text is not None:
        threads.write_text(text)
    print(f"installed {len(files())} files into {tree / 'runtime'}; set CHPL_TASKS=apgas and build "
          "the runtime again")


def uninstall(tree: pathlib.Path) -> None:
    present = [name for name in files() if (tree / name).exists()]
    for name in present:
        (tree / name).unlink()
    for folder in ("runtime/include/tasks/apgas", "runtime/src/tasks/apgas"):
        if (tree / folder).is_dir() and not any((tree / folder).iterdir()):
            (tree / folder).rmdir()
    threads = tree / THREADS
    if threads.exists() and MARK in threads.read_text():
        threads.write_text(without_branch(threads.read_text()))
    print(f"removed {len(present)} files from {tree / 'runtime'}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tree", nargs="?", type=pathlib.Path, default=os.environ.get("CHPL_HOME"),
                        help="the source tree of Chapel (default: CHPL_HOME)")
    parser.add_argument("--uninstall", action="store_true", help="remove the layer")
    options = parser.parse_args()
    if options.tree is None:
        parser.error("give the source tree of Chapel, or set CHPL_HOME")
    tree = pathlib.Path(options.tree)
    try:
        check_tree(tree)
        (uninstall if options.uninstall else install)(tree)
    except (Refused, OSError) as failure:
        print(f"install.py: {failure}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
