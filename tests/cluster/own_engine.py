# SPDX-License-Identifier: Apache-2.0
"""A container engine: the one that is running, or a private one for the duration of a test.

The private engine has its own socket and keeps its images in DATA, so that they are built once.
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
SKIPPED = 77


class NoEngine(Exception):
    """The reason why there is no engine, and what to install."""


def without_tests(reason):
    """Says why a test does not run, and returns its exit code: SKIPPED, or 1 with the variable
    APGAS_TEST_REQUIRE_ENGINE, which launch/test sets where the tests with containers must run."""
    required = os.environ.get("APGAS_TEST_REQUIRE_ENGINE")
    print(f"{'FAILED' if required else 'SKIPPED'}: {reason}")
    return 1 if required else SKIPPED


def works(*command):
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@contextlib.contextmanager
def running():
    """Provides an engine to which docker can connect. Raises NoEngine."""
    if not shutil.which("docker"):
        raise NoEngine("docker is not installed: apt install docker.io")
    if works("docker", "version"):
        yield
        return
    if os.geteuid() != 0:
        raise NoEngine("no container engine is available, and only root can start one: systemctl "
                       "start docker, and join the group docker")
    if not shutil.which("dockerd"):
        raise NoEngine("no container engine is available, and dockerd is not installed: apt "
                       "install docker.io")
    DATA.mkdir(parents=True, exist_ok=True)
    with (DATA / "lock").open("w") as lock, tempfile.TemporaryDirectory(dir="/run") as folder:
        fcntl.flock(lock, fcntl.LOCK_EX)  # one engine at a time may use the images
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
            last = log.read_text().strip().splitlines()[-1:] or ["its log is empty"]
            raise NoEngine(f"dockerd does not start: {last[0]}")
        time.sleep(0.2)


def make_image():
    """Builds the image of a host from a local Debian image, by debootstrap, or from a registry.

    This takes minutes, once.
    """
    begin = time.monotonic()
    base = []
    if not works("docker", "image", "inspect", BASE) and shutil.which("debootstrap"):
        run(ROOT / "docker/base-image")
    if works("docker", "image", "inspect", BASE):
        base = ["--base", BASE]
    run(ROOT / "docker/cluster", "build", "--nodes-only", *base)
    print(f"building the image took {time.monotonic() - begin:.0f} s", flush=True)


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(done.stdout[-2000:], done.stderr[-2000:], file=sys.stderr)
        raise NoEngine("the image of a host could not be built; if no registry can be reached: "
                       "apt install debootstrap")
