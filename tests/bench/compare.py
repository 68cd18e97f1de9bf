#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares two JSON files of spawn_bench, sync_bench or place_bench: old, new, and their ratio.

    compare.py old.json new.json [--worse 1.10]

The times are minima. With --worse, the exit code is 1 if a variant of apgas became slower by more
than this factor. The factor is corrected by the change of the peers and serial variants of the same
benchmark, which is due to the machine.
"""

import argparse
import json
import statistics
import sys


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def times(report):
    """Maps (benchmark, variant, workers) to the least seconds per operation."""
    return {
        (f["benchmark"], r["variant"], r["workers"]): r["min_s"] / f["operations"]
        for f in report["findings"]
        for r in f["results"]
    }


def ours(variant):
    return variant.startswith("apgas")


def machine_factor(old, new, benchmark):
    """How much slower the other variants became; 1 if there are none."""
    common = [k for k in old.keys() & new.keys() if k[0] == benchmark and not ours(k[1])]
    ratios = [new[k] / old[k] for k in common]
    return statistics.median(ratios) if ratios else 1.0


def describe(name, report):
    machine = report["machine"]
    print(
        f"{name}: {machine['date']} {machine['host']} {machine['compiler']} {report['label']} "
        f"(load {machine['load'][0]:.1f}, "
        f"{report['cores_used_by_others']:.2f} cores used by others)"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--worse", type=float,
                        help="fail if a variant of apgas became slower by this factor")
    options = parser.parse_args()
    old_report, new_report = load(options.old), load(options.new)
    describe("old", old_report)
    describe("new", new_report)
    old, new = times(old_report), times(new_report)

    failed = False
    columns = f"{'old ns':>12}{'new ns':>12}{'ratio':>8}{'corrected':>11}"
    print(f"{'benchmark':<38}{'variant':<28}{'w':>2}{columns}")
    for key in sorted(old.keys() & new.keys(), key=list(old).index):
        benchmark, variant, workers = key
        ratio = new[key] / old[key]
        corrected = ratio / machine_factor(old, new, benchmark)
        worse = options.worse is not None and ours(variant) and corrected > options.worse
        failed |= worse
        print(
            f"{benchmark:<38}{variant:<28}{workers:>2}"
            f"{old[key] * 1e9:>12.2f}{new[key] * 1e9:>12.2f}{ratio:>8.2f}{corrected:>11.2f}"
            f"{'  WORSE' if worse else ''}"
        )
    for key in sorted(old.keys() ^ new.keys()):
        print(f"only in {'old' if key in old else 'new'}: {', '.join(map(str, key))}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
