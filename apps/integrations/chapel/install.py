#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs the tasking layer CHPL_TASKS=apgas into a source tree of Chapel 1.15, or removes it.

It copies the files of the folders make and runtime beside this script into those of the tree.
Installing again replaces the files.
"""
import argparse
import os
import pathlib
import re
import shutil
import sys

SOURCE = pathlib.Path(__file__).resolve().parent
NEEDED = ("runtime/include/chpl-tasks.h", "runtime/include/tasks", "runtime/src/tasks",
          "runtime/etc", "make/tasks")
# What the tasking interface of 1.15 has, and what only later ones have.
INTERFACE = ("CHPL_TASKS_MODEL_H", "chpl_task_bundle_t", "chpl_task_addToTaskList",
             "chpl_task_executeTasksInList", "chpl_task_setSerial", "chpl_task_startMovedTask")
LATER = ("chpl_task_ChapelData_t", "chpl_task_getPrvBundle")


class Refused(Exception):
    """The folder is not such a tree."""


def files() -> list[pathlib.Path]:
    """The files of the layer, relative to this folder and to the tree."""
    return sorted(path.relative_to(SOURCE) for folder in ("make", "runtime")
                  for path in (SOURCE / folder).rglob("*") if path.is_file())


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


def install(tree: pathlib.Path) -> None:
    check_interface(tree)
    for name in files():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(SOURCE / name, tree / name)
    print(f"installed {len(files())} files into {tree}; set CHPL_TASKS=apgas and build the runtime "
          "again")


def uninstall(tree: pathlib.Path) -> None:
    present = [name for name in files() if (tree / name).exists()]
    for name in present:
        (tree / name).unlink()
    for folder in ("runtime/include/tasks/apgas", "runtime/src/tasks/apgas"):
        if (tree / folder).is_dir() and not any((tree / folder).iterdir()):
            (tree / folder).rmdir()
    print(f"removed {len(present)} files from {tree}")


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
