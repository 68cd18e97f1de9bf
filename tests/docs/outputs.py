# SPDX-License-Identifier: Apache-2.0
"""Compares what a document says that a program prints with what it printed.

A block that begins with
  ```text output    has all lines of standard output, in any order
  ```text excerpt   is a part of the output, where `...` stands for any text
  ```text sample    has lines of one run, in this order; others may lie between them. A number (or a
                    range, as in 0-3) stands for any number, a unit of time or size after it for
                    any such unit, and spaces for any number of spaces. The line in a source file,
                    as in a.cpp:12, is exact. A line `...` stands for lines that are left out,
                    `...` in a line for any text
  ```text session   has lines that begin with a prompt, `$ ` or `(gdb) `: what the user typed. The
                    other lines are what was printed, as in a sample
  ```text results   is a session of programs whose results are the same in each run: a number in it
                    is exact, unless it has a point or an exponent: such a number stands for any,
                    negative ones too, as the difference of two times may be negative
"""

import re

SESSIONS = ("session", "results")
KINDS = ("output", "excerpt", "sample", *SESSIONS)
PROMPT = re.compile(r"^(\$|\(gdb\)) (.*)\n", re.M)
UNIT = r"(?:[kMGT]i?B?|ns|us|ms|s)"
PARTS = re.compile(r"(?P<any>\.\.\.)|(?P<exact>\w+\.[ch]pp:\d+)"
                   rf"|(?P<number>0x[0-9a-f]+|\d(?:[\d.,-]*\d)?)(?P<unit> ?{UNIT}\b)?"
                   r"|(?P<spaces>[ \t]+)")
NUMBER = r"(?:0x[0-9a-f]+|\d(?:[\d.,-]*\d)?)"
RESULT = re.compile(r"(?P<any>\.\.\.)|(?P<number>(?<!\w)-?\d+(?:\.\d+(?:e[+-]?\d+)?|e[+-]?\d+)\b)"
                    r"|(?P<spaces>[ \t]+)")
INEXACT = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?"


def line_pattern(line, kind):
    """A pattern of the lines for which a line of a sample, or of results, stands."""
    pattern, end = "", 0
    for part in (RESULT if kind == "results" else PARTS).finditer(line):
        pattern += re.escape(line[end:part.start()])
        end = part.end()
        if part["any"]:
            pattern += ".*"
        elif part["spaces"]:
            pattern += r"[ \t]+"
        elif kind == "results":
            pattern += INEXACT
        elif part["exact"]:
            pattern += re.escape(part[0])
        else:
            pattern += NUMBER + (rf" ?{UNIT}\b" if part["unit"] else r"(?:[kMGT]\b)?")
    return re.compile(pattern + re.escape(line[end:]))


def missing_line(kind, wanted, lines):
    """The first line that was not printed after those before it; None if all were."""
    lines = iter(lines)
    for line in wanted.splitlines():
        if line.strip() in ("", "..."):
            continue
        pattern = line_pattern(line.strip(), kind)
        if not any(pattern.fullmatch(printed.strip()) for printed in lines):
            return line
    return None


def difference(kind, wanted, out, err=""):
    """In which way the output is not what a block of that kind says; None if it is."""
    if kind == "output":
        same = sorted(out.splitlines()) == sorted(wanted.splitlines())
        return None if same else wanted
    if kind == "excerpt":
        pattern = ".*?".join(re.escape(part) for part in wanted.strip().split("..."))
        return None if re.search(pattern, out + err, re.S) else wanted
    return missing_line(kind, wanted, (out + err).splitlines())


def commands_of(session):
    """The commands of a session, as a shell script, and what it says that they print. Commands of
    gdb are given to one gdb, with the arguments in the variable GDB_ARGUMENTS."""
    typed = [match.groups() for match in PROMPT.finditer(session)]
    script = "\n".join(command for prompt, command in typed if prompt == "$")
    in_gdb = [command for prompt, command in typed if prompt != "$"]
    if in_gdb:
        script += ("\ngdb -batch -nx -iex 'set debuginfod enabled off' $GDB_ARGUMENTS"
                   + "".join(f" -ex '{command}'" for command in in_gdb))
    return script, PROMPT.sub("", session)
