# SPDX-License-Identifier: Apache-2.0
"""A cluster without an engine: each node is a set of namespaces of this machine, on one bridge.

A node has its own network, host name, /etc/hosts, IPC, /dev/shm and TMPDIR; files and processes are
those of this machine. The bridge is in a namespace of its own: nothing else is reached from there.
Every namespace lives as long as one process that sleeps in it. Needs root and iproute2.

  <state>/hosts, path, log       /etc/hosts and PATH of the nodes; what was done
  <state>/bin/ssh                namespace-ssh
  <state>/switch/pid             of the process that holds the bridge
  <state>/node1/pid, cut, tmp    of that node; without pid it is dead
"""

import os
import pathlib
import shutil
import signal
import subprocess
import time

from shell import Problem, run, works

STATES = pathlib.Path("/run/apgas-cluster")
ROOT = pathlib.Path(__file__).resolve().parents[1]
SSH = ROOT / "docker/namespace-ssh"
BUILT = ("launch", "build/release/launch", "build/release/apps")  # without an installation
KINDS = ("--net", "--uts", "--ipc", "--mount")
UNTIL_LINKED = "until ip link show dev eth0 | grep -q 'state UP'; do sleep 0.02; done"


def missing():
    """Why there can be no such cluster here; empty when there can."""
    if os.geteuid() != 0:
        return "namespaces need root (sudo)"
    for program, package in (("ip", "iproute2"), ("nsenter", "util-linux")):
        if not shutil.which(program):
            return f"no {program} on PATH (apt install {package})"
    if not works("unshare", *KINDS, "ip", "link", "add", "type", "bridge"):
        return "this system lets nobody make network namespaces with a bridge (a container?)"
    return ""


def start_holder(*kinds):
    """A process that sleeps in new namespaces."""
    command = ["unshare", *kinds, "sh", "-c", "echo ready; exec sleep infinity"]
    with subprocess.Popen(["setsid", *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as holder:
        if holder.stdout.readline() != "ready\n":
            raise Problem(f"no namespaces: {holder.stderr.read().strip()}")
        holder.returncode = 0  # it outlives this process
        return holder.pid


def network_of(process):
    try:
        return os.readlink(f"/proc/{process}/ns/net")
    except OSError:
        return ""


def kill_all_in(holder):
    """Every process in the network namespace of that one."""
    network = network_of(holder)
    if not network or network == network_of("self"):
        return
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        inside = [int(p) for p in os.listdir("/proc") if p.isdigit() and network_of(p) == network]
        if not inside:
            return
        for process in inside:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.02)
    raise Problem("processes of the node do not end")


class Namespaces:
    engine = "netns"

    def __init__(self, name):
        self.name = name
        self.state = STATES / name

    def is_up(self):
        return self.state.is_dir() and bool(network_of(self.pid("switch")))

    def pid(self, what):
        file = self.state / what / "pid"
        return file.read_text() if file.exists() else ""

    def log(self, event):
        with (self.state / "log").open("a") as log:
            log.write(f"{time.strftime('%H:%M:%S')} {event}\n")

    def in_switch(self, *command):
        run("nsenter", "--target", self.pid("switch"), "--net", *command)

    def up(self, count, slots, prefix):
        reason = missing()
        if reason:
            raise Problem(reason)
        shutil.rmtree(self.state, ignore_errors=True)
        (self.state / "bin").mkdir(parents=True, mode=0o700)
        (self.state / "bin/ssh").symlink_to(SSH)
        nodes = {f"node{i}": f"10.77.0.{10 + i}" for i in range(1, count + 1)}
        lines = ["127.0.0.1 localhost", *(f"{address} {node}" for node, address in nodes.items())]
        (self.state / "hosts").write_text("\n".join(lines) + "\n")
        programs = [f"{prefix}/bin"] if prefix else [str(ROOT / folder) for folder in BUILT]
        (self.state / "path").write_text(
            ":".join([str(self.state / "bin"), *programs, os.environ["PATH"]]))
        (self.state / "slots").write_text(",".join(f"{node}:{slots}" for node in nodes))
        try:
            self.start("switch", "--net")
            self.in_switch("ip", "link", "add", "bridge0", "type", "bridge")
            self.in_switch("ip", "link", "set", "bridge0", "up")
            for node, address in nodes.items():
                self.start_node(node, address)
        except Problem:
            self.down()
            raise

    def start(self, what, *kinds):
        (self.state / what).mkdir(mode=0o700)
        (self.state / what / "pid").write_text(str(start_holder(*kinds)))

    def start_node(self, node, address):
        self.start(node, *KINDS, "--propagation", "private")
        (self.state / node / "tmp").mkdir()
        self.in_switch("ip", "link", "add", node, "type", "veth", "peer", "name", "eth0", "netns",
                       self.pid(node))
        self.in_switch("ip", "link", "set", node, "master", "bridge0", "up")
        set_up = (f"hostname {node}; mount -t tmpfs tmpfs /dev/shm; "
                  f"mount --bind {self.state}/hosts /etc/hosts; ip link set lo up; "
                  f"ip addr add {address}/24 dev eth0; ip link set eth0 up")
        run(*self.enter(node), "sh", "-ec", set_up)
        self.log(f"{node} up, {address}")

    def enter(self, node):
        return ["nsenter", "--target", self.pid(node), *KINDS, "--"]

    def nodes(self):
        def state_of(node):
            if not network_of(self.pid(node)):
                return "dead"
            return "cut" if (self.state / node / "cut").exists() else "running"
        names = sorted(file.parent.name for file in self.state.glob("node*/tmp"))
        return {name: state_of(name) for name in names}

    def hosts(self):
        return (self.state / "slots").read_text()

    def execute(self, node, arguments):
        """Runs it at that node, in this folder, in place of this process."""
        command = [*self.enter(node), "env", f"PATH={(self.state / 'path').read_text()}",
                   f"TMPDIR={self.state / node / 'tmp'}", f"APGAS_HOSTS={self.hosts()}",
                   "sh", "-c", 'cd "$0" && exec "$@"', os.getcwd(), *arguments]
        os.execvp(command[0], command)

    def network_command(self, node, arguments):
        """The same for its network only."""
        return [*self.enter(node), *arguments]

    def kill(self, node):
        kill_all_in(self.pid(node))
        (self.state / node / "pid").unlink()
        self.log(f"{node} killed")

    def cut(self, node):
        (self.state / node / "cut").touch()
        self.in_switch("ip", "link", "set", node, "down")
        self.log(f"{node} cut")

    def heal(self, node):
        self.in_switch("ip", "link", "set", node, "up")
        run(*self.network_command(node, ["sh", "-c", UNTIL_LINKED]))
        (self.state / node / "cut").unlink(missing_ok=True)
        # An address that was asked for in vain counts as unreachable a little longer, and what
        # connects then fails at once: all nodes ask anew.
        for each, state in self.nodes().items():
            if state == "running":
                run(*self.network_command(each, ["ip", "neigh", "flush", "dev", "eth0"]))
        self.log(f"{node} healed")

    def logs(self, node):
        lines = (self.state / "log").read_text().splitlines()
        return "\n".join(line for line in lines if f" {node} " in line) + "\n"

    def down(self):
        for what in (*self.nodes(), "switch"):
            kill_all_in(self.pid(what))
        shutil.rmtree(self.state)
