#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy on the library and the apps of a build folder.

All sources of a target are read as one file, since their includes cost more than they do
themselves, and are then read once. --deep lets the analyzer follow every path that it can, which
takes five times as long.
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

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("base", "scheduler", "comm", "sync", "places", "launch", "apps")
SHALLOW = ["-extra-arg=-Xclang", "-extra-arg=-analyzer-config",
           "-extra-arg=-Xclang", "-extra-arg=mode=shallow"]


def options_of(command: str) -> tuple[str, ...]:
    """The compiler and its options, without the files, the launcher and precompiled headers."""
    command = re.sub(r" -include \S*cmake_pch.hxx| -Winvalid-pch| -fpch-preprocess", "", command)
    command = re.sub(r" -o \S+ -c \S+", "", command)
    return tuple(shlex.split(re.sub(r"^.*ccache ", "", command)))


def targets(build: pathlib.Path) -> dict[tuple[str, ...], list[str]]:
    """The sources of every target, by its name and its options."""
    found: dict[tuple[str, ...], list[str]] = {}
    seen = set()
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = pathlib.Path(entry["file"])
        if source.is_relative_to(build) or not source.is_relative_to(ROOT):
            continue
        if source.relative_to(ROOT).parts[0] not in FOLDERS or source in seen:
            continue
        seen.add(source)
        target = re.search(r" -o \S*?([^/]+)\.dir/", entry["command"])[1]
        sources = found.setdefault((target, *options_of(entry["command"])), [])
        sources.append(str(source))
    return found


def write(folder: pathlib.Path, all_targets: dict[tuple[str, ...], list[str]]) -> list[str]:
    """A file for each that includes its sources, and how to compile it; the largest first."""
    folder.mkdir(exist_ok=True)
    database, files = [], []
    for number, ((target, *options), sources) in enumerate(
            sorted(all_targets.items(), key=lambda item: -len(item[1]))):
        file = folder / f"{number:02}_{target}.cpp"
        file.write_text("".join(f'// NOLINTNEXTLINE(bugprone-suspicious-include)\n#include "{s}"\n'
                                for s in sources))
        database.append({"directory": str(folder), "file": str(file),
                         "arguments": [*options, "-c", str(file)]})
        files.append(str(file))
    (folder / "compile_commands.json").write_text(json.dumps(database, indent=1))
    return files


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path, help="build folder with compile_commands.json")
    parser.add_argument("--deep", action="store_true", help="let the analyzer follow every path")
    parser.add_argument("--clang-tidy", default=str(ROOT / "build/tools/bin/clang-tidy"))
    arguments = parser.parse_args()
    folder = arguments.build.resolve() / "lint"
    command = [arguments.clang_tidy, "-quiet", "-p", str(folder)]
    if not arguments.deep:
        command += SHALLOW

    def check(file: str) -> subprocess.CompletedProcess:
        return subprocess.run([*command, file], capture_output=True, text=True, check=False)

    files = write(folder, targets(arguments.build.resolve()))
    failed = not files
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for file, result in zip(files, pool.map(check, files)):
            print(f"{'ok' if result.returncode == 0 else 'FAILED'} {file}\n{result.stdout}", end="")
            if result.returncode != 0:
                failed = True
                print(result.stderr, end="")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
