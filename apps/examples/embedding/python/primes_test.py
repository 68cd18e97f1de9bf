#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Uses the module primes, and checks what it promises: primes_test.py <folder of the module>

On several places: mpirun -n 2 python3 primes_test.py ..., or APGAS_TRANSPORT=local APGAS_PLACES=2.
"""

import os
import sys
import threading
import time
import unittest

sys.path.insert(0, sys.argv.pop(1))
import primes  # noqa: E402

RUNTIME = None


class Primes(unittest.TestCase):
    def test_counts(self):
        for limit, expected in ((0, 0), (2, 0), (3, 1), (100, 25), (1_000_000, 78498)):
            self.assertEqual(RUNTIME.count(limit), expected)

    def test_exceptions_of_tasks_are_exceptions_of_python(self):
        with self.assertRaisesRegex(RuntimeError, "count needs a limit of at least 0"):
            RUNTIME.count(-1)

    def test_other_threads_of_python_go_on(self):
        ticks = 0
        done = threading.Event()

        def tick():
            nonlocal ticks
            while not done.is_set():
                ticks += 1
                time.sleep(0.001)

        other = threading.Thread(target=tick)
        other.start()
        limit, ticks_during = 250_000, 0
        while ticks_during < 5 and limit < 4_000_000:  # more where all is done before a tick
            limit *= 2
            before = ticks
            RUNTIME.count(limit)
            ticks_during = ticks - before
        done.set()
        other.join()
        self.assertGreaterEqual(ticks_during, 5)

    def test_several_threads_count_at_once(self):
        results = []
        threads = [threading.Thread(target=lambda: results.append(RUNTIME.count(200_000)))
                   for _ in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        self.assertEqual(results, [17984] * 4)

    def test_a_forked_process_is_refused(self):
        if "OMPI_COMM_WORLD_RANK" in os.environ:  # MPI does not like to be forked
            return
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                RUNTIME.count(100)
            except RuntimeError as error:
                os.write(writing, str(error).encode())
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as answer:
            self.assertIn("was called in a process that was forked", answer.read())
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_one_runtime_at_a_time(self):
        with self.assertRaisesRegex(RuntimeError, "one program at a time"):
            primes.Runtime()


if __name__ == "__main__":
    with primes.Runtime() as RUNTIME:
        if RUNTIME.place != 0:
            sys.exit(RUNTIME.serve())
        print(f"{RUNTIME.places} places", flush=True)
        passed = unittest.main(exit=False).result.wasSuccessful()
        sys.exit(RUNTIME.stop(0 if passed else 1))
