# SPDX-License-Identifier: Apache-2.0
"""Parses lists of hosts for apgas-run and apgas-doctor: an option, or a file."""

import pathlib
import re

HOST = re.compile(r"([A-Za-z0-9][A-Za-z0-9.-]*)(?::(\w*))?")  # no underscore, as for Open MPI


class BadHosts(Exception):
    """The list of hosts is invalid. Argument: one line that says why."""


def slots_of(text, where):
    if not re.fullmatch(r"[1-9]\d{0,5}", text):
        raise BadHosts(f"{where}: '{text}' is not a number of slots; write a whole number from 1")
    return int(text)


def host_of(text, where):
    """Returns a host as (name, slots); slots are None if the text does not give them."""
    match = HOST.fullmatch(text)
    if not match:
        raise BadHosts(f"{where}: '{text}' is not a host; write name or name:slots, with letters, "
                       "digits, dots and hyphens in the name")
    return match[1], None if match[2] is None else slots_of(match[2], where)


def read_hostfile(name):
    try:
        lines = pathlib.Path(name).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not a text file"
        raise BadHosts(f"--hostfile {name}: {reason.lower()}") from None
    hosts = []
    for number, line in enumerate(lines, 1):
        words = line.partition("#")[0].split()
        where = f"--hostfile {name}, line {number}"
        if len(words) > 2 or len(words) == 2 and not words[1].startswith("slots="):
            raise BadHosts(f"{where}: '{line.strip()}'; write name, name:slots or name slots=n")
        if words:
            host, slots = host_of(words[0], where)
            if len(words) == 2:
                slots = slots_of(words[1].removeprefix("slots="), where)
            hosts.append((host, slots))
    if not hosts:
        raise BadHosts(f"--hostfile {name}: the file names no host")
    return hosts


def parse_hosts(text, where):
    return [host_of(each, where) for each in text.split(",")]


def with_slots(hosts, places):
    """Divides the remaining places evenly among the hosts without slots."""
    left = max(0, places - sum(slots or 0 for _, slots in hosts))
    sharing = sum(slots is None for _, slots in hosts)
    result = []
    for host, slots in hosts:
        if slots is None:
            slots = max(1, -(-left // sharing))
            left -= min(left, slots)
            sharing -= 1
        result.append((host, slots))
    return result
