#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every public header of a build folder compiles by itself.

A header that a source of the library includes before all others has already been compiled by
itself, with that source. All other headers are compiled here, with the compiler and the options of
the library, and through its launcher (ccache), so that unchanged headers cost nothing.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODULES = ("base", "scheduler", "comm", "sync", "places", "launch")
FIRST_INCLUDE = re.compile(r"^#include <(apgas/[^>]+)>", re.M)


def first_include(source: pathlib.Path) -> str | None:
    """The public header that the source includes first, if it begins with one."""
    include = re.search(r"^#include .*", source.read_text(), re.M)
    match = include and FIRST_INCLUDE.match(include[0])
    return match[1] if match else None


def library_commands(build: pathlib.Path) -> list[tuple[pathlib.Path, list[str]]]:
    """Each source of the library, and the command by which it is compiled."""
    found = []
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = pathlib.Path(entry["file"])
        if source.is_relative_to(ROOT) and source.relative_to(ROOT).parts[0] in MODULES:
            found.append((source, shlex.split(entry["command"])))
    return found


def compile_options(commands: list[tuple[pathlib.Path, list[str]]]) -> list[str]:
    """The options that all sources of the library have, with the include folders of every room."""
    options: dict[str, None] = {}
    for _, command in commands:
        for option in command:
            if re.match(r"-I\S+/include$|-D|-std=|-f(PIC|vis)|-W", option):
                options[option] = None
    return [*options, "-O0"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path, help="build folder with compile_commands.json")
    parser.add_argument("launcher", nargs="*", help="command that runs the compiler")
    arguments = parser.parse_args()

    commands = library_commands(arguments.build.resolve())
    folders = sorted(ROOT.glob("*/**/include/apgas"))
    folders = [f for f in folders if f.relative_to(ROOT).parts[0] in MODULES]
    headers = {str(h.relative_to(f.parent)): h for f in folders for h in sorted(f.rglob("*.h*"))}
    proven = {first_include(source) for source, _ in commands}
    compiler = next(word for word in commands[0][1] if re.search(r"\+\+[-\d.]*$", word))
    command = [*arguments.launcher, compiler, *compile_options(commands)]

    with tempfile.TemporaryDirectory() as folder:
        def check(name: str) -> subprocess.CompletedProcess:
            source = pathlib.Path(folder, name.replace("/", "_")).with_suffix(".cpp")
            source.write_text(f"#include <{name}>\n")
            return subprocess.run([*command, "-c", str(source), "-o", source.with_suffix(".o")],
                                  capture_output=True, text=True, check=False)

        names = sorted(set(headers) - proven)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(check, names))
    failed = [name for name, result in zip(names, results) if result.returncode != 0]
    for name, result in zip(names, results):
        if result.returncode != 0:
            print(f"{name} does not compile by itself:\n{result.stderr}")
    print(f"headers: {len(headers)}, of which {len(names)} compiled here, {len(failed)} failed")
    return 1 if failed or not headers else 0


if __name__ == "__main__":
    sys.exit(main())
