#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares apgas with concurrent.futures.ThreadPoolExecutor: a call for each item of a loop, and a
submitted function. Prints the least and the median time of interleaved repetitions."""

import argparse
import concurrent.futures
import ctypes
import ctypes.util
import statistics
import time

import apgas


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--items", type=int, default=20_000)
    options.add_argument("--repeat", type=int, default=7)
    given = options.parse_args()
    if given.items < 1 or given.repeat < 1:
        options.error("--items and --repeat must be at least 1")
    threads = concurrent.futures.ThreadPoolExecutor(apgas.workers())
    pool = apgas.Pool()
    body = ctypes.CDLL(None).labs  # compiled, and does nothing
    items = range(given.items)
    calls = {
        "forall of a Python function": lambda: apgas.forall(items, abs),
        "forall of a compiled function": lambda: apgas.forall(items, body),
        "apgas.Pool.map": lambda: list(pool.map(abs, items)),
        "ThreadPoolExecutor.map": lambda: list(threads.map(abs, items)),
    }
    times = {name: [] for name in calls}
    for _ in range(given.repeat):
        for name, call in calls.items():
            begin = time.perf_counter()
            call()
            times[name].append((time.perf_counter() - begin) / given.items * 1e6)
    peer = times["ThreadPoolExecutor.map"]
    print(f"{apgas.workers()} workers, us for an item: least, median, ratio of medians")
    for name, each in times.items():
        ratio = statistics.median(each) / statistics.median(peer)
        print(f"{name:32} {min(each):8.3f} {statistics.median(each):8.3f} {ratio:8.3f}")


if __name__ == "__main__":
    main()
