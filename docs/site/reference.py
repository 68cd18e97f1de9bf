# SPDX-License-Identifier: Apache-2.0
"""The pages of the reference, made from the public headers: one for each header, and an index."""

import html
import re

import public_names
from comments import CONTRACT, paragraphs, without_indent
from public_names import ROOT

INDEX = "reference/index.md"
# The parts of the reference, in the order of docs/constructs.md, with the rooms of their headers.
GROUPS = {
    "Program": ("launch/program", "launch/settings", "base"),
    "Places": ("places/calls", "places/statistics"),
    "Tasks": ("sync/tasks", "sync/finish", "sync/loops", "sync/exceptions"),
    "Algorithms": ("sync/algorithms", "places/algorithms"),
    "Futures and coroutines": ("sync/futures", "sync/coroutines"),
    "Exclusion": ("sync/exclusion", "sync/variables"),
    "Clocks and phasers": ("sync/clocks", "sync/registrations"),
    "Data over places": ("places/data", "places/one_sided", "places/arrays", "places/teams",
                         "places/balancing", "comm/archive", "comm/frames"),
    "C": ("launch/c_interface",),
}
INDEX_HEAD = """# Reference

Every public name, from the comments of the headers. All are in namespace `apgas`, and
`<apgas/apgas.hpp>` includes all headers but `<apgas/c.h>`. [Constructs](../constructs.md) explains
them by examples, and [the words of the contracts](../constructs.md#where-a-call-may-stand). The
[package for Python](../../apps/integrations/python/README.md) has a table of its names.

In the examples, `p` and `q` are places, `1ms` needs `std::chrono_literals`, and names such as
`work()` and `job` stand for functions and types of the program
([all of them](../../tests/docs/header_examples.hpp)). The tests compile and run every example.

| name | header | |
|---|---|---|"""
LANGUAGES = {"code": "cpp", "table": "text"}
SENTENCE = re.compile(r"(?<=[.;]) (?=(?:Requires|Throws|Context|Cost|Errors)\b[^:.]{0,30}: )")
# Names with :: or _ or arguments, files, and what stands between backquotes.
CODE = re.compile(r"`[^`]+`|<=|>=|\b(?:\w+(?:::|[.]|->))*(?:\w+\((?:[^()]|\([^()]*\))*\)|"
                  r"\w+::\w+(?:<\w*>)?|\w*_\w+(?:\.hpp)?|\w+\.hpp)")
EMPHASIS = re.compile(r"(\*\w[\w -]*\*)")


def page_of(header):
    name = str(header.relative_to(ROOT)).partition("include/apgas/")[2]
    return f"reference/{name.replace('/', '_')}.md"


def group_of(header):
    room = str(header.relative_to(ROOT))
    return next(title for title, rooms in GROUPS.items() if room.startswith(tuple(
        f"{r}/" for r in rooms)))


def navigation():
    """The entries of the navigation, without running Doxygen."""
    groups = {title: [] for title in GROUPS}
    for header in public_names.headers():
        groups[group_of(header)].append({header.name: page_of(header)})
    return [INDEX, *({title: pages} for title, pages in groups.items())]


def prose(text):
    """The text of a comment as Markdown: names are code, and nothing else is markup."""
    parts, end = [], 0
    for found in CODE.finditer(text):
        parts += [text[end:found.start()], None, found[0].strip("`")]
        end = found.end()
    parts.append(text[end:])
    result, code = "", False
    for part in parts:
        if part is None:
            code = True
        elif code:
            result, code = f"{result}`{part}`", False
        else:
            words = EMPHASIS.split(html.escape(part, quote=False))
            words[::2] = [re.sub(r"([*_\[\]#|~])", r"\\\1", word) for word in words[::2]]
            result += "".join(words)
    return result


def markdown(rows):
    """A comment as Markdown. A part of the contract is a paragraph that begins with its word."""
    text = []
    for kind, _, lines in paragraphs(rows):
        if kind in ("code", "table"):
            block = "\n".join(without_indent(lines))
            text.append(f"~~~~ {LANGUAGES[kind]}\n{block}\n~~~~")
        elif kind == "list":
            items = re.split(r"\s*\n\s*- |^\s*- ", "\n".join(lines))
            text.append("\n".join(f"- {prose(' '.join(item.split()))}" for item in items if item))
        else:
            for sentence in SENTENCE.split(" ".join(row.strip() for row in lines)):
                found = CONTRACT.match(sentence)
                text.append(f"**{found[1]}:** {prose(found[2])}" if found else prose(sentence))
    return "\n\n".join(text) + "\n"


def purpose(name):
    """The first sentence of the comment."""
    text = next((" ".join(rows) for kind, _, rows in paragraphs(name.comment) if kind == "text"),
                "")
    return prose(re.split(r"(?<=[a-z)`\"])[.:](?: |$)", text)[0])


def numbered(name, known):
    """The anchor of a declaration: its name, with a number after the first one. `known` counts."""
    anchor = name.name.replace("::", ".").replace(" ", "")
    known[anchor] = known.get(anchor, 0) + 1
    return anchor if known[anchor] == 1 else f"{anchor}-{known[anchor]}"


def entries(names, level, known):
    """The declarations that have a comment together are one entry."""
    text, i = [], 0
    while i < len(names):
        together = [names[i]]
        while (i + len(together) < len(names) and names[i + len(together)].shared
               and names[i + len(together)].comment == names[i].comment):
            together.append(names[i + len(together)])
        i += len(together)
        titles = [f"`{each}`" for each in dict.fromkeys(name.name for name in together)]
        title = ", ".join(titles[:4] + ["..."] * (len(titles) > 4))
        anchors = [numbered(name, known) for name in together]
        text.append(f"{'#' * level} {title} {{ #{anchors[0]} }}\n")
        text += [f'<a id="{anchor}"></a>' for anchor in anchors[1:]] + [""]
        code = "\n".join(name.declaration + ";" * (name.kind != "define") for name in together)
        text.append(f"~~~~ cpp\n{code}\n~~~~\n")
        comment = together[0].comment
        if comment and together[0].kind == "define":  # words behind it, not sentences above it
            comment = [comment[0][:1].upper() + comment[0][1:], *comment[1:]]
        text.append(markdown(comment))
        for name in together:
            text += entries([m for m in name.members if m.kind != "variable"], level + 1, known)
            variables = [m for m in name.members if m.kind == "variable"]
            if variables:
                text.append("| member | |\n|---|---|")
                for m in variables:
                    declaration = " ".join(m.declaration.split())
                    text.append(f"| `{declaration}` | {prose(' '.join(m.comment))} |")
                text.append("")
    return text


def header_page(header, names, head):
    path = str(header.relative_to(ROOT)).partition("include/")[2]
    text = [f"# {path}\n", f"~~~~ cpp\n#include <{path}>\n~~~~\n"]
    if head and head != names[0].comment:
        text.append(markdown(head))
    return "\n".join(text + entries(names, 2, {}))


def index_page(names):
    text = [INDEX_HEAD]
    seen = set()
    for name in sorted(names, key=lambda n: n.name.lower()):
        page = page_of(name.header)
        if (name.name, page) not in seen:
            seen.add((name.name, page))
            link = f"{page.removeprefix('reference/')}#{numbered(name, {})}"
            text.append(f"| [`{name.name}`]({link}) | `{name.header.name}` | {purpose(name)} |")
    return "\n".join(text) + "\n"


def pages():
    """Yields (name of a page, Markdown)."""
    names, sources = public_names.collect()
    by_header = {}
    for name in names:
        by_header.setdefault(name.header, []).append(name)
    for header in public_names.headers():
        if header in by_header:
            yield page_of(header), header_page(header, by_header[header],
                                               sources[header].head_comment())
        else:  # a header that only includes others
            text = markdown(sources[header].head_comment())
            yield page_of(header), f"# apgas/{header.name}\n\n{text}"
    yield INDEX, index_page(names)
