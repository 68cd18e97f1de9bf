# SPDX-License-Identifier: Apache-2.0
"""An engine for containers: the one that runs, or one of our own for the time of a test.

Ours has its own socket and keeps its images in DATA, so that they are made once.
"""

import contextlib
import fcntl
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = pathlib.Path("/var/cache/apgas-test-engine")
BASE = "apgas-base:bookworm"


class NoEngine(Exception):
    """Why there is none, and what to install."""


def works(*command):
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@contextlib.contextmanager
def running():
    """An engine that docker talks to. Raises NoEngine."""
    if not shutil.which("docker"):
        raise NoEngine("no docker here: apt install docker.io")
    if works("docker", "version"):
        yield
        return
    if os.geteuid() != 0:
        raise NoEngine("no engine answers to docker, and only root may start one: systemctl start "
                       "docker, and be in the group docker")
    if not shutil.which("dockerd"):
        raise NoEngine("no engine answers to docker, and there is none to start: apt install "
                       "docker.io")
    DATA.mkdir(parents=True, exist_ok=True)
    with (DATA / "lock").open("w") as lock, tempfile.TemporaryDirectory(dir="/run") as folder:
        fcntl.flock(lock, fcntl.LOCK_EX)  # one engine at a time keeps its images there
        os.environ["DOCKER_HOST"] = f"unix://{folder}/socket"
        with open(f"{folder}/log", "w", encoding="utf-8") as log:
            engine = subprocess.Popen(
                ["dockerd", "--data-root", DATA / "data", "--exec-root", f"{folder}/exec",
                 "--pidfile", f"{folder}/pid", "-H", os.environ["DOCKER_HOST"]],
                stdout=log, stderr=log)
        try:
            wait_for(engine, pathlib.Path(folder, "log"))
            yield
        finally:
            engine.terminate()
            engine.wait(60)


def wait_for(engine, log):
    deadline = time.monotonic() + 60
    while not works("docker", "version"):
        if engine.poll() is not None or time.monotonic() > deadline:
            last = log.read_text().strip().splitlines()[-1:] or ["it said nothing"]
            raise NoEngine(f"dockerd does not start here: {last[0]}")
        time.sleep(0.2)


def make_node_image():
    """From a Debian that is here, or made by debootstrap, or from a registry. Minutes, once."""
    begin = time.monotonic()
    base = []
    if not works("docker", "image", "inspect", BASE) and shutil.which("debootstrap"):
        run(ROOT / "docker/base-image")
    if works("docker", "image", "inspect", BASE):
        base = ["--base", BASE]
    run(ROOT / "docker/cluster", "build", "--nodes-only", *base)
    print(f"the image of a node took {time.monotonic() - begin:.0f} s", flush=True)


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(done.stdout[-2000:], done.stderr[-2000:], file=sys.stderr)
        raise NoEngine("no image of a node could be made; where no registry is reached: "
                       "apt install debootstrap")
