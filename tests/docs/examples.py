#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The examples of the documents, as programs that the tests compile and run.

  examples.py extract FOLDER DOCUMENT...   writes the programs, prints their names as a CMake list
  examples.py check PROGRAM FILE           runs the program and compares its output, as sorted lines
  examples.py settings PROGRAM README      compares the table of settings with what apgas-info says
  examples.py slips DOCUMENT FOLDER...     finds each message of the common slips in the sources

A block that begins with ```cpp is one of these:
  - with a main(): a program of its own. If a block that begins with ```text output follows before
    the next program, that is what it prints on four places, in any order of lines;
  - ```cpp declarations: stands at namespace scope in the program of the document;
  - all others: the body of a task. The program of the document runs them one after the other.
"""

import os
import pathlib
import re
import subprocess
import sys

BLOCK = re.compile(r"^```(\w+)(?: (\w+))?\n(.*?)^```$", re.M | re.S)
SETTING = re.compile(r"^\| `(APGAS_\w+)` \|.*\| ([^|]*) \|$", re.M)
HEAD = """#undef NDEBUG  // the examples say by assert what holds
#include <apgas/apgas.hpp>

#include <atomic>
#include <cassert>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>
"""
MAIN = """
int main(int argc, char** argv) {{
  return apgas::run(argc, argv, [] {{
{calls}  }});
}}
"""


def write(path, text):
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
    return str(path)


def extract(folder, document):
    """Yields the names of the programs of one document."""
    text = document.read_text()
    blocks = list(BLOCK.finditer(text))
    parts, calls, programs = [], [], 0
    for i, block in enumerate(blocks):
        language, kind, code = block.groups()
        if language != "cpp":
            continue
        number = text.count("\n", 0, block.start()) + 2
        line = f'#line {number} "{document}"\n'
        if re.search(r"^int main\(", code, re.M):
            programs += 1
            name = folder / f"{document.stem}_{programs}.cpp"
            yield write(name, line + code)
            for after in blocks[i + 1:]:
                if after.group(1) == "cpp":
                    break
                if after.groups()[:2] == ("text", "output"):
                    write(name.with_suffix(".output"), after.group(3))
                    break
        elif kind == "declarations":
            parts.append(line + code)
        else:
            parts.append(f"static void example_{number}() {{\n{line}{code}}}\n")
            where = f"{document.name}:{number}"
            calls.append(f'    std::puts("{where}");\n    example_{number}();\n')
    if parts:
        source = HEAD + "\n" + "\n".join(parts) + MAIN.format(calls="".join(calls))
        yield write(folder / f"{document.stem}.cpp", source)


def check(program, expected):
    run = subprocess.run([program], capture_output=True, text=True, timeout=100, check=False)
    found = sorted(run.stdout.splitlines())
    wanted = sorted(pathlib.Path(expected).read_text().splitlines())
    if run.returncode != 0 or found != wanted:
        print(run.stderr, file=sys.stderr)
        sys.exit(f"code {run.returncode}, printed {found}; the document says {wanted}")


def settings(program, readme):
    """Names and defaults of the table are those of the code."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("APGAS_")}
    run = subprocess.run([program], capture_output=True, text=True, env=clean, check=True)
    real = dict(re.findall(r"^(APGAS_\w+) +(\S+)", run.stdout, re.M))
    written = {n: v.strip("` ") for n, v in SETTING.findall(pathlib.Path(readme).read_text())}
    if not real or real != written:
        sys.exit(f"{readme} says {sorted(written.items())}, apgas-info {sorted(real.items())}")


def slips(document, folders):
    """The messages in the second column are in the code; `...` stands for what they name."""
    section = pathlib.Path(document).read_text().split("\n## Common slips\n")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    sources = [p for f in folders for p in sorted(pathlib.Path(f).rglob("*.[ch]pp"))]
    code = re.sub(r'"\s*\n\s*"', "", "\n".join(p.read_text() for p in sources))
    literals = "\n".join(re.findall(r'"((?:\\.|[^"\\\n])*)"', code))
    wrong = []
    for row in rows:
        for message in re.findall(r"`([^`]*)`", row.split(" | ")[1]):
            pieces = [re.escape(piece) for piece in message.split("...")]
            if not re.search(r"[^\n]*".join(pieces), literals):
                wrong.append(message)
    if len(rows) < 20 or wrong:
        sys.exit(f"{document} has {len(rows)} slips; not in the code: {wrong}")


def main():
    mode, *arguments = sys.argv[1:]
    if mode == "extract":
        folder = pathlib.Path(arguments[0])
        names = [n for d in arguments[1:] for n in extract(folder, pathlib.Path(d))]
        print(";".join(names))
    elif mode == "check":
        check(*arguments)
    elif mode == "settings":
        settings(*arguments)
    elif mode == "slips":
        slips(arguments[0], arguments[1:])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
