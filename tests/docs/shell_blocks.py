#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the shell blocks of a document in the order in which it prints them, as a new user would.

  shell_blocks.py run DOCUMENT FOLDER   runs them in a fresh clone in FOLDER, with a new HOME there
  shell_blocks.py page DOCUMENT FOLDER PREFIX   runs them in an empty folder, with the library that
                                        is installed in PREFIX at ~/apgas, and no file left unused.
                                        Before them it runs prepare/NAME.sh, if there is one, which
                                        brings what the page NAME.md or NAME/README.md takes for
                                        granted. Exit code 77: that script says that a program is
                                        not installed
  shell_blocks.py programs DOCUMENT FOLDER PROGRAMS   runs them in the folder PROGRAMS, which has
                                        the programs of a README.md, with two workers

The document is named by its path in this repository. The clone has the files of the work tree that
git does not ignore. All blocks of a document run in one session, which keeps variables and the
folder; at its end the processes that it has left are killed. A block that begins with
  ```sh             is run, and fails with its first command that fails
  ```sh no-test: W  is not run; see marks.py
  ```cpp, ```c, ```python, ```yaml, ```cmake  is a file, and so is ```sh that begins with #!: it is
                    written, in the folder of the session, before the next shell block that names a
                    .cpp, .c, .py, .yaml or .sh file or calls cmake -B, unless the file is there.
                    With another word after the language (fragment: FILE) it is not a file, and nor
                    is C++ without a main(), which examples.py compiles
  ```text           and a kind is what the shell block before it prints, or a session whose commands
                    are run: see outputs.py
"""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

import documents
import outputs

FILES = {"cpp": r"\b\w+\.cpp\b", "c": r"\b\w+\.c\b", "python": r"\b\w+\.py\b",
         "sh": r"\b\w+\.sh\b", "yaml": r"\b\w+\.yaml\b", "cmake": r"\bCMakeLists\.txt\b"}
# After a block: the folder and the variables of the session, for the next one.
STATE = 'pwd > "$SHELL_BLOCKS/folder"; env -0 > "$SHELL_BLOCKS/variables"'
SECONDS = 1500  # for one block, on a machine of any load
PREPARE = documents.ROOT / "tests/docs/prepare"
NOT_INSTALLED = 77


class Failure(Exception):
    pass


def clone(folder):
    """A clone with the present state of the work tree, changes that are not committed included."""
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run(["git", "clone", "--quiet", "--shared", documents.ROOT, folder], check=True)
    listed = ["git", "-C", str(documents.ROOT), "ls-files", "-z"]
    for kind, write in (("--deleted", False), ("--modified", True), ("--others", True)):
        names = subprocess.run([*listed, kind, "--exclude-standard"], capture_output=True,
                               text=True, check=True).stdout
        for name in filter(None, names.split("\0")):
            target = folder / name
            if not write:
                target.unlink(missing_ok=True)
            elif (documents.ROOT / name).is_file():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(documents.ROOT / name, target)


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

    def __init__(self, folder, prefix=None, programs=None):
        """Begins in a clone, with a prefix in an empty folder, or in the folder of programs."""
        self.state = folder
        self.started = []  # the process groups of its shells
        home = folder / "home"
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        self.variables = {k: v for k, v in os.environ.items() if not k.startswith("APGAS_")}
        self.variables |= compiler_cache() | {"HOME": str(home), "SHELL_BLOCKS": str(folder),
                                               "PREPARE": str(PREPARE)}
        if prefix:
            self.folder = home / "work"
            self.folder.mkdir()
            (home / "apgas").symlink_to(prefix)
            self.variables |= installed(home / "apgas")
        elif programs:
            self.folder = programs
            self.variables |= {"PATH": f"{documents.ROOT}/launch:{os.environ['PATH']}",
                               "APGAS_WORKERS": "2"}
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

    def run(self, code, options="set -e -o pipefail"):
        """Returns code, stdout, stderr."""
        script = f"{options}\n{code}\n{STATE}\n"
        with subprocess.Popen(["bash", "-c", script], cwd=self.folder, env=self.variables,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, start_new_session=True) as shell:
            self.started.append(shell.pid)
            out, err = shell.communicate(timeout=SECONDS)
        if shell.returncode == 0:
            variables = (self.state / "variables").read_text().split("\0")
            self.variables = dict(v.split("=", 1) for v in variables if v)
            self.folder = pathlib.Path((self.state / "folder").read_text().strip())
        return shell.returncode, out, err

    def end(self):
        for group in self.started:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)


def is_file(language, info, code):
    """Whether a block is a file that shell blocks use."""
    return (language in FILES and not info
            and (language != "sh" or code.startswith("#!"))
            and (language != "cpp" or re.search(r"^int main\(|<gtest/", code, re.M) is not None))


def check_session(session, where, kind, code):
    """Runs the commands that the user types in the block. Their exit codes matter for results."""
    script, wanted = outputs.commands_of(code)
    print(f"== {where}\n{script}", flush=True)
    strict = kind == "results"
    result, out, _ = session.run(script, "exec 2>&1; set -e" if strict else "exec 2>&1")
    if strict and result != 0:
        raise Failure(f"{where} ended with code {result}:\n{out}")
    if (line := outputs.difference(kind, wanted, out)) is not None:
        raise Failure(f"{where} says\n{line}\nbut this was printed:\n{out}")


def run_blocks(session, document, in_clone):
    files, unused, printed, count = {}, set(), None, 0
    for line, language, info, code in documents.blocks(document):
        where = f"{document}:{line}"
        if is_file(language, info, code):
            if not in_clone and language in unused:
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
        elif language == "text" and info in outputs.SESSIONS and not in_clone:
            check_session(session, where, info, code)
            count += 1
        elif language == "text" and info in outputs.KINDS and printed is None and not in_clone:
            raise Failure(f"{where}: there is no shell block whose output this is")
        elif language == "text" and info in outputs.KINDS and printed is not None:
            if (missing := outputs.difference(info, code, *printed)) is not None:
                raise Failure(f"{where} says\n{missing}\nbut this was printed:\n"
                              + "".join(printed))
            printed = None  # an output block belongs to one shell block
    if unused and not in_clone:
        raise Failure(f"{document}: no shell block uses the last file")
    if count == 0:
        raise Failure(f"{document} has no shell block")
    print(f"{document}: {count} blocks")


def run_document(document, folder, prefix=None, programs=None):
    session = Session(folder, prefix, programs)
    path = pathlib.Path(document)
    prepare = PREPARE / f"{path.parent.name if path.stem == 'README' else path.stem}.sh"
    try:
        if prefix and prepare.exists():
            result, out, err = session.run(f"source {prepare}")
            if result == NOT_INSTALLED:
                print(out)
                sys.exit(result)
            if result != 0:
                raise Failure(f"{prepare} ended with code {result}:\n{out}{err}")
        run_blocks(session, document, in_clone=not (prefix or programs))
    finally:
        session.end()


def main():
    mode, document, *folders = sys.argv[1:]
    folder, *given = (pathlib.Path(each).resolve() for each in folders)
    folder.mkdir(parents=True, exist_ok=True)
    begins = {"run": (), "page": ("prefix",), "programs": ("programs",)}[mode]
    try:
        run_document(document, folder, **dict(zip(begins, given, strict=True)))
    except Failure as failure:
        sys.exit(str(failure))


if __name__ == "__main__":
    main()
