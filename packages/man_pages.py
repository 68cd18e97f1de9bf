#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the man pages and the completion of the tools for bash and zsh, from what they print for
--help.

    man_pages.py OUTPUT VERSION TOOL...

Each TOOL is the path of a program. OUTPUT gets a compressed man page <tool>.1.gz for each, and the
completion of all in the files `apgas` for bash and `_apgas` for zsh. The bytes depend only on the
arguments and the help texts.
"""

import gzip
import os
import pathlib
import re
import subprocess
import sys

OPTION = re.compile(r"(?<![\w-])(--?[a-zA-Z][\w-]*)")
ENTRY = re.compile(r"^ {2,4}(\S.*?)(?: {2,}(\S.*))?$")
HEADING = re.compile(r"^([a-z][a-z ]+):$")
CHOICES = re.compile(r"(--[\w-]+) \{([\w,]+)\}")


def help_of(program):
    environment = os.environ | {"COLUMNS": "80", "LC_ALL": "C"}
    done = subprocess.run([program, "--help"], capture_output=True, text=True, env=environment,
                          check=False)
    if done.returncode != 0 or not done.stdout.lower().startswith("usage:"):
        sys.exit(f"{program} --help: code {done.returncode}, and no line that starts with usage:")
    return done.stdout


def roff(text):
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + escaped if escaped.startswith((".", "'")) else escaped


def split(text):
    """Returns the usage, and a list of (heading or None, lines) for what follows it."""
    usage, _, rest = text.partition("\n\n")
    if not rest:  # apgas-info: one paragraph
        usage, _, rest = text.partition("\n")
    parts = [(None, [])]
    for line in rest.splitlines():
        heading = HEADING.match(line)
        if heading:
            parts.append((heading[1], []))
        elif parts[-1][0] and line and not line.startswith(" "):
            parts.append((None, [line]))
        else:
            parts[-1][1].append(line)
    return " ".join(usage.split(None, 1)[1].split()), parts


def entries(lines):
    """The tagged paragraphs of a list of options or arguments."""
    for line in lines:
        entry = ENTRY.match(line)
        if entry:
            yield ".TP"
            yield f"\\fB{roff(entry[1])}\\fR"
            if entry[2]:
                yield roff(entry[2])
        elif line.strip():
            yield roff(line.strip())


def paragraphs(lines):
    for line in lines:
        yield roff(line.strip()) if line.strip() else ".PP"


def man_page(name, version, text):
    usage, parts = split(text)
    description = next(" ".join(part) for heading, part in parts if not heading and any(part))
    summary = re.split(r"(?<!\.)[.:](?: |$)", description.strip(), maxsplit=1)[0]
    page = [f'.TH {name.upper()} 1 "" "apgas {version}" "User Commands"', ".SH NAME",
            f"{name} \\- {roff(summary[0].lower() + summary[1:])}", ".SH SYNOPSIS",
            f".B {roff(usage)}"]
    described = False
    for heading, lines in parts:
        while lines and not lines[-1].strip():
            lines.pop()
        if not lines:
            continue
        if heading:
            page += [f".SH {heading.upper()}", *entries(lines)]
        else:
            page += [".SH NOTES" if described else ".SH DESCRIPTION", *paragraphs(lines)]
            described = True
    return "\n".join(page) + "\n"


def options_of(text):
    return " ".join(sorted(set(OPTION.findall(text))))


def bash_completion(helps):
    lines = ["# SPDX-License-Identifier: Apache-2.0",
             "# Completion of the tools of apgas for bash.",
             "_apgas_tools() {",
             "  local word=$2 previous=$3 options='' choices=''",
             '  case "${1##*/} $previous" in']
    for name, text in helps.items():
        for option, choices in dict(CHOICES.findall(text)).items():
            words = choices.replace(",", " ")
            lines.append(f'    "{name} {option}") choices="{words}" ;;')
    lines += ["  esac", "  case ${1##*/} in"]
    for name, text in helps.items():
        lines.append(f'    {name}) options="{options_of(text)}" ;;')
    lines += ["  esac", '  if [ -n "$choices" ]; then',
              '    mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$word")',
              '  elif [[ $word == -* ]]; then',
              '    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")',
              "  fi", "}"]
    lines.append(f"complete -o default -F _apgas_tools {' '.join(helps)}")
    return "\n".join(lines) + "\n"


def zsh_completion(helps):
    lines = [f"#compdef {' '.join(helps)}", "# SPDX-License-Identifier: Apache-2.0",
             "local options choices", 'case "$service $words[CURRENT-1]" in']
    for name, text in helps.items():
        for option, choices in dict(CHOICES.findall(text)).items():
            words = choices.replace(",", " ")
            lines.append(f'  "{name} {option}") choices="{words}" ;;')
    lines += ["esac", "case $service in"]
    lines += [f'  {name}) options="{options_of(text)}" ;;' for name, text in helps.items()]
    lines += ["esac", "if [[ -n $choices ]]; then", "  compadd -- ${=choices}",
              'elif [[ $PREFIX == -* ]]; then', "  compadd -- ${=options}", "else",
              "  _files", "fi"]
    return "\n".join(lines) + "\n"


def main():
    if len(sys.argv) < 4:
        sys.exit("usage: man_pages.py OUTPUT VERSION TOOL...")
    output, version = pathlib.Path(sys.argv[1]), sys.argv[2]
    helps = {pathlib.Path(tool).name: help_of(tool) for tool in sys.argv[3:]}
    output.mkdir(parents=True, exist_ok=True)
    for name, text in helps.items():
        page = man_page(name, version, text).encode()
        (output / f"{name}.1.gz").write_bytes(gzip.compress(page, 9, mtime=0))
    (output / "apgas").write_text(bash_completion(helps), encoding="utf-8")
    (output / "_apgas").write_text(zsh_completion(helps), encoding="utf-8")


if __name__ == "__main__":
    main()
