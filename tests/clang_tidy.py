#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy on the library and the apps of a build folder.

All sources of a module or an app are read as one file, since their includes cost more than they do
themselves, and are then read once. --deep lets the analyzer follow every path that it can, which
takes five times as long.

A module or app without findings is not checked again until it changes: for each of them, the folder
lint/passed of the build folder records the command and the digests of all files that it depends on.
"""
import argparse
import concurrent.futures
import functools
import hashlib
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
    command = command.replace(" -isystem ", " -isystem")
    return tuple(shlex.split(re.sub(r"^.*ccache ", "", command)))


def group_of(target: str) -> str:
    """The module of a room, and every other target by itself."""
    room = re.match(rf"apgas_({'|'.join(FOLDERS)})(_|$)", target)
    return room[1] if room else target


def groups(build: pathlib.Path) -> dict[str, tuple[list[str], list[str]]]:
    """The compiler and its options, and the sources, of every module and app."""
    found: dict[str, tuple[list[str], list[str]]] = {}
    seen = set()
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = pathlib.Path(entry["file"])
        if source.is_relative_to(build) or not source.is_relative_to(ROOT):
            continue
        if source.relative_to(ROOT).parts[0] not in FOLDERS or source in seen:
            continue
        seen.add(source)
        target = re.search(r" -o \S*?([^/]+)\.dir/", entry["command"])[1]
        options, sources = found.setdefault(group_of(target), ([], []))
        options += [option for option in options_of(entry["command"]) if option not in options]
        sources.append(str(source))
    return found


def openmp_header(folder: pathlib.Path, compiler: str) -> list[str]:
    """The option with which clang-tidy, which has no omp.h, finds that of the compiler."""
    header = subprocess.run([compiler, "-print-file-name=include/omp.h"],
                            capture_output=True, text=True, check=True).stdout.strip()
    alone = folder / "openmp"
    alone.mkdir(exist_ok=True)
    (alone / "omp.h").unlink(missing_ok=True)
    (alone / "omp.h").symlink_to(header)
    return ["-isystem", str(alone)]


def write(folder: pathlib.Path, all_groups: dict[str, tuple[list[str], list[str]]]) -> list[str]:
    """A file for each that includes its sources, and how to compile it; the largest first."""
    folder.mkdir(exist_ok=True)
    database, files = [], []
    for name, (options, sources) in sorted(all_groups.items(), key=lambda item: -len(item[1][1])):
        if "-fopenmp" in options:
            options = [*options, *openmp_header(folder, options[0])]
        file = folder / f"{name}.cpp"
        file.write_text("".join(f'// NOLINTNEXTLINE(bugprone-suspicious-include)\n#include "{s}"\n'
                                for s in sources))
        database.append({"directory": str(folder), "file": str(file),
                         "arguments": [*options, "-c", str(file)]})
        files.append(str(file))
    (folder / "compile_commands.json").write_text(json.dumps(database, indent=1))
    return files


@functools.lru_cache(maxsize=None)
def digest_of(file: str) -> str:
    path = pathlib.Path(file)
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "missing"


def dependencies(file: str, arguments: list[str]) -> list[str]:
    """All files that the compiler reads for this one, and the linter's settings and version."""
    run = subprocess.run([*arguments[:-2], "-M", file], capture_output=True, text=True, check=True)
    files = run.stdout.replace("\\\n", " ").split(":", 1)[1].split()
    return [*files, *map(str, ROOT.glob(".clang-tidy")), str(ROOT / "tests/lint-tools.txt")]


def has_passed(record: pathlib.Path, command: list[str]) -> bool:
    """Whether the command had no findings when the files were as they are now."""
    if not record.exists():
        return False
    known = json.loads(record.read_text())
    return known["command"] == command and all(
        digest_of(file) == digest for file, digest in known["files"].items())


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

    files = write(folder, groups(arguments.build.resolve()))
    options = {entry["file"]: entry["arguments"]
               for entry in json.loads((folder / "compile_commands.json").read_text())}

    def check(file: str) -> tuple[str, str]:
        full = [*command, file]
        depth = "deep" if arguments.deep else "shallow"
        record = folder / "passed" / depth / f"{pathlib.Path(file).stem}.json"
        if has_passed(record, [*full, *options[file]]):
            return "unchanged", ""
        run = subprocess.run(full, capture_output=True, text=True, check=False)
        if run.returncode != 0:
            return "FAILED", run.stdout + run.stderr
        record.parent.mkdir(parents=True, exist_ok=True)
        digests = {each: digest_of(each) for each in dependencies(file, options[file])}
        record.write_text(json.dumps({"command": [*full, *options[file]], "files": digests}))
        return "ok", run.stdout

    failed = not files
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for file, (result, output) in zip(files, pool.map(check, files)):
            print(f"{result} {file}\n{output}", end="", flush=True)
            failed = failed or result == "FAILED"
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
