#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""moving.py leaves out the programs of a system that is missing, and fails instead if all tools are
required. The compilers here are scripts."""

import contextlib
import io
import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import documents  # noqa: E402
import moving  # noqa: E402
import shell_blocks  # noqa: E402

PAGE = """```cpp
int main() {}
```
```rust
fn main() {}
```
```text output
hello
```
"""
COMPILER = """printf '#!/bin/sh\\necho hello\\n' > "$6"; chmod +x "$6" """  # $6: after -o
NO_NETWORK = "exit 101"
CARGO = """[ "$1" = build ] || exit 0
mkdir -p "${7}/release"; printf '#!/bin/sh\\necho hello\\n' > "${7}/release/moving"
chmod +x "${7}/release/moving" """  # $7: after --target-dir


class Moving(unittest.TestCase):
    def check(self, cargo, require=""):
        """What moving.py prints about the page with this cargo, or with none."""
        with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as changed:
            tree = pathlib.Path(folder)
            (tree / "page.md").write_text(PAGE)
            (tree / "lib/pkgconfig").mkdir(parents=True)
            (tree / "bin").mkdir()
            for tool, script in (("g++", COMPILER), ("pkg-config", ""), ("cargo", cargo)):
                if script is not None:
                    (tree / "bin" / tool).write_text(f"#!/bin/sh\n{script}\n")
                    (tree / "bin" / tool).chmod(0o755)
            for tool in ("mkdir", "chmod"):
                (tree / "bin" / tool).symlink_to(f"/bin/{tool}")
            changed.enter_context(mock.patch.object(documents, "ROOT", tree))
            changed.enter_context(mock.patch.object(moving, "PACKAGED", tree / "no crates"))
            changed.enter_context(mock.patch.dict(os.environ, {
                "PATH": str(tree / "bin"), "APGAS_TEST_REQUIRE_TOOLS": require}))
            printed = changed.enter_context(contextlib.redirect_stdout(io.StringIO()))
            moving.Page("page.md", tree, tree).check()
            return printed.getvalue()

    def test_all_programs_run(self):
        self.assertEqual(self.check(CARGO, require="1"), "page.md: 2 programs\n")

    def test_what_is_missing_is_left_out(self):
        self.assertEqual(self.check(None), "page.md: 2 programs; without rust: there is no cargo\n")
        self.assertIn("; without rust: cargo cannot fetch the crates", self.check(NO_NETWORK))

    def test_what_is_missing_is_an_error_if_all_tools_are_required(self):
        for cargo, reason in ((None, "there is no cargo"), (NO_NETWORK, "cannot fetch the crates")):
            with self.assertRaisesRegex(shell_blocks.Failure, reason):
                self.check(cargo, require="1")


if __name__ == "__main__":
    unittest.main(verbosity=2)
