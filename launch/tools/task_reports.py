# SPDX-License-Identifier: Apache-2.0
"""The texts of apgas-ps: the table of jobs, and what the tasks of a job wait for."""

import collections
import time

GROUPS_AT_MOST = 20


def ranges(numbers):
    """1, 2, 3, 7 as "1-3,7"."""
    parts = []
    for number in sorted(numbers):
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ",".join(f"{a}" if a == b else f"{a}-{b}" for a, b in parts)


def count(number, noun):
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def since(seconds):
    """A time of today as hh:mm:ss, others with their date."""
    then = time.localtime(seconds)
    today = then[:3] == time.localtime()[:3]
    return time.strftime("%H:%M:%S" if today else "%Y-%m-%d", then)


def summary_of(job, replies):
    """The row of a job. Its processes that did not answer are listed without numbers."""
    places = [place for reply in replies for place in reply["places"]]
    here = ranges(place["place"] for place in places) or "?"
    return {
        "job": job.name, "user": job.user, "program": job.program,
        "places_here": [place["place"] for place in places],
        "job_places": max((reply["job_places"] for reply in replies), default=None),
        "processes": [process.pid for process in job.members],
        "started": min((reply["started"] for reply in replies), default=None),
        "waiting": sum(place["waiting"] for place in places),
        "awake": sum(place["awake"] for place in places),
        "workers": sum(place["workers"] for place in places),
        "places_text": here,
    }


def table_of(rows):
    """The table of jobs as lines."""
    head = ("JOB", "PROGRAM", "PLACES", "SINCE", "WAITING", "AWAKE", "PROCESSES")
    cells = [head]
    for row in rows:
        answered = row["job_places"] is not None
        cells.append((
            row["job"], row["program"],
            f"{row['places_text']} of {row['job_places']}" if answered else "?",
            since(row["started"]) if answered else "?",
            str(row["waiting"]) if answered else "?",
            f"{row['awake']} of {row['workers']}" if answered else "?", ranges(row["processes"])))
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    return ["  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip()
            for row in cells]


def task_text(group):
    """The name and the spawn site of a task, as the reports of the watchdog have them."""
    name = f'"{group["name"]}", ' if group["name"] else ""
    if group["spawned"]:
        return f"{name}spawned at {group['spawned']}"
    return name + ("main" if group.get("main") else "a task without a spawn site")


def wait_text(group):
    at = f" at {group['where']}" if group["where"] else ""
    return f"{group['construct']}{at}, {task_text(group)}"


def duration_text(place, group):
    """For how long the task of a group has waited that waits longest, as far as it is known."""
    seconds = int(group.get("waited_s", 0))
    if seconds < 1:
        return ""
    return f", for {'' if place['observed'] else 'at least '}{seconds} s"


def worker_lines(workers):
    """A line for the workers that run tasks of the same spawn site."""
    sites = collections.defaultdict(list)
    for number, worker in enumerate(workers):
        if worker["state"] == "running":
            sites[worker["spawned"]].append(number)
    for site, numbers in sorted(sites.items(), key=lambda item: (-len(item[1]), item[1])):
        several = len(numbers) > 1
        what = f"tasks spawned at {site}" if site else "tasks without a spawn site"
        what = site if site == "main" else what
        which = f"workers {ranges(numbers)} run" if several else f"worker {numbers[0]} runs"
        yield f"  {which} {what}"


def place_lines(reply, place):
    """What the tasks of a place wait for, and what its workers run."""
    running = sum(worker["state"] == "running" for worker in place["workers"])
    workers = "no worker runs a task"
    if running:
        all_workers = count(len(place["workers"]), "worker")
        workers = f"{running} of {all_workers} run{'s' if running == 1 else ''} tasks"
    waits = "no task waits"
    if place["waiting"]:
        waits = f"{count(place['waiting'], 'task')} wait{'s' if place['waiting'] == 1 else ''}"
    queued = f", {count(place['queued'], 'task')} in queues" if place["queued"] else ""
    yield (f"place {place['place']} on {reply['host']} (process {reply['process']}): {workers}, "
           f"{waits}{queued}")
    for group in place["groups"][:GROUPS_AT_MOST]:
        awaits = f" ({group['awaits']})" if group.get("awaits") else ""
        yield f"{group['tasks']:>8,} in {wait_text(group)}{duration_text(place, group)}{awaits}"
    if len(place["groups"]) > GROUPS_AT_MOST:
        yield f"           and {len(place['groups']) - GROUPS_AT_MOST} more such groups"
    if place["cycle"]:
        which = "they" if place["at_rest"] else "some of them"
        yield f"  {which} wait for each other: {place['cycle']}"
    yield from worker_lines(place["workers"])


def report_lines(job, replies, together=()):
    """`together`: the lines that all places have made together, also those of other hosts."""
    total = max((reply["job_places"] for reply in replies), default=None)
    if total is None:
        return
    here = [place["place"] for reply in replies for place in reply["places"]]
    begun = since(min(reply["started"] for reply in replies))
    yield f"job {job.name}: {job.program}, {count(total, 'place')}, since {begun}"
    for reply in replies:
        for place in reply["places"]:
            yield from place_lines(reply, place)
    known = {process.place for process in job.members} | set(here)
    if together:
        yield "all places together:"
        yield from (f"  {line}" for line in together)
    elif total > len(known):
        yield (f"places {ranges(set(range(total)) - known)} are on other hosts: call apgas-ps "
               "there, too")
