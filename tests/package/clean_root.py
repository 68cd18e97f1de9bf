#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs the Debian packages of a folder into a clean Debian, and uses them there.

    clean_root.py FOLDER [RELEASE]

The clean system is made by mmdebstrap, in a temporary folder; RELEASE is bookworm by default, and
$MIRROR selects a mirror. There, the smallest program of README.md is built with the CMakeLists.txt
of docs/how_to/cmake.md and with pkg-config, and run on two places; the man page and the completion
of each tool and the pages of the site are looked up; and the packages are removed again. Needs
root. The exit code is 1 if a step failed.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGES = ["libapgas0", "libapgas-dev", "apgas-tools", "apgas-doc"]
TOOLS = ["apgas-run", "apgas-doctor", "apgas-ps", "apgas-top", "apgas-trace", "apgas-info",
         "apgas-trace-merge"]
NEEDED = ["g++", "cmake", "make", "pkg-config", "man-db", "bash-completion", "zsh", "python3",
          "openmpi-bin", "ca-certificates"]
OPTION = re.compile(r"(?<![\w-])--?[a-zA-Z][\w-]*")
# What zsh would offer after `TOOL -`: the function of the completion, with its compadd replaced.
ZSH = """cat >/tmp/complete <<'END'
fpath+=/usr/share/zsh/vendor-completions
autoload -U compinit && compinit -u -d /tmp/zcompdump
[[ $_comps[TOOL] == _apgas ]] || exit 1
compadd() { print -r -- ${@:2} }
service=TOOL words=(TOOL -) CURRENT=2 PREFIX=-
autoload +X _apgas
_apgas
END
zsh -f /tmp/complete"""


def check(condition, message):
    if not condition:
        sys.exit(f"clean_root.py: {message}")


def first_block(file, language):
    found = re.search(rf"^```{language}\n(.*?)^```", (ROOT / file).read_text(encoding="utf-8"),
                      re.M | re.S)
    check(found, f"{file} has no block of {language}")
    return found[1]


class CleanRoot:
    def __init__(self, folder):
        self.folder = folder

    def create(self, release):
        command = ["mmdebstrap", "--variant=minbase", f"--include={','.join(NEEDED)}",
                   "--dpkgopt=path-include=/usr/share/man/*", release, self.folder]
        mirror = os.environ.get("MIRROR")
        done = subprocess.run(command + [mirror] * bool(mirror), capture_output=True, text=True,
                              check=False)
        check(done.returncode == 0, "mmdebstrap failed; can it reach a Debian mirror? "
              f"(MIRROR=...)\n{done.stderr[-2000:]}")

    def run(self, script):
        """Runs a script for bash in the clean system and returns its output."""
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C",
                       "DEBIAN_FRONTEND": "noninteractive"}
        # /proc and /sys are mounted in a namespace of the command: nothing is left to unmount.
        command = ["unshare", "--mount", "--pid", "--fork", f"--mount-proc={self.folder}/proc",
                   "--kill-child", "sh", "-c", 'mount --bind /sys "$0/sys" && exec chroot "$@"',
                   self.folder, self.folder, "bash", "-euc", script]
        done = subprocess.run(command, text=True, capture_output=True, env=environment,
                              timeout=900, check=False)
        check(done.returncode == 0, f"code {done.returncode} of this script in the clean system:\n"
              f"{script}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
        return done.stdout


def use(root, program, cmake):
    work = pathlib.Path(root.folder, "root/hello")
    work.mkdir(parents=True)
    (work / "hello.cpp").write_text(program, encoding="utf-8")
    (work / "CMakeLists.txt").write_text(cmake, encoding="utf-8")
    expected = [f"Hello from place {place}" for place in range(2)]
    for build in ("g++ -O2 hello.cpp -o hello $(pkg-config --cflags --libs apgas)",
                  "cmake -B build >log; cmake --build build >>log; cp build/hello ."):
        root.run(f"cd /root/hello; rm -f hello; {build}")
        for run in ("APGAS_TRANSPORT=local APGAS_PLACES=2 ./hello", "apgas-run -n 2 ./hello"):
            output = root.run(f"cd /root/hello; {run}")
            check(sorted(output.splitlines()) == expected, f"{run} printed\n{output}")
        print(f"built and run: {build}")
    root.run("apgas-info >/dev/null")
    for tool in TOOLS:
        help_text, page = root.run(f"{tool} --help"), root.run(f"man -P cat {tool}")
        options = set(OPTION.findall(help_text))
        check(options <= set(OPTION.findall(page)), f"man {tool} lacks an option of --help")
        words = root.run("source /usr/share/bash-completion/bash_completion; "
                         f"_completion_loader {tool} || true; _apgas_tools {tool} - {tool}; "
                         "printf '%s\\n' ${COMPREPLY[@]}").split()
        check(set(words) == options, f"the completion of {tool} has {words}, not {options}")
        words = [word for word in root.run(ZSH.replace("TOOL", tool)).split()
                 if word.startswith("-")]
        check(set(words) == options, f"the completion of {tool} in zsh has {words}, not {options}")
    pages = root.run("find /usr/share/doc/apgas/html -name '*.html'").splitlines()
    index = next(line.split(": ")[1] for line in root.run("cat /usr/share/doc-base/apgas-doc")
                 .splitlines() if line.startswith("Index: "))
    check(index in pages and len(pages) >= 100, f"apgas-doc has {len(pages)} pages, or no {index}")
    print("man pages and completion have the options of --help")


def main():
    check(2 <= len(sys.argv) <= 3, "usage: clean_root.py FOLDER [RELEASE]")
    check(os.geteuid() == 0, "needs root, for chroot")
    check(shutil.which("mmdebstrap"), "mmdebstrap is not installed: apt install mmdebstrap")
    files = [next(iter(sorted(pathlib.Path(sys.argv[1]).glob(f"{name}_*.deb"))), None)
             for name in PACKAGES]
    check(all(files), f"{sys.argv[1]} lacks a package: ./launch/package makes them")
    program = first_block("README.md", "cpp")
    cmake = first_block("docs/how_to/cmake.md", "cmake")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        root = CleanRoot(folder)
        root.create(sys.argv[2] if len(sys.argv) == 3 else "bookworm")
        for file in files:
            shutil.copy(file, pathlib.Path(folder, "tmp"))
        root.run("apt-get update -q; apt-get install -y -q --no-install-recommends /tmp/*.deb")
        use(root, program, cmake)
        root.run(f"apt-get purge -y -q {' '.join(PACKAGES)}; ! ls /usr/share/apgas 2>/dev/null")
    print("installed, used and removed: " + " ".join(PACKAGES))


if __name__ == "__main__":
    main()
