#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""packages/sbom.py writes a valid document that names every library which LIBRARY needs.

    sbom_test.py LIBRARY

The other tests replace readelf, ldconfig and dpkg by scripts.
"""

import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SBOM = pathlib.Path(__file__).resolve().parents[2] / "packages/sbom.py"
LIBRARY = pathlib.Path(sys.argv.pop())
# libknown.so.1 and libmore.so.2 are in one package, and liblost.so.7 is in none.
TOOLS = {
    "readelf": """for each in libmore.so.2 liblost.so.7 libknown.so.1; do
  echo " 0x0000000000000001 (NEEDED)             Shared library: [$each]"
done""",
    "ldconfig": """for each in libmore.so.2 liblost.so.7 libknown.so.1; do
  echo "  $each (libc6,x86-64) => /usr/lib/$each"
done""",
    "dpkg": """case $2 in
  /lib/libknown.so.1 | /lib/libmore.so.2) echo "libknown1:amd64: $2" ;;
  *) exit 1 ;;
esac""",
    "dpkg-query": """case $3 in
  libknown1) printf 1:2.0-1+b1 ;;
  libcereal-dev) printf 1.3.2 ;;
  *) echo "no packages found matching $3" >&2; exit 1 ;;
esac""",
}
# What CycloneDX 1.5 allows, as far as sbom.py uses it.
KEYS = {"type", "bom-ref", "name", "version", "description", "hashes", "licenses", "purl",
        "properties"}
LICENCES = {"Apache-2.0", "BSD-3-Clause", "MIT"}  # identifiers of SPDX
SERIAL = r"urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
PURL = r"pkg:(generic|deb/debian)/[\w.%-]+@[\w.:%~-]+"


def sonames(component):
    return [each["value"] for each in component.get("properties", ())]


class Sbom(unittest.TestCase):
    def run_sbom(self, library, **variables):
        return subprocess.run([sys.executable, SBOM, "0.1.0", library], capture_output=True,
                              text=True, check=False, timeout=200, env={**os.environ, **variables})

    def with_tools(self, without=()):
        with tempfile.TemporaryDirectory() as folder:
            for name in TOOLS.keys() - set(without):
                tool = pathlib.Path(folder, name)
                tool.write_text(f"#!/bin/sh\n{TOOLS[name]}\n", encoding="utf-8")
                tool.chmod(0o755)
            return self.run_sbom(__file__, PATH=folder)

    def check_component(self, component):
        self.assertLessEqual(component.keys(), KEYS)
        self.assertEqual(component["type"], "library")
        self.assertTrue(component["name"] and component["bom-ref"])
        if "purl" in component:
            self.assertRegex(component["purl"], f"^{PURL}$")
            self.assertTrue(component["version"])
        for each in component.get("hashes", ()):
            self.assertEqual(each["alg"], "SHA-256")
            self.assertRegex(each["content"], "^[0-9a-f]{64}$")
        for each in component.get("licenses", ()):
            self.assertIn(each["license"]["id"], LICENCES)
        for each in component.get("properties", ()):
            self.assertEqual(each.keys(), {"name", "value"})

    def valid(self, done):
        """Checks the structure of the document, and returns it."""
        self.assertEqual(done.returncode, 0, done.stderr)
        bill = json.loads(done.stdout)
        self.assertEqual(bill.keys(), {"bomFormat", "specVersion", "version", "serialNumber",
                                       "metadata", "components", "dependencies"})
        self.assertEqual((bill["bomFormat"], bill["specVersion"], bill["version"]),
                         ("CycloneDX", "1.5", 1))
        self.assertRegex(bill["serialNumber"], f"^{SERIAL}$")
        datetime.datetime.strptime(bill["metadata"]["timestamp"], "%Y-%m-%dT%H:%M:%SZ")
        own = bill["metadata"]["component"]
        for component in (own, *bill["components"]):
            self.check_component(component)
        refs = [component["bom-ref"] for component in bill["components"]]
        self.assertEqual(len(refs), len(set(refs)))
        self.assertEqual(bill["dependencies"], [{"ref": own["bom-ref"], "dependsOn": refs}])
        return bill

    def test_every_library_that_is_needed_appears(self):
        bill = self.valid(self.run_sbom(LIBRARY))
        headers = subprocess.run(["readelf", "-dW", LIBRARY], capture_output=True, text=True,
                                 check=True).stdout
        wanted = re.findall(r"Shared library: \[(.*)\]", headers)
        self.assertIn("libc.so.6", wanted)
        found = [soname for component in bill["components"] for soname in sonames(component)]
        self.assertEqual(sorted(found), sorted(wanted))
        own = bill["metadata"]["component"]
        self.assertEqual((own["name"], own["version"], own["hashes"][0]["content"]),
                         ("apgas", "0.1.0", hashlib.sha256(LIBRARY.read_bytes()).hexdigest()))

    def test_the_same_time_gives_the_same_bytes(self):
        first, second = (self.run_sbom(LIBRARY, SOURCE_DATE_EPOCH="86400") for _ in range(2))
        self.assertEqual(first.stdout, second.stdout)
        self.assertEqual(self.valid(first)["metadata"]["timestamp"], "1970-01-02T00:00:00Z")

    def test_the_libraries_of_a_package_are_one_component(self):
        parts = {part["name"]: part for part in self.valid(self.with_tools())["components"]}
        self.assertEqual(sonames(parts["libknown1"]), ["libknown.so.1", "libmore.so.2"])
        self.assertEqual((parts["libknown1"]["version"], parts["libknown1"]["purl"]),
                         ("1:2.0-1+b1", "pkg:deb/debian/libknown1@1:2.0-1%2Bb1"))

    def test_a_library_without_a_package_is_recorded_as_such(self):
        done = self.with_tools()
        parts = {part["name"]: part for part in self.valid(done)["components"]}
        self.assertEqual(parts.keys(), {"libknown1", "liblost.so.7", "libcereal-dev",
                                        "nlohmann-json"})
        for name in ("liblost.so.7", "nlohmann-json"):
            self.assertTrue({"version", "purl"}.isdisjoint(parts[name]), name)
            self.assertIn("No package of Debian", parts[name]["description"])
            self.assertIn(f"no package of Debian on this host contains {name}\n", done.stderr)
        self.assertEqual(sonames(parts["liblost.so.7"]), ["liblost.so.7"])

    def test_a_system_without_dpkg(self):
        bill = self.valid(self.with_tools(without=("dpkg", "dpkg-query")))
        self.assertEqual([part["name"] for part in bill["components"]],
                         ["libknown.so.1", "liblost.so.7", "libmore.so.2", "cereal",
                          "nlohmann-json"])

    def test_a_file_that_is_no_library(self):
        for done in (self.run_sbom(__file__), self.with_tools(without=("readelf",))):
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn("readelf finds no shared library", done.stderr)
        self.assertEqual(self.run_sbom("no/such/file").returncode, 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
