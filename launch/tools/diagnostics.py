# SPDX-License-Identifier: Apache-2.0
"""The diagnostics of apgas-doctor: finds problems and remedies in the probe results of each host.

This file runs no probe itself."""

import shlex

from cores import count, groups_that_share, names_of, ranges

MIB = 1 << 20
SHM_OF_A_PLACE = 5 * MIB  # 4.2 over ucx, 2 over mpi, measured with Open MPI 4.1.4 and UCX 1.13.1
TMP = 50 * MIB
FILES, MAPS = 1024, 65530


def finding(host, what, fix, is_wrong=True):
    return {"host": host, "level": "wrong" if is_wrong else "note", "what": what, "fix": fix}


def note(host, what, fix):
    return finding(host, what, fix, is_wrong=False)


def unreachable(host, reason):
    fixes = (("resolve", f"add {host} to /etc/hosts or the DNS"),
             ("Permission denied", f"ssh-copy-id {host}: mpirun cannot type a password"),
             ("Host key", f"ssh {host} once by hand, or ssh-keyscan {host} >> ~/.ssh/known_hosts"),
             ("python3", f"install python3 on {host}"),
             ("refused", f"start an ssh server on {host} (apt install openssh-server)"))
    fix = next((fix for text, fix in fixes if text in reason),
               f"check that {host} is running and no firewall blocks it: ssh {host} true")
    return finding(host, f"ssh cannot reach it: {reason}", fix)


def of_software(host, f, program):
    if not f["mpi"]:
        yield finding(host, "no mpirun", "apt install openmpi-bin, or run all places in one "
                                         "process with --transport local")
    if f["apgas"] is None:
        yield note(host, "no apgas-info found",
                   "put the bin folder of the installation on the PATH that `ssh host env` shows")
    elif "ucx" in (f["apgas"]["transports"] or "") and not f["ucx"]:
        yield note(host, "no UCX, so the slower transport mpi is used", "apt install libucx0")
    if program and not f["program"]:
        yield finding(host, f"no program {program}",
                      "copy it to the same path on every host, or use a shared file system")


def of_memory(host, f):
    rooms = f["shm"]["free"] // SHM_OF_A_PLACE if f["shm"] else 0
    if rooms < len(f["cores"]):
        yield finding(host, f"/dev/shm has room for {rooms} places, but there are "
                            f"{len(f['cores'])} cores",
                      "docker run --shm-size 1g" if f["container"] else
                      "mount -o remount,size=1g /dev/shm; or remove files that jobs left there")
    if f["tmp"] and f["tmp"]["free"] < TMP:
        yield finding(host, f"{f['tmp']['free'] // MIB} MiB are left for temporary files",
                      "make space, or set TMPDIR")
    if not f["cma"]:
        scope = f["ptrace_scope"]
        yield note(host, "places cannot read each other's memory (CMA), so long messages on one "
                         "host are copied twice",
                   "sysctl kernel.yama.ptrace_scope=0" if scope else
                   "docker run --cap-add SYS_PTRACE" if f["container"] else
                   "allow process_vm_readv: a security module forbids it")
    if f["maps"] is not None and f["maps"] < MAPS:
        yield finding(host, f"a process may have {f['maps']} memory maps; stacks need many",
                      "sysctl vm.max_map_count=262144")
    if f["overcommit"] == 2:
        yield note(host, "address space counts as memory (vm.overcommit_memory=2), and the stacks "
                         "of tasks reserve it",
                   "sysctl vm.overcommit_memory=0, or APGAS_STACK_SIZE=64K")
    if f["infiniband"] and f["locked"][0] is not None:
        yield finding(host, f"only {f['locked'][0] >> 10} KiB of memory may be locked; InfiniBand "
                            "needs more",
                      "ulimit -l unlimited, and so in /etc/security/limits.conf")
    if f["files"][0] is not None and f["files"][0] < FILES:
        yield finding(host, f"a process may open {f['files'][0]} files; each connection to a place "
                            "takes some", "ulimit -n 65536, and so in /etc/security/limits.conf")


def of_cores(host, f):
    for group in groups_that_share(f["places"]):
        cores = sorted({core for place in group for core in place["cores"]})
        workers = sum(place["workers"] for place in group)
        if len(group) < 2 or workers <= len(cores):
            continue
        what = (f"{names_of(group)} share {count(len(cores), 'core')} ({ranges(cores)}), and have "
                f"{workers} workers")
        if len({place["job"] for place in group}) > 1:
            yield finding(host, f"running places of several jobs share cores: {what}",
                          "give each job cores of its own: wait for the other one, or taskset, or "
                          "srun --exclusive")
        elif len(cores) < len(f["cores"]):
            yield finding(host, f"running places are bound to the same cores: {what}",
                          "start with apgas-run, or mpirun --bind-to none: places divide the "
                          "cores themselves")
        else:
            yield note(host, f"there are more workers than cores: {what}",
                       "start fewer places, or leave out APGAS_WORKERS")


def of_names(host, f):
    for name, found in f["names"].items():
        if isinstance(found, dict):
            yield finding(host, f"the name {name} does not resolve: {found['error']}",
                          f"add {name} to /etc/hosts on {host}, or to the DNS")
        elif name != host and any(address.startswith("127.") for address in found):
            yield finding(host, f"{name} resolves to {found[0]}, which is {host} itself",
                          f"give {name} its address in /etc/hosts on {host}")


def differences(results):
    subjects = (("architectures", "use hosts of one architecture", lambda f: f["architecture"]),
                ("versions of MPI", "install the same everywhere", lambda f: f["mpi"]),
                ("versions of UCX", "install the same everywhere",
                 lambda f: f["ucx"] and f["ucx"]["version"]),
                ("transports of UCX", "install the same packages and devices, or set UCX_TLS "
                 "(apgas-run passes it on)", lambda f: f["ucx"] and f["ucx"]["transports"]),
                ("versions of apgas", "install the same everywhere",
                 lambda f: f["apgas"] and f["apgas"]["version"]),
                ("programs behind the same path", "copy it to all hosts again",
                 lambda f: f["program"]))
    for what, fix, get in subjects:
        groups = {}
        for host, f in results.items():
            value = get(f)
            if value:
                groups.setdefault(str(value), []).append(host)
        if len(groups) > 1:
            shown = "; ".join(f"{', '.join(hosts)}: {value}" for value, hosts in groups.items())
            yield finding("all", f"different {what}: {shown}", fix)


def of_machines(results):
    """Hosts with the same name, by which apgas distinguishes hosts, and hosts on one machine."""
    names, machines = {}, {}
    for host, f in results.items():
        names.setdefault(f["name"], []).append(host)
        machines.setdefault(f["boot"] or host, []).append(host)
    for name, hosts in names.items():
        if len(hosts) > 1:
            yield finding("all", f"{', '.join(hosts)} call themselves {name}: their places would "
                                 "try to share memory as on one host",
                          "give each its own name (hostname, or docker run --hostname)")
    for hosts in machines.values():
        masks = [set(results[host]["cores"]) for host in hosts]
        shared = sorted({core for i, a in enumerate(masks) for b in masks[:i] for core in a & b})
        if shared:
            yield note("all", f"{', '.join(hosts)} are on one machine and share its cores {shared}",
                       "docker run --cpuset-cpus for timings; for tests it is fine")


def of_domains(results, program):
    """Suggests a place for each NUMA domain, with the command line, if a host has several."""
    domains = {host: f["domains"] for host, f in results.items()}
    if not any(len(each) > 1 for each in domains.values()):
        return
    places = {host: max(1, len(each)) for host, each in domains.items()}
    all_places = sum(places.values())
    hosts = ",".join(f"{host}:{n}" for host, n in places.items())
    run = shlex.quote(program or "PROGRAM")
    # apgas-run divides the cores evenly, in the order of the hardware.
    if all(len({len(cores) for cores in each}) <= 1 for each in domains.values()):
        hosts = f" --hosts {hosts}" if len(results) > 1 else ""
        command = f"apgas-run -n {all_places}{hosts} {run}"
    else:
        hosts = f" --host {hosts}" if len(results) > 1 else ""
        command = f"mpirun -n {all_places}{hosts} --map-by ppr:1:numa --bind-to numa {run}"
    for host, each in domains.items():
        if len(each) > 1:
            shown = "; ".join(map(ranges, each))
            yield note(host, f"{len(each)} NUMA domains ({shown}): one place for each keeps tasks "
                             "near their memory", command)


def judge(results, problems, program):
    """Returns the diagnostics, problems first. `results` has the probe results of the hosts that
    answered, `problems` the reason for each of the others."""
    found = [unreachable(host, reason) for host, reason in problems.items()]
    for host, f in results.items():
        for rule in (of_memory, of_cores, of_names):
            found += rule(host, f)
        found += of_software(host, f, program)
    found += differences(results)
    found += of_machines(results)
    found += of_domains(results, program)
    return sorted(found, key=lambda each: each["level"] != "wrong")
