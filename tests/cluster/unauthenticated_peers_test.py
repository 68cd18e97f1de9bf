#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where a job listens, and that it is not disturbed when unauthenticated peers connect there.

Arguments: as in simulated_cluster.py.
"""

import json
import socket
import sys

from job import ENDED, Case, Job, main
from simulated_cluster import HOSTS, TRANSPORTS, cluster


# Prints the listening sockets of a host, IPv4 and IPv6: address and port in the format of /proc.
LISTENERS = """
for file in ('tcp', 'tcp6'):
  for line in open('/proc/net/' + file):
    part = line.split()
    if part[3] == '0A': print(part[1])
"""

OF_OPEN_MPI = {"00000000", "0" * 32}  # Open MPI listens at all addresses, whatever its options

# Connects repeatedly to each address and port for a number of seconds. It sends nothing, or data
# that no program of the job sends, and leaves some connections open. Prints the number of
# connections to each port.
UNAUTHENTICATED_PEER = """
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


def listeners(host):
    shown = cluster("exec", host, "--", "python3", "-c", LISTENERS)
    assert shown.returncode == 0, shown
    return set(shown.stdout.split())


def address_of(host, version=4):
    """The address of its interface to which other hosts connect, or None if it has none."""
    shown = cluster("exec", host, "--", "ip", f"-{version}", "-j", "address", "show", "eth0")
    found = [info["local"] for each in json.loads(shown.stdout) for info in each["addr_info"]]
    return (found[0] if version == 4 else f"{found[0]}%eth0") if found else None


def addresses_of(host):
    """The addresses of a host, by the length of their text in /proc."""
    return {8: address_of(host), 32: address_of(host, 6)}


def reachable(own, listening):
    """The sockets that another host can reach: address and port of each, as separate words."""
    parts = [each.split(":") for each in listening if not each.startswith("0100007F")]
    return [word for address, port in parts if own[len(address)]
            for word in (own[len(address)], str(int(port, 16)))]


class Listeners(Case):
    def test_places_of_a_single_host_listen_only_on_that_host(self):
        before = listeners("node2")
        for transport in TRANSPORTS:
            with self.subTest(transport=transport):
                job = Job(transport, hosts=["node2"])
                addresses = {each.rpartition(":")[0] for each in listeners("node2") - before}
                job.kill("node2", 0)
                self.check(job, "kill -9 of place 0", f"^apgas: place 0 on node2 {ENDED}; ")
                self.assertEqual(addresses - OF_OPEN_MPI, {"0100007F"})

    def test_places_use_the_interface_that_is_selected(self):
        before = {host: listeners(host) for host in HOSTS}
        for transport in TRANSPORTS:
            with self.subTest(transport=transport):
                job = Job(transport, options=("--interface", "eth0"))
                during = {host: listeners(host) - before[host] for host in HOSTS}
                job.kill("node1", 0)
                self.check(job, "kill -9 of place 0", f"^apgas: place 0 on node1 {ENDED}; ")
                for host in HOSTS:
                    own = socket.inet_aton(address_of(host))[::-1].hex().upper()  # as in /proc
                    addresses = {each.rpartition(":")[0] for each in during[host]}
                    self.assertEqual(addresses - OF_OPEN_MPI - {own, "0100007F"}, set(), host)


class UnauthenticatedPeers(Case):
    def test_garbage_at_all_ports_does_not_disturb_a_job(self):
        before = {host: (addresses_of(host), listeners(host)) for host in HOSTS[:2]}
        for transport in TRANSPORTS:
            with self.subTest(transport=transport):
                job = Job(transport)
                targets = [word for host, (own, known) in before.items()
                           for word in reachable(own, listeners(host) - known)]
                thrown = cluster("exec", "node3", "--", "python3", "-c", UNAUTHENTICATED_PEER,
                                 "4", *targets)
                self.assertIsNone(job.process.poll(), "the job ended before it could be disturbed")
                made = [int(count) for count in thrown.stdout.split()]
                self.assertGreaterEqual(len(made), 2 * 3, targets)  # mpirun or orted, two places
                self.assertGreater(min(made), 0, targets)
                job.kill(HOSTS[0], 0, "USR1")  # ends the work
                code, out, err = job.finish()
                self.assertEqual((code, out), (0, "done\n"), err)
                print(f"{transport}: {sum(made)} connections to {len(made)} ports, "
                      f"{len(err.splitlines())} lines of Open MPI", flush=True)


if __name__ == "__main__":
    sys.exit(main())
