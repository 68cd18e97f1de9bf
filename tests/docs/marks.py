#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that no block of a document goes unchecked unseen.

  marks.py marked DOCUMENT...    DOCUMENT are those whose blocks shell_blocks.py runs. A shell block
                                 that is not run says why (```sh no-test: WHY), MARKED lists it,
                                 bash can parse it, and our own tools have the options that it
                                 names. A block of text says what it is: an output (outputs.py), one
                                 that is not compared, and why, or one of TEXTS. A part of a file
                                 names the test that uses it (```cmake fragment: FILE)
  marks.py compiled DOCUMENT...  no document but these has a program in C++; moving.py compiles
                                 those of docs/moving
"""

import functools
import os
import re
import shlex
import subprocess
import sys

import documents
import outputs

MARKED = {  # the reasons of each document, in the order of its blocks
    "README.md": ["runs all tests, this one among them"],
    "docs/tutorials/first_program.md": ["the test starts in a clone"],
    "apps/imsuite/README.md": ["takes minutes"],
    "apps/integrations/chapel/README.md": ["needs a source tree of Chapel"],
    "apps/integrations/parlay/README.md": ["needs a copy of parlaylib", "needs a copy of parlaylib",
                                           "needs a copy of PBBS", "needs a copy of PBBS"],
    "apps/integrations/python/README.md": ["app.python.pip runs this command, for minutes"],
    "tests/README.md": ["runs the tests, this one among them",
                        "the full run does this, in minutes"],
    "docs/clusters.md": ["compiles the library in a container, for minutes",
                         "tests/cluster runs these commands",
                         "cluster.program_image.docker runs these commands",
                         "compiles the library in a container, and needs a registry"],
    "docs/debugging/gdb.md": ["perf_test checks these frames"],
    "docs/how_to/install.md": ["README.md and the first tutorial run these commands",
                               "a second build of the library takes minutes"],
    "docs/how_to/packages.md": ["./launch/package --test runs these commands",
                                "installs packages on this machine",
                                "tests/package/spack.sh runs these commands",
                                "tests/package/vcpkg.sh runs this command with apgas[mpi]",
                                "./launch/package --test runs the second command"],
    "docs/how_to/python_and_c.md": ["app.python.pip runs this command, for minutes"],
    "docs/performance.md": ["measures for many minutes",
                            "bench.report_time runs this with fewer tasks",
                            "bench.observation_cost runs this with smaller sizes",
                            "takes minutes"],
    "docs/scaling.md": ["builds what the tests have built, and needs idle cores"],
}
TEXTS = ("diagram", "formula", "file",  # no output
         "messages")  # found in the sources by messages.py
# examples.py and moving.py compare blocks of the kind output, too.
COMPARED = ("excerpt", "sample", *outputs.SESSIONS)
# Blocks in these languages are files that shell blocks use, or fragments.
PARTS = ("c", "cmake", "python")
OPTION = re.compile(r"(?<![\w-])(--?[a-zA-Z][\w-]*)([ =][A-Z{]|\b)")


def check_marked(run):
    problems = []
    for document in sorted({*documents.pages(), *run}):
        found = []
        for line, language, info, code in documents.blocks(document):
            where = f"{document}:{line}"
            if language == "sh" and (info or document not in run):
                found.append(info.removeprefix("no-test: "))
                problems += check_unrun(where, code)
            elif language == "text" and info.startswith("no-test: "):
                found.append(info.removeprefix("no-test: "))
            elif language == "text" and info not in outputs.KINDS + TEXTS:
                problems.append(f"{where}: say what this is: ```text sample, for example")
            elif language == "text" and document not in run and info in COMPARED:
                problems.append(f"{where}: no test compares this {info}: see CMakeLists.txt")
            elif language in PARTS and (info or document not in run):
                problems += check_fragment(where, document, info)
        if found != MARKED.get(document, []):
            problems.append(f"{document} marks {found}; MARKED lists {MARKED.get(document, [])}. "
                            "Mark a block that no test runs by ```sh no-test: WHY")
    return problems


def check_fragment(where, document, info):
    """What is wrong with a block that no shell block uses."""
    test = documents.ROOT / info.removeprefix("fragment: ")
    if not info.startswith("fragment: ") or not test.is_file():
        return [f"{where}: name the test that uses this block: ```cmake fragment: FILE"]
    return [] if document in test.read_text() else [f"{where}: {test.name} does not name this page"]


def check_unrun(where, code):
    """What is wrong with a block that is not run."""
    parsed = subprocess.run(["bash", "-n"], input=code, capture_output=True, text=True, check=False)
    if parsed.returncode != 0:
        return [f"{where}: bash cannot parse this block: {parsed.stderr}"]
    problems = []
    for line in code.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        for i, word in enumerate(words):
            if tool := tool_named(word):
                problems += [f"{where}: {word} --help does not have the option {option}"
                             for option in unknown_options(tool, words[i + 1:])]
    return problems


def tool_named(word):
    """The program of this repository that a word of a command names, if it is one. Those that are
    built are not among them, since they need not be there."""
    path = documents.ROOT / ("launch/" + word if word.startswith("apgas-") else word)
    executable = path.is_file() and (path.suffix == ".py" or os.access(path, os.X_OK))
    return path if executable and not word.startswith("build/") else None


def unknown_options(tool, words):
    """The options among the words after a tool that its --help does not have."""
    words = words[:words.index("--")] if "--" in words else words
    if not any(word.startswith("-") for word in words):
        return []
    command = words[:1] if re.fullmatch("[a-z]+", words[0]) else []  # as in docker/cluster up
    known = options_of(tool, *command)
    unknown, value = [], False
    for word in words:
        if value:
            value = False
        elif word.startswith("-"):
            option = word.partition("=")[0]
            if option not in known:
                unknown.append(option)
            value = known.get(option) and "=" not in word
        elif tool.name == "apgas-run":
            break  # the program, with options of its own
    return unknown


@functools.cache
def options_of(tool, *command):
    """The options that a tool has according to --help, and whether a value follows each."""
    run = [sys.executable] if tool.suffix == ".py" else []
    text = subprocess.run([*run, tool, *command, "--help"], capture_output=True, text=True,
                          check=False, timeout=60).stdout
    return {option: bool(value) for option, value in OPTION.findall(text)}


def check_compiled(compiled):
    """A program of a document that no test compiles is found here."""
    return [f"{page}:{line}: no test compiles this block: see tests/docs/CMakeLists.txt"
            for page in documents.pages()
            if page not in compiled and not page.startswith("docs/moving/")
            for line, language, _, _ in documents.blocks(page) if language == "cpp"]


def main():
    mode, *arguments = sys.argv[1:]
    problems = {"marked": check_marked, "compiled": check_compiled}[mode](arguments)
    sys.exit("\n".join(problems) if problems else 0)


if __name__ == "__main__":
    main()
