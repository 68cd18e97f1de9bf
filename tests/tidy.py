#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks properties of the code itself that the compiler and clang-tidy do not.

Run by ctest. Each check prints `file:line: what to do` and the script fails if any did.
Argument: the root of the tree (default: this repository). tests/scripts/tidy_test.py checks that
each of these checks can fail.
"""

import collections
import pathlib
import re
import sys

import wording

MODULES = ["base", "scheduler", "comm", "sync", "places", "launch"]
FOLDERS = MODULES + ["apps", "tests", "cmake", "docker", "docs", "packages", ".ci"]
SCRIPTS = [".ci/run", "docker/base-image", "docker/cluster", "docker/namespace-ssh",
           "docker/node-host-key", "docker/node-start", "docs/pictures/render",
           "launch/apgas-doctor", "launch/apgas-ps", "launch/apgas-run", "launch/apgas-top",
           "launch/apgas-trace", "launch/benchmark", "launch/docs", "launch/package",
           "launch/quickstart", "launch/test"]
TEXTS = (".cmake", ".dot", ".java", ".md", ".yaml")  # whose wording is checked besides code
MAX_LINES = 400
MAX_README = 149  # what somebody new reads first is short
WRAPPED = {  # A third-party header may be included only by the files that wrap it.
    "boost/context": ["scheduler/fibers/src/context"],
    "hwloc.h": ["scheduler/topology/src/"],
    "mpi.h": ["comm/transports/mpi/src/", "comm/transports/wire/src/", "comm/bootstrap/src/"],
    "ucp/api": ["comm/transports/ucx/src/"],
    "cereal/": ["comm/archive/include/apgas/comm/archive"],
    "sanitizer/": ["scheduler/fibers/src/"],
    "atomic": ["base/"],
}
BLOCKING = re.compile(r"std::((\w+_)?mutex|j?thread|condition_variable)\b")
ORDERED = re.compile(r"(?:\b|order_)(acquire|release|acq_rel|seq_cst)\b")
ATOMIC = re.compile(r"\.(load|store|exchange|fetch_\w+|compare_exchange_\w+)\(")
NO_ORDER = re.compile(r"\.load\(\)|\.(store|exchange|fetch_\w+)\((\w+|\w+\(\w*\))\)")
FENCE = re.compile(r"\w+_fence\(\)")
TAG = re.compile(r"\b(P\d+)\b(?: of ([\w.]+))?")
DESCRIPTION = re.compile(r"\s*//\s+(P\d+)\b")
LEFT_OVER = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")  # tidy: the words themselves
SWITCHED_OFF = re.compile(r"\bDISABLED_|\bGTEST_SKIP\(|^\s*//\s*(TEST(_F|_P)?)\(")
REFERENCE = re.compile(r"`([\w./-]+/[\w./-]+\.\w+) : ([\w:~]+)`")
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[\w-]*)?\)")
CODE_FENCE = re.compile(r"\s*(`{3,}|~{3,})\s*(\w*)")
# What a page for users has; docs/site/README.md says which others need not have it.
SECTIONS = {
    "## What can go wrong": re.compile(
        r"docs/((tutorials|how_to|debugging|explanation)/(?!README)\w+|architecture|clusters"
        r"|constructs|errors|performance|promises|reliability|scaling|security|settings"
        r"|tools)\.md"),
    "## Pitfalls": re.compile(r"docs/moving/(?!index)\w+\.md"),
}
WITH_CODE = re.compile(
    r"docs/(tutorials|how_to|debugging|explanation|moving)/(?!README|index)\w+\.md")


class Checker:
    def __init__(self, root):
        self.root = root
        self.failures = 0
        self.files = 0
        # Of each header with its source, as (module, stem): where the ends of its pairs are.
        self.ends = collections.defaultdict(lambda: collections.defaultdict(list))
        self.described = collections.defaultdict(set)

    def report(self, name, line, message):
        self.failures += 1
        print(f"{name}:{line}: {message}")

    def run(self):
        paths = {p for f in FOLDERS for p in (self.root / f).rglob("*") if p.is_file()}
        paths |= {p for p in self.root.iterdir() if p.is_file()}
        for path in sorted(paths):
            if "__pycache__" not in path.parts:
                self.check_file(path, str(path.relative_to(self.root)))
        self.check_pairs()
        print(f"tidy: {self.files} files, {self.failures} problems")
        return self.failures != 0

    def check_file(self, path, name):
        is_code = path.suffix in (".hpp", ".cpp", ".h", ".c")
        is_script = path.suffix in (".py", ".sh") or name in SCRIPTS
        if path.suffix == ".supp":
            self.check_suppressions(path, name)
        if path.suffix == ".md":
            self.check_document(path, name)
        if name == "README.md" and len(path.read_text().splitlines()) > MAX_README:
            self.report(name, MAX_README, f"has more than {MAX_README} lines: move text to docs/")
        if is_code or is_script or path.suffix in TEXTS or path.name == "CMakeLists.txt":
            for number, message in wording.problems(name, path.read_text().splitlines()):
                self.report(name, number, message)
        if not (is_code or is_script):
            return
        self.files += 1
        lines = path.read_text().splitlines()
        if not any("SPDX-License-Identifier: Apache-2.0" in line for line in lines[:2]):
            self.report(name, 1, "the file does not start with its SPDX-License-Identifier line")
        if len(lines) > MAX_LINES:
            self.report(name, MAX_LINES, f"file is longer than {MAX_LINES} lines: one concept each")
        for number, line in enumerate(lines, 1):
            if len(line) > 100:
                self.report(name, number, "line is longer than 100 columns")
            if LEFT_OVER.search(line) and "# tidy:" not in line:
                self.report(name, number, "left for later: do it or open an issue")
            if is_code and SWITCHED_OFF.search(line):
                self.report(name, number, "a test that does not run")
        if path.suffix == ".hpp" and "#pragma once" not in lines:
            self.report(name, 1, "the header has no #pragma once")
        if is_code and name.split("/")[0] in MODULES:
            self.check_module_code(path, name, lines)

    def check_module_code(self, path, name, lines):
        module = name.split("/")[0]
        self.collect_pairs(module, path.stem, name, lines)
        uses_seam = any("apgas/base/atomic.hpp" in line for line in lines)
        for number, line in enumerate(lines, 1):
            self.check_include(name, number, line, path.suffix)
            code = line.partition("//")[0]
            if re.match(r"namespace apgas(?!::inline v0\b)", code):
                self.report(name, number, "write namespace apgas::inline v0")
            if re.search(r"\bthread_local\b", code):
                self.report(name, number, "thread_local does not survive a suspension")
            if module in ("sync", "places") and BLOCKING.search(code):
                self.report(name, number, "blocks or is a thread: suspend the task instead")
            if re.search(r"NOLINT(NEXTLINE|BEGIN|END)?(?!\w|\()", line):
                self.report(name, number, "NOLINT must name its check")
            if uses_seam and NO_ORDER.search(code):
                self.report(name, number, "name the memory order")

    def check_include(self, name, number, line, suffix):
        include = re.match(r'#\s*include\s*[<"]([^>"]+)[>"]', line)
        if not include:
            return
        header = include[1]
        for wrapped, owners in WRAPPED.items():
            exact = wrapped.endswith(".h") or "/" not in wrapped
            matches = header == wrapped if exact else header.startswith(wrapped)
            if matches and not name.startswith(tuple(owners)):
                self.report(name, number, f"{header} may be included only by {owners[0]}*")
        if header.startswith("fmt/") and suffix == ".hpp" and "/include/" in name:
            self.report(name, number, "fmt only in .cpp files: users need not have it")

    def collect_pairs(self, module, stem, name, lines):
        """Tags are local to a header and its source; `P1 of deque.hpp` means another file's."""
        for number, line in enumerate(lines, 1):
            code, _, comment = line.partition("//")
            description = DESCRIPTION.match(line)
            if description:
                self.described[module, stem].add(description[1])
            tags = TAG.findall(comment)
            ordered = ATOMIC.search(code) and ORDERED.search(code)
            if not ordered and not (FENCE.search(code) and tags):
                continue
            if not tags and not name.startswith("base/src/"):
                self.report(name, number, "name the pair this ordering belongs to (// P<n>)")
            for tag, other in tags:
                ends = self.ends[module, pathlib.Path(other).stem if other else stem][tag]
                ends += [(name, number)] * (2 if "acq_rel" in code else 1)

    def check_pairs(self):
        for key, pairs in self.ends.items():
            for tag, ends in pairs.items():
                name, number = ends[0]
                if len(ends) < 2:
                    self.report(name, number, f"{tag} has one end only: it needs a partner")
                if tag not in self.described[key]:
                    self.report(name, number, f"{tag} is not described in the head comment")

    def check_suppressions(self, path, name):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if not line.startswith("#") and re.search("apgas|" + "|".join(MODULES), line):
                self.report(name, number, "suppresses a report about our own code")

    def check_document(self, path, name):
        """`file : symbol` in a document exists, and so do the files it links to. Each block of code
        names its language, and a page for users has an example and says what can go wrong."""
        block = None  # the fence that has begun the block of this line
        lines = path.read_text().splitlines()
        for section, pages in SECTIONS.items():
            if pages.fullmatch(name) and section not in lines:
                self.report(name, len(lines), f"the page has no section '{section}'")
        if WITH_CODE.fullmatch(name) and not any(map(CODE_FENCE.match, lines)):
            self.report(name, len(lines), "the page has no example: a block of code or of commands")
        for number, line in enumerate(lines, 1):
            if fence := CODE_FENCE.match(line):
                if block is None and not fence[2]:
                    self.report(name, number, "the block names no language: ```text, ```sh, ...")
                if block is None or fence[1].startswith(block):
                    block = fence[1] if block is None else None
            for file, symbol in REFERENCE.findall(line):
                target = self.root / file
                word = symbol.rpartition("::")[2]
                if not target.is_file():
                    self.report(name, number, f"there is no file {file}")
                elif not re.search(rf"(?<!\w){re.escape(word)}\b", target.read_text()):
                    self.report(name, number, f"{file} has no {symbol}")
            for link in LINK.findall(line):
                if not (path.parent / link).exists():
                    self.report(name, number, f"the link {link} leads nowhere")


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1]
    return Checker(root.resolve()).run()


if __name__ == "__main__":
    sys.exit(main())
