# SPDX-License-Identifier: Apache-2.0
"""The file of a report, and what changed between two of them beyond the noise."""

import json
import math
import statistics

FORMAT = 1
PARTS = {"quick", "rounds", "machine", "versions", "cores_used_by_others", "notes", "commands",
         "records"}
FIELDS = {"group", "benchmark", "variant", "workers", "places", "ours", "least", "median", "spread"}
LEAST_NOISE = 0.05  # a smaller change is not reported, however close the samples are


class Unusable(Exception):
    """A file that is not a report of this format, with the reason in one line."""


def summary(values):
    """Minimum, median, and spread: half the range of the middle half, or of all values if these
    are fewer than four, over the median."""
    middle = statistics.median(values)
    low, high = min(values), max(values)
    if len(values) >= 4:
        low, _, high = statistics.quantiles(values, n=4)
    return {"least": min(values), "median": middle, "spread": (high - low) / 2 / middle}


def records(samples):
    return [{"group": group, "benchmark": key.benchmark, "variant": key.variant,
             "workers": key.workers, "places": key.places, "ours": key.ours(), "ns": values,
             **summary(values)}
            for group, found in samples.items() for key, values in found.items()]


def missing(report):
    """The parts that a report lacks, or the fields that one of its records lacks."""
    lacking = PARTS - report.keys()
    if not lacking and isinstance(report["records"], list):
        lacking = set().union(*(FIELDS - each.keys() if isinstance(each, dict) else FIELDS
                                for each in report["records"]))
    elif not lacking:
        lacking = {"records"}
    return sorted(lacking)


def load(path):
    try:
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
    except OSError as error:
        raise Unusable(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:  # of JSON, or of UTF-8
        raise Unusable(f"{path} is not JSON: {error}") from error
    again = "make it again with ./launch/benchmark"
    found = report.get("format") if isinstance(report, dict) else None
    if found != FORMAT:
        raise Unusable(f"{path} has format {found}, and this version reads format {FORMAT}: "
                       f"{again}")
    if lacking := missing(report):
        raise Unusable(f"{path} is no whole report, since it lacks {', '.join(lacking)}: {again}")
    if report["quick"]:
        raise Unusable(f"{path} is of a run with --quick, whose times mean nothing")
    return report


def by_key(report):
    return {(each["group"], each["benchmark"], each["variant"], each["workers"],
             each["places"]): each for each in report["records"]}


def machine_factor(old, new, group, benchmark):
    """How much slower the variants of others became in this benchmark; 1 if there are none."""
    ratios = [new[key]["median"] / old[key]["median"] for key in old.keys() & new.keys()
              if key[:2] == (group, benchmark) and not old[key]["ours"]]
    return statistics.median(ratios) if ratios else 1.0


def overlap(old, new, factor):
    """Whether a sample of one record lies between those of the other one, if the machine has become
    slower by that factor; False if a report has no samples."""
    if not old.get("ns") or not new.get("ns"):
        return False
    return (min(new["ns"]) / factor <= max(old["ns"])
            and min(old["ns"]) <= max(new["ns"]) / factor)


def change_of(old, new, noise, factor):
    """How many times as long it takes, if the machine has become slower by that factor; 1 if that
    may be noise."""
    ratio = new["median"] / old["median"] / factor
    in_noise = 1 / (1 + noise) <= ratio <= 1 + noise or overlap(old, new, factor)
    return 1.0 if in_noise else ratio


def changes(old_report, new_report):
    """Yields (key, ratio, noise, ours) of each record that changed by more than its noise, and so
    that no sample of one report lies between those of the other one.

    A record of apgas must have changed by itself, and also over the others in the same benchmark,
    whose change may be due to the machine, or to noise of their own. The smaller change counts.
    """
    old, new = by_key(old_report), by_key(new_report)
    for key in (key for key in old if key in new):
        ours = old[key]["ours"]
        factors = (1.0, machine_factor(old, new, *key[:2])) if ours else (1.0,)
        noise = max(LEAST_NOISE, old[key]["spread"] + new[key]["spread"])
        ratios = [change_of(old[key], new[key], noise, each) for each in factors]
        if min(ratios) > 1 or max(ratios) < 1:
            yield key, min(ratios, key=lambda ratio: abs(math.log(ratio))), noise, ours


def slower(old_report, new_report):
    """The keys of the variants of apgas that became slower."""
    return {key for key, ratio, _, ours in changes(old_report, new_report) if ours and ratio > 1}


def remaining(suspects, old_report, again):
    """Which of these variants are slower in another measurement, too, or are not in it."""
    return suspects & (slower(old_report, again) | (suspects - by_key(again).keys()))


def asked_for(report, what):
    """The numbers of workers or places of a run: in an older report, those of its records."""
    return set(report.get(what) or (each[what] for each in report["records"]))


def vanished(old_report, new_report):
    """The keys of the variants of apgas that only the old report has, though the new run was not
    told to leave out their group, number of workers or number of places."""
    old, new = by_key(old_report), by_key(new_report)
    workers, places = (asked_for(old_report, what) - asked_for(new_report, what)
                       for what in ("workers", "places"))
    return {key for key in old.keys() - new.keys()
            if old[key]["ours"] and key[0] in {group for group, *_ in new}
            and key[3] not in workers and key[4] not in places}


def describe(old_report, new_report, again=()):
    """Prints the changes; returns whether a variant of apgas became slower or has vanished. Among
    hundreds of variants some seem slower by chance: what `again`, reports of further measurements
    of them, does not confirm does not count."""
    still_slower = slower(old_report, new_report)
    for report in again:
        still_slower = remaining(still_slower, old_report, report)
    old, new = (f"{each['machine'].get('processor', 'an unknown processor')} with "
                f"{each['machine'].get('cores')} cores" for each in (old_report, new_report))
    if old != new:
        print(f"the reports are of different machines: the old one of {old}, and the new one of "
              f"{new}; benchmarks without peers are not corrected for that")
    for key, ratio, noise, ours in changes(old_report, new_report):
        _, benchmark, variant, workers, places = key
        change = "slower" if ratio > 1 else "faster"
        if ours and ratio > 1 and key not in still_slower:
            change = "slower at first, but not when measured again"
        print(f"{change}: {benchmark}, {variant}, {workers} workers, {places} places: "
              f"{ratio:.2f} times the time (noise {noise * 100:.0f} %)")
    gone = vanished(old_report, new_report)
    old, new = by_key(old_report), by_key(new_report)
    for name, lacking in (("old", old.keys() - new.keys()), ("new", new.keys() - old.keys())):
        for key in sorted(lacking):
            print(f"{'vanished, ' if key in gone else ''}only in the {name} report: "
                  f"{', '.join(map(str, key))}")
    print("a variant of apgas is slower" if still_slower else "no variant of apgas is slower")
    if gone:
        print("a variant of apgas has vanished: measure it again, or make a new report to compare "
              "with")
    return bool(still_slower or gone)
