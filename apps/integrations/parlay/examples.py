#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the examples of parlaylib with its own scheduler and with this runtime, and compares them.

  examples.py build <parlaylib>   makes <example>.parlay, <example>.apgas and the files that some of
                                  them read, in the folder examples/compared of parlaylib; needs
                                  g++ and pkg-config with apgas
  examples.py run <parlaylib>     runs both in turn and prints a table; exit code 1 if an example
                                  failed or the two printed different results
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import time

import example_inputs
from comparison import MADE, cells, compiler_options, linker_options

# The arguments of each example, for rounds of some 10 to 300 ms. A word may name a file of
# example_inputs.
EXAMPLES = {
    "2d_linear_program": "3000000", "3d_range": "100000", "BFS": "300000", "BFS_ligra": "300000",
    "bellman_ford": "100000", "betweenness_centrality": "300000", "bigint_add": "400000000",
    "box_kdtree": "100000", "bucketed_dijkstra": "300000", "cartesian_tree": "3000000",
    "cycle_count": "3000000", "decision_tree_c45": "table.csv", "delaunay": "100000",
    "fast_fourier_transform": "1000000", "filter": "30000000", "filter_kruskal": "100000",
    "find_if": "10000000", "flatten": "30000000", "graph_color": "100000", "hash_map": "1000000",
    "huffman_tree": "1000000", "karatsuba": "1000000", "kcore": "100000", "kmeans_pp": "50000",
    "knn": "100000", "knuth_morris_pratt": "the text10m", "knuth_shuffle": "3000000",
    "kruskal": "100000", "kth_smallest": "10000000", "lasso_regression": "lasso.csv",
    "le_list": "100000", "linefit": "10000000", "longest_common_prefix": "text1m",
    "longest_repeated_substring": "text1m", "low_diameter_decomposition": "100000",
    "maximal_independent_set": "300000", "maximal_matching": "100000", "mcss": "30000000",
    "mergesort": "3000000", "minimum_edit_distance": "10000", "nbody_fmm": "20000",
    "oct_tree": "1000000", "pagerank": "100000", "primes": "10000000",
    "push_relabel_max_flow": "10000", "quickhull": "3000000", "quicksort": "3000000",
    "rabin_karp": "the text10m", "radix_tree": "text10m", "range_min": "1000000",
    "ray_trace": "100000", "rectangle_intersection": "100000", "reduce": "30000000",
    "samplesort": "3000000", "scan": "10000000", "set_cover": "100000", "spanning_tree": "100000",
    "spectral_separator": "10000", "suffix_array": "text1m", "suffix_tree": "text1m",
    "tokens": "text10m", "triangle_count": "100000", "word_counts": "10 text10m",
}


def chosen(arguments):
    return {name: words for name, words in EXAMPLES.items() if re.search(arguments.only, name)}


def compiler(arguments, name, end):
    """The exit code of the compiler."""
    source = arguments.tree / "examples"
    before, after = ("", "-pthread") if end == "parlay" else (compiler_options(), linker_options())
    return subprocess.run(
        ["g++", "-std=c++20", "-O3", "-DNDEBUG", "-I", arguments.tree / "include", "-I", source,
         *before.split(), source / f"{name}.cpp", "-o", arguments.folder / f"{name}.{end}",
         *after.split()], check=False).returncode


def build(arguments):
    """Whether everything was built."""
    arguments.folder.mkdir(exist_ok=True)
    example_inputs.write(arguments.folder)

    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        codes = [pool.submit(compiler, arguments, name, end) for name in chosen(arguments)
                 for end in MADE]
        return not any(code.result() for code in codes)


def run_once(arguments, name, end, workers):
    """The time of a round in ms and what else the program printed. A program prints times as
    "Time: <label>: <seconds>": the sum, over all labels, of the least after the first. The whole
    time is that of a program which prints none."""
    words = [arguments.folder / word if word in example_inputs.FILES else word
             for word in EXAMPLES[name].split()]
    start = time.perf_counter()
    run = subprocess.run([arguments.folder / f"{name}.{end}", *words], check=True, text=True,
                         stdout=subprocess.PIPE,
                         env=dict(os.environ, PARLAY_NUM_THREADS=str(workers)))
    whole = time.perf_counter() - start
    times = collections.defaultdict(list)
    rest = []
    for line in run.stdout.splitlines():
        if match := re.fullmatch(r"Time: (.*): ([\d.]+)", line):
            times[match[1]].append(float(match[2]))
        else:
            rest.append(line)
    rounds = [min(seconds[1:] or seconds) for seconds in times.values()]
    return 1000 * (sum(rounds) if rounds else whole), rest


def compare(arguments, name):
    """Whether all runs ended, with the same results."""
    printed = []
    columns = []
    for workers in arguments.workers:
        least = {end: [] for end in MADE}
        for run in range(arguments.runs):
            for end in MADE if run % 2 == 0 else reversed(MADE):
                try:
                    spent, rest = run_once(arguments, name, end, workers)
                except (OSError, subprocess.CalledProcessError) as error:
                    print(f"{name}: {error}", file=sys.stderr)
                    return False
                least[end].append(spent)
                printed.append(rest)
        columns.append(cells(least))
    print(f"| `{name}` | {EXAMPLES[name]} | {' | '.join(columns)} |", flush=True)
    if all(rest == printed[0] for rest in printed):
        return True
    print(f"{name}: the results differ", file=sys.stderr)
    return False


def run_all(arguments):
    heads = " | ".join(f"{workers}: parlaylib | {workers}: this library | {workers}: ratios"
                       for workers in arguments.workers)
    print(f"ms of a round, by numbers of workers: minimum and median of the least times of "
          f"{arguments.runs} runs; the ratios are parlaylib / this library\n\n"
          f"| example | arguments | {heads} |\n|---|---|{'---|' * 3 * len(arguments.workers)}")
    return all([compare(arguments, name) for name in chosen(arguments)])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["build", "run"])
    parser.add_argument("tree", type=pathlib.Path, help="a source tree of parlaylib")
    parser.add_argument("--only", default="", help="the examples that match this expression")
    parser.add_argument("--jobs", type=int, default=1, help="how many to compile at a time")
    parser.add_argument("--workers", type=int, nargs="+", default=[2, 1])
    parser.add_argument("--runs", type=int, default=6, help="how often to start each program")
    arguments = parser.parse_args()
    arguments.tree = arguments.tree.resolve()
    arguments.folder = arguments.tree / "examples/compared"
    if not (arguments.tree / "include/parlay").is_dir():
        parser.error(f"{arguments.tree}: no source tree of parlaylib")
    return 0 if (build if arguments.what == "build" else run_all)(arguments) else 1


if __name__ == "__main__":
    sys.exit(main())
