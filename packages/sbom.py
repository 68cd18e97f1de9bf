#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints a software bill of materials of the library in the format CycloneDX 1.5.

    sbom.py VERSION LIBRARY

Components are the shared libraries that LIBRARY needs, and the libraries of headers that are
compiled into it, each with the version of the Debian package that it comes from on this host. The
time is $SOURCE_DATE_EPOCH if that is set, so that the bytes depend only on the library and on the
packages.
"""

import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import uuid

HEADERS = {"libcereal-dev": "BSD-3-Clause", "nlohmann-json3-dev": "MIT"}


def output(*command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        sys.exit(f"sbom.py: {command[0]} is not installed (Debian: apt install binutils dpkg)")
    return done.stdout if done.returncode == 0 else ""


def needed(library):
    return re.findall(r"\(NEEDED\).*\[(.+)\]", output("readelf", "-d", library))


def package_of(soname):
    """The name of the package of Debian that contains this shared library, or None."""
    paths = re.findall(rf"^\s*{re.escape(soname)} .*=> (\S+)$", output("ldconfig", "-p"), re.M)
    for path in paths:
        for each in (path, path.removeprefix("/usr"), str(pathlib.Path(path).resolve())):
            owner = output("dpkg", "-S", each)
            if owner:
                return owner.split(":")[0]
    return None


def component(package, licence=None):
    version = output("dpkg-query", "-W", "-f=${Version}", package)
    entry = {"type": "library", "bom-ref": f"pkg:deb/debian/{package}@{version}", "name": package,
             "version": version, "purl": f"pkg:deb/debian/{package}@{version}"}
    if licence:
        entry["licenses"] = [{"license": {"id": licence}}]
    return entry


def bill(version, library):
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH", datetime.datetime.now().timestamp()))
    when = datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc)
    found = {soname: package_of(soname) for soname in needed(library)}
    for soname, package in found.items():
        if not package:
            print(f"sbom.py: no package of Debian contains {soname}", file=sys.stderr)
    parts = [component(name) for name in sorted({name for name in found.values() if name})]
    parts += [component(name, licence) for name, licence in HEADERS.items()]
    digest = hashlib.sha256(pathlib.Path(library).read_bytes()).hexdigest()
    own = f"pkg:generic/apgas@{version}"
    serial = uuid.uuid5(uuid.NAMESPACE_URL, own + digest + json.dumps(parts) + when.isoformat())
    return {
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "serialNumber": f"urn:uuid:{serial}",
        "metadata": {
            "timestamp": when.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {"type": "library", "bom-ref": own, "name": "apgas", "version": version,
                          "purl": own, "licenses": [{"license": {"id": "Apache-2.0"}}],
                          "hashes": [{"alg": "SHA-256", "content": digest}]}},
        "components": parts,
        "dependencies": [{"ref": own, "dependsOn": [part["bom-ref"] for part in parts]}],
    }


def main():
    if len(sys.argv) != 3 or not pathlib.Path(sys.argv[2]).is_file():
        sys.exit("usage: sbom.py VERSION LIBRARY, where LIBRARY is the file of the shared library")
    print(json.dumps(bill(sys.argv[1], sys.argv[2]), indent=2))


if __name__ == "__main__":
    main()
