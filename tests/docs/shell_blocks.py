#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the shell blocks of a document in the order in which it prints them, as a new user would.

  shell_blocks.py run DOCUMENT FOLDER   runs them in a fresh clone in FOLDER, with a new HOME there
  shell_blocks.py page DOCUMENT FOLDER PREFIX   runs them in an empty folder, with the library that
                                        is installed in PREFIX at ~/apgas, and no file left unused
  shell_blocks.py marked DOCUMENT...    checks which blocks are marked as not run; the blocks of the
                                        other documents of docs/ must all be marked
  shell_blocks.py compiled DOCUMENT...  checks that no other document of docs/ has a program in C++,
                                        but those of docs/moving, which moving.py compiles

The document is named by its path in this repository. The clone has the files of the work tree that
git does not ignore. All blocks of a document run in one session, which keeps variables and the
folder. A block that begins with
  ```sh             is run, and fails with its first command that fails
  ```sh no-test: W  is not run, for the reason W, which MARKED lists
  ```cpp, ```c, ```python, ```cmake  is a file: it is written, in the folder of the session, before
                    the next shell block that names a .cpp, .c or .py file or calls cmake -B, unless
                    the file is there. With another word after the language it is not a file
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
MARKED = {  # of the documents whose blocks are run
    "README.md": ["runs all tests, this one among them"],
    "docs/tutorials/first_program.md": ["the test starts in a clone"],
    "docs/tutorials/histogram.md": ["needs three hosts"],
    "docs/debugging/crashes.md": ["gdb waits for its user"],
    "docs/debugging/hangs.md": ["the tutorial about a hang runs such commands"],
    "docs/debugging/schedules.md": ["needs a program that fails, and gdb"],
    "docs/how_to/install.md": ["README.md and the first tutorial run these commands",
                               "a second build of the library takes minutes"],
    "docs/how_to/packages.md": ["./launch/package --test runs these commands",
                                "installs packages on this machine", "needs Spack", "needs vcpkg",
                                "needs Conan"],
    "docs/how_to/python_and_c.md": ["pip compiles the library, which takes minutes"],
}
FILES = {"cpp": r"\b\w+\.cpp\b", "c": r"\b\w+\.c\b", "python": r"\b\w+\.py\b",
         "cmake": r"\bCMakeLists\.txt\b"}
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
        if found != MARKED.get(document, []):
            problems.append(f"{document} marks {found}; MARKED lists {MARKED.get(document, [])}")
    others = {str(p.relative_to(ROOT)) for p in (ROOT / "docs").rglob("*.md")} - set(documents)
    for document in sorted(others):
        problems += [f"{document}:{line}: no test runs this block: mark it by ```sh no-test: WHY"
                     for line, language, info, _ in blocks(document)
                     if language == "sh" and not re.match("no-test: .", info)]
    return problems


def check_compiled(documents):
    """A program of a document that no test compiles is found here."""
    pages = {str(p.relative_to(ROOT)) for p in (ROOT / "docs").rglob("*.md")} - set(documents)
    return [f"{page}:{line}: no test compiles this block: see tests/docs/CMakeLists.txt"
            for page in sorted(pages) if not page.startswith("docs/moving/")
            for line, language, _, _ in blocks(page) if language == "cpp"]


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


def installed(prefix):
    """The variables that the page about the first program sets after an installation."""
    lib = next(folder for folder in prefix.glob("lib*") if (folder / "pkgconfig").is_dir())
    return {"PATH": f"{prefix}/bin:{os.environ['PATH']}", "LD_LIBRARY_PATH": str(lib),
            "PKG_CONFIG_PATH": str(lib / "pkgconfig")}


class Session:
    """A shell that runs block after block."""

    def __init__(self, folder, prefix=None):
        """Begins in a clone, or with a prefix in an empty folder."""
        self.state = folder
        home = folder / "home"
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        self.variables = {k: v for k, v in os.environ.items() if not k.startswith("APGAS_")}
        self.variables |= compiler_cache() | {"HOME": str(home), "SHELL_BLOCKS": str(folder)}
        if prefix:
            self.folder = home / "work"
            self.folder.mkdir()
            (home / "apgas").symlink_to(prefix)
            self.variables |= installed(home / "apgas")
        else:
            self.folder = folder / "apgas"
            clone(self.folder)

    def write_files(self, code, files):
        """Writes the files that the code needs, and are not there, and returns their languages.
        `files` has the latest block of each language that is a file."""
        names = {language: set(re.findall(name, code)) for language, name in FILES.items()}
        if "cmake -B" in code:
            names["cmake"].add("CMakeLists.txt")
            names["cpp"] |= set(re.findall(FILES["cpp"], files.get("cmake", "")))
        written = set()
        for language, files_of_language in names.items():
            for name in sorted(files_of_language):
                if not (self.folder / name).exists() and language in files:
                    (self.folder / name).write_text(files[language])
                    written.add(language)
        return written

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


def run_document(document, folder, prefix=None):
    session = Session(folder, prefix)
    files, unused, printed, count = {}, set(), None, 0
    for line, language, info, code in blocks(document):
        where = f"{document}:{line}"
        if language in FILES and not info:
            if prefix and language in unused:
                raise Failure(f"{where}: no shell block uses the file before it")
            files[language] = code
            unused.add(language)
            printed = None  # an output block below is what the program prints: examples.py
        elif language == "sh" and not info:
            unused -= session.write_files(code, files)
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
    if prefix and unused:
        raise Failure(f"{document}: no shell block uses the last file")
    if count == 0:
        raise Failure(f"{document} has no shell block")
    print(f"{document}: {count} blocks")


def main():
    mode, *arguments = sys.argv[1:]
    if mode in ("marked", "compiled"):
        problems = (check_marked if mode == "marked" else check_compiled)(arguments)
        sys.exit("\n".join(problems) if problems else 0)
    try:
        folder = pathlib.Path(arguments[1]).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        prefix = pathlib.Path(arguments[2]).resolve() if mode == "page" else None
        run_document(arguments[0], folder, prefix)
    except Failure as failure:
        sys.exit(str(failure))


if __name__ == "__main__":
    main()
