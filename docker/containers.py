# SPDX-License-Identifier: Apache-2.0
"""A cluster of containers: one network, a volume with the keys of ssh, a container per node.

The engine knows everything: networks, volumes and containers carry the label apgas.cluster=<name>.
"""

import json
import pathlib
import subprocess
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

    def container(self, node):
        return f"{self.name}-{node}"

    def is_up(self):
        try:
            return bool(run("docker", "ps", "-aq", "--filter", self.filter).strip())
        except Problem:
            return False

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
        found = run("docker", "ps", "-a", "--filter", self.filter, "--format",
                    "{{.Names}} {{.State}}").split("\n")
        pairs = [line.split() for line in found if line]
        return {name.removeprefix(self.name + "-"): state for name, state in sorted(pairs)}

    def inspect(self, node, what):
        return json.loads(run("docker", "inspect", "--format", f"{{{{json .Config.{what}}}}}",
                              self.container(node)))

    def hosts(self):
        return self.inspect("node1", "Labels")[HOSTS]

    def command(self, node, arguments):
        """What to execute here, so that it runs at that node."""
        return ["docker", "exec", "-i", "-e", f"APGAS_HOSTS={self.hosts()}", self.container(node),
                *arguments]

    def network_command(self, node, arguments):
        """The same for its network only, with the rights to change that: the node has none."""
        return ["docker", "run", "--rm", "-i", "--network", f"container:{self.container(node)}",
                "--cap-drop", "ALL", "--cap-add", "NET_ADMIN", "--cap-add", "NET_RAW", "-u", "0",
                self.inspect(node, "Image"), *arguments]

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
