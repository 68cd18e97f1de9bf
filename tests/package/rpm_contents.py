#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that each .rpm of a folder has the files of the .deb of the same name.

    rpm_contents.py FOLDER

Needs rpm and dpkg-deb. Each difference is a line, and the exit code is then 1.
"""

import pathlib
import subprocess
import sys

PACKAGES = ["libapgas0", "libapgas-dev", "apgas-tools", "apgas-doc"]
BUILD_IDS = "/usr/lib/.build-id"  # links by which debuggers find a program; rpmbuild adds them


def lines(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def differences(of_rpm, of_deb):
    """Yields what differs. of_rpm has the paths that `rpm -qlp` prints, and of_deb those of the
    archive in the .deb, of which folders end with a slash."""
    paths = {path.removeprefix(".") for path in of_deb}
    folders = {path.rstrip("/") for path in paths if path.endswith("/")}
    files = {path for path in paths if not path.endswith("/")}
    found = {path for path in of_rpm if not path.startswith(BUILD_IDS)}
    yield from (f"lacks {path}" for path in sorted(files - found))
    yield from (f"has {path}, which the .deb lacks" for path in sorted(found - files - folders))


def problems(folder):
    for name in PACKAGES:
        rpms, debs = list(folder.glob(f"{name}-[0-9]*.rpm")), list(folder.glob(f"{name}_*.deb"))
        if len(rpms) != 1 or len(debs) != 1:
            yield f"{folder} has {len(rpms)} .rpm and {len(debs)} .deb of {name}, not one of each"
            continue
        of_rpm = lines("rpm", "-qlp", rpms[0])
        of_deb = lines("sh", "-c", 'dpkg-deb --fsys-tarfile "$0" | tar -t', debs[0])
        yield from (f"{rpms[0].name} {each}" for each in differences(of_rpm, of_deb))


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: rpm_contents.py FOLDER")
    found = list(problems(pathlib.Path(sys.argv[1])))
    print("\n".join(found) or "each .rpm has the files of its .deb: " + " ".join(PACKAGES))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
