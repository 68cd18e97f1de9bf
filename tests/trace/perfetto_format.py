# SPDX-License-Identifier: Apache-2.0
"""Writes small traces in Perfetto's format, for tests of what reads them."""

import struct


def varint(value):
    value &= (1 << 64) - 1
    result = b""
    while value > 127:
        result += bytes([value & 127 | 128])
        value >>= 7
    return result + bytes([value])


def message(*fields):
    """Returns the bytes of a message. Each field is (number, integer, bytes, text or double)."""
    result = b""
    for number, value in fields:
        if isinstance(value, int):
            result += varint(number << 3) + varint(value)
        elif isinstance(value, float):
            result += varint(number << 3 | 1) + struct.pack("<d", value)
        else:
            value = value.encode() if isinstance(value, str) else value
            result += varint(number << 3 | 2) + varint(len(value)) + value
    return result


def fixed(number, value):
    return varint(number << 3 | 1) + struct.pack("<Q", value)


def packet(*fields):
    return message((1, message(*fields)))


def track(uuid, pid, tid, name):
    if tid is None:
        return packet((60, message((1, uuid), (3, message((1, pid), (6, name))))))
    return packet((60, message((1, uuid), (4, message((1, pid), (2, tid), (5, name))))))


def event(time, kind, *fields, extra=b""):
    return packet((8, time), (10, 1), (13, 2),
                  (11, message((9, kind), (11, 20), *fields) + extra))


def example(ended=True):
    """A trace with two slices on a track, and a flow from the first to the second."""
    names = packet((10, 1), (13, 1), (12, message((2, message((1, 1), (2, "first"))),
                                                  (3, message((1, 1), (2, "tasks"))))))
    return b"".join([
        track(10, 7, None, "place 0"), track(20, 7, 8, "worker 0"), names,
        event(1000, 1, (10, 1), (22, "task"), (4, message((1, 1), (4, 3))), extra=fixed(47, 5)),
        event(3000, 2),
        event(4000, 1, (23, "second"), (22, "task"), extra=fixed(48, 5)),
        event(5000, 2) if ended else b""])
