# SPDX-License-Identifier: Apache-2.0
"""Reads the track events of a file in Perfetto's format, which is a protocol buffer.

The file is a sequence of packets (perfetto.protos.Trace). Only the fields that events on the tracks
of processes and threads consist of are decoded; the numbers are those of the .proto files. A packet
sequence may intern names: it defines a number once and uses it afterwards.
"""

import struct
from typing import NamedTuple

BEGIN, END, INSTANT, COUNTER, NAME = 1, 2, 3, 4, 100


class Truncated(Exception):
    """The file ends within a packet."""


class Event(NamedTuple):
    kind: int
    track: tuple           # (process, thread)
    time: float            # ns
    name: str = ""
    category: str = ""
    details: dict = {}
    leaving: tuple = ()    # numbers of flows
    arriving: tuple = ()   # the same of flows that end here
    value: float = 0.0


def varint(data, at):
    result = shift = 0
    while True:
        byte = data[at]
        at += 1
        result |= (byte & 127) << shift
        if byte < 128:
            return result, at
        shift += 7


def fields(data):
    """Yields the fields of a message as (number, value): an integer, or bytes.

    Throws: Truncated.
    """
    at, end = 0, len(data)
    try:
        while at < end:
            key = data[at]
            at += 1
            if key > 127:
                more, at = varint(data, at)
                key = key & 127 | more << 7
            wire = key & 7
            if wire == 0:
                value = data[at]
                at += 1
                if value > 127:
                    more, at = varint(data, at)
                    value = value & 127 | more << 7
            elif wire == 2:
                length, at = varint(data, at)
                value = data[at:at + length]
                at += length
            elif wire == 1:
                value = struct.unpack_from("<Q", data, at)[0]
                at += 8
            elif wire == 5:
                value = struct.unpack_from("<I", data, at)[0]
                at += 4
            else:
                raise Truncated
            yield key >> 3, value
    except (IndexError, struct.error):
        raise Truncated from None
    if at != end:
        raise Truncated


def packets(file):
    """Yields the bytes of each packet. Throws: Truncated."""
    while True:
        key = file.read(1)
        if not key:
            return
        if key != b"\n":
            raise Truncated
        length = shift = 0
        while True:
            byte = file.read(1)
            if not byte:
                raise Truncated
            length |= (byte[0] & 127) << shift
            if byte[0] < 128:
                break
            shift += 7
        try:
            packet = file.read(length)
        except (MemoryError, OverflowError):
            raise Truncated from None
        if len(packet) != length:
            raise Truncated
        yield packet


def text(data):
    return data.decode(errors="replace")


def double(bits):
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


class Sequence:
    """What one sequence of packets has interned."""

    def __init__(self):
        self.names = {}       # (field of InternedData, number) to text

    def intern(self, data):
        for field, entry in fields(data):
            values = dict(fields(entry))
            self.names[field, values.get(1, 0)] = text(values.get(2, b""))


class Tracks:
    """The tracks of the file, by their uuid."""

    def __init__(self):
        self.of = {}
        self.parents = {}
        self.names = {}

    def describe(self, data):
        """Takes a TrackDescriptor, and yields events of kind NAME."""
        known = dict(fields(data))
        uuid = known.get(1, 0)
        if 3 in known:
            process = dict(fields(known[3]))
            self.of[uuid] = (process.get(1, 0), None)
            if 6 in process:
                yield Event(NAME, self.of[uuid], 0, text(process[6]))
        elif 4 in known:
            thread = dict(fields(known[4]))
            self.of[uuid] = (thread.get(1, 0), thread.get(2, 0))
            if 5 in thread:
                yield Event(NAME, self.of[uuid], 0, text(thread[5]))
        else:
            parent = self.of.get(known.get(5, 0), (0, None))
            self.names[uuid] = text(known.get(2, b""))
            self.of[uuid] = (parent[0], f"{self.names[uuid]} {uuid}")


def annotation(data, sequence):
    name = value = ""
    for field, part in fields(data):
        if field == 1:
            name = sequence.names.get((3, part), "")
        elif field == 10:
            name = text(part)
        elif field == 6:
            value = text(part)
        elif field == 17:
            value = sequence.names.get((29, part), "")
        elif field in (2, 3):
            value = part
        elif field == 4:
            value = part - (1 << 64) if part >> 63 else part
        elif field == 5:
            value = double(part)
    return name, value


def track_event(time, data, sequence, tracks):
    kind, uuid, name, category, value = 0, 0, None, "", 0.0
    details, leaving, arriving = {}, [], []
    for field, part in fields(data):
        if field == 9:
            kind = part
        elif field == 11:
            uuid = part
        elif field == 10:
            name = sequence.names.get((2, part), "")
        elif field == 23:
            name = text(part)
        elif field == 3:
            category = sequence.names.get((1, part), "")
        elif field == 22:
            category = text(part)
        elif field == 4:
            key, what = annotation(part, sequence)
            details[key] = what
        elif field in (36, 47):
            leaving.append(part)
        elif field in (42, 48):
            arriving.append(part)
        elif field == 30:
            value = float(part)
        elif field == 44:
            value = double(part)
    track = tracks.of.get(uuid, (0, uuid))
    if name is None:
        name = tracks.names.get(uuid, "")
    return Event(kind, track, time, name, category, details, tuple(leaving), tuple(arriving), value)


def track_events(file):
    """Yields the events of the file. Throws: Truncated."""
    sequences, tracks = {}, Tracks()
    for packet in packets(file):
        time, event, interned, number, cleared = 0, None, None, 0, 0
        for field, value in fields(packet):
            if field == 11:
                event = value
            elif field == 8:
                time = value
            elif field == 10:
                number = value
            elif field == 12:
                interned = value
            elif field == 13:
                cleared = value & 1
            elif field == 60:
                yield from tracks.describe(value)
        sequence = sequences.get(number)
        if sequence is None or cleared:
            sequence = sequences[number] = Sequence()
        if interned is not None:
            sequence.intern(interned)
        if event is not None:
            yield track_event(time, event, sequence, tracks)
