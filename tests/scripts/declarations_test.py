#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The declarations of tests that tests/README.md prints configure as they stand there, with
tests/cmake/ApgasTest.cmake: in a project whose libraries are empty and whose files have no code."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests/docs"))
import documents  # noqa: E402

PAGE = "tests/README.md"
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(printed LANGUAGES CXX)
enable_testing()
foreach(library IN ITEMS apgas sync GTest::gtest GTest::gtest_main)
  string(REPLACE :: _ target ${library})
  add_library(${target} INTERFACE)
  if(library MATCHES "^GTest")
    add_library(${library} ALIAS ${target})
  else()
    add_library(apgas::${library} ALIAS ${target})
  endif()
endforeach()
foreach(module IN ITEMS base scheduler)
  add_library(apgas_${module}_headers INTERFACE)
  add_library(apgas_${module}_private INTERFACE)
endforeach()
function(apgas_precompiled)
endfunction()
include(ROOT/tests/cmake/ApgasTest.cmake)
set(apgas_relacy ${PROJECT_SOURCE_DIR})
include(printed.cmake)
apgas_write_test_list()
"""
SOURCES = ("tests/unit/sync/futures/future_test.cpp", "clocks/clock_styles_test.cpp", "at_test.cpp",
           "closure_pointer.cpp", "deque_model.cpp")
TESTS = {"sync/futures", "sync/clocks/clock_styles_test", "closure_pointer",
         "compile_fail_headers", "scheduler/deques/deque_model",
         *(f"places_at_test.local.np{places}" for places in (1, 2, 4))}


class Declarations(unittest.TestCase):
    def configure(self, text):
        """The exit code, the tests and the output of a project that contains the text."""
        with tempfile.TemporaryDirectory() as folder:
            tree = pathlib.Path(folder)
            for name in SOURCES:
                (tree / name).parent.mkdir(parents=True, exist_ok=True)
                (tree / name).touch()
            (tree / "CMakeLists.txt").write_text(PROJECT.replace("ROOT", str(ROOT)))
            (tree / "printed.cmake").write_text(text)
            done = subprocess.run(["cmake", "-S", tree, "-B", tree / "build"], timeout=100,
                                  capture_output=True, text=True, check=False)
            listed = tree / "build/tests.tsv"
            lines = listed.read_text().splitlines() if listed.exists() else []
            return done.returncode, {line.split("\t")[0] for line in lines}, done.stderr

    def test_the_printed_declarations(self):
        (_, printed), = documents.fragments(PAGE, "tests/scripts/declarations_test.py")
        code, tests, output = self.configure(printed)
        self.assertEqual((code, tests), (0, TESTS), output)
        code, _, output = self.configure(printed.replace("apgas_model_test", "apgas_model"))
        self.assertNotEqual(code, 0)
        self.assertIn("apgas_model", output)


if __name__ == "__main__":
    unittest.main(verbosity=2)
