# SPDX-License-Identifier: Apache-2.0
"""The control sockets of the processes of jobs on this host: finds them and asks them.

launch/control/src/control_protocol.hpp is the other end. The name of a socket in the abstract
namespace is apgas/<user id>/<job>/<lowest place>/<process id>.
"""

import collections
import json
import os
import pwd
import re
import socket
import struct
import time

MAGIC = b"APGASCTL"
VERSION = 1
REQUEST = struct.Struct("<8sII")
REPLY = struct.Struct("<8sIIQ")
DONE, OTHER_VERSION, UNKNOWN_REQUEST, NOT_NOW, FAILED = range(5)
LONGEST_REPLY = 1 << 30
LISTENING = "00010000"  # flags in /proc/net/unix
PATIENCE = 3.0  # seconds
ADDRESS = re.compile(r"@apgas/([0-9]{1,10})/([A-Za-z0-9._-]{1,64})/([0-9]{1,10})/([0-9]{1,10})")

Process = collections.namedtuple("Process", "user job place pid address")


class Unanswered(Exception):
    """A process has not answered. The text is one line that names it."""


class Ended(Unanswered):
    """The process has ended, or is about to."""


class NotNow(Unanswered):
    """Not all places of the job have answered in time."""


def name_of_user(user):
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return str(user)


def processes(table="/proc/net/unix"):
    """Returns the processes of all users that listen on a control socket, sorted."""
    found = set()
    with open(table, encoding="utf-8", errors="replace") as file:
        for line in file:
            fields = line.split(maxsplit=7)
            if len(fields) < 8 or fields[3] != LISTENING:
                continue
            if named := ADDRESS.fullmatch(fields[7].rstrip("\n")):
                user, job, place, pid = named.groups()
                found.add(Process(int(user), job, int(place), int(pid), named[0][1:]))
    return sorted(process for process in found if os.path.exists(f"/proc/{process.pid}"))


def state_of(pid):
    """Returns the letter of the state of a process, as T if it is stopped; "" if it is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return ""


def describe(process):
    return f"place {process.place} of job {process.job} (process {process.pid})"


def late(process, seconds):
    state = state_of(process.pid)
    if state in ("", "Z", "X"):
        return Ended(f"{describe(process)} has ended")
    if state in ("T", "t"):
        return Unanswered(f"{describe(process)} is stopped, so it cannot answer; kill -CONT "
                          f"{process.pid} lets it go on")
    return Unanswered(f"{describe(process)} has not answered for {seconds:g} s")


def check_peer(connection, process):
    """Refuses the address of a process that is used by another one."""
    packed = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    pid, user, _ = struct.unpack("3i", packed)
    if user != process.user or pid != process.pid:
        raise Unanswered(f"the address of {describe(process)} is used by process {pid} of user "
                         f"{name_of_user(user)}, which is another program")


def receive(connection, size, end):
    parts = []
    while size > 0:
        left = end - time.monotonic()
        if left <= 0:
            raise socket.timeout()
        connection.settimeout(left)
        part = connection.recv(min(size, 1 << 20))
        if not part:
            raise ConnectionResetError()
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def exchange(process, request, seconds):
    """Returns the status and the body of the reply."""
    end = time.monotonic() + seconds
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(seconds)
        connection.connect("\0" + process.address)
        check_peer(connection, process)
        text = request.encode()
        connection.sendall(REQUEST.pack(MAGIC, VERSION, len(text)) + text)
        magic, version, status, length = REPLY.unpack(receive(connection, REPLY.size, end))
        if magic != MAGIC or length > LONGEST_REPLY:
            raise Unanswered(f"{describe(process)} answers with another protocol")
        if version != VERSION or status == OTHER_VERSION:
            raise Unanswered(f"{describe(process)} speaks version {version} of the control "
                             f"protocol, and this tool version {VERSION}: use the tools that were "
                             "installed with the library of the program")
        return status, receive(connection, length, end)


def ask(process, request, seconds=PATIENCE):
    """Returns the reply of a process as values. Raises Unanswered."""
    try:
        status, body = exchange(process, request, seconds)
    except (socket.timeout, BlockingIOError):
        raise late(process, seconds) from None
    except (ConnectionError, FileNotFoundError):
        raise Ended(f"{describe(process)} has ended, or its run has") from None
    except OSError as error:
        raise Unanswered(f"{describe(process)} cannot be asked: {error.strerror}") from None
    if status == NOT_NOW:
        raise NotNow(f"not all places of job {process.job} have answered yet")
    text = body.decode(errors="replace")
    if status != DONE:
        why = f"does not know the request '{text}'" if status == UNKNOWN_REQUEST else text
        raise Unanswered(f"{describe(process)}: {why}")
    try:
        return json.loads(text)
    except ValueError:
        raise Unanswered(f"{describe(process)} answers with something else than JSON") from None
