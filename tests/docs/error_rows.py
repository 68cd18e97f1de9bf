#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Looks for the messages of the library in docs/errors.md: error_rows.py

A message is a string literal that print_line, warn, fatal or launch_error prints. The page must
have a part of it, of three words or more, between two placeholders or marks. It has one row for all
that no correct place sends.
"""

import re
import sys

import documents

FOLDERS = ("base", "scheduler", "comm", "sync", "places", "launch")
JOINED = re.compile(r'"\s*\n\s*"')  # a literal that goes on in the next line
PRINTED = re.compile(r'\b(?:print_line|warn|fatal|launch_error)\(\s*(?:fmt::format\(\s*)?'
                     r'"((?:\\.|[^"\\\n])*)"')
BETWEEN = re.compile(r"\{[^{}]*\}|\\n|[;:(]|\. ")
WORDS_LEAST = 3
NEVER_SENT = "place {} sent "


def parts_of(message):
    """The parts of a message that are long enough to be told from others."""
    parts = (part.strip(" :;,.()") for part in BETWEEN.split(message))
    return [part for part in parts if len(part.split()) >= WORDS_LEAST]


def messages():
    """Returns (file, message) of all that the library prints as a line of its own."""
    for folder in FOLDERS:
        for path in sorted((documents.ROOT / folder).rglob("*")):
            if path.suffix in (".cpp", ".hpp"):
                for message in PRINTED.findall(JOINED.sub("", path.read_text())):
                    yield path.relative_to(documents.ROOT), message


def main():
    page = " ".join((documents.ROOT / "docs/errors.md").read_text().split())
    problems, count = [], 0
    for path, message in messages():
        parts = parts_of(message)
        if not parts or message.startswith(NEVER_SENT):
            continue
        count += 1
        if not any(part in page for part in parts):
            problems.append(f"{path}: docs/errors.md has no row for: {message}")
    print(f"error_rows: {count} messages, {len(problems)} problems", *problems, sep="\n")
    return bool(problems) or count == 0


if __name__ == "__main__":
    sys.exit(main())
