# SPDX-License-Identifier: Apache-2.0
"""The launchers that apgas-run supports, with the flags that this user and this host need."""

import math
import os
import pathlib
import re
import shutil
import subprocess

from hosts import with_slots

# The prefix with which each launcher labels a line with its place, if asked to.
LINE_PREFIXES = {"Open MPI": re.compile(rb"\[\d+,(\d+)\]<std(?:out|err)>:"),
                 "MPICH": re.compile(rb"\[(\d+)\] "), "Slurm": re.compile(rb" *(\d+): ")}

# Matches a line in which a place reports why the job ends: its own failure, or the loss of another
# place. launch/relaunch/src/job_messages.cpp matches the same texts.
REPORTS_THE_END = re.compile(rb"apgas: .*(?:ended by signal|ended unexpectedly|"
                             rb"sent no heartbeat|this ends the job|stack overflow in task)")


class NoLauncher(Exception):
    """No launcher can start the job. Argument: one line with the reason and the remedy."""


def knows_pmix(srun):
    asked = subprocess.run([srun, "--mpi=list"], capture_output=True, text=True, check=False)
    return "pmix" in asked.stdout + asked.stderr


def find_launcher(wanted):
    """Returns the launcher and its family, which has flags of its own: Open MPI, MPICH or Slurm."""
    in_allocation = "SLURM_JOB_ID" in os.environ
    srun = shutil.which("srun")
    if wanted == "srun" and not srun:
        raise NoLauncher("no srun on PATH; log in to a host with Slurm, or leave out "
                         "--launcher srun")
    if wanted == "srun" or (in_allocation and srun and not wanted):
        if knows_pmix(srun):
            return srun, "Slurm"
        if wanted:
            raise NoLauncher("this srun has no PMIx, which starts Open MPI (srun --mpi=list); "
                             "leave out --launcher srun to use mpirun")
    for name in ("mpirun", "mpiexec"):
        path = shutil.which(name)
        if path:
            asked = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
            is_open_mpi = "Open MPI" in asked.stdout or "OpenRTE" in asked.stdout
            return path, "Open MPI" if is_open_mpi else "MPICH"
    raise NoLauncher("no mpirun or mpiexec on PATH; install one (Debian, Ubuntu: apt install "
                     "openmpi-bin), or use --transport local to run all places in one process")


def in_container():
    return any(os.path.exists(file) for file in ("/.dockerenv", "/run/.containerenv"))


def physical_cores():
    """Returns how many slots Open MPI counts on this host: cores, not hardware threads."""
    cores = set()
    for cpu in os.sched_getaffinity(0):
        siblings = pathlib.Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        cores.add(siblings.read_text() if siblings.exists() else cpu)
    return len(cores)


def keepalive(environment):
    """Returns flags with which mpirun and its daemons notice a lost host that no place monitors.
    They tolerate as long a silence as the places do (APGAS_HEARTBEAT, 10 s)."""
    text = environment.get("APGAS_HEARTBEAT", "10")
    seconds = float(text) if re.fullmatch(r"\d+(\.\d+)?", text) else 0  # places refuse the rest
    if seconds == 0:
        return []
    probes = 5
    times = {"time": math.ceil(seconds), "intvl": math.ceil(seconds / 4), "probes": probes}
    return [word for name, value in times.items()
            for word in ("--mca", f"oob_tcp_keepalive_{name}", str(value))]


def open_mpi_command(options, hosts, environment, names, launcher):
    command = [launcher, "-n", str(options.places)]
    if hosts:
        command += ["--host", ",".join(f"{host}:{slots}" for host, slots in hosts)]
        command += keepalive(environment)
        if any("." in host for host, _ in hosts):  # otherwise it removes the domain
            command += ["--mca", "orte_keep_fqdn_hostnames", "1"]
    # The places of a host divide its cores and bind their workers themselves.
    if "--bind-to" not in options.launcher_args:
        command += ["--bind-to", "none"]
    # The library reports the end of a job in one line. Open MPI's own reports, and the stack of a
    # place that a signal ends, are suppressed, unless the user has chosen flags of Open MPI, which
    # must be able to report why it rejects them.
    user_flags = options.launcher_args or any(name.startswith("OMPI_MCA_") for name in os.environ)
    if not hosts and not user_flags:
        command += ["-q"]
    command += ["--mca", "opal_signal", ""]
    if options.interface:
        for what in ("btl_tcp_if_include", "oob_tcp_if_include"):
            command += ["--mca", what, options.interface]
    slots = sum(slots for _, slots in hosts) if hosts else physical_cores()
    if options.places > slots:
        command += ["--oversubscribe"]
    if hosts or options.places > slots:  # the cores of other hosts are unknown
        command += ["--mca", "mpi_yield_when_idle", "1"]
    if os.geteuid() == 0:
        command += ["--allow-run-as-root"]
    if in_container():  # where a process may not read the memory of another
        command += ["--mca", "btl_vader_single_copy_mechanism", "none"]
    if options.label:
        command += ["--tag-output"]
    for name in names:
        command += ["-x", name]
    return command


def mpich_command(options, hosts, launcher):
    """MPICH forwards the environment, and accepts root and more places than cores."""
    command = [launcher, "-n", str(options.places)]
    if hosts:
        command += ["-hosts", ",".join(f"{host}:{slots}" for host, slots in hosts)]
    if options.label:
        command += ["-prepend-rank"]
    return command


def cores_of_allocation():
    """Parses SLURM_JOB_CPUS_PER_NODE, for example 4(x2),3; returns 0 if it is not set."""
    parts = re.findall(r"(\d+)(?:\(x(\d+)\))?", os.environ.get("SLURM_JOB_CPUS_PER_NODE", ""))
    return sum(int(cores) * int(nodes or 1) for cores, nodes in parts)


def srun_command(options, hosts, launcher):
    """srun forwards the environment. The places of a host divide its cores themselves."""
    command = [launcher, "-n", str(options.places), "--mpi=pmix", "--export=ALL", "--cpu-bind=none",
               "--kill-on-bad-exit=1"]
    if hosts:
        command += ["--nodelist=" + ",".join(host for host, _ in hosts)]
    if options.workers:
        command += [f"--cpus-per-task={options.workers}"]
    if 0 < cores_of_allocation() < options.places * (options.workers or 1):
        command += ["--overcommit"]
    if options.label:
        command += ["--label"]
    return command


def launcher_command(options, hosts, environment, names, launcher, family):
    if family == "Slurm":
        if any(slots is not None for _, slots in hosts):
            raise NoLauncher("srun decides how many places a host gets: give hosts without slots")
        return srun_command(options, hosts, launcher)
    hosts = with_slots(hosts, options.places)
    if family == "MPICH":
        return mpich_command(options, hosts, launcher)
    return open_mpi_command(options, hosts, environment, names, launcher)
