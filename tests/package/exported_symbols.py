#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what libapgas.so exports with the list beside this script.

    exported_symbols.py <libapgas.so>            fails and names each symbol that is new or missing
    exported_symbols.py <libapgas.so> --update   writes the list

The list has demangled names, one a line. A symbol that is missing breaks programs that were linked
before; a new one is a promise to keep it. So a change of the list is a change of the ABI: it needs
a line in CHANGELOG.md.
"""

import pathlib
import subprocess
import sys

LIST = pathlib.Path(__file__).with_name("exported_symbols.txt")


def exported(library):
    """The demangled names of all dynamic symbols that the library defines."""
    output = subprocess.run(["nm", "--dynamic", "--defined-only", "--demangle", library],
                            check=True, capture_output=True, text=True).stdout
    return {line.split(" ", 2)[2] for line in output.splitlines()}


def main():
    library, *options = sys.argv[1:]
    found = exported(library)
    if options == ["--update"]:
        LIST.write_text("".join(f"{name}\n" for name in sorted(found)))
        return 0
    listed = set(LIST.read_text().splitlines())
    for name in sorted(found - listed):
        print(f"{library} exports {name}, which {LIST.name} does not list: remove its APGAS_API, "
              "or run this script with --update")
    for name in sorted(listed - found):
        print(f"{library} does not export {name}, which {LIST.name} lists: mark it APGAS_API, or "
              "run this script with --update")
    print(f"{len(found)} symbols are exported, {len(listed)} are listed")
    return found != listed


if __name__ == "__main__":
    sys.exit(main())
