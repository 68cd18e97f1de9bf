# SPDX-License-Identifier: Apache-2.0
"""The probes that apgas-doctor runs on a host. Prints their results as JSON on standard output.

apgas-doctor sends this script to other hosts through ssh (`python3 - '<question>'`), so it needs
only itself and Python 3.8. The question is JSON: {"hosts": [names to resolve], "program": path or
null, "folder": where apgas-info may be}. A value that cannot be determined is null.
"""

import ctypes
import glob
import hashlib
import json
import os
import platform
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return None


def number(path):
    text = read(path)
    return int(text) if text and re.fullmatch(r"-?\d+", text) else None


def output(*command):
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              universal_newlines=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def mpi():
    text = output("mpirun", "--version") or output("mpiexec", "--version") or ""
    found = re.search(r"\(Open MPI\) (\S+)|HYDRA.*?Version:\s+(\S+)", text, re.DOTALL)
    if not found:
        return None
    return f"Open MPI {found[1]}" if found[1] else f"MPICH {found[2]}"


def ucx():
    """Returns version and transports; the latter need the package ucx-utils."""
    try:
        library = ctypes.CDLL("libucp.so.0")
    except OSError:
        return None
    library.ucp_get_version_string.restype = ctypes.c_char_p
    devices = output("ucx_info", "-d")
    transports = devices and sorted(set(re.findall(r"Transport: (\S+)", devices)))
    return {"version": library.ucp_get_version_string().decode().split()[0],
            "transports": transports}


def apgas(folder):
    program = shutil.which("apgas-info", path=os.pathsep.join([folder, os.environ.get("PATH", "")]))
    text = program and output(program)
    if not text:
        return None
    lines = dict(re.findall(r"(?m)^(version|transports|places) +(.+)$", text))
    return {"path": program, "version": lines.get("version"),
            "transports": lines.get("transports"),
            "alone": re.sub(r"^place 0 on \S+: ", "", lines.get("places", "")) or None}


def fingerprint(program):
    """Returns a hash of the file, or None if there is no such program."""
    if not program or not os.access(program, os.X_OK) or os.path.isdir(program):
        return None
    with open(program, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()[:16]


def can_read_other_processes():
    """Whether a process can read the memory of its sibling, as places do (cross-memory attach)."""
    class IoVector(ctypes.Structure):
        _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]

    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "process_vm_readv"):
        return False
    here = ctypes.create_string_buffer(b"sibling")
    sleeper = os.fork()
    if sleeper == 0:
        while True:
            signal.pause()
    reader = os.fork()
    if reader == 0:
        copy = ctypes.create_string_buffer(8)
        to, source = IoVector(ctypes.addressof(copy), 8), IoVector(ctypes.addressof(here), 8)
        done = libc.process_vm_readv(sleeper, ctypes.byref(to), 1, ctypes.byref(source), 1, 0)
        os._exit(0 if done == 8 and copy.value == b"sibling" else 1)
    code = os.waitpid(reader, 0)[1]
    os.kill(sleeper, 9)
    os.waitpid(sleeper, 0)
    return code == 0


def space(path):
    try:
        found = os.statvfs(path)
    except OSError:
        return None
    return {"total": found.f_blocks * found.f_frsize, "free": found.f_bavail * found.f_frsize}


def resolve(name):
    try:
        return sorted({each[4][0] for each in socket.getaddrinfo(name, None)})
    except OSError as error:
        return {"error": error.strerror}


def places_of_jobs():
    """Returns the places that a launcher of Open MPI started, with their cores and workers."""
    found = []
    for file in glob.glob("/proc/[0-9]*/environ"):
        pid = int(file.split("/")[2])
        try:
            with open(file, "rb") as environment:
                set_there = dict(re.findall(r"(?:^|\0)(\w+)=([^\0]*)",
                                            environment.read().decode(errors="replace")))
            cores = sorted(os.sched_getaffinity(pid))
        except OSError:
            continue
        rank = set_there.get("OMPI_COMM_WORLD_RANK", set_there.get("PMIX_RANK", ""))
        # A thread that a worker starts inherits its name.
        workers = {read(thread) for thread in glob.glob("/proc/%d/task/*/comm" % pid)}
        workers = sum(bool(re.fullmatch(r"apgas-\d+", name or "")) for name in workers)
        if rank.isdigit() and workers:
            found.append({"pid": pid, "rank": int(rank), "job": set_there.get("PMIX_NAMESPACE"),
                          "cores": cores, "workers": workers})
    return sorted(found, key=lambda place: (place["job"] or "", place["rank"]))


def cores_in(text):
    """Returns the cores of a list of the kernel, such as "0-3,8"."""
    cores = []
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        cores += range(int(first), int(last or first) + 1)
    return cores


def domains():
    """Returns the cores of each NUMA domain that this process may use; none is empty."""
    allowed = os.sched_getaffinity(0)
    files = glob.glob("/sys/devices/system/node/node[0-9]*/cpulist")
    found = [sorted(allowed.intersection(cores_in(read(file) or ""))) for file in files]
    return sorted(filter(None, found))


def limit(what):
    soft, hard = resource.getrlimit(what)
    return [None if each == resource.RLIM_INFINITY else each for each in (soft, hard)]


def gather(question):
    return {
        "name": socket.gethostname(), "boot": read("/proc/sys/kernel/random/boot_id"),
        "architecture": platform.machine(), "mpi": mpi(), "ucx": ucx(),
        "apgas": apgas(question["folder"]), "program": fingerprint(question["program"]),
        "shm": space("/dev/shm"), "tmp": space(os.environ.get("TMPDIR", "/tmp")),
        "cma": can_read_other_processes(),
        "ptrace_scope": number("/proc/sys/kernel/yama/ptrace_scope"),
        "container": any(map(os.path.exists, ("/.dockerenv", "/run/.containerenv"))),
        "cores": sorted(os.sched_getaffinity(0)), "online": os.cpu_count(),
        "domains": domains(),
        "places": places_of_jobs(), "files": limit(resource.RLIMIT_NOFILE),
        "locked": limit(resource.RLIMIT_MEMLOCK), "maps": number("/proc/sys/vm/max_map_count"),
        "overcommit": number("/proc/sys/vm/overcommit_memory"),
        "infiniband": bool(glob.glob("/sys/class/infiniband/*")),
        "names": {name: resolve(name) for name in question["hosts"]},
    }


if __name__ == "__main__":
    print(json.dumps(gather(json.loads(sys.argv[1]))))
