# SPDX-License-Identifier: Apache-2.0
"""The public names of the library, with their comments, as the reference and its test need them.

Doxygen finds what a header declares, and where; the text of declarations and comments comes from
the header itself. These comments are plain `//` sentences (docs/style.md):

- The comment above a declaration also holds for those that follow it without an empty line.
- `Requires:`, `Throws:`, `Context:` and `Cost:` at the start of a sentence begin the contract. A
  comment of a class or of a header whose words say "of all" or "all members" has them for all.
- A macro is public if MACROS lists its header and its name.
- A declaration whose comment begins with "For the implementation" is not public, nor is one that
  does not compile.
"""

import dataclasses
import itertools
import pathlib
import re
import subprocess
import tempfile
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODULES = ("base", "comm", "scheduler", "sync", "places", "launch")
FURTHER = ("sync/futures/include/apgas/sync/future_handle.hpp",  # they declare names of users, too
           "places/balancing/include/apgas/places/glb_statistics.hpp",
           "places/arrays/include/apgas/places/grid_portion.hpp")
DOXYFILE = """
INPUT = {headers}
OUTPUT_DIRECTORY = {folder}
INPUT_FILTER = "sed -e 's/namespace apgas::inline v0/namespace apgas/'"
EXTRACT_ALL = YES
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
XML_PROGRAMLISTING = NO
HAVE_DOT = NO
QUIET = YES
WARNINGS = NO
MACRO_EXPANSION = YES
EXPAND_ONLY_PREDEF = YES
PREDEFINED = APGAS_API= APGAS_C_API= APGAS_C_NOEXCEPT= __cplusplus
"""
SITE_PARAMETER = re.compile(r",?\s*(?:std::source_location|scheduler::call_site)\s+\w+\s*=\s*"
                            r"(?:std::source_location|scheduler::call_site)::current\(\)")
# What users do not call: hooks that take objects of the scheduler, declarations that only make the
# compiler explain a wrong call, definitions outside of their class, what cannot be called.
NOT_PUBLIC = re.compile(r"scheduler::fiber&|sync::coroutine_runner|= delete$|\boverride\b|"
                        r"\((?:\w+(?:&&)?, )?\w+(?:&&)?\.\.\.\)$|^namespace |"
                        r"^template.*\n.*\w<T>::|"
                        r"^(?:template[^\n]*\n)?\w+\([^()]*\) -> \w+<.*>$", re.S)
MACROS = {"c.h": re.compile(r"APGAS_(?:E[A-Z]+|MAX_BLOCK|CONFIG_INIT)$"),
          "version.hpp": re.compile(r"APGAS_VERSION\w*$")}
ALIASES = ("value_type", "element_type", "promise_type", "iterator", "const_iterator", "source")
NOISE = re.compile(r"\bAPGAS_API |\bAPGAS_C_API |\bAPGAS_C_NOEXCEPT\b|\[\[gnu::\w+\]\] |^inline |"
                   r"(?<=\n)inline ")


@dataclasses.dataclass
class Name:
    """A declaration."""
    name: str          # with the class, for a member
    kind: str          # class, function, variable, typedef, enum, concept, define
    header: pathlib.Path
    line: int          # of the beginning of the declaration
    declaration: str
    comment: list      # its lines; those of the one above it if it shares that; empty: none
    shared: bool
    members: list = dataclasses.field(default_factory=list)


def headers():
    """All headers with public names."""
    found = {ROOT / name for name in FURTHER}
    for module in MODULES:
        for pattern in ("*.hpp", "*.h", "parallel/*.hpp"):
            found |= set((ROOT / module).glob(f"**/include/apgas/{pattern}"))
    return sorted(path for path in found if path.name != "apgas.hpp")


def portions():
    """The headers in the portions that Doxygen reads. It takes functions for the same one if only
    their constraints differ, as those of coroutine.hpp and async.hpp."""
    alone = [path for path in headers() if path.name == "coroutine.hpp"]
    return [part for part in (alone, [path for path in headers() if path not in alone]) if part]


def is_comment(line):
    return line.lstrip().startswith("//")


class Source:
    """A header, as lines counted from 1."""

    def __init__(self, path):
        self.path = path
        self.lines = [""] + path.read_text().splitlines()

    def begin_of(self, line):
        """The first line of the declaration that has a name in this line."""
        while True:
            before = self.lines[line - 1].partition("  //")[0].rstrip()
            if (not before or is_comment(before) or before[-1] in ";{}" or before.startswith("#")
                    or before.endswith("public:")):
                return line
            line -= 1

    def comment_above(self, line):
        """The comment above a declaration, and whether it belongs to an earlier one, too."""
        shared = False
        while True:
            before = self.lines[line - 1]
            if is_comment(before) and not before.lstrip().startswith("// NOLINT"):
                break
            if before.lstrip().startswith("// NOLINT"):
                line -= 1
            elif before.startswith("#define "):
                line, shared = line - 1, True
            elif before.rstrip().endswith((";", "}")):
                line, shared = self.begin_of(line - 1), True
                while self.lines[line].strip() in ("}", "};"):  # of a body: go to its beginning
                    line = self.begin_of_body(line)
            else:
                return [], shared
        end = line
        while is_comment(self.lines[line - 1]):
            line -= 1
        return [text.strip().removeprefix("//").removeprefix(" ")
                for text in self.lines[line:end]], shared

    def comment_after(self, line):
        """The comment behind a variable, with the lines that continue it."""
        after = [text.partition("  // ")[2] for text in self.lines[line:line + 1]]
        while after[0] and is_comment(self.lines[line + 1]) and self.lines[line + 1][8:9] == " ":
            line += 1
            after.append(self.lines[line].strip().removeprefix("// "))
        return after if after[0] else []

    def begin_of_body(self, line):
        """The first line of the declaration whose body ends in this line."""
        indent = self.lines[line][: -len(self.lines[line].lstrip())]
        line -= 1
        while not self.lines[line].startswith(indent) or self.lines[line][len(indent):][:1] in (
                " ", "", "}"):
            line -= 1
        return self.begin_of(line)

    def macro(self, line):
        """The definition of a macro."""
        text = self.lines[line].partition("  //")[0]
        while text.endswith("\\"):
            line += 1
            text = f"{text.removesuffix(chr(92)).rstrip()} {self.lines[line].strip()}"
        return re.sub(r"  +", " ", text)

    def declaration(self, line):
        text, depth = "", 0
        for i, char in enumerate("\n".join(self.lines[line:line + 40])):
            text += char
            depth += {"(": 1, ")": -1}.get(char, 0)
            if depth == 0 and (text.endswith(";") or text.endswith(" {") and i):
                break
        text = re.sub(r"  //[^\n]*", "", text).removesuffix("{").removesuffix(";").rstrip()
        text = re.sub(r"\)\s*:\s+\w+[({].*", ")", text, flags=re.S)  # initialisers of members
        indent = len(text) - len(text.lstrip())
        text = "\n".join(row[indent:] if not row[:indent].strip() else row
                         for row in text.splitlines())
        return SITE_PARAMETER.sub("", NOISE.sub("", text)).rstrip()

    def head_comment(self):
        """The comment about the whole header: the first one after the includes, or before them."""
        text = "\n".join(self.lines)
        blocks = re.findall(r"(?:^//.*\n)+(?=\n|namespace|#)", text, re.M)
        blocks = [b for b in blocks if "SPDX" not in b]
        return [row.removeprefix("//").removeprefix(" ") for row in
                (blocks[0].splitlines() if blocks else [])]


def xml_of(folder, paths):
    doxyfile = DOXYFILE.format(headers=" ".join(map(str, paths)), folder=folder)
    subprocess.run(["doxygen", "-"], input=doxyfile, text=True, check=True, cwd=ROOT,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    index = xml.etree.ElementTree.parse(f"{folder}/xml/index.xml").getroot()
    for compound in index:
        if compound.get("kind") in ("namespace", "class", "struct", "concept", "file"):
            file = f"{folder}/xml/{compound.get('refid')}.xml"
            yield from xml.etree.ElementTree.parse(file).getroot()


def collect():
    """All public names: those in namespaces apgas and apgas::parallel, those of apgas/c.h, and
    MACROS."""
    sources = {path: Source(path) for path in headers()}
    found, members = {}, []

    def add(name, kind, element, into):
        where = element.find("location")
        path = pathlib.Path(where.get("file"))
        source = sources.get(path if path.is_absolute() else ROOT / path)
        if source is None:
            return
        line = source.begin_of(int(where.get("line")))
        while kind == "define" and source.lines[line - 1].endswith("\\"):
            line -= 1
        comment, shared = source.comment_above(line)
        if re.match(r"For the implementation|.* does not compile\b|.* do not compile[.;]",
                    " ".join(comment)):
            return
        declaration = source.macro(line) if kind == "define" else source.declaration(line)
        if declaration.startswith("}"):  # typedef struct { ... } name;
            line, begin = source.begin_of_body(line), line
            comment, shared = source.comment_above(line)
            declaration = "\n".join(source.lines[line:begin]) + f"\n{declaration}"
        if NOT_PUBLIC.search(declaration) or (kind == "typedef" and name.endswith(ALIASES)):
            return
        if kind in ("variable", "enumvalue", "define"):  # a comment may follow on the same line
            comment = source.comment_after(line) or comment
        into.setdefault((source.path, line), Name(name, kind, source.path, line, declaration,
                                                  comment, shared))

    with tempfile.TemporaryDirectory() as folder:
        for compound in itertools.chain(*(xml_of(f"{folder}/{i}", paths)
                                          for i, paths in enumerate(portions()))):
            name, kind = compound.find("compoundname").text, compound.get("kind")
            if kind == "namespace" and name in ("apgas", "apgas::parallel"):
                for member in compound.iter("memberdef"):
                    full = f"{name}::{member.find('name').text}".removeprefix("apgas::")
                    add(full, member.get("kind"), member, found)
            elif kind == "file" and name in MACROS:
                for member in compound.iter("memberdef"):
                    own, what = member.find("name").text, member.get("kind")
                    if MACROS[name].match(own) if what == "define" else name == "c.h" and what in (
                            "function", "typedef"):
                        add(own, what, member, found)
            elif re.fullmatch(r"apgas::\w+", name) and "<" not in name and kind != "file":
                add(name.removeprefix("apgas::"), kind.replace("struct", "class"), compound, found)
                members += [(name.removeprefix("apgas::"), m) for s in compound.iter("sectiondef")
                            if s.get("kind").startswith("public") for m in s.iter("memberdef")]
    classes = {n.name: n for n in found.values() if n.kind == "class"}
    for scope, member in members:
        if scope in classes and member.get("kind") in ("function", "variable", "typedef"):
            own = {(m.header, m.line): m for m in classes[scope].members}
            add(f"{scope}::{member.find('name').text}", member.get("kind"), member, own)
            classes[scope].members = sorted(own.values(), key=lambda m: m.line)
    return sorted(found.values(), key=lambda n: (n.header, n.line)), sources
