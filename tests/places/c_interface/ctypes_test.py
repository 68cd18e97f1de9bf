#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The C interface from Python, by ctypes: starts the runtime, spawns callbacks in Python as tasks,
and checks the errors that a foreign language meets. Argument: libapgas.so.

The callbacks call nothing that suspends, because Python expects a callback to end on the thread on
which it began.
"""

import ctypes
import os
import pathlib
import re
import sys
import unittest

LIBRARY = sys.argv.pop(1)
HEADER = pathlib.Path(__file__).parents[3] / "launch/c_interface/include/apgas/c.h"
CODES = {name: int(code) for name, code in
         re.findall(r"#define (APGAS_E\w+) +\((-\d+)\)", HEADER.read_text())}
TASK = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
AT = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t)

apgas = ctypes.CDLL(LIBRARY)
apgas.apgas_strerror.restype = ctypes.c_char_p
apgas.apgas_task_id.restype = ctypes.c_uint64
apgas.apgas_task_pointer.restype = ctypes.POINTER(ctypes.c_void_p)
apgas.apgas_sleep.argtypes = [ctypes.c_double]
apgas.apgas_spawn.argtypes = [TASK, ctypes.c_void_p, ctypes.c_size_t]
apgas.apgas_at.argtypes = [ctypes.c_int, AT, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p,
                           ctypes.c_size_t]
for waiting in ("sync", "mutex", "cond"):
    getattr(apgas, f"apgas_{waiting}_destroy").argtypes = [ctypes.c_void_p]


class Program(unittest.TestCase):
    def setUp(self):
        self.assertEqual(apgas.apgas_start(None), 0)

    def tearDown(self):
        self.assertEqual(apgas.apgas_stop(), 0)

    def run_task(self, body):
        """Calls body() in a task, and raises what it raised."""
        failures = []

        def call(_):
            try:
                body()
            except BaseException as failure:  # pylint: disable=broad-exception-caught
                failures.append(failure)

        self.assertEqual(apgas.apgas_run(TASK(call), None), 0)
        for failure in failures:
            raise failure

    def test_tasks_get_copies_of_their_blocks(self):
        found = []
        task = TASK(lambda block: found.append(ctypes.c_long.from_address(block).value))

        def spawn_all():
            for i in range(100):
                value = ctypes.c_long(i)
                self.assertEqual(apgas.apgas_spawn(task, ctypes.byref(value), 8), 0)
                value.value = -1

        self.run_task(spawn_all)
        self.assertEqual(sorted(found), list(range(100)))

    def test_a_task_has_an_id_and_a_pointer(self):
        def body():
            self.assertNotEqual(apgas.apgas_task_id(), 0)
            pointer = apgas.apgas_task_pointer()
            self.assertIsNone(pointer[0])
            pointer[0] = 17
            self.assertEqual(apgas.apgas_task_pointer()[0], 17)
            self.assertIn(apgas.apgas_worker(), range(apgas.apgas_workers()))

        self.run_task(body)

    def test_a_call_at_the_own_place_takes_code_made_at_run_time(self):
        def double(block, size, result, result_size):
            self.assertEqual((size, result_size), (8, 8))
            ctypes.c_long.from_address(result).value = 2 * ctypes.c_long.from_address(block).value

        def body():
            value, result = ctypes.c_long(21), ctypes.c_long(0)
            code = apgas.apgas_at(0, AT(double), ctypes.byref(value), 8, ctypes.byref(result), 8)
            self.assertEqual((code, result.value), (0, 42))

        self.run_task(body)

    def test_outside_a_task(self):
        self.assertEqual(apgas.apgas_spawn(TASK(lambda _: None), None, 0), CODES["APGAS_ENOTASK"])
        self.assertEqual(apgas.apgas_yield(), CODES["APGAS_ENOTASK"])
        self.assertEqual(apgas.apgas_sleep(0.0), CODES["APGAS_ENOTASK"])
        self.assertEqual(apgas.apgas_task_id(), 0)
        self.assertFalse(apgas.apgas_task_pointer())
        self.assertEqual((apgas.apgas_here(), apgas.apgas_places()), (0, 1))
        self.assertEqual(apgas.apgas_start(None), CODES["APGAS_EACTIVE"])

    def test_objects_are_made_and_destroyed(self):
        for kind in ("sync", "mutex", "cond"):
            handle = ctypes.c_void_p()
            self.assertEqual(getattr(apgas, f"apgas_{kind}_create")(ctypes.byref(handle)), 0)
            self.assertEqual(getattr(apgas, f"apgas_{kind}_destroy")(handle), 0)


class Places(unittest.TestCase):
    def test_code_made_at_run_time_cannot_be_sent(self):
        os.environ.update(APGAS_TRANSPORT="local", APGAS_PLACES="2")
        codes = []
        function = AT(lambda *_: None)
        try:
            self.assertEqual(apgas.apgas_start(None), 0)
            task = TASK(lambda _: codes.append(apgas.apgas_at(1, function, None, 0, None, 0)))
            self.assertEqual(apgas.apgas_run(task, None), 0)
        finally:
            self.assertEqual(apgas.apgas_stop(), 0)
            del os.environ["APGAS_TRANSPORT"], os.environ["APGAS_PLACES"]
        self.assertEqual(codes, [CODES["APGAS_EFUNCTION"]])


class Texts(unittest.TestCase):
    def test_every_code_has_a_text_of_its_own(self):
        texts = {apgas.apgas_strerror(code) for code in [0, 1, *CODES.values()]}
        self.assertEqual(len(texts), len(CODES) + 2)

    def test_before_the_start(self):
        self.assertEqual(apgas.apgas_stop(), CODES["APGAS_ENOTSTARTED"])
        self.assertEqual(apgas.apgas_run(TASK(lambda _: None), None), CODES["APGAS_ENOTSTARTED"])
        self.assertEqual(apgas.apgas_here(), CODES["APGAS_ENOTSTARTED"])


if __name__ == "__main__":
    unittest.main()
