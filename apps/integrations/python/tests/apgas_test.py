#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the Python package: apgas_test.py <folder of the package> <library of body.cpp>"""

import array
import concurrent.futures
import contextlib
import ctypes
import io
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import types
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.dont_write_bytecode = True
sys.path.append(str(ROOT / "tests/docs"))
import documents  # noqa: E402

sys.path.insert(0, sys.argv.pop(1))
BODY = ctypes.CDLL(sys.argv.pop(1))
BODY.meet.restype = ctypes.c_bool
BODY.meet.argtypes = (ctypes.POINTER(ctypes.c_int64), ctypes.c_int64)
C = ctypes.CDLL(None)
C.abs.argtypes = (ctypes.c_int,)
import apgas  # noqa: E402


class Forall(unittest.TestCase):
    def test_calls_the_body_once_for_each_item(self):
        for items in (0, 1, 1000, range(7, 900, 3), list("abc"), (1, 2)):
            seen = []
            apgas.forall(items, seen.append)
            expected = range(items) if isinstance(items, int) else items
            self.assertEqual(sorted(seen), sorted(expected))

    def test_takes_any_grain(self):
        for grain in (1, 7, 1000, 2**62):
            seen = []
            apgas.forall(100, seen.append, grain=grain)
            self.assertEqual(sorted(seen), list(range(100)))

    def test_bodies_run_at_the_same_time(self):
        everybody = threading.Barrier(apgas.workers())  # a body alone would wait for ever
        apgas.forall(apgas.workers(), lambda _: everybody.wait(timeout=60), grain=1)

    def test_loops_may_be_nested(self):
        seen = []
        apgas.forall(4, lambda i: apgas.forall(10, lambda k: seen.append(10 * i + k)))
        self.assertEqual(sorted(seen), list(range(40)))

    def test_raises_what_the_body_raised(self):
        tried = []

        def body(i):
            tried.append(i)
            if i == 13:
                raise KeyError(i)

        try:  # assertRaises drops the traceback
            apgas.forall(100, body)
            self.fail("nothing was raised")
        except KeyError as error:
            self.assertEqual(error.args, (13,))
            last = traceback.extract_tb(error.__traceback__)[-1]
            self.assertEqual(last.name, "body")
        self.assertEqual(sorted(tried), list(range(100)))

    @unittest.skipIf(sys.version_info < (3, 11), "ExceptionGroup is of Python 3.11")
    def test_raises_a_group_of_several_exceptions_in_order(self):
        def body(i):
            if i % 10 == 0:
                raise ValueError(i)

        with self.assertRaises(ExceptionGroup) as raised:
            apgas.forall(50, body, grain=1)
        self.assertEqual([e.args[0] for e in raised.exception.exceptions], [0, 10, 20, 30, 40])

    def test_refuses_what_it_cannot_do(self):
        refused = (
            (TypeError, "make a list", lambda: apgas.forall(iter([1]), print)),
            (TypeError, "must be callable", lambda: apgas.forall(3, 4)),
            (TypeError, "only a compiled body", lambda: apgas.forall(3, print, data=[])),
            (ValueError, "grain must be at least 1", lambda: apgas.forall(3, print, grain=0)),
            (TypeError, "a range from 0", lambda: apgas.forall(range(1, 4), BODY.square)),
            (TypeError, "not list", lambda: apgas.forall(3, BODY.square, data=[1.0])),
            (TypeError, "must be writable", lambda: apgas.forall(3, BODY.square, data=bytes(24))),
            (ValueError, "workers must be at least 1", lambda: apgas.start(0)),
            (RuntimeError, "running already", apgas.start),
        )
        for kind, text, call in refused:
            with self.subTest(text), self.assertRaisesRegex(kind, text):
                call()


class CompiledBody(unittest.TestCase):
    def test_runs_for_each_index_with_the_data(self):
        squares = array.array("d", range(5000))
        apgas.forall(5000, BODY.square, data=squares)
        self.assertEqual(list(squares), [i * i for i in range(5000)])

    def test_data_may_be_of_ctypes_or_an_address(self):
        values = (ctypes.c_double * 8)(*range(8))
        apgas.forall(8, BODY.square, data=values)
        apgas.forall(range(8), BODY.square, data=ctypes.addressof(values))
        apgas.forall(8, BODY.square, data=ctypes.cast(values, ctypes.POINTER(ctypes.c_double)))
        self.assertEqual(list(values), [i**4 for i in range(8)])

    def test_a_callback_of_ctypes_may_not_call_apgas(self):
        refused = []

        @ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p)
        def body(index, data):
            try:
                apgas.forall(3, print)
            except RuntimeError as error:
                refused.append(str(error))

        apgas.forall(5, body)
        self.assertEqual(len(refused), 5)
        self.assertIn("pass forall a Python function instead", refused[0])


class Pool(unittest.TestCase):
    def test_is_an_executor(self):
        with apgas.Pool() as pool:
            self.assertIsInstance(pool, concurrent.futures.Executor)
            squares = pool.map(pow, range(100), [2] * 100)
            self.assertEqual(list(squares), [i * i for i in range(100)])
            future = pool.submit(int, "2a", base=16)
            self.assertEqual(future.result(timeout=60), 42)
            self.assertIsInstance(pool.submit(int, "no").exception(timeout=60), ValueError)

    def test_no_more_run_at_once_than_asked_for(self):
        now, most, guard = 0, 0, threading.Lock()

        def work(together):
            nonlocal now, most
            with guard:
                now += 1
                most = max(most, now)
            together.wait(timeout=60)
            with guard:
                now -= 1

        for width in (1, 3):
            most = 0
            together = threading.Barrier(width)
            with apgas.Pool(max_workers=width) as pool:
                list(pool.map(work, [together] * (3 * width)))
            self.assertEqual(most, width)

    def test_functions_may_submit_and_wait(self):
        with apgas.Pool(max_workers=2) as pool:
            self.assertEqual(pool.submit(lambda: pool.submit(int, 7).result(60)).result(60), 7)
            self.assertEqual(pool.submit(lambda: apgas.forall(3, int)).result(60), None)

    def test_shutdown_cancels_what_has_not_begun(self):
        begun, may_end = threading.Event(), threading.Event()
        pool = apgas.Pool(max_workers=1)
        first = pool.submit(lambda: (begun.set(), may_end.wait(60)))
        begun.wait(60)
        second = pool.submit(int, 1)
        pool.shutdown(wait=False, cancel_futures=True)
        self.assertTrue(second.cancelled())
        with self.assertRaisesRegex(RuntimeError, "after shutdown"):
            pool.submit(int)
        may_end.set()
        pool.shutdown()
        self.assertTrue(first.result(0)[1])

    def test_refuses_to_have_no_worker(self):
        with self.assertRaisesRegex(ValueError, "max_workers must be at least 1"):
            apgas.Pool(max_workers=0)

    def test_exceptions_that_are_no_errors_stay_in_the_future(self):
        with apgas.Pool() as pool:
            self.assertIsInstance(pool.submit(sys.exit, 3).exception(60), SystemExit)


class PoolOfCompiledFunctions(unittest.TestCase):
    """Functions of ctypes, which release Python's lock while they run."""

    def test_run_at_the_same_time(self):
        for width in (1, 2, 5):
            came = ctypes.c_int64()  # with the lock held, each call would wait for the others
            with apgas.Pool(max_workers=width) as pool:
                met = [pool.submit(BODY.meet, came, width) for _ in range(width)]
                self.assertEqual([each.result(timeout=100) for each in met], [True] * width)

    def test_run_beside_python_functions(self):
        came = ctypes.c_int64()
        with apgas.Pool(max_workers=1) as pool:
            met = pool.submit(BODY.meet, came, 2)
            self.assertTrue(BODY.meet(came, 2))
            self.assertTrue(met.result(timeout=100))

    def test_give_their_results_in_order(self):
        with apgas.Pool() as pool:
            self.assertEqual(list(pool.map(C.abs, range(-500, 500))),
                             [abs(i) for i in range(-500, 500)])
            futures = {pool.submit(C.abs, -i): i for i in range(50)}
            for each in concurrent.futures.as_completed(futures, timeout=100):
                self.assertEqual(each.result(), futures[each])

    def test_exceptions_of_ctypes_reach_the_caller(self):
        def refuse_seven(result, function, arguments):
            if result == 7:
                raise OSError(result, "no sevens")
            return result

        checked = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(("abs", C))
        checked.errcheck = refuse_seven
        with apgas.Pool() as pool:
            self.assertIsInstance(pool.submit(C.abs, "1").exception(60), ctypes.ArgumentError)
            with self.assertRaisesRegex(OSError, "no sevens"):
                list(pool.map(checked, range(-10, 0)))
            self.assertEqual(pool.submit(checked, -8).result(60), 8)

    def test_only_what_has_not_begun_can_be_cancelled(self):
        came, called_back = ctypes.c_int64(), []
        with apgas.Pool(max_workers=1) as pool:
            running = pool.submit(BODY.meet, came, 2)
            waiting = pool.submit(C.abs, -1)
            waiting.add_done_callback(called_back.append)
            while came.value == 0:
                time.sleep(0.001)
            self.assertTrue(running.running())
            with self.assertRaises(concurrent.futures.TimeoutError):
                running.result(timeout=0.01)
            self.assertFalse(running.cancel())
            self.assertTrue(waiting.cancel())
            self.assertEqual(called_back, [waiting])
            with self.assertRaises(concurrent.futures.CancelledError):
                waiting.result(timeout=60)
            BODY.meet(came, 2)
        self.assertEqual(concurrent.futures.wait([running, waiting], 60).not_done, set())
        self.assertTrue(running.result(0))


class Readme(unittest.TestCase):
    """The fragments of the README run as it prints them."""

    README = "apps/integrations/python/README.md"

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        shutil.copy(BODY._name, f"{folder.name}/librelax.so")
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        try:
            import numpy  # noqa: PLC0415
        except ImportError:
            numpy = types.SimpleNamespace(zeros=lambda n: array.array("d", bytes(8 * n)))
        self.rows = []
        self.names = {"ctypes": ctypes, "numpy": numpy, "n": 20, "row": self.rows.append,
                      "library": BODY, "array": array.array("d", [1] * 20),
                      "work": lambda item: item + "!", "items": ["a", "b"]}

    def test_its_fragments(self):
        found = documents.fragments(self.README, "apps/integrations/python/tests/apgas_test.py")
        printed = []
        for line, code in found:
            with contextlib.redirect_stdout(io.StringIO()) as output:
                exec(compile("\n" * line + code, self.README, "exec"), self.names)
            printed.append(output.getvalue())
        self.assertEqual(printed, ["['a!', 'b!']\n", "", f"{sum(range(100)) / 2}\n"])
        self.assertEqual(sorted(self.rows), list(range(20)))
        self.assertEqual(list(self.names["array"]), [1.0 + i for i in range(20)])
        values = self.names["values"]
        self.assertEqual((len(values), values[7], values[999_999]), (1_000_000, 7, 999_999))


class Processes(unittest.TestCase):
    def test_a_forked_process_is_refused(self):
        if "OMPI_COMM_WORLD_RANK" in os.environ:  # MPI does not like to be forked
            self.skipTest("under mpirun")
        apgas.workers()
        reading, writing = os.pipe()
        if os.fork() == 0:
            try:
                apgas.forall(3, print)
            except RuntimeError as error:
                os.write(writing, str(error).encode())
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as answer:
            self.assertIn("start method 'spawn'", answer.read())
        os.wait()

    def test_may_stop_and_start_again_and_end_without_stop(self):
        script = ("import apgas; apgas.start(2); print(apgas.workers()); apgas.stop(); "
                  "apgas.stop(); print(apgas.running()); apgas.start(1); print(apgas.workers()); "
                  "pool = apgas.Pool(); pool.submit(print, 'ran')")
        environment = {k: v for k, v in os.environ.items()
                       if not k.startswith(("OMPI_", "PMIX_", "APGAS_"))}
        environment["PYTHONPATH"] = sys.path[0]
        end = subprocess.run([sys.executable, "-c", script], env=environment, timeout=100,
                             capture_output=True, text=True, check=False)
        self.assertEqual((end.returncode, end.stderr), (0, ""))
        self.assertEqual(end.stdout.split(), ["2", "False", "1", "ran"])


if __name__ == "__main__":
    apgas.workers()  # the other places serve this one
    unittest.main()
