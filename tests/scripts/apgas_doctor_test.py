#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests apgas-doctor: its rules with invented results, ssh by a program of that name, this host."""

import copy
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "launch/tools"))
import cores  # noqa: E402
import diagnostics  # noqa: E402
import probes  # noqa: E402

GOOD = {
    "name": "a", "boot": "1", "architecture": "x86_64", "mpi": "Open MPI 4.1.4",
    "ucx": {"version": "1.13.1", "transports": ["posix", "tcp"]},
    "apgas": {"path": "/x", "version": "0.1.0", "transports": "shm, ucx, mpi, local",
              "alone": "cores 0-1, 2 workers, shared with no other place"},
    "program": "cafe", "shm": {"total": 1 << 30, "free": 1 << 30},
    "tmp": {"total": 1 << 30, "free": 1 << 30}, "cma": True, "ptrace_scope": 0,
    "container": False, "cores": [0, 1], "online": 2,
    "domains": [[0, 1]], "places": [], "files": [4096, 4096],
    "locked": [65536, 65536], "maps": 65530, "overcommit": 0, "infiniband": False,
    "names": {"a": ["10.0.0.1"], "b": ["10.0.0.2"]},
}


def facts(**changes):
    return {**copy.deepcopy(GOOD), **changes}


def running(*masks, workers=1, jobs=False):
    return [{"pid": 100 + rank, "rank": rank, "job": f"job {rank if jobs else 0}", "cores": mask,
             "workers": workers} for rank, mask in enumerate(masks)]


def other(**changes):
    return facts(**{"name": "b", "boot": "2", **changes})


class Rules(unittest.TestCase):
    def judge(self, program=None, **hosts):
        return diagnostics.judge(hosts, {}, program)

    def check(self, what, fix, level="wrong", **changes):
        found = self.judge(program="/p", a=facts(**changes))
        self.assertEqual(len(found), 1, found)
        self.assertRegex(found[0]["what"], what)
        self.assertRegex(found[0]["fix"], fix)
        self.assertEqual(found[0]["level"], level)

    def check_two(self, what, fix, level="wrong", **changes):
        found = self.judge(a=facts(), b=other(**changes))
        self.assertEqual(len(found), 1, found)
        self.assertRegex(found[0]["what"], what)
        self.assertRegex(found[0]["fix"], fix)
        self.assertEqual((found[0]["level"], found[0]["host"]), (level, "all"))

    def test_nothing_is_wrong(self):
        self.assertEqual(self.judge(a=facts(), b=other()), [])
        self.assertEqual(self.judge(a=facts(files=[None, None], infiniband=True,
                                            locked=[None, None])), [])

    def test_software(self):
        self.check("no mpirun", "openmpi-bin", mpi=None)
        self.check("no UCX", "libucx0", "note", ucx=None)
        self.check("no apgas-info", "PATH", "note", apgas=None)
        self.check("no program /p", "copy it", program=None)

    def test_memory(self):
        self.check("room for 1 places", "remount", shm={"total": 9 << 20, "free": 9 << 20})
        self.check("room for 0 places", "--shm-size", shm=None, container=True)
        self.check("0 MiB are left", "TMPDIR", tmp={"total": 1, "free": 1})
        self.check("memory maps", "vm.max_map_count", maps=1000)
        self.check("overcommit_memory=2", "STACK_SIZE", "note", overcommit=2)
        self.check("64 KiB of memory", "ulimit -l", infiniband=True)
        self.check("may open 256 files", "ulimit -n", files=[256, 4096])

    def test_memory_of_other_processes(self):
        self.check("CMA", "kernel.yama.ptrace_scope=0", "note", cma=False, ptrace_scope=1)
        self.check("CMA", "SYS_PTRACE", "note", cma=False, container=True)
        self.check("CMA", "security module", "note", cma=False, ptrace_scope=None)

    def test_cores_of_running_places(self):
        self.check(r"bound to the same cores: place 0 \(process 100\) and place 1 \(process 101\) "
                   r"share 1 core \(0\), and have 2 workers", "--bind-to none",
                   places=running([0], [0]))
        self.check(r"more workers than cores: 3 places \(0-2\) share 2 cores \(0-1\), and have "
                   "3 workers", "fewer places", "note", places=running([0, 1], [0, 1], [0, 1]))
        self.check("several jobs share cores: place 0 .* and place 1 .* 2 cores .* 4 workers",
                   "exclusive", places=running([0, 1], [0, 1], workers=2, jobs=True))
        for places in (running([0], [1]), running([0, 1], [0, 1]), running([0, 1], [1]),
                       running([0, 1], workers=4)):
            self.assertEqual(self.judge(a=facts(places=places)), [])

    def test_groups_of_places_that_share(self):
        places = running([0, 1], [2], [3, 4], [1, 2], [5])
        self.assertEqual([sorted(place["rank"] for place in group)
                          for group in cores.groups_that_share(places)], [[2], [0, 1, 3], [4]])

    def test_names(self):
        self.check("b does not resolve: not known", "/etc/hosts on a",
                   names={"b": {"error": "not known"}})
        self.check("b resolves to 127.0.1.1, which is a", "its address", names={"b": ["127.0.1.1"]})

    def test_differences(self):
        for name, value, what in (("mpi", "Open MPI 5.0.1", "of MPI: a: .*4.1.4; b: .*5.0.1"),
                                  ("architecture", "aarch64", "architectures"),
                                  ("program", "beef", "programs"),
                                  ("ucx", {"version": "1.12", "transports": None}, "of UCX"),
                                  ("ucx", {"version": "1.13.1", "transports": ["tcp"]},
                                   "transports of UCX"),
                                  ("apgas", {**GOOD["apgas"], "version": "0.2.0"}, "of apgas")):
            with self.subTest(name=name, value=value):
                self.check_two("different .*" + what, ".", **{name: value})

    def test_hosts_that_are_one(self):
        self.check_two("a, b call themselves a", "--hostname", name="a")
        self.check_two(r"a, b are on one machine and share its cores \[1\]", "cpuset", "note",
                       boot="1", cores=[1])
        self.assertEqual(self.judge(a=facts(cores=[0]), b=other(boot="1", cores=[1])), [])

    def check_domains(self, command, program="/p", **domains):
        """`domains` of each host; every host that has several gets the command as a note."""
        hosts = {name: facts(name=name, boot=name, names={}, domains=each)
                 for name, each in domains.items()}
        found = self.judge(program=program, **hosts)
        self.assertEqual([(each["host"], each["level"]) for each in found],
                         [(name, "note") for name, each in domains.items() if len(each) > 1])
        for each in found:
            self.assertEqual(each["fix"], command)
        return found

    def test_a_place_for_each_numa_domain(self):
        (found,) = self.check_domains("apgas-run -n 2 /p", a=[[0, 1, 2, 3], [4, 5, 6, 7]])
        self.assertRegex(found["what"], r"^2 NUMA domains \(0-3; 4-7\): one place for each")
        self.check_domains("apgas-run -n 4 PROGRAM", None, a=[[0, 4], [1, 5], [2, 6], [3, 7]])
        self.check_domains("apgas-run -n 2 '/a b'", "/a b", a=[[0], [1]])
        self.check_domains(None, a=[[0, 1]])
        self.check_domains(None, a=[])  # no /sys

    def test_numa_domains_of_several_hosts(self):
        self.check_domains("apgas-run -n 4 --hosts a:2,b:2 /p", a=[[0], [1]], b=[[0], [1]])
        self.check_domains("apgas-run -n 3 --hosts a:2,b:1 /p", a=[[0], [1]], b=[[0, 1]])
        self.check_domains("apgas-run -n 5 --hosts a:2,b:2,c:1 /p", a=[[0], [1]], b=[[0], [1]],
                           c=[])

    def test_numa_domains_of_different_sizes_need_a_launcher_that_binds(self):
        binds = "--map-by ppr:1:numa --bind-to numa /p"
        self.check_domains(f"mpirun -n 2 {binds}", a=[[0, 1, 2], [3]])
        self.check_domains(f"mpirun -n 3 --host a:2,b:1 {binds}", a=[[0, 1], [2]], b=[[0]])

    def test_reasons_of_ssh(self):
        for reason, fix in (("Could not resolve hostname x", "/etc/hosts"),
                            ("Permission denied (publickey)", "ssh-copy-id"),
                            ("Host key verification failed.", "keyscan"),
                            ("python3: command not found", "install python3"),
                            ("port 22: Connection refused", "openssh-server"),
                            ("Connection timed out", "firewall")):
            found = diagnostics.judge({}, {"x": reason}, None)
            self.assertEqual(len(found), 1)
            self.assertRegex(found[0]["fix"], fix)
            self.assertIn(reason, found[0]["what"])


class Cores(unittest.TestCase):
    """Lines describe the cores of running places."""

    def test_one_line_for_each_place(self):
        self.assertEqual(cores.lines_of_running(running([0, 1, 2, 3], [2, 3], [8])), [
            "running place 0 (process 100): cores 0-3, 1 worker, shared with place 1 (process 101)",
            "running place 1 (process 101): cores 2-3, 1 worker, shared with place 0 (process 100)",
            "running place 2 (process 102): core 8, 1 worker, shared with no other place"])
        self.assertIn("shared with 3 places (1-3)",
                      cores.lines_of_running(running(*[[0, 1]] * 4, workers=2))[0])

    def test_many_places_that_are_alike_share_a_line(self):
        self.assertEqual(cores.lines_of_running(running(*([i] for i in range(128)))), [
            "running 128 places (0-127): 1 core each of 0-127, 1 worker each, shared with no other "
            "place"])
        self.assertEqual(cores.lines_of_running(running(*[[0, 1]] * 9, [1], workers=2)), [
            "running 9 places (0-8): cores 0-1, 2 workers each, shared among them and with place 9 "
            "(process 109)",
            "running place 9 (process 109): core 1, 2 workers, shared with 9 places (0-8)"])
        many = cores.lines_of_running(running(*(range(100 * i, 101 * i + 1) for i in range(20))))
        self.assertEqual((len(many), many[-1]), (9, "12 more groups of running places"))

    def test_lists_of_the_kernel(self):
        self.assertEqual(probes.cores_in("0-3,8,10-11"), [0, 1, 2, 3, 8, 10, 11])
        self.assertEqual(probes.cores_in(""), [])
        for domain in probes.domains():
            self.assertLessEqual(set(domain), os.sched_getaffinity(0))

    def test_no_running_places(self):
        self.assertEqual(cores.lines_of_running([]), [])


class Doctor(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def doctor(self, *arguments):
        environment = {**os.environ, "PATH": f"{self.path}:{os.environ['PATH']}"}
        return subprocess.run([sys.executable, str(ROOT / "launch/apgas-doctor"), *arguments],
                              capture_output=True, text=True, timeout=60, check=False,
                              env=environment)

    def ssh(self, text):
        """A program that is called as ssh is, with the host behind four words of options."""
        file = self.path / "ssh"
        file.write_text("#!/bin/sh\nshift 4; host=$1; shift\n" + text)
        file.chmod(0o755)

    def test_this_machine(self):
        result = self.doctor("--json")
        answer = json.loads(result.stdout)
        (mine,) = answer["facts"].values()
        self.assertEqual(mine["cores"], sorted(os.sched_getaffinity(0)))
        self.assertGreater(mine["shm"]["total"], 0)
        self.assertIn(mine["cma"], (True, False))
        wrong = any(each["level"] == "wrong" for each in answer["findings"])
        self.assertEqual(result.returncode, 1 if wrong else 0, result)

    def test_text(self):
        result = self.doctor()
        self.assertRegex(result.stdout, r"(?m)^\S+: .*cores, /dev/shm \d+ MiB free, CMA")
        self.assertRegex(result.stdout, r"problems: \d+, notes: \d+\n$")

    def test_cores_by_apgas_info(self):
        file = self.path / "apgas-info"
        file.write_text("#!/bin/sh\necho 'version 0.1.0'; echo 'transports   mpi, local'\n"
                        "echo 'places       place 0 on a: cores 0-6, 7 workers, shared with no "
                        "other place'\n")
        file.chmod(0o755)
        self.assertRegex(self.doctor().stdout, r"(?m)^ +a place alone: cores 0-6, 7 workers, "
                                               "shared with no other place$")

    def test_hosts_by_ssh(self):
        self.ssh('case $host in a) exec sh -c "$*";; '
                 'b) echo "port 22: No route to host" >&2; exit 255;; c) echo Welcome;; esac')
        file = self.path / "hosts"
        file.write_text("a slots=2\nb\nc\n")
        result = self.doctor("--hostfile", str(file), "--json", "--program", "/no'such program")
        self.assertEqual(result.returncode, 1, result.stderr)
        answer = json.loads(result.stdout)
        self.assertEqual(list(answer["facts"]), ["a"])
        self.assertEqual(set(answer["facts"]["a"]["names"]), {"a", "b", "c"})
        found = {(each["host"], each["what"]) for each in answer["findings"]}
        self.assertIn(("b", "ssh cannot reach it: port 22: No route to host"), found)
        self.assertIn(("a", "no program /no'such program"), found)
        self.assertTrue(any("not JSON: 'Welcome" in what for _, what in found), found)

    def test_refusals(self):
        for arguments, reason in ((("--hosts", "a,,b"), "'' is not a host"),
                                  (("x",), "unrecognized"),
                                  (("--hostfile", "/no/file"), "no such file"),
                                  (("--hosts", "a", "--hostfile", "b"), "exclude each other")):
            result = self.doctor(*arguments)
            self.assertEqual((result.returncode, len(result.stderr.splitlines())), (2, 1))
            self.assertRegex(result.stderr, re.escape(reason))


if __name__ == "__main__":
    unittest.main()
