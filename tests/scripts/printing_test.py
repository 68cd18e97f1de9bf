#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests what the tools do if their output can no longer be written (launch/tools/printing.py)."""

import os
import pathlib
import subprocess
import sys
import unittest

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "launch/tools"


class Printing(unittest.TestCase):
    def run_tool(self, body, **streams):
        script = f"import sys\nfrom printing import exit_code\ndef main():\n    {body}\n"
        return subprocess.Popen(
            [sys.executable, "-B", "-c", script + "sys.exit(exit_code('tool', main))"],
            stderr=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": str(TOOLS)},
            **streams)

    def test_the_exit_code(self):
        for body, code in (("print(1)", 0), ("return 3", 3), ("sys.exit(2)", 2),
                           ("raise OSError(13, 'no', 'file')", 1)):
            tool = self.run_tool(body, stdout=subprocess.DEVNULL)
            tool.communicate()
            self.assertEqual(tool.returncode, code, body)

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    def test_a_full_disk_is_told_in_one_line(self):
        for body in ("print(1)", "print('long' * 100_000)", "print(1), sys.exit(0)"):
            with open("/dev/full", "w", encoding="ascii") as full:
                tool = self.run_tool(body, stdout=full)
                _, said = tool.communicate()
            self.assertEqual((tool.returncode, said), (
                1, "tool: the output cannot be written: no space left on device\n"), body)

    def test_output_that_is_closed_is_dropped(self):
        tool = self.run_tool("print(1)", preexec_fn=lambda: os.close(1))
        _, said = tool.communicate()
        self.assertEqual((tool.returncode, said), (0, ""))

    def test_other_errors_are_not_those_of_the_output(self):
        for body in ("raise OSError(28, 'No space left on device')", "raise BrokenPipeError"):
            tool = self.run_tool(body, stdout=subprocess.DEVNULL)
            _, said = tool.communicate()
            self.assertEqual(tool.returncode, 1, body)
            self.assertIn("Traceback", said)

    def test_a_reader_that_has_ended_is_no_error(self):
        for body in ("print(1)", "print('long' * 100_000)", "print(1), sys.exit(0)"):
            reading, writing = os.pipe()
            os.close(reading)
            tool = self.run_tool(body, stdout=writing)
            os.close(writing)
            _, said = tool.communicate()
            self.assertEqual((tool.returncode, said), (0, ""), body)


if __name__ == "__main__":
    unittest.main(verbosity=2)
