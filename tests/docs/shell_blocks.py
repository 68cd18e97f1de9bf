#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the shell blocks of a document in the order in which it prints them, as a new user would.

  shell_blocks.py run DOCUMENT FOLDER   runs them in a fresh clone in FOLDER, with a new HOME there
  shell_blocks.py marked DOCUMENT...    checks which blocks are marked as not run

The document is named by its path in this repository. The clone has the files of the work tree that
git does not ignore. All blocks of a document run in one session, which keeps variables and the
folder. A block that begins with
  ```sh             is run, and fails with its first command that fails
  ```sh no-test: W  is not run, for the reason W, which MARKED lists
  ```cpp, ```cmake  is a file: it is written, in the folder of the session, before the next shell
                    block that names a .cpp file or calls cmake -B, unless the file is there
  ```text output    is what the shell block before it prints, in any order of lines
  ```text excerpt   is a part of that, in this order; `...` stands for any text
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(\w+)(?: ([^\n]+))?\n(.*?)^```$", re.M | re.S)
MARKED = {
    "README.md": ["runs all tests, this one among them", "needs three hosts, or containers"],
    "docs/getting_started.md": ["the test starts in a clone"],
}
# After a block: the folder and the variables of the session, for the next one.
STATE = 'pwd > "$SHELL_BLOCKS/folder"; env -0 > "$SHELL_BLOCKS/variables"'
SECONDS = 1500  # for one block, on a machine of any load


class Failure(Exception):
    pass


def blocks(document):
    """Yields (line, language, info, code) of each block."""
    text = (ROOT / document).read_text()
    for block in BLOCK.finditer(text):
        language, info, code = block.groups()
        yield text.count("\n", 0, block.start()) + 1, language, info or "", code


def check_marked(documents):
    """The blocks that are not run are those of MARKED, so that their number cannot grow unseen."""
    problems = []
    for document in documents:
        found = [info.removeprefix("no-test: ") for _, language, info, _ in blocks(document)
                 if language == "sh" and info]
        if found != MARKED[document]:
            problems.append(f"{document} marks {found}; MARKED lists {MARKED[document]}")
    return problems


def clone(folder):
    """A clone with the present state of the work tree, changes that are not committed included."""
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run(["git", "clone", "--quiet", "--shared", ROOT, folder], check=True)
    listed = ["git", "-C", str(ROOT), "ls-files", "-z"]
    for kind, write in (("--deleted", False), ("--modified", True), ("--others", True)):
        names = subprocess.run([*listed, kind, "--exclude-standard"], capture_output=True,
                               text=True, check=True).stdout
        for name in filter(None, names.split("\0")):
            target = folder / name
            if not write:
                target.unlink(missing_ok=True)
            elif (ROOT / name).is_file():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, target)


def compiler_cache():
    """The folder of ccache, which is below HOME."""
    if not shutil.which("ccache"):
        return {}
    found = subprocess.run(["ccache", "--get-config", "cache_dir"], capture_output=True, text=True,
                           check=False)
    return {"CCACHE_DIR": found.stdout.strip()} if found.returncode == 0 else {}


class Session:
    """A shell that runs block after block."""

    def __init__(self, folder):
        self.state = folder
        self.folder = folder / "apgas"
        clone(self.folder)
        home = folder / "home"
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir()
        self.variables = {k: v for k, v in os.environ.items() if not k.startswith("APGAS_")}
        self.variables |= compiler_cache() | {"HOME": str(home), "SHELL_BLOCKS": str(folder)}

    def write_files(self, code, files):
        """`files` has the latest block of each language that is a file."""
        names = set(re.findall(r"\b\w+\.cpp\b", code))
        if "cmake -B" in code:
            names.add("CMakeLists.txt")
            names |= set(re.findall(r"\b\w+\.cpp\b", files["cmake"]))
        for name in sorted(names):
            path = self.folder / name
            if not path.exists():
                path.write_text(files["cmake" if name == "CMakeLists.txt" else "cpp"])

    def run(self, code):
        """Returns code, stdout, stderr."""
        script = f"set -e -o pipefail\n{code}\n{STATE}\n"
        result = subprocess.run(["bash", "-c", script], cwd=self.folder, env=self.variables,
                                capture_output=True, text=True, check=False, timeout=SECONDS)
        if result.returncode == 0:
            variables = (self.state / "variables").read_text().split("\0")
            self.variables = dict(v.split("=", 1) for v in variables if v)
            self.folder = pathlib.Path((self.state / "folder").read_text().strip())
        return result.returncode, result.stdout, result.stderr


def compare(kind, wanted, out, err):
    """Whether an output block is what the shell block before it has printed."""
    if kind == "output":
        return sorted(out.splitlines()) == sorted(wanted.splitlines())
    pattern = ".*?".join(re.escape(part) for part in wanted.strip().split("..."))
    return re.search(pattern, out + err, re.S) is not None


def run_document(document, folder):
    session = Session(folder)
    files, printed, count = {}, None, 0
    for line, language, info, code in blocks(document):
        where = f"{document}:{line}"
        if language in ("cpp", "cmake"):
            files[language] = code
            printed = None  # an output block below is what the program prints: examples.py
        elif language == "sh" and not info:
            session.write_files(code, files)
            print(f"== {where}\n{code}", flush=True)
            result, out, err = session.run(code)
            if result != 0:
                raise Failure(f"{where} ended with code {result}:\n{out}{err}")
            printed, count = (out, err), count + 1
        elif language == "text" and info and printed is not None:
            if not compare(info, code, *printed):
                raise Failure(f"{where} says\n{code}but this was printed:\n"
                              + "".join(printed))
            printed = None  # an output block belongs to one shell block
    if count == 0:
        raise Failure(f"{document} has no shell block")
    print(f"{document}: {count} blocks")


def main():
    mode, *arguments = sys.argv[1:]
    if mode == "marked":
        problems = check_marked(arguments)
        sys.exit("\n".join(problems) if problems else 0)
    try:
        folder = pathlib.Path(arguments[1]).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        run_document(arguments[0], folder)
    except Failure as failure:
        sys.exit(str(failure))


if __name__ == "__main__":
    main()
