# SPDX-License-Identifier: Apache-2.0
"""A node whose network is slow or loses packets, with any engine: by tc and iptables there."""

from shell import Problem, run, works

# Per second, as tc says it; what a queue may hold of it, and how long.
LIMIT = ["tc", "qdisc", "replace", "dev", "eth0", "root", "tbf", "burst", "32kb", "latency", "50ms"]
NO_LIMIT = ["tc", "qdisc", "del", "dev", "eth0", "root"]
LOSE = ["iptables", "-A", "INPUT", "-i", "eth0", "-m", "statistic", "--mode", "random"]
NO_LOSS = ["iptables", "-F", "INPUT"]


def limit(cluster, node, rate):
    """Nothing more than that leaves the node, such as 10mbit."""
    change(cluster, node, [*LIMIT, "rate", rate],
           "this takes tc of iproute2 and a kernel with tbf (sch_tbf)")


def lose(cluster, node, percent):
    """So much of what comes to the node is lost, packet by packet, also what answers it."""
    change(cluster, node, [*LOSE, "--probability", str(percent / 100), "-j", "DROP"],
           "this takes iptables and a kernel with its match statistic (xt_statistic)")


def change(cluster, node, command, needs):
    try:
        run(*cluster.network_command(node, command))
    except Problem as problem:
        raise Problem(f"{problem}; {needs}") from None


def undo(cluster, node):
    """Ends both; where there was neither, nothing happens."""
    for command in (NO_LIMIT, NO_LOSS):
        works(*cluster.network_command(node, command))
