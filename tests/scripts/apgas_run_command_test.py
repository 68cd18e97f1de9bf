#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command that apgas-run builds for each launcher; the launchers here print their arguments."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAY = '#!/bin/sh\ncase "$1" in --version|--mpi=list) echo "{says}"; exit;; esac\n{then}\n'
SHOW = 'printf "%s\\n" "$0" "$@"'


class Launched(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def fake(self, name, says, then=SHOW):
        file = self.path / name
        file.write_text(SAY.format(says=says, then=then))
        file.chmod(0o755)

    def run_it(self, *arguments, **variables):
        environment = {"PATH": f"{self.path}:/usr/bin:/bin", "HOME": "/", **variables}
        command = [sys.executable, str(ROOT / "launch/apgas-run"), *arguments, "/bin/true", "-x"]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False,
                              env=environment)

    def command(self, *arguments, **variables):
        """The arguments after the launcher's name, which is checked."""
        result = self.run_it(*arguments, **variables)
        self.assertEqual(result.returncode, 0, result.stderr)
        launcher, *words = result.stdout.splitlines()
        self.assertEqual(words[-2:], ["/bin/true", "-x"])
        return pathlib.Path(launcher).name, words[:-2]

    def assert_has(self, words, *wanted):
        text = " ".join(words) + " "
        for each in wanted:
            self.assertIn(each + " ", text)


class OpenMpi(Launched):
    def setUp(self):
        super().setUp()
        self.fake("mpirun", "mpirun (Open MPI) 4.1.4")

    def host(self, *arguments, **variables):
        words = self.command(*arguments, **variables)[1]
        return words[words.index("--host") + 1], words

    def test_hosts_share_the_places(self):
        self.assertEqual(self.host("-n", "4", "--hosts", "a,b")[0], "a:2,b:2")
        self.assertEqual(self.host("-n", "4", "--hosts", "a,b,c")[0], "a:2,b:1,c:1")
        self.assertEqual(self.host("-n", "2", "--hosts", "a,b,c")[0], "a:1,b:1,c:1")
        self.assertEqual(self.host("-n", "9", "--hosts", "a:4,b,c")[0], "a:4,b:3,c:2")
        self.assertEqual(self.host("-n", "2", "--hosts", "a:4,b")[0], "a:4,b:1")

    def test_hosts_by_file_and_by_variable(self):
        file = self.path / "hosts"
        file.write_text("# the cluster\na slots=2\nb:3  # bigger\n\nc.example.org\n")
        self.assertEqual(self.host("-n", "6", "--hostfile", str(file))[0],
                         "a:2,b:3,c.example.org:1")
        self.assertEqual(self.host("-n", "2", APGAS_HOSTS="a,b")[0], "a:1,b:1")
        self.assertEqual(self.host("-n", "2", "--hosts", "c", APGAS_HOSTS="a,b")[0], "c:2")
        self.assertEqual(self.host("-n", "1", "--hosts", "c")[0], "c:1")

    def test_more_places_than_slots(self):
        host, words = self.host("-n", "5", "--hosts", "a:2,b:2")
        self.assertEqual(host, "a:2,b:2")
        self.assert_has(words, "--oversubscribe", "--mca mpi_yield_when_idle 1", "--bind-to none")
        self.assertNotIn("--oversubscribe", self.host("-n", "4", "--hosts", "a:2,b:2")[1])

    def test_hosts_are_polite_and_open_mpi_may_speak(self):
        words = self.host("-n", "2", "--hosts", "a,b")[1]
        self.assert_has(words, "--mca mpi_yield_when_idle 1")
        self.assertNotIn("-q", words)
        self.assertIn("-q", self.command("-n", "2")[1])

    def test_a_lost_host_is_noticed_after_the_heartbeat(self):
        def values(*arguments, **variables):
            words = self.host("-n", "2", "--hosts", "a,b", *arguments, **variables)[1]
            return [words[words.index(f"oob_tcp_keepalive_{name}") + 1]
                    for name in ("time", "intvl", "probes")]
        self.assertEqual(values(), ["10", "3", "5"])
        self.assertEqual(values(APGAS_HEARTBEAT="60"), ["60", "15", "5"])
        self.assertEqual(values("--env", "APGAS_HEARTBEAT=0.5"), ["1", "1", "5"])
        without = self.host("-n", "2", "--hosts", "a,b", APGAS_HEARTBEAT="0")[1]
        self.assertNotIn("keepalive", " ".join(without + self.command("-n", "2")[1]))

    def test_domains_are_kept(self):
        words = self.host("-n", "2", "--hosts", "a.example.org,b")[1]
        self.assert_has(words, "--mca orte_keep_fqdn_hostnames 1")

    def test_binding_can_be_chosen(self):
        words = self.command("-n", "2", "--launcher-args", "--bind-to core")[1]
        self.assert_has(words, "--bind-to core")
        self.assertNotIn("none", words[:4])

    def test_root(self):
        self.assertEqual("--allow-run-as-root" in self.command("-n", "2")[1], os.geteuid() == 0)

    def test_variables(self):
        words = self.command("-n", "2", "--env", "A=1", APGAS_WORKERS="1", UCX_TLS="tcp", B="2",
                             APGAS_PLACES="7")[1]
        self.assert_has(words, "-x A", "-x APGAS_WORKERS", "-x UCX_TLS", "-x APGAS_LAUNCHED_BY")
        for name in ("B", "APGAS_PLACES", "APGAS_HOSTS"):
            self.assertNotIn(name, words)

    def test_label(self):
        self.assertIn("--tag-output", self.command("-n", "2", "--label")[1])
        self.fake("mpirun", "mpirun (Open MPI) 4.1.4",
                  "echo '[1,12]<stdout>:a'; echo none; echo '[1,1]<stderr>:b' >&2; exit 4")
        result = self.run_it("-n", "2", "--label")
        self.assertEqual((result.returncode, result.stdout, result.stderr),
                         (4, "place 12: a\nnone\n", "place 1: b\n"))

    def test_slurm_without_pmix_or_outside_an_allocation_is_left_alone(self):
        self.fake("srun", "none pmi2")
        self.assertEqual(self.command("-n", "2", SLURM_JOB_ID="1")[0], "mpirun")
        self.fake("srun", "none pmix")
        self.assertEqual(self.command("-n", "2")[0], "mpirun")
        self.assertEqual(self.command("-n", "2", "--launcher", "mpirun", SLURM_JOB_ID="1")[0],
                         "mpirun")


class Mpich(Launched):
    def test_flags(self):
        self.fake("mpiexec", "HYDRA build details")
        self.fake("mpirun", "HYDRA build details")
        name, words = self.command("-n", "4", "--hosts", "a,b:3", "--label")
        self.assertEqual((name, words), ("mpirun", ["-n", "4", "-hosts", "a:1,b:3",
                                                    "-prepend-rank"]))
        self.fake("mpirun", "HYDRA", "echo '[3] a'")
        self.assertEqual(self.run_it("-n", "2", "--label").stdout, "place 3: a\n")


class Slurm(Launched):
    ALLOCATION = {"SLURM_JOB_ID": "7", "SLURM_JOB_CPUS_PER_NODE": "4(x2),2"}

    def setUp(self):
        super().setUp()
        self.fake("srun", "MPI plugin types are... none pmix pmi2")
        self.fake("mpirun", "mpirun (Open MPI) 4.1.4")

    def test_flags(self):
        name, words = self.command("-n", "10", **self.ALLOCATION)
        self.assertEqual(name, "srun")
        self.assert_has(words, "-n 10", "--mpi=pmix", "--export=ALL", "--cpu-bind=none")
        self.assertNotIn("--overcommit", words)

    def test_more_places_than_cores(self):
        self.assertIn("--overcommit", self.command("-n", "11", **self.ALLOCATION)[1])
        words = self.command("-n", "5", "-w", "3", **self.ALLOCATION)[1]
        self.assert_has(words, "--overcommit", "--cpus-per-task=3")

    def test_hosts(self):
        words = self.command("-n", "2", "--hosts", "a,b", **self.ALLOCATION)[1]
        self.assertIn("--nodelist=a,b", words)
        result = self.run_it("-n", "2", "--hosts", "a:2", **self.ALLOCATION)
        self.assertEqual(result.returncode, 2)
        self.assertIn("hosts without slots", result.stderr)

    def test_label(self):
        self.fake("srun", "pmix", "echo ' 3: a'")
        result = self.run_it("-n", "2", "--label", **self.ALLOCATION)
        self.assertEqual(result.stdout, "place 3: a\n")

    def test_refusals(self):
        self.fake("srun", "none pmi2")
        result = self.run_it("-n", "2", "--launcher", "srun")
        self.assertEqual(result.returncode, 2)
        self.assertIn("has no PMIx", result.stderr)
        (self.path / "srun").unlink()
        result = self.run_it("-n", "2", "--launcher", "srun", PATH=str(self.path))
        self.assertEqual(result.returncode, 2)
        self.assertIn("no srun on PATH", result.stderr)


if __name__ == "__main__":
    unittest.main()
