# SPDX-License-Identifier: Apache-2.0
"""Makes the network of a host slow or lossy with tc and iptables, whichever the engine."""

from shell import Problem, run, works

# A token bucket filter: the largest burst, and how long a packet may wait in the queue.
LIMIT = ["tc", "qdisc", "replace", "dev", "eth0", "root", "tbf", "burst", "32kb", "latency", "50ms"]
NO_LIMIT = ["tc", "qdisc", "del", "dev", "eth0", "root"]
LOSE = ["iptables", "-A", "INPUT", "-i", "eth0", "-m", "statistic", "--mode", "random"]
NO_LOSS = ["iptables", "-F", "INPUT"]


def limit(cluster, host, rate):
    """Limits the rate of data that leaves the host, such as 10mbit."""
    change(cluster, host, [*LIMIT, "rate", rate],
           "this requires tc of iproute2 and a kernel with tbf (sch_tbf)")


def lose(cluster, host, percent):
    """Drops that percentage of the packets that arrive at the host, including replies to it."""
    change(cluster, host, [*LOSE, "--probability", str(percent / 100), "-j", "DROP"],
           "this requires iptables and a kernel with its match statistic (xt_statistic)")


def change(cluster, host, command, needs):
    try:
        run(*cluster.network_command(host, command))
    except Problem as problem:
        raise Problem(f"{problem}; {needs}") from None


def undo(cluster, host):
    """Removes the limit and the losses, if there are any."""
    for command in (NO_LIMIT, NO_LOSS):
        works(*cluster.network_command(host, command))
