#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Looks for the messages of the documents in the sources: messages.py

A block that begins with ```text messages has lines that the library prints, but that no test of the
documents can cause, for example because they need several hosts. Each line must consist of what
string literals of the sources say between their placeholders, and of values, such as numbers, names
in quotes and hosts. A number and two spaces before a line belong to the document.
"""

import re
import sys

import documents

FOLDERS = ("base", "scheduler", "comm", "sync", "places", "launch")
JOINED = re.compile(r'"\s*\n\s*f?"')  # a literal that goes on in the next line
LITERAL = re.compile(r'"((?:\\.|[^"\\\n])*)"')
PLACEHOLDER = re.compile(r"\{[^{}]*\}|\\n")
VALUE = re.compile(r'"[^"]*"|\([A-Z][^()]*\)|\(main\(int, char\*\*\).*\)|\(int \w+\(int\)\)'
                   r"|\S+\.cpp:\d+|\d+(?:\.\d+)*(?:-\d+)?|\bnode\d|\b[abc]\b|\b[A-Z]+_\w+\b")
SMALL = {"place", "places", "on", "in", "worker", "workers", "core", "cores", "and", "task", "s",
         "a", "for", "shared", "with", "from", "mpirun", "apgas", "run", "has", "have", "which",
         "warning"}


def literals():
    """The parts of string literals of at least two words."""
    parts = set()
    for folder in FOLDERS:
        for path in (documents.ROOT / folder).rglob("*"):
            if path.suffix in (".cpp", ".hpp", ".py") or path.name == "apgas-run":
                for literal in LITERAL.findall(JOINED.sub("", path.read_text())):
                    parts |= {part.strip(" :;,.()") for part in PLACEHOLDER.split(literal)}
    return sorted((part for part in parts if " " in part), key=len, reverse=True)


def unknown_words(line, parts):
    """The words of a message that no literal has."""
    line = re.sub(r"^\d+  ", "", line)
    for part in parts:
        if part in line:
            line = re.sub(rf"(?<!\w){re.escape(part)}(?!\w)", " ", line)
    return [word for word in re.findall(r"\w+", VALUE.sub(" ", line)) if word not in SMALL]


def main():
    parts, problems, count = literals(), [], 0
    for page in documents.pages():
        for line, language, info, code in documents.blocks(page):
            if (language, info) != ("text", "messages"):
                continue
            for number, message in enumerate(code.splitlines(), line + 1):
                count += 1
                if words := unknown_words(message, parts):
                    problems.append(f"{page}:{number}: no source prints {' '.join(words)}")
    print(f"messages: {count} lines, {len(problems)} problems", *problems, sep="\n")
    return bool(problems) or count == 0


if __name__ == "__main__":
    sys.exit(main())
