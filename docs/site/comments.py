# SPDX-License-Identifier: Apache-2.0
"""The parts of a comment of a header: sentences, lists, tables and examples.

A block of rows that are indented by two spaces or more is an example if a row of it ends, apart
from a comment, with a semicolon or a brace; otherwise it is a table.
tests/docs/header_examples.py compiles the examples.
"""

import re

CONTRACT = re.compile(r"^((?:Requires|Throws|Context|Cost|Errors|Order)\b[^:.]*):\s*(.*)", re.S)
CODE = re.compile(r"[;{}]\s*$")
REMARK = re.compile(r"(?:^|\s)//.*")


def kind_of(row):
    if not row.strip():
        return "empty"
    if re.match(r" +- ", row):
        return "list"
    return "block" if row.startswith("  ") else "text"


def ends(part, row, kind):
    """Whether a part of this kind does not go on with the row."""
    if kind == "empty":
        return True
    if part == "text":
        return kind != "text" or CONTRACT.match(row) is not None
    return not row.startswith(" ")


def is_code(lines):
    return any(CODE.search(REMARK.sub("", row)) for row in lines)


def blocks(rows):
    """The parts between empty rows, where a kind begins and where a contract begins."""
    part, first, lines = None, 0, []
    for i, row in enumerate([*rows, ""]):
        kind = kind_of(row)
        if part and ends(part, row, kind):
            if part == "block":
                part = "code" if is_code(lines) else "table"
            yield part, first, lines
            part = None
        if part is None and kind != "empty":
            part, first, lines = kind, i, []
        if part:
            lines.append(row)


def paragraphs(rows):
    """The parts of a comment: (kind, index of the first row, rows). A kind is text, list, table or
    code. An example may have empty rows."""
    found = None
    for kind, first, lines in blocks(rows):
        if found and kind == found[0] == "code":
            gap = first - found[1] - len(found[2])
            found = (kind, found[1], found[2] + [""] * gap + lines)
            continue
        if found:
            yield found
        found = (kind, first, lines)
    if found:
        yield found


def without_indent(lines):
    indent = min(len(row) - len(row.lstrip()) for row in lines if row)
    return [row[indent:] for row in lines]
