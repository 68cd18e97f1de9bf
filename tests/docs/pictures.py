#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the pictures of docs/pictures: every .svg was made from its .dot as it is now, Graphviz
accepts every .dot where it is installed, and the edges of rooms.dot are the DEPENDS of the modules.

Argument: the root of the tree (default: this repository). tests/scripts/pictures_test.py checks
that each of these checks can fail.
"""

import hashlib
import pathlib
import re
import shutil
import subprocess
import sys

MODULES = ["base", "scheduler", "comm", "sync", "places", "launch"]
ROOM = re.compile(r"\bapgas_room\(([^)]*)\)")
KEYWORDS = {"SOURCES", "DEPENDS", "LINK", "LINK_PRIVATE"}
EDGE = re.compile(r'"([\w/]+)"\s*->\s*("[\w/]+"|\{[^}]*\})\s*(\[[^]]*\])?')


def edges_of_picture(text):
    """The edges as pairs (from, to), without the invisible ones, which only arrange the nodes."""
    return {(source, target) for source, targets, attributes in EDGE.findall(text)
            if "style=invis" not in attributes for target in re.findall(r'"([\w/]+)"', targets)}


def edges_of_modules(root):
    """The pairs (room, dependency) of all apgas_room() calls."""
    edges = set()
    for module in MODULES:
        file = root / module / "CMakeLists.txt"
        text = re.sub(r"#.*", "", file.read_text()) if file.is_file() else ""
        for call in ROOM.findall(text):
            room, *words = call.split()
            keyword = None
            for word in words:
                if word in KEYWORDS:
                    keyword = word
                elif keyword == "DEPENDS":
                    edges.add((room, word))
    return edges


def problems(root):
    """Yields a line for each problem."""
    folder = root / "docs/pictures"
    sources = sorted(folder.glob("*.dot"))
    for source in sources:
        picture = source.with_suffix(".svg")
        wanted = hashlib.sha256(source.read_bytes()).hexdigest()
        if not picture.is_file() or f"sha256 {wanted} " not in picture.read_text():
            yield f"{picture.name} is not up to date with {source.name}: run docs/pictures/render"
        if shutil.which("dot"):
            run = subprocess.run(["dot", "-Tsvg", "-o", "/dev/null", source], capture_output=True,
                                 text=True, check=False)
            if run.returncode != 0 or run.stderr:
                yield f"dot rejects {source.name}: {run.stderr.strip()}"
    for picture in sorted(folder.glob("*.svg")):
        if picture.with_suffix(".dot") not in sources:
            yield f"{picture.name} has no .dot"

    rooms = folder / "rooms.dot"
    drawn = edges_of_picture(rooms.read_text()) if rooms.is_file() else set()
    declared = edges_of_modules(root)
    for room, dependency in sorted(declared - drawn):
        yield f'rooms.dot lacks "{room}" -> "{dependency}", a DEPENDS of {room.split("/")[0]}'
    for room, dependency in sorted(drawn - declared):
        yield f'rooms.dot has "{room}" -> "{dependency}", which is no DEPENDS'


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]
    found = list(problems(root.resolve()))
    for line in found:
        print(line)
    print(f"pictures: {len(found)} problems")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
