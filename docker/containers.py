# SPDX-License-Identifier: Apache-2.0
"""A cluster of containers: one network, a volume with the ssh keys, and a container per host.

All state is in the engine: networks, volumes and containers have the label apgas.cluster=<name>.
"""

import os
import pathlib
import signal
import subprocess
import sys
import time

from shell import Problem, run, works

ROOT = pathlib.Path(__file__).resolve().parents[1]
IMAGE, NODE_IMAGE = "apgas", "apgas-node"
LABEL = "apgas.cluster"
HOSTS = "apgas.hosts"
DROP = (("INPUT", "-i"), ("OUTPUT", "-o"))


def available():
    return works("docker", "version")


def build(base, nodes_only):
    """Builds the image of docker/Dockerfile and prints the output of the engine."""
    command = ["docker", "build", "-f", str(ROOT / "docker/Dockerfile")]
    command += ["-t", NODE_IMAGE, "--target", "node"] if nodes_only else ["-t", IMAGE]
    command += ["--build-arg", f"BASE={base}"] if base else []
    if subprocess.run([*command, str(ROOT)], check=False).returncode != 0:
        raise Problem("the image could not be built; the first error is above. If no registry can "
                      "be reached: docker/base-image, then "
                      "docker/cluster build --base apgas-base:bookworm")


class Containers:
    engine = "docker"

    def __init__(self, name):
        self.name = name
        self.filter = f"label={LABEL}={name}"
        self.known = []  # for each host: name, state, host list, image

    def look(self):
        """Asks the engine for the hosts. This is slow, so each command does it once."""
        form = "\t".join(["{{.Names}}", "{{.State}}", f'{{{{.Label "{HOSTS}"}}}}', "{{.Image}}"])
        found = run("docker", "ps", "-a", "--filter", self.filter, "--format", form).splitlines()
        self.known = sorted(line.removeprefix(self.name + "-").split("\t") for line in found)

    def container(self, host):
        return f"{self.name}-{host}"

    def is_up(self):
        try:
            self.look()
        except Problem:
            return False
        return bool(self.known)

    def up(self, count, slots, prefix):
        image = NODE_IMAGE if prefix else IMAGE
        if not works("docker", "image", "inspect", image):
            option = " --nodes-only" if prefix else ""
            raise Problem(f"there is no image {image}: build it with docker/cluster build{option}")
        hosts = [f"node{i}" for i in range(1, count + 1)]
        label = ["--label", f"{LABEL}={self.name}"]
        host_list = ",".join(f"{host}:{slots}" for host in hosts)
        network, keys = f"{self.name}-network", f"{self.name}-keys"
        try:
            run("docker", "network", "create", *label, network)
            run("docker", "volume", "create", *label, keys)
            mounts = ["-v", f"{keys}:/home/apgas/.ssh"]
            if prefix:
                mounts += ["-v", f"{prefix}:/opt/apgas:ro"]
            for host in hosts:
                run("docker", "run", "-d", "--init", *label, "--label", f"{HOSTS}={host_list}",
                    "--name", self.container(host), "--hostname", host, "--network", network,
                    "--network-alias", host, "--shm-size", "1g", "--cap-drop", "ALL",
                    "--security-opt", "no-new-privileges", *mounts, image)
            self.wait_for_ssh(hosts)
            self.look()
        except Problem:
            self.down()
            raise

    def wait_for_ssh(self, hosts):
        for host in hosts:
            deadline = time.monotonic() + 30
            while not works("docker", "exec", self.container("node1"), "ssh", host, "true"):
                if time.monotonic() > deadline:
                    raise Problem(f"{host} does not answer ssh; its log is: {self.logs(host)}")
                time.sleep(0.2)

    def states(self):
        """The names of all hosts and their states, such as running or exited."""
        return {host: state for host, state, _, _ in self.known}

    def host_list(self):
        return self.known[0][2]

    def execute(self, host, arguments):
        """Runs a command on that host and returns its exit code. Signals reach the command through
        the terminal, or else are forwarded here, since docker exec forwards none."""
        terminal = sys.stdin.isatty() and sys.stdout.isatty()
        mark = f"CLUSTER_COMMAND={os.getpid()}"  # identifies the first process of the command
        job = subprocess.Popen(
            ["docker", "exec", "-it" if terminal else "-i", "-e", f"APGAS_HOSTS={self.host_list()}",
             "-e", mark, self.container(host), *arguments], start_new_session=not terminal)

        def hand_on(sent, _frame):
            find = f"grep -lsz '^{mark}$' $(ls -v -d /proc/[0-9]*/environ) | head -1"
            works("docker", "exec", self.container(host), "sh", "-c",
                  f"first=$({find}) && kill -{sent} $(basename ${{first%/environ}})")

        for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(each, hand_on)
        return job.wait()

    def network_command(self, host, arguments):
        """A command that runs in the network of that host, with the privilege to change it, which
        the host itself lacks."""
        return ["docker", "run", "--rm", "-i", "--network", f"container:{self.container(host)}",
                "--cap-drop", "ALL", "--cap-add", "NET_ADMIN", "--cap-add", "NET_RAW", "-u", "0",
                dict((name, image) for name, _, _, image in self.known)[host], *arguments]

    def kill(self, host):
        run("docker", "kill", self.container(host))

    def cut(self, host):
        for chain, flag in DROP:
            run(*self.network_command(host, ["iptables", "-A", chain, flag, "eth0", "-j", "DROP"]))

    def heal(self, host):
        for chain, _ in DROP:
            run(*self.network_command(host, ["iptables", "-F", chain]))

    def logs(self, host):
        return run("sh", "-c", f"docker logs {self.container(host)} 2>&1")

    def down(self):
        for what, remove in (("ps -aq", "rm -f -v"), ("network ls -q", "network rm"),
                             ("volume ls -q", "volume rm -f")):
            found = run("docker", *what.split(), "--filter", self.filter).split()
            if found:
                run("docker", *remove.split(), *found)
