# SPDX-License-Identifier: Apache-2.0
"""A cluster of containers: one network, a volume with the keys of ssh, a container per node.

The engine knows everything: networks, volumes and containers carry the label apgas.cluster=<name>.
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
    """The image of docker/Dockerfile; prints what the engine prints."""
    command = ["docker", "build", "-f", str(ROOT / "docker/Dockerfile")]
    command += ["-t", NODE_IMAGE, "--target", "node"] if nodes_only else ["-t", IMAGE]
    command += ["--build-arg", f"BASE={base}"] if base else []
    if subprocess.run([*command, str(ROOT)], check=False).returncode != 0:
        raise Problem("the image could not be built; its first error is above. Where no registry "
                      "is reached: docker/base-image, then "
                      "docker/cluster build --base apgas-base:bookworm")


class Containers:
    engine = "docker"

    def __init__(self, name):
        self.name = name
        self.filter = f"label={LABEL}={name}"
        self.known = []  # of each node: name, state, hosts, image

    def look(self):
        """Asks the engine what nodes there are; that is slow, so commands ask once."""
        form = "\t".join(["{{.Names}}", "{{.State}}", f'{{{{.Label "{HOSTS}"}}}}', "{{.Image}}"])
        found = run("docker", "ps", "-a", "--filter", self.filter, "--format", form).splitlines()
        self.known = sorted(line.removeprefix(self.name + "-").split("\t") for line in found)

    def container(self, node):
        return f"{self.name}-{node}"

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
            raise Problem(f"there is no image {image}: make it with docker/cluster build{option}")
        nodes = [f"node{i}" for i in range(1, count + 1)]
        label = ["--label", f"{LABEL}={self.name}"]
        hosts = ",".join(f"{node}:{slots}" for node in nodes)
        network, keys = f"{self.name}-network", f"{self.name}-keys"
        try:
            run("docker", "network", "create", *label, network)
            run("docker", "volume", "create", *label, keys)
            mounts = ["-v", f"{keys}:/home/apgas/.ssh"]
            if prefix:
                mounts += ["-v", f"{prefix}:/opt/apgas:ro"]
            for node in nodes:
                run("docker", "run", "-d", "--init", *label, "--label", f"{HOSTS}={hosts}",
                    "--name", self.container(node), "--hostname", node, "--network", network,
                    "--network-alias", node, "--shm-size", "1g", "--cap-drop", "ALL",
                    "--security-opt", "no-new-privileges", *mounts, image)
            self.wait_for_ssh(nodes)
            self.look()
        except Problem:
            self.down()
            raise

    def wait_for_ssh(self, nodes):
        for node in nodes:
            deadline = time.monotonic() + 30
            while not works("docker", "exec", self.container("node1"), "ssh", node, "true"):
                if time.monotonic() > deadline:
                    raise Problem(f"{node} does not answer to ssh; it said: {self.logs(node)}")
                time.sleep(0.2)

    def nodes(self):
        """The names of all nodes with their states, such as running or exited."""
        return {node: state for node, state, _, _ in self.known}

    def hosts(self):
        return self.known[0][2]

    def execute(self, node, arguments):
        """Runs it at that node; returns its code. Signals to this process arrive there: by the
        terminal, else from here, since docker exec hands on none."""
        terminal = sys.stdin.isatty() and sys.stdout.isatty()
        mark = f"CLUSTER_COMMAND={os.getpid()}"  # of its first process there
        job = subprocess.Popen(
            ["docker", "exec", "-it" if terminal else "-i", "-e", f"APGAS_HOSTS={self.hosts()}",
             "-e", mark, self.container(node), *arguments], start_new_session=not terminal)

        def hand_on(sent, _frame):
            find = f"grep -lsz '^{mark}$' $(ls -v -d /proc/[0-9]*/environ) | head -1"
            works("docker", "exec", self.container(node), "sh", "-c",
                  f"first=$({find}) && kill -{sent} $(basename ${{first%/environ}})")

        for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(each, hand_on)
        return job.wait()

    def network_command(self, node, arguments):
        """The same for its network only, with the rights to change that: the node has none."""
        return ["docker", "run", "--rm", "-i", "--network", f"container:{self.container(node)}",
                "--cap-drop", "ALL", "--cap-add", "NET_ADMIN", "--cap-add", "NET_RAW", "-u", "0",
                dict((name, image) for name, _, _, image in self.known)[node], *arguments]

    def kill(self, node):
        run("docker", "kill", self.container(node))

    def cut(self, node):
        for chain, flag in DROP:
            run(*self.network_command(node, ["iptables", "-A", chain, flag, "eth0", "-j", "DROP"]))

    def heal(self, node):
        for chain, _ in DROP:
            run(*self.network_command(node, ["iptables", "-F", chain]))

    def logs(self, node):
        return run("sh", "-c", f"docker logs {self.container(node)} 2>&1")

    def down(self):
        for what, remove in (("ps -aq", "rm -f -v"), ("network ls -q", "network rm"),
                             ("volume ls -q", "volume rm -f")):
            found = run("docker", *what.split(), "--filter", self.filter).split()
            if found:
                run("docker", *remove.split(), *found)
