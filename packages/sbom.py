#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints a software bill of materials of the library in the format CycloneDX 1.5.

    sbom.py VERSION LIBRARY

Components are the Debian packages on this host that contain the shared libraries which LIBRARY
needs, whose names they have as properties, and the libraries of headers that are compiled into it.
If no package contains a library, the component is the library itself, without a version, and a line
on standard error names it. The time is $SOURCE_DATE_EPOCH if that is set, so that the bytes depend
only on the library and on the packages.
"""

import datetime
import functools
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse
import uuid

# The libraries of headers: their packages in Debian, their names elsewhere, and their licences.
HEADERS = {"libcereal-dev": ("cereal", "BSD-3-Clause"),
           "nlohmann-json3-dev": ("nlohmann-json", "MIT")}
SONAME = "apgas:soname"
UNPACKAGED = "No package of Debian on the host of the build contains this library."
LDCONFIG = shutil.which("ldconfig", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


@functools.cache
def output(*command):
    """What a command prints, or nothing if it fails or is not installed."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return ""
    return done.stdout if done.returncode == 0 else ""


def needed(library):
    """The names of the shared libraries that a shared library needs."""
    names = re.findall(r"\(NEEDED\).*\[(.+)\]", output("readelf", "-d", library))
    if not names:
        sys.exit(f"sbom.py: readelf finds no shared library that {library} needs. Is it a shared "
                 "library, and is readelf installed (Debian: apt install binutils)?")
    return names


def package_of(soname):
    """The name of the package of Debian that contains this shared library, or None."""
    known = output(LDCONFIG, "-p") if LDCONFIG else ""
    for path in re.findall(rf"^\s*{re.escape(soname)} .*=> (\S+)$", known, re.M):
        for each in (path, path.removeprefix("/usr"), str(pathlib.Path(path).resolve())):
            owner = output("dpkg", "-S", each)
            if owner:
                return owner.split(":")[0]
    return None


def component(package, name, sonames=(), licence=None):
    """The entry of a package of Debian, or of what is called `name` if the package is not there."""
    version = output("dpkg-query", "-W", "-f=${Version}", package)
    if version:
        quote = urllib.parse.quote
        purl = f"pkg:deb/debian/{quote(package)}@{quote(version, safe=':')}"
        entry = {"type": "library", "bom-ref": purl, "name": package, "version": version,
                 "purl": purl}
    else:
        print(f"sbom.py: no package of Debian on this host contains {name}", file=sys.stderr)
        entry = {"type": "library", "bom-ref": name, "name": name, "description": UNPACKAGED}
    if licence:
        entry["licenses"] = [{"license": {"id": licence}}]
    if sonames:
        entry["properties"] = [{"name": SONAME, "value": soname} for soname in sonames]
    return entry


def components(library):
    packages = {}  # the shared libraries of each package; one without a package is its own
    for soname in sorted(needed(library)):
        packages.setdefault(package_of(soname) or soname, []).append(soname)
    return ([component(package, package, sonames) for package, sonames in sorted(packages.items())]
            + [component(package, name, licence=licence)
               for package, (name, licence) in HEADERS.items()])


def bill(version, library):
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH", datetime.datetime.now().timestamp()))
    when = datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc)
    parts = components(library)
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
