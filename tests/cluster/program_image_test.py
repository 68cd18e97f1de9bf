#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The image of a user's program (docker/program), alone and with both compose files.

    program_image_test.py docker PREFIX

PREFIX is a folder with an installation, which becomes the image with the library; nothing of it is
compiled again. The exit code is 77 if there is no engine or no compose, or 1 with
APGAS_TEST_REQUIRE_ENGINE.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import own_engine

ROOT = pathlib.Path(__file__).resolve().parents[2]
PREFIX = pathlib.Path(sys.argv[2])
LIBRARY, IMAGE, PROJECT = "apgas-test-library", "apgas-test-program", f"test{os.getpid()}"
LABEL = "apgas.test"  # of the images made here, so that old ones can be removed
LINE = re.compile(r"Hello from place (\d+) on (\S+)$", re.M)


def docker(*arguments, **options):
    return subprocess.run(["docker", *arguments], capture_output=True, text=True, timeout=600,
                          check=False, **options)


def compose_command():
    """The compose of the engine, or that of Debian."""
    if docker("compose", "version").returncode == 0:
        return ["docker", "compose"]
    if not shutil.which("docker-compose"):
        raise own_engine.NoEngine("there is no compose: apt install docker-compose")
    return ["docker-compose"]


def compose(file, *arguments):
    return subprocess.run([*compose_command(), "-p", PROJECT, "-f", ROOT / file, *arguments],
                          capture_output=True, text=True, timeout=200, check=False,
                          env=os.environ | {"IMAGE": IMAGE, "APGAS_IMAGE": LIBRARY})


def build(what, *arguments):
    begin = time.monotonic()
    done = docker("build", *map(str, arguments))
    if done.returncode != 0:
        sys.exit(f"{what} could not be built\n{done.stdout[-3000:]}{done.stderr[-2000:]}")
    print(f"building {what} took {time.monotonic() - begin:.0f} s", flush=True)


def image_id(name):
    return docker("image", "inspect", "-f", "{{.Id}}", name).stdout.strip()


def build_images():
    """Layers remain in the engine for the next run, unless the library has changed since."""
    before = image_id(LIBRARY)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(PREFIX, f"{folder}/apgas", symlinks=True)
        pathlib.Path(folder, "Dockerfile").write_text(
            f"FROM apgas-node\nLABEL {LABEL}=1\nCOPY apgas /opt/apgas\n", encoding="utf-8")
        build("the image with the library", "-t", LIBRARY, folder)
    if image_id(LIBRARY) != before:
        docker("image", "prune", "-f", "--filter", f"label={LABEL}")
    base = []
    if docker("image", "inspect", own_engine.BASE).returncode == 0:
        base = ["--build-arg", f"BASE={own_engine.BASE}"]
    build("the image of a program", "-t", IMAGE, "--label", f"{LABEL}=1", "--build-arg",
          f"LIBRARY={LIBRARY}", *base, ROOT / "docker/program")


def places(text):
    """The hosts by the numbers of their places."""
    return {int(place): host for place, host in LINE.findall(text)}


class Image(unittest.TestCase):
    def run_image(self, *arguments):
        return docker("run", "--rm", "--cap-drop", "ALL", *arguments)

    def test_one_place(self):
        done = self.run_image("--hostname", "alone", IMAGE, "hello")
        self.assertEqual((done.returncode, places(done.stdout)), (0, {0: "alone"}), done)

    def test_four_places_in_one_container(self):
        done = self.run_image("--hostname", "alone", "-e", "APGAS_PLACES=4", IMAGE, "hello")
        self.assertEqual((done.returncode, places(done.stdout)),
                         (0, dict.fromkeys(range(4), "alone")), done)

    def test_the_exit_code_is_that_of_the_program(self):
        self.assertEqual(self.run_image(IMAGE, "hello", "7").returncode, 7)

    def test_the_image_has_no_compiler_and_no_headers(self):
        done = self.run_image(IMAGE, "sh", "-c", "! command -v g++ cmake && ! [ -e /opt/apgas ]")
        self.assertEqual(done.returncode, 0, done)

    def test_a_host_that_does_not_answer(self):
        done = self.run_image("-e", "JOB_START_TRIES=1", IMAGE, "job-start", "nowhere", "hello")
        self.assertEqual((done.returncode, done.stderr), (
            1, "job-start: nowhere does not answer ssh; its log says why\n"), done)
        done = self.run_image(IMAGE, "job-start", "nowhere")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done)


class Compose(unittest.TestCase):
    def check(self, file, done, expected):
        """Ends the project in any case; its containers and volumes are gone afterwards."""
        removed = compose(file, "down", "-v", "-t", "1")
        self.assertEqual((done.returncode, places(done.stdout)), (0, expected), done)
        self.assertEqual(removed.returncode, 0, removed)
        self.assertEqual(docker("ps", "-aq", "--filter", f"name={PROJECT}").stdout, "")

    def test_four_places_in_four_containers(self):
        file = "docker/program/compose.yaml"
        done = compose(file, "up", "--no-color", "--exit-code-from", "job")
        self.check(file, done, {i: f"place{i}" for i in range(4)})

    def test_four_hosts(self):
        file = "docker/compose.yaml"
        done = compose(file, "up", "-d")
        self.assertEqual(done.returncode, 0, done)
        program = ("until for i in 1 2 3 4; do ssh node$i true || exit; done; do sleep 0.5; done; "
                   "apgas-run --timeout 60 -n 8 sh -c 'echo Hello from place "
                   "$OMPI_COMM_WORLD_RANK on $(hostname)'")
        done = compose(file, "exec", "-T", "node1", "timeout", "100", "sh", "-c", program)
        self.check(file, done, {i: f"node{i // 2 + 1}" for i in range(8)})


def main():
    try:
        with own_engine.running():
            compose_command()
            own_engine.make_image()
            build_images()
            return 0 if unittest.main(argv=sys.argv[:1], exit=False,
                                      verbosity=2).result.wasSuccessful() else 1
    except own_engine.NoEngine as reason:
        return own_engine.without_tests(reason)


if __name__ == "__main__":
    sys.exit(main())
