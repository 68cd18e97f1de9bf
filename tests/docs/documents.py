# SPDX-License-Identifier: Apache-2.0
"""Reads the blocks of code of the documents."""

import pathlib
import re
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^( *)```(\w+)(?: ([^\n]+))?\n(.*?)^\1```$", re.M | re.S)


def blocks(document):
    """Yields (line, language, info, code) of each block. `document` is a path below ROOT, and
    `info` what follows the language."""
    text = (ROOT / document).read_text()
    for block in BLOCK.finditer(text):
        _, language, info, code = block.groups()
        line = text.count("\n", 0, block.start()) + 1
        yield line, language, info or "", textwrap.dedent(code) if block[1] else code


def fragments(document, test):
    """Yields (line, code) of the blocks of a document that the test uses, a path below ROOT."""
    for line, _, info, code in blocks(document):
        if info == f"fragment: {test}":
            yield line, code


def pages():
    """The documents below docs/, and the README.md of each folder but the root."""
    folders = [folder for folder in ROOT.iterdir() if folder.is_dir()
               and folder.name != "build" and not folder.name.startswith(".")]
    found = [page for folder in folders
             for page in folder.rglob("*.md" if folder.name == "docs" else "README.md")]
    return sorted(str(page.relative_to(ROOT)) for page in found)
