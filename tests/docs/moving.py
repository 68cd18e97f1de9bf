#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles and runs the programs of a page in docs/moving, theirs as far as a compiler is there.

  moving.py PAGE FOLDER PREFIX    with the library that is installed in PREFIX

A group of blocks ends with a ```text output: what each program of the group prints, in any order of
lines. A block that begins with
  ```cpp           is a program of this library. It runs on four places in one process
  ```cpp openmp    and so on is one of the systems in THEIRS. It is left out, with a line that says
                   so, if its compiler is missing; with APGAS_TEST_REQUIRE_TOOLS in the environment
                   this is an error
  rust             is compiled with the crates of tests/docs/rust, or with those of the packages of
                   this system (librust-tokio-dev). Where Cargo finds neither, it is as if the
                   compiler were missing
  any other        is of a system that is not available here, and is not compiled
"""

import os
import pathlib
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import documents  # noqa: E402
import outputs  # noqa: E402
import shell_blocks  # noqa: E402

# Of each system: how its programs are compiled, by which suffix, and how they run. The first word
# of the first command must exist.
THEIRS = {
    "cpp openmp": ("g++ -std=c++20 -O2 -fopenmp {0}.cpp -o {0}", "{0}"),
    "cpp tbb": ("g++ -std=c++20 -O2 {0}.cpp -o {0} -ltbb", "{0}"),
    "cpp mpi": ("mpicxx -std=c++20 -O2 {0}.cpp -o {0}", "mpirun --oversubscribe -n 4 {0}"),
    "go": ("go build -o {0} {0}.go", "{0}"),
    "rust": ("cargo build --quiet --release --manifest-path {0}/Cargo.toml "
             "--target-dir {0}/../rust", "{0}/../rust/release/moving"),
}
CRATES = pathlib.Path(__file__).with_name("rust")
PACKAGED = pathlib.Path("/usr/share/cargo/registry")  # crates that Debian and Fedora package
FROM_PACKAGES = (" --offline --config source.crates-io.replace-with='packaged'"
                 f" --config source.packaged.directory='{PACKAGED}'")
OURS = "g++ -O1 -Wall -Wextra {0}.cpp -o {0} {1}"


def run(command, environment):
    return subprocess.run(command.split(), env=environment, capture_output=True, text=True,
                          check=False, timeout=300)


def compiler_of(kind):
    """The path of the compiler, or None if it is missing."""
    return shutil.which(THEIRS[kind][0].split()[0])


def make_crate(folder, code):
    """Makes a project of Cargo. Returns the options for its crates, or None if they are missing."""
    (folder / "src").mkdir(parents=True, exist_ok=True)
    for file in ("Cargo.toml", "Cargo.lock"):
        shutil.copy(CRATES / file, folder)
    (folder / "src/main.rs").write_text(code)
    fetch = f"cargo fetch --quiet --locked --manifest-path {folder}/Cargo.toml"
    try:
        if run(f"{fetch} --offline", None).returncode == 0:
            return " --locked"
        if any(PACKAGED.glob("tokio-1.*")):
            (folder / "Cargo.lock").unlink()  # of other versions
            return FROM_PACKAGES
        return " --locked" if run(fetch, None).returncode == 0 else None
    except subprocess.TimeoutExpired:
        return None


class Page:
    def __init__(self, page, folder, prefix):
        self.page, self.folder = page, folder
        self.environment = {**os.environ, **shell_blocks.installed(prefix)}
        flags = run("pkg-config --cflags --libs apgas", self.environment)
        self.flags = " ".join(flags.stdout.split())
        self.left_out = {}  # of each system: what is missing

    def program(self, line, kind, code):
        """The output of a program; None if it is not compiled here."""
        name = self.folder / f"line_{line}"
        environment = self.environment
        if kind == "cpp":
            build, start = OURS.format(name, self.flags), str(name)
            environment = {**environment, "APGAS_TRANSPORT": "local", "APGAS_PLACES": "4"}
        else:
            build, start = (text.format(name) for text in THEIRS[kind])
            if not compiler_of(kind):
                self.left_out[kind] = f"there is no {THEIRS[kind][0].split()[0]}"
                return None
        if kind == "rust":
            options = make_crate(name, code)
            if options is None:
                self.left_out[kind] = ("cargo cannot fetch the crates of tests/docs/rust, and "
                                       "librust-tokio-dev is not installed")
                return None
            build += options
        else:
            name.with_suffix("." + kind.split()[0]).write_text(code)
        for command in (build, start):
            result = run(command, environment)
            if result.returncode != 0:
                raise shell_blocks.Failure(f"{self.page}:{line}: {command} ended with code "
                                           f"{result.returncode}:\n{result.stdout}{result.stderr}")
        return result.stdout

    def check(self):
        printed, count, ours = [], 0, False
        for line, language, info, code in documents.blocks(self.page):
            kind = f"{language} {info}".strip()
            if kind == "cpp" or kind in THEIRS:
                output = self.program(line, kind, code)
                printed += [(line, output)] if output is not None else []
                count, ours = count + 1, ours or kind == "cpp"
            elif kind == "text output":
                for where, output in printed:
                    if outputs.difference("output", code, output) is not None:
                        raise shell_blocks.Failure(f"{self.page}:{where} printed\n{output}but the "
                                                   f"page says\n{code}")
                if not ours:
                    raise shell_blocks.Failure(f"{self.page}:{line}: no program of this library")
                printed, ours = [], False
        if printed or not count:
            raise shell_blocks.Failure(f"{self.page}: programs without output, or no programs")
        summary = f"{self.page}: {count} programs" + "".join(
            f"; without {kind}: {reason}" for kind, reason in sorted(self.left_out.items()))
        if self.left_out and os.environ.get("APGAS_TEST_REQUIRE_TOOLS"):
            raise shell_blocks.Failure(f"{summary}; bash launch/prepare.sh says how to install "
                                       "them")
        print(summary)


def main():
    page, folder, prefix = sys.argv[1], *(pathlib.Path(a).resolve() for a in sys.argv[2:])
    folder.mkdir(parents=True, exist_ok=True)
    try:
        Page(page, folder, prefix).check()
    except shell_blocks.Failure as failure:
        sys.exit(str(failure))


if __name__ == "__main__":
    main()
