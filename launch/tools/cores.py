# SPDX-License-Identifier: Apache-2.0
"""Describes the cores of the running places of a host, and finds places that share cores."""

MOST_LINES = 8


def ranges(numbers):
    """Formats ascending numbers as ranges, such as "0-3,8"."""
    parts = []
    for number in numbers:
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


def count(number, noun):
    return f"{number} {noun}{'' if number == 1 else 's'}"


def name_of(place):
    rank = "?" if place["rank"] is None else place["rank"]
    return f"place {rank} (process {place['pid']})"


def names_of(places):
    if len(places) < 3:
        return " and ".join(map(name_of, places))
    ranks = sorted({place["rank"] for place in places if place["rank"] is not None})
    return f"{len(places)} places ({ranges(ranks)})"


def share(one, other):
    return not set(one["cores"]).isdisjoint(other["cores"])


def groups_that_share(places):
    """Returns the places as lists: places whose masks overlap are in the same list."""
    groups = []
    for place in places:
        mine = [g for g in groups if any(share(place, other) for other in g)]
        groups = [g for g in groups if g not in mine]
        groups.append(sum(mine, []) + [place])
    return groups


def lines_of_running(places):
    """Returns a line for each place; if there are many, for each group of places that are alike."""
    about = {}
    for place in places:
        others = [other for other in places if other is not place and share(place, other)]
        key = (len(place["cores"]), place["workers"], bool(others),
               ranges(place["cores"]) if others else None)
        about.setdefault(key if len(places) > MOST_LINES else place["pid"], []).append(
            (place, others))
    lines = []
    for group in about.values():
        (first, others), several = group[0], len(group) > 1
        alike = [place for place, _ in group]
        union = sorted({core for place in alike for core in place["cores"]})
        if len(union) == len(first["cores"]):
            text = f"core{'' if len(union) == 1 else 's'} {ranges(union)}"
        else:
            text = f"{count(len(first['cores']), 'core')} each of {ranges(union)}"
        text += f", {count(first['workers'], 'worker')}{' each' if several else ''}, shared "
        outside = [other for other in others if other not in alike]
        among = ["among them"] if several and others else []
        parts = among + (["with " + names_of(outside)] if outside else [])
        text += " and ".join(parts) or "with no other place"
        lines.append(f"running {names_of(alike)}: {text}")
    left = len(lines) - MOST_LINES
    if left > 0:
        lines[MOST_LINES:] = [f"{left} more groups of running places"]
    return lines
