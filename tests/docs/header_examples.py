#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The examples in the comments of the public headers, as a program that the tests compile and run.

  header_examples.py FOLDER    writes the sources of the program into FOLDER

docs/site/comments.py says which part of a comment is an example. What an example takes for granted,
such as `p` or `work()`, is declared in header_examples.hpp. An example is
  - with a main(): a program of its own, whose main() must return 0;
  - all others: the body of a task. Functions, classes and templates that begin at the left margin
    stand at namespace scope. The program runs these examples one after the other, each in a finish.
Errors of the compiler have the file and the line of the example.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "docs/site"))
import comments  # noqa: E402
import public_names  # noqa: E402

# The sources, so that they can be compiled at the same time, and what their headers begin with.
SOURCES = {
    "algorithms": ("sync/algorithms", "places/algorithms"),
    "tasks": ("sync", "base", "comm", "scheduler"),
    "places": ("places", "launch"),
}
MAIN = re.compile(r"^int main\(", re.M)
# The first row of what stands at namespace scope: `struct name`, `type name(...) {`.
DEFINITION = re.compile(
    r"(?:template\b|static\b|struct\b|class\b|enum\b|(?!(?:if|for|while|switch|do|return|else)\b)"
    r"[\w:<>*&, ]+[ *&]\w+\(.*\) (?:const )?\{(?:.*\})?$)")
END = re.compile(r"(?! )(?:\}|.*[;}]$)")  # the last row of one
HEAD = {"cpp": '#undef NDEBUG\n#include "docs/header_examples.hpp"\n',
        "c": "#undef NDEBUG\n#include <assert.h>\n#include <stdio.h>\n\n#include <apgas/c.h>\n"}
RUN = """
namespace examples {{
void run_{source}() {{
{calls}}}
}}  // namespace examples
"""
RUN_ALL = """
extern "C" void run_c();
{declarations}
int main(int argc, char** argv) {{
{programs}  return apgas::run(argc, argv, [] {{
    examples::q = apgas::place(apgas::num_places() - 1);
    run_c();
{calls}  }});
}}
"""


class Example:
    def __init__(self, header, line, rows):
        self.header, self.line, self.rows = header, line, rows

    @property
    def name(self):
        return f"{self.header.stem}_{self.line}"

    def text(self):
        return "\n".join(self.rows) + "\n"

    def is_program(self):
        return MAIN.search(self.text()) is not None

    def chunks(self):
        """The definitions and the statements, each as (its first line, text)."""
        definitions, statements, i = [], [], 0
        while i < len(self.rows):
            first = i
            defines = self.is_program() or DEFINITION.match(self.rows[first])
            if defines:
                while not END.match(self.rows[i]):
                    i += 1
                i += 1
            else:
                while i < len(self.rows) and not DEFINITION.match(self.rows[i]):
                    i += 1
            (definitions if defines else statements).append((self.line + first, self.rows[first:i]))
        return definitions, statements

    def located(self, chunks):
        return "".join(f'#line {line} "{self.header}"\n' + "\n".join(rows) + "\n"
                       for line, rows in chunks)

    def cpp(self):
        definitions, statements = self.chunks()
        text = f"namespace examples::{self.name} {{\n"
        for chunk in definitions:
            part = self.located([chunk])
            if chunk[1][0].startswith("template <>"):  # a specialisation of a template of apgas
                part = f"}}\n{part}namespace examples::{self.name} {{\n"
            text += part
        if not self.is_program():
            text += f"static void example() {{\n{self.located(statements)}}}\n"
        return text + "}\n"

    def c(self):
        definitions, statements = self.chunks()
        text = self.located(definitions)
        if self.is_program():
            return f"int {self.name}_main(int argc, char** argv);\n" + text.replace(
                "int main(", f"int {self.name}_main(")
        return text + f"static void {self.name}(void) {{\n{self.located(statements)}}}\n"


def examples_of(header):
    """The examples in all comments of a header."""
    lines = header.read_text().splitlines()
    i = 0
    while i < len(lines):
        first = i
        while i < len(lines) and public_names.is_comment(lines[i]):
            i += 1
        rows = [row.strip().removeprefix("//").removeprefix(" ") for row in lines[first:i]]
        for kind, begin, code in comments.paragraphs(rows):
            if kind == "code":
                yield Example(header, first + begin + 1, comments.without_indent(code))
        i += 1


def code_of(header):
    """All examples of a header, as one text without comments."""
    return re.sub(r"//.*", "", "\n".join(each.text() for each in examples_of(header)))


def source_of(header):
    path = str(header.relative_to(ROOT))
    return next(source for source, begins in SOURCES.items()
                if path.startswith(tuple(f"{begin}/" for begin in begins)))


def call_of(example):
    where = f"{example.header.name}:{example.line}"
    return f'  run_example("{where}", {example.name}::example);\n'


def main(folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    texts = {source: [HEAD["cpp"]] for source in SOURCES}
    calls = {source: "" for source in SOURCES}
    texts["c"], calls["c"], programs, declarations = [HEAD["c"]], "", "", ""
    for header in [*public_names.headers(), *ROOT.glob("launch/program/include/apgas/apgas.hpp")]:
        for each in examples_of(header):
            source = "c" if header.suffix == ".h" else source_of(header)
            texts[source].append(each.c() if source == "c" else each.cpp())
            if each.is_program():
                name = f"{each.name}_main" if source == "c" else f"examples::{each.name}::main"
                programs += f"  if (int code = {name}(argc, argv)) return code;\n"
                if source == "c":
                    declarations += f'extern "C" int {name}(int, char**);\n'
                elif source != "places":
                    sys.exit(f"{header}:{each.line}: a program must be in a header of places/ or "
                             "launch/")
            elif source == "c":
                calls["c"] += f"  {each.name}();\n"
            else:
                calls[source] += call_of(each)
    for source in SOURCES:
        texts[source].append(RUN.format(source=source, calls=calls[source]))
        declarations += f"namespace examples {{ void run_{source}(); }}\n"
    texts["places"].append(RUN_ALL.format(
        programs=programs, declarations=declarations,
        calls="".join(f"    examples::run_{source}();\n" for source in SOURCES)))
    texts["c"].append(f"void run_c(void);\nvoid run_c(void) {{\n{calls['c']}}}\n")
    for source, parts in texts.items():
        suffix = "c" if source == "c" else "cpp"
        (folder / f"header_examples_{source}.{suffix}").write_text("\n".join(parts))


if __name__ == "__main__":
    main(*sys.argv[1:])
