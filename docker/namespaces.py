# SPDX-License-Identifier: Apache-2.0
"""A cluster without a container engine: each simulated host is a set of namespaces on one bridge.

A simulated host has its own network, host name, /etc/hosts, IPC, /dev/shm and TMPDIR. It shares
files and processes with the real host. The bridge is in a separate network namespace, from which
nothing else can be reached. A process that sleeps in each namespace keeps it alive. The cluster
needs root and iproute2.

  <state>/hosts, path, log       /etc/hosts and PATH of the simulated hosts; a log of events
  <state>/bin/ssh                a link to namespace-ssh
  <state>/switch/pid             the process that holds the namespace of the bridge
  <state>/node1/pid, cut, tmp    the state of a simulated host; without pid it is dead
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
BUILT = ("launch", "build/release/launch", "build/release/apps")  # if there is no installation
KINDS = ("--net", "--uts", "--ipc", "--mount")
UNTIL_LINKED = "until ip link show dev eth0 | grep -q 'state UP'; do sleep 0.02; done"


def missing():
    """The reason why no such cluster can run here, or an empty string."""
    if os.geteuid() != 0:
        return "namespaces need root (sudo)"
    for program, package in (("ip", "iproute2"), ("nsenter", "util-linux")):
        if not shutil.which(program):
            return f"no {program} on PATH (apt install {package})"
    if not works("unshare", *KINDS, "ip", "link", "add", "type", "bridge"):
        return "this system does not allow network namespaces with a bridge (is it a container?)"
    return ""


def start_holder(*kinds):
    """Starts a process that sleeps in new namespaces, and returns its pid."""
    command = ["unshare", *kinds, "sh", "-c", "echo ready; exec sleep infinity"]
    with subprocess.Popen(["setsid", *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as holder:
        if holder.stdout.readline() != "ready\n":
            raise Problem(f"cannot create namespaces: {holder.stderr.read().strip()}")
        holder.returncode = 0  # it outlives this process
        return holder.pid


def network_of(process):
    try:
        return os.readlink(f"/proc/{process}/ns/net")
    except OSError:
        return ""


def kill_all_in(holder):
    """Kills every process in the network namespace of that process."""
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
    raise Problem("the processes of the host do not end")


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
        hosts = {f"node{i}": f"10.77.0.{10 + i}" for i in range(1, count + 1)}
        lines = ["127.0.0.1 localhost", *(f"{address} {host}" for host, address in hosts.items())]
        (self.state / "hosts").write_text("\n".join(lines) + "\n")
        programs = [f"{prefix}/bin"] if prefix else [str(ROOT / folder) for folder in BUILT]
        (self.state / "path").write_text(
            ":".join([str(self.state / "bin"), *programs, os.environ["PATH"]]))
        (self.state / "slots").write_text(",".join(f"{host}:{slots}" for host in hosts))
        try:
            self.start("switch", "--net")
            self.in_switch("ip", "link", "add", "bridge0", "type", "bridge")
            self.in_switch("ip", "link", "set", "bridge0", "up")
            for host, address in hosts.items():
                self.start_host(host, address)
        except Problem:
            self.down()
            raise

    def start(self, what, *kinds):
        (self.state / what).mkdir(mode=0o700)
        (self.state / what / "pid").write_text(str(start_holder(*kinds)))

    def start_host(self, host, address):
        self.start(host, *KINDS, "--propagation", "private")
        (self.state / host / "tmp").mkdir()
        self.in_switch("ip", "link", "add", host, "type", "veth", "peer", "name", "eth0", "netns",
                       self.pid(host))
        self.in_switch("ip", "link", "set", host, "master", "bridge0", "up")
        set_up = (f"hostname {host}; mount -t tmpfs tmpfs /dev/shm; "
                  f"mount --bind {self.state}/hosts /etc/hosts; ip link set lo up; "
                  f"ip addr add {address}/24 dev eth0; ip link set eth0 up")
        run(*self.enter(host), "sh", "-ec", set_up)
        self.log(f"{host} up, {address}")

    def enter(self, host):
        return ["nsenter", "--target", self.pid(host), *KINDS, "--"]

    def states(self):
        def state_of(host):
            if not network_of(self.pid(host)):
                return "dead"
            return "cut" if (self.state / host / "cut").exists() else "running"
        names = sorted(file.parent.name for file in self.state.glob("node*/tmp"))
        return {name: state_of(name) for name in names}

    def host_list(self):
        return (self.state / "slots").read_text()

    def execute(self, host, arguments):
        """Replaces this process by a command on that host, in the current folder."""
        command = [*self.enter(host), "env", f"PATH={(self.state / 'path').read_text()}",
                   f"TMPDIR={self.state / host / 'tmp'}", f"APGAS_HOSTS={self.host_list()}",
                   "sh", "-c", 'cd "$0" && exec "$@"', os.getcwd(), *arguments]
        os.execvp(command[0], command)

    def network_command(self, host, arguments):
        """The command with a prefix that runs it in the network of that host."""
        return [*self.enter(host), *arguments]

    def kill(self, host):
        kill_all_in(self.pid(host))
        (self.state / host / "pid").unlink()
        self.log(f"{host} killed")

    def cut(self, host):
        (self.state / host / "cut").touch()
        self.in_switch("ip", "link", "set", host, "down")
        self.log(f"{host} cut")

    def heal(self, host):
        self.in_switch("ip", "link", "set", host, "up")
        run(*self.network_command(host, ["sh", "-c", UNTIL_LINKED]))
        (self.state / host / "cut").unlink(missing_ok=True)
        # The kernel remembers for a while that an address could not be resolved, and connections to
        # it fail at once. So all hosts forget what they have resolved.
        for each, state in self.states().items():
            if state == "running":
                run(*self.network_command(each, ["ip", "neigh", "flush", "dev", "eth0"]))
        self.log(f"{host} healed")

    def logs(self, host):
        lines = (self.state / "log").read_text().splitlines()
        return "\n".join(line for line in lines if f" {host} " in line) + "\n"

    def down(self):
        for what in (*self.states(), "switch"):
            kill_all_in(self.pid(what))
        shutil.rmtree(self.state)
