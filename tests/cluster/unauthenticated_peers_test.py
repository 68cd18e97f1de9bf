#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where a job listens, and what becomes of it when others of the network connect there.

Arguments: as in nodes.py.
"""

import json
import socket
import sys

from job import WORD, Case, Job, main
from nodes import ENGINE, HOSTS, TRANSPORTS, cluster


# What listens at that node: address and port as the kernel writes them, IPv4 and IPv6.
LISTENERS = """
for file in ('tcp', 'tcp6'):
  for line in open('/proc/net/' + file):
    part = line.split()
    if part[3] == '0A': print(part[1])
"""

OF_OPEN_MPI = {"00000000", "0" * 32}  # it takes all addresses, with any flag

# Connects again and again for so many seconds to each address and port, with what no program of the
# job says, or nothing; some connections stay. Prints how many were made to each.
STRANGER = """
import os, socket, sys, time
words = [b'', b'GET / HTTP/1.1\\r\\n\\r\\n', bytes(4096), os.urandom(16), os.urandom(100_000)]
targets = list(zip(sys.argv[2::2], sys.argv[3::2]))
made, kept = dict.fromkeys(targets, 0), []
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
  for address, port in targets:
    for word in words:
      try:
        connection = socket.create_connection((address, int(port)), 1)
        made[address, port] += 1
        connection.settimeout(0.2)
        connection.sendall(word)
        if len(kept) < 500 and made[address, port] % 2: kept.append(connection)
        else: connection.close()
      except OSError: pass
  time.sleep(0.01)
print(*made.values())
"""


def listeners(node):
    shown = cluster("exec", node, "--", "python3", "-c", LISTENERS)
    assert shown.returncode == 0, shown
    return set(shown.stdout.split())


def address_of(node, version=4):
    """Of its interface, as another node connects to it; None: it has none of that version."""
    shown = cluster("exec", node, "--", "ip", f"-{version}", "-j", "address", "show", "eth0")
    found = [info["local"] for each in json.loads(shown.stdout) for info in each["addr_info"]]
    return (found[0] if version == 4 else f"{found[0]}%eth0") if found else None


def addresses_of(node):
    """By the length of what the kernel writes."""
    return {8: address_of(node), 32: address_of(node, 6)}


def reachable(own, listening):
    """Those that another node reaches, as words: address and port of each."""
    parts = [each.split(":") for each in listening if not each.startswith("0100007F")]
    return [word for address, port in parts if own[len(address)]
            for word in (own[len(address)], str(int(port, 16)))]


class Listeners(Case):
    def test_on_one_host_places_listen_to_that_host_only(self):
        before = listeners("node2")
        for transport in TRANSPORTS:
            with self.subTest(transport=transport):
                job = Job(transport, hosts=["node2"])
                addresses = {each.rpartition(":")[0] for each in listeners("node2") - before}
                job.kill("node2", 0)
                self.check(job, "kill -9 of place 0", f"^apgas: place 0 on node2 is gone: {WORD}; ")
                self.assertEqual(addresses - OF_OPEN_MPI, {"0100007F"})

    def test_the_places_use_the_interface_that_is_named(self):
        before = {node: listeners(node) for node in HOSTS}
        for transport in TRANSPORTS:
            with self.subTest(transport=transport):
                job = Job(transport, options=("--interface", "eth0"))
                during = {node: listeners(node) - before[node] for node in HOSTS}
                job.kill("node1", 0)
                self.check(job, "kill -9 of place 0", f"^apgas: place 0 on node1 is gone: {WORD}; ")
                for node in HOSTS:
                    own = socket.inet_aton(address_of(node))[::-1].hex().upper()  # as in /proc
                    addresses = {each.rpartition(":")[0] for each in during[node]}
                    self.assertEqual(addresses - OF_OPEN_MPI - {own, "0100007F"}, set(), node)


class Strangers(Case):
    def test_garbage_at_all_ports_of_a_job(self):
        before = {node: (addresses_of(node), listeners(node)) for node in HOSTS[:2]}
        for transport in TRANSPORTS:
            with self.subTest(transport=transport):
                # An engine beside places that compute takes seconds for each command.
                job = Job(transport, seconds=8 if ENGINE == "netns" else 40)
                targets = [word for node, (own, known) in before.items()
                           for word in reachable(own, listeners(node) - known)]
                thrown = cluster("exec", "node3", "--", "python3", "-c", STRANGER, "4", *targets)
                self.assertIsNone(job.process.poll(), "the job ended too early to be disturbed")
                made = [int(count) for count in thrown.stdout.split()]
                self.assertGreaterEqual(len(made), 2 * 3, targets)  # mpirun or orted, two places
                self.assertGreater(min(made), 0, targets)
                code, out, err = job.finish()
                self.assertEqual((code, out), (0, "done\n"), err)
                print(f"{transport}: {sum(made)} connections to {len(made)} ports, "
                      f"{len(err.splitlines())} lines of Open MPI", flush=True)


if __name__ == "__main__":
    sys.exit(main())
