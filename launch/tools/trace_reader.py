# SPDX-License-Identifier: Apache-2.0
"""Reads traces: files in the Trace Event Format (JSON) and in the format of Perfetto (.pftrace).

Files may be large, so they are read piece by piece. Times are microseconds, as floating point.
"""

import json
import pathlib
from typing import NamedTuple

import trace_protobuf


class BadTrace(Exception):
    """The file is no trace, or not a whole one. Argument: one line that says why."""


class Slice(NamedTuple):
    """Something that took time on a track; without duration it is an instant.

    A slice lies within those that it is nested in. The track is a thread or, for what belongs to no
    thread, such as a wait, a row with a text in the place of the thread.
    """
    track: tuple     # (process, thread)
    begin: float
    duration: float  # negative: it has no end
    name: str
    category: str
    details: dict


class Flow(NamedTuple):
    """One end of an arrow. The arrow belongs to the slice of the track that is open then."""
    track: tuple
    time: float
    number: object   # equal for the ends of one arrow
    name: str
    leaves: bool     # the arrow begins here; otherwise it ends here


class Name(NamedTuple):
    """The name of a process, where the track has no thread, or of a thread."""
    track: tuple
    text: str


class Counter(NamedTuple):
    """A value that changes at a time."""
    track: tuple
    time: float
    name: str
    value: float


class Metadata(NamedTuple):
    """Facts about the run: docs/debugging/trace.md lists them."""
    facts: dict


def read_trace(path):
    """Yields the slices, flows, names and counters of the file, in the order of the file.

    Throws: BadTrace, also after events, if the file ends too early.
    """
    path = pathlib.Path(path)
    try:
        with path.open("rb") as file:
            start = file.read(64).lstrip()
            file.seek(0)
            if not start:
                raise BadTrace(f"{path} is empty: no trace was written into it")
            if start[:1] in (b"{", b"["):
                yield from read_json(path, file)
            elif start[:1] == b"\n" or file.read(1) == b"\n":  # field 1 of perfetto.protos.Trace
                file.seek(0)
                try:
                    yield from read_perfetto(file)
                except trace_protobuf.Truncated:
                    raise BadTrace(truncated(path)) from None
            else:
                raise BadTrace(foreign(path))
    except OSError as error:
        raise BadTrace(f"{path} cannot be read: {error.strerror.lower()}") from None


def truncated(path):
    return (f"{path} is not a whole trace: its end is missing. Was the program killed, or is the "
            "disk full?")


def foreign(path):
    return f"{path} is not a trace: name a file that APGAS_TRACE has written"


CHUNK = 1 << 20  # bytes

# ---- JSON ----------------------------------------------------------------------------------------

def json_events(path, file):
    """Yields the events as objects. Files of this library have one on each line."""
    first = file.readline()
    if b"traceEvents" not in first or not first.rstrip().endswith(b"["):
        file.seek(0)
        yield from events_of_whole_file(path, file)
        return
    last = b""
    while lines := file.readlines(CHUNK):
        last = lines[-1].strip()
        try:  # many lines at once, which takes half the time
            yield from json.loads("[" + b"".join(lines).decode().strip().strip(",") + "]")
            continue
        except ValueError:
            pass
        for line in lines:
            text = line.strip().strip(b",")
            try:
                if text[:1] == b"]":
                    rest = text[1:].strip(b" ,")
                    yield from metadata_in(json.loads(b"{" + (rest or b"}")))
                    return
                if text:
                    yield json.loads(text)
            except ValueError:
                raise BadTrace(broken(path, file, len(first), last)) from None
    raise BadTrace(broken(path, file, len(first), last))


def broken(path, file, start, last):
    """Says why the list of events is not closed, or not one."""
    file.seek(0, 2)
    if last.rstrip(b",")[-1:] == b"}" and last[:1] != b"]" or file.tell() == start:
        return truncated(path)
    return foreign(path) if file_ends_well(file) else truncated(path)


def file_ends_well(file):
    file.seek(max(0, file.tell() - 16))
    return file.read().rstrip().endswith(b"}")


def events_of_whole_file(path, file):
    try:
        whole = json.load(file)
    except (ValueError, RecursionError) as error:
        at_end = isinstance(error, json.JSONDecodeError) and not error.doc[error.pos:].strip()
        raise BadTrace(truncated(path) if at_end or isinstance(error, json.JSONDecodeError) and
                       error.msg.startswith("Unterminated") else foreign(path)) from None
    events = whole.get("traceEvents") if isinstance(whole, dict) else whole
    if not isinstance(events, list):
        raise BadTrace(foreign(path))
    yield from events
    yield from metadata_in(whole if isinstance(whole, dict) else {})


def metadata_in(whole):
    if isinstance(whole.get("metadata"), dict):
        yield {"ph": "metadata", "pid": 0, "facts": whole["metadata"]}


def read_json(path, file):
    stacks = {}
    for event in json_events(path, file):
        try:
            kind = event["ph"]
            track = (event["pid"], event.get("tid", 0))
            if kind == "X":
                yield Slice(track, event["ts"], event["dur"], event["name"], event.get("cat", ""),
                            event.get("args", {}))
            elif kind == "B":
                stacks.setdefault(track, []).append(event)
            elif kind == "E":
                yield ended(path, stacks, track, event["ts"], event.get("args", {}))
            elif kind in ("s", "t", "f"):
                number = (event.get("cat"), event["id"])
                if kind != "s":
                    yield Flow(track, event["ts"], number, event["name"], False)
                if kind != "f":
                    yield Flow(track, event["ts"], number, event["name"], True)
            elif kind in ("b", "e"):
                number = event["id2"]["local"] if "id2" in event else event["id"]
                row = (event["pid"], f"{event['cat']} {number}")
                if kind == "b":
                    stacks.setdefault(row, []).append(event)
                else:
                    yield ended(path, stacks, row, event["ts"], event.get("args", {}))
            elif kind in ("i", "I"):
                yield Slice(track, event["ts"], 0.0, event["name"], event.get("cat", ""),
                            event.get("args", {}))
            elif kind == "metadata":
                yield Metadata(event["facts"])
            elif kind == "M" and event["name"] == "process_name":
                yield Name((event["pid"], None), event["args"]["name"])
            elif kind == "M" and event["name"] == "thread_name":
                yield Name(track, event["args"]["name"])
            elif kind == "C":
                for name, value in event.get("args", {}).items():
                    yield Counter(track, event["ts"], f"{event['name']} {name}", value)
        except (KeyError, TypeError, AttributeError):
            raise BadTrace(foreign(path)) from None
    yield from unended(stacks)


def ended(path, stacks, track, time, details):
    if not stacks.get(track):
        raise BadTrace(f"{path} is not a trace of this library: a slice ends that has not begun")
    begun = stacks[track].pop()
    return Slice(track, begun["ts"], time - begun["ts"], begun["name"], begun.get("cat", ""),
                 {**begun.get("args", {}), **details})


def unended(stacks):
    for track, stack in stacks.items():
        for begun in stack:
            yield Slice(track, begun["ts"], -1.0, begun["name"], begun.get("cat", ""),
                        begun.get("args", {}))


# ---- Perfetto ------------------------------------------------------------------------------------

def read_perfetto(file):
    stacks, flows = {}, set()
    for event in trace_protobuf.track_events(file):
        kind, track, time = event.kind, event.track, event.time / 1000
        if kind == trace_protobuf.NAME:
            yield Name(track, event.name)
            continue
        if kind == trace_protobuf.COUNTER:
            yield Counter(track, time, event.name, event.value)
            continue
        for number in (*event.leaving, *event.arriving):  # leaving: also passing through
            if number in flows or number in event.arriving:  # the ends may come in any order
                yield Flow(track, time, number, "", False)
            if number not in event.arriving:
                yield Flow(track, time, number, "", True)
                flows.add(number)
        if kind == trace_protobuf.BEGIN:
            stacks.setdefault(track, []).append(
                {"ts": time, "name": event.name, "cat": event.category, "args": event.details})
        elif kind == trace_protobuf.INSTANT:
            if event.category == "metadata":
                try:
                    yield Metadata(json.loads(event.details["apgas"]))
                except (KeyError, ValueError):
                    raise BadTrace(foreign(file.name)) from None
            yield Slice(track, time, 0.0, event.name, event.category, event.details)
        elif kind == trace_protobuf.END:
            yield ended(file.name, stacks, track, time, event.details)
    yield from unended(stacks)
