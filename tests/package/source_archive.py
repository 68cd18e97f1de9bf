#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the source archive of a commit, which cpack makes, has the same bytes everywhere.

source_archive.py FOLDER makes it in two clones in FOLDER. In the second one files have changed,
with other times; and the umask, the time zone, the locale and the settings of git are others. It
unpacks the archive into FOLDER/unpacked.
"""

import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Settings of a user that must not change the archive.
GIT_SETTINGS = """[tar]
umask = user
[tar "tar.gz"]
command = gzip -1
[core]
autocrlf = true
"""
OTHER_VARIABLES = {"TZ": "Asia/Tokyo", "LC_ALL": "C.UTF-8", "SOURCE_DATE_EPOCH": "86400"}


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} ended with code {done.returncode}:\n"
                 f"{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.stdout


def clone_to(folder, **options):
    run("git", "clone", "--quiet", "--shared", ROOT, folder, **options)
    return folder


def archive_of(clone, **options):
    """Makes the archive by the commands of docs/how_to/packages.md."""
    out = clone / "build/packages/out"
    run("cmake", "--preset", "packages", cwd=clone, **options)
    run("cpack", "--config", "build/packages/CPackSourceConfig.cmake", "-B", out, cwd=clone,
        **options)
    [archive] = out.glob("apgas-*.tar.gz")
    return archive


def other_archive(folder):
    """The archive of a user to whom as much as possible is different."""
    home = folder / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(GIT_SETTINGS)
    options = {"umask": 0o077, "env": os.environ | OTHER_VARIABLES | {"HOME": str(home)}}
    clone = clone_to(folder / "another" / "clone", **options)
    for file in clone.glob("*.md"):
        file.write_text(file.read_text() + "changed\n")
        os.utime(file, (86400, 86400))
    return archive_of(clone, **options)


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    archives = archive_of(clone_to(folder / "clone")), other_archive(folder)
    if archives[0].read_bytes() != archives[1].read_bytes():
        files = [set(run("tar", "--utc", "-tvzf", each).splitlines()) for each in archives]
        sys.exit(f"{archives[0]} and {archives[1]} differ:\n"
                 + "\n".join(sorted(files[0] ^ files[1])[:20]))
    unpacked = folder / "unpacked"
    unpacked.mkdir()
    run("tar", "-xzf", archives[0], "-C", unpacked, "--strip-components=1")


if __name__ == "__main__":
    main()
