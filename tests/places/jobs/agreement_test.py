#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The agreement of the processes of a job before they run, and the messages of place 0 about it.

Arguments: see jobs.py.
"""

import itertools
import pathlib
import re
import subprocess
import unittest

from jobs import (APPS, BEHAVE, NETWORKS, WITH_MPI, WITH_UCX, Job, environment_with, main, mpirun,
                  own_lines)


@unittest.skipUnless(WITH_MPI, "nothing of MPI's here")
class Disagreements(unittest.TestCase):
    """Processes of one job differ: one line, code 2, no place runs main, and none waits."""

    def together(self, first, second):
        """Starts two processes of a job: each with its variables and the program it runs."""
        command = ["mpirun"]
        for variables, program in (first, second):
            command += [":"] if len(command) > 1 else []
            command += ["-n", "1"]
            for name, value in variables.items():
                command += ["-x", f"{name}={value}"]
            command += [program] + ["hello"] * (program != APPS / "fib")
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60,
                              env=environment_with({}))

    def check(self, reason, first, second):
        result = self.together(first, second)
        self.assertEqual(result.returncode, 2, result)
        self.assertEqual(len(own_lines(result.stderr)), 1, result)
        self.assertRegex(own_lines(result.stderr)[0], reason)
        self.assertNotIn("hello", result.stdout)

    def test_different_transports(self):
        choices = ["auto", "shm", "mpi", "local"] + (["ucx"] if WITH_UCX else [])
        for one, other in itertools.combinations(choices, 2):
            with self.subTest(one=one, other=other):
                self.check(rf"the places do not agree on APGAS_TRANSPORT: rank 0 \(host \S+\) has "
                           rf"`{one}', rank 1 \(host \S+\) `{other}'\. Remedy",
                           ({"APGAS_TRANSPORT": one}, BEHAVE),
                           ({"APGAS_TRANSPORT": other}, BEHAVE))

    def check_setting_of_rank_0(self, name, value, told):
        for network in NETWORKS:
            with self.subTest(network=network):
                same = {"APGAS_TRANSPORT": network}
                self.check(f"the places do not agree on the settings: rank 0 .* has `{told}', "
                           "rank 1 .* `APGAS_TASK_WINDOW=8M'",
                           ({**same, name: value}, BEHAVE), (same, BEHAVE))

    def test_a_setting_that_must_agree(self):
        self.check_setting_of_rank_0("APGAS_TASK_WINDOW", "1M", "APGAS_TASK_WINDOW=1M")

    def test_a_profile_of_work_and_span_is_of_all_places_or_none(self):
        self.check_setting_of_rank_0("APGAS_PROFILE", "span",
                                     "APGAS_TASK_WINDOW=8M APGAS_PROFILE=span")

    def test_other_settings_may_differ(self):
        for network in NETWORKS:
            with self.subTest(network=network):
                same = {"APGAS_TRANSPORT": network}
                result = self.together(
                    ({**same, "APGAS_FINISH_TREE": "2", "APGAS_ONE_SIDED": "messages",
                      "APGAS_BATCH_SIZE": "1M", "APGAS_WORKERS": "2"}, BEHAVE), (same, BEHAVE))
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assertIn("hello from place 1", result.stdout)

    @unittest.skipUnless((APPS / "fib").exists(), "built without the apps")
    def test_different_programs(self):
        for network in NETWORKS:
            with self.subTest(network=network):
                same = {"APGAS_TRANSPORT": network}
                self.check("the places do not agree on the program", (same, BEHAVE),
                           (same, APPS / "fib"))

    def test_different_versions(self):
        other = pathlib.Path(BEHAVE).with_name("places_another_version")
        for network in NETWORKS:
            with self.subTest(network=network):
                same = {"APGAS_TRANSPORT": network}
                self.check(r"the places do not agree on the version of apgas: rank 0 .* has "
                           r"`0\.\d+\.\d+', rank 1 .* `9\.8\.7'\. Remedy", (same, BEHAVE),
                           (same, other))

    @unittest.skipUnless(WITH_UCX, "built without UCX")
    def test_ucx_that_cannot_be_used_at_one_place(self):
        broken = {"UCX_TLS": "nonsense", "UCX_LOG_LEVEL": "fatal"}
        self.check(r"APGAS_TRANSPORT=ucx: UCX cannot be used at rank 1 \(host \S+\): ucp_init: "
                   r".*\. Remedy: leave it out, or set it to mpi$",
                   ({"APGAS_TRANSPORT": "ucx"}, BEHAVE),
                   ({"APGAS_TRANSPORT": "ucx", **broken}, BEHAVE))
        told = {"APGAS_STATS": "1"}
        result = self.together((told, BEHAVE), ({**told, **broken}, BEHAVE))
        self.assertEqual(result.returncode, 0, result)
        self.assertRegex(own_lines(result.stderr)[0],
                         r"^apgas: 2 places, by shm \(default\), on 1 host: 0-1 on ")


class Banner(unittest.TestCase):
    """The first line of place 0 with APGAS_STATS=1: the transport of the job, and the reason."""

    BROKEN_UCX = {"UCX_TLS": "nonsense", "UCX_LOG_LEVEL": "fatal"}

    def check(self, by, places=2, **way):
        code, _, err = Job("hello", APGAS_STATS="1", **way).end()
        self.assertEqual(code, 0, err)
        self.assertRegex(own_lines(err)[0], rf"^apgas: {places} places?, by {by}, on 1 host: ")
        self.assertEqual(len(re.findall(" places?, by ", err)), 1, err)

    def test_within_a_process(self):
        self.check(r"local \(one place\)", places=1)
        self.check(r"local \(APGAS_TRANSPORT\)", APGAS_PLACES="2", APGAS_TRANSPORT="local")

    def test_over_processes(self):
        for network in NETWORKS:
            self.check(rf"{network} \(APGAS_TRANSPORT\)", wrapper=mpirun(2),
                       APGAS_TRANSPORT=network)

    @unittest.skipUnless(WITH_UCX, "built without UCX")
    def test_the_default(self):
        self.check(r"shm \(default\)", wrapper=mpirun(2))
        self.check(r"shm \(default\)", wrapper=mpirun(2), **self.BROKEN_UCX)
        self.check(r"mpi \(UCX cannot be used at rank 0 \(host \S+\): ucp_init: .*\)", places=1,
                   wrapper=mpirun(1), **self.BROKEN_UCX)

    @unittest.skipUnless(WITH_UCX, "built without UCX")
    def test_places_that_cannot_share_memory(self):
        unable = {"wrapper": mpirun(2),
                  "LD_PRELOAD": str(pathlib.Path(BEHAVE).parent / "libplaces_no_memfd.so")}
        why = (r"ranks 0, 1 \(host \S+\) cannot share memory with other places of the host: "
               r"memfd_create, mmap or pipe2: Function not implemented")
        self.check(rf"ucx \({why}\)", **unable)
        self.check(rf"mpi \(UCX cannot be used at ranks 0, 1 \(host \S+\): .*; {why}\)",
                   **unable, **self.BROKEN_UCX)
        code, _, err = Job("hello", APGAS_TRANSPORT="shm", **unable).end()
        self.assertEqual(code, 2, err)
        self.assertEqual(len(own_lines(err)), 1, err)
        self.assertRegex(own_lines(err)[0], rf"^apgas: APGAS_TRANSPORT=shm: {why}\. Remedy: leave "
                                            r"it out, or set it to ucx or mpi$")

    @unittest.skipIf(WITH_UCX or not WITH_MPI, "built with UCX, or without MPI")
    def test_the_default_without_ucx(self):
        self.check(r"shm \(default\)", wrapper=mpirun(2))
        self.check(r"mpi \(UCX cannot be used at rank 0 .*built without UCX.*\)", places=1,
                   wrapper=mpirun(1))

    @unittest.skipUnless(WITH_MPI, "nothing of MPI's here")
    def test_one_place_that_offers_no_memory(self):
        """Others cannot send to it through memory, but it can send to them."""
        library = pathlib.Path(BEHAVE).parent / "libplaces_no_memfd.so"
        command = ["mpirun", "-n", "2", BEHAVE, "hello", ":", "-n", "1", "-x",
                   f"LD_PRELOAD={library}", BEHAVE, "hello"]
        result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60,
                                env=environment_with({"APGAS_STATS": "1"}))
        self.assertEqual(result.returncode, 0, result)
        other = "ucx" if WITH_UCX else "mpi"
        self.assertRegex(own_lines(result.stderr)[0],
                         rf"^apgas: 3 places, by shm\+{other} \(rank 2 \(host \S+\) cannot share "
                         r"memory with other places of the host: memfd_create, mmap or pipe2: "
                         r"Function not implemented\), on 1 host: ")
        links = dict(re.findall(r"(?m)^ +(\d to \d) .* (\w+)$", result.stderr))
        expected = {"0 to 1": "shm", "1 to 0": "shm", "0 to 2": other, "2 to 0": "shm"}
        self.assertEqual({link: links.get(link) for link in expected}, expected)


if __name__ == "__main__":
    main()
