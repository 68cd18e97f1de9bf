#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""./launch/test with the name of a test works after ./launch/quickstart, which configures no tests.
CMake configures a copy of the repository, but nothing is compiled. Those with containers fail
without an engine if somebody asks for them, and the summary says how long they made images."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What `cmake --build` of quickstart would make. The result is that of the published tree.
UTS = """#!/bin/sh
echo '{"places": '$APGAS_PLACES', "nodes": 4130071, "depth": 10, "leaves": 3305118,
"verified": true, "workers": 1, "seconds": 1}' | tr -d '\\n'
"""
CMAKE = """#!/bin/sh
case "$*" in
*"--target apgas apgas-info"*) mkdir -p build/release/apps; cp {uts} build/release/apps/uts ;;
*"--preset release --target"*) ;;
*) exec {cmake} "$@" ;;
esac
"""
# Called with --test-dir <folder>.
CTEST = """#!/bin/sh
echo engine required: $APGAS_TEST_REQUIRE_ENGINE.
mkdir -p "$2/Testing/Temporary"
cat >"$2/Testing/Temporary/LastTest.log" <<END
1/2 Testing: cluster.starts.docker
Output:
building the image took 95 s
it took long
2/2 Testing: cluster.starts.netns
3 hosts took 0.1 s
END
"""


class AfterQuickstart(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.clone = pathlib.Path(folder.name) / "clone"
        self.path = pathlib.Path(folder.name) / "bin"
        shutil.copytree(ROOT, self.clone, symlinks=True,
                        ignore=lambda at, names: {"build", ".git"} & set(names)
                        if at == str(ROOT) else set())
        self.path.mkdir()
        self.program("uts", UTS)
        self.program("cmake", CMAKE.format(uts=self.path / "uts", cmake=shutil.which("cmake")))
        self.program("dpkg-query", "#!/bin/sh\nprintf installed\n")  # nothing gets installed

    def program(self, name, text):
        file = self.path / name
        file.write_text(text)
        file.chmod(0o755)

    def launch(self, *command):
        environment = {**os.environ, "PATH": f"{self.path}:{os.environ['PATH']}"}
        environment.pop("APGAS_TEST_REQUIRE_ENGINE", None)
        result = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False,
                                cwd=self.clone, env=environment)
        return result.returncode, result.stdout + result.stderr

    def options(self):
        cache = (self.clone / "build/release/CMakeCache.txt").read_text()
        return [line for line in cache.splitlines() if line.startswith("APGAS_BUILD_TESTS:")]

    def test_the_name_of_a_test(self):
        code, output = self.launch("./launch/quickstart")
        self.assertEqual(code, 0, output)
        self.assertEqual(self.options(), ["APGAS_BUILD_TESTS:BOOL=OFF"])
        code, output = self.launch("./launch/test", "shell_blocks_test")
        self.assertEqual(code, 0, output)
        self.assertIn("100% tests passed, 0 tests failed out of 1", output)
        self.assertEqual(self.options(), ["APGAS_BUILD_TESTS:BOOL=ON"])
        code, output = self.launch("./launch/test", "no/such/room")
        self.assertEqual(code, 1, output)
        self.assertIn("Lane release has no test with the name or label no/such/room", output)
        self.program("ctest", CTEST)
        for selected, required in ("shell_blocks_test", ""), ("docker", "1"):
            code, output = self.launch("./launch/test", selected)
            self.assertEqual(code, 0, output)
            self.assertIn(f"engine required: {required}.", output)
            self.assertRegex(output, r"Summary .*\nrelease +passed .*\n"
                             r"  cluster.starts.docker: building the image took 95 s\nAll passed.")


if __name__ == "__main__":
    unittest.main()
