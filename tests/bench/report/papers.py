# SPDX-License-Identifier: Apache-2.0
"""The figures of the papers that apgas is built from, measured with apgas and its peers.

uClocks 16, 20 and 23 (kernels of IMSuite); hierarchical phasers 10 to 13, 16 and 17 (EPCC, JGF,
NPB); Chapel-on-X 6 to 8. The programs are in apps/. A run yields the time of each program; the
figures show the quotients that the papers show.
"""

import statistics

import programs

HIGH = ("KC", "HS", "LCR", "BY")  # kernels with many synchronisations per second: figures 16, 20
LOW = ("BF", "DST", "MIS", "MST", "VC", "DS", "DP")  # and with few: figure 23
EPCC = {"clock": "apgas clock", "phaser": "apgas phaser", "tree": "apgas phaser, tree",
        "openmp": "OpenMP"}
LOCK_STEP = {"phaser": "apgas phaser", "tree": "apgas phaser, tree", "openmp": "OpenMP",
             "serial": "serial"}
MEMBERS = {False: (2, 4, 8, 16, 32, 64, 128), True: (2, 8)}
T1, SMALL_TREE = "-t 1 -a 3 -d 10 -b 4 -r 19", "-t 1 -a 3 -d 5 -b 4 -r 19"
# Label: the program with its sizes, those of --quick, and its variants by their arguments.
PHASERS_17 = {
    "LUFact": ("jgf lufact --size B", "jgf lufact --size A", LOCK_STEP),
    "SOR": ("jgf sor --size B", "jgf sor --size A --iterations 5", LOCK_STEP),
    "MolDyn": ("jgf moldyn --size A", "jgf moldyn --size A --iterations 2", LOCK_STEP),
    "CG": ("npb cg --class W", "npb cg --class S", LOCK_STEP),
    "MG": ("npb mg --class W", "npb mg --class S", LOCK_STEP),
}
BY_LOOP = {"forall": "apgas forall", "serial": "serial"}
CHAPEL_6 = {
    "UTS T1": (f"uts {T1}", f"uts {SMALL_TREE}", {"tasks": "apgas begin", "serial": "serial"}),
    "Stream": ("stream -n 16777216 --rounds 5", "stream -n 100000", BY_LOOP),
    "Label propagation": ("labelprop -n 500000", "labelprop -n 5000", BY_LOOP),
    "k-means": ("kmeans -n 1000000 --rounds 5", "kmeans -n 5000", BY_LOOP),
    "CoMD": ("comd_peers --lattice 20 --steps 20", "comd_peers --lattice 7 --steps 5",
             {"coforall": "apgas coforall", "openmp": "OpenMP", "tbb": "oneTBB",
              "serial": "serial"}),
}
CHAPEL_8 = {"UTS-REC": (f"uts_peers {T1}", f"uts_peers {SMALL_TREE}",
                        {"recursive": "apgas sync_var", "openmp": "OpenMP", "tbb": "oneTBB"})}
IMSUITE = "uClocks 16, 20 and 23"
TITLES = (IMSUITE, "phasers 17", "Chapel 6", "Chapel 8")  # of benchmarks shown by figures()
GROWING = "phasers 16, a barrier of 2 to 64 members, each barrier"


def read_imsuite(report):
    """The baseline is the clocks of X10 2.6, with a thread for each task."""
    variants = {"baseline": "X10's clocks", "clocks": "apgas clocks", "finish": "apgas finish"}
    return {programs.Key(f"{IMSUITE}: {line['kernel']}", variants[way], line["workers"], 1):
            seconds["median"] * 1e9
            for line in report["measured"] for way, seconds in line["seconds"].items()}


def read_epcc(benchmark, construct, workers):
    """An overhead that is not above that of the delay alone is left out."""
    def read(line):
        if not line["verified"]:
            raise ValueError("the program did not verify its result")
        times = {name: line.get(f"{construct}_{by}_us", 0) * 1e3 for by, name in EPCC.items()}
        return {programs.Key(benchmark, name, workers, 1): ns
                for name, ns in times.items() if ns > 0}
    return read


def read_seconds(key):
    def read(line):
        if not line["verified"]:
            raise ValueError("the program did not verify its result")
        return {key: line["seconds"] * 1e9}
    return read


def environment(workers):
    return {"APGAS_WORKERS": str(workers), "OMP_NUM_THREADS": str(workers)}


def program(build, read, words, workers, extra=()):
    name, *arguments = words.split()
    if not (build / "apps" / name).exists():  # it is not built if CMake has found no peer for it
        name = name.removesuffix("_peers")
    return programs.Command([build / "apps" / name, *arguments, *extra], read,
                            environment=environment(workers), json_file=False, seconds=(4, 1))


def overheads(build, options, workers):
    few = ["--repetitions", "3", "--test-ms", "0.5"] if options.quick else []
    for figures, construct in (("10 and 11", "barrier"), ("12 and 13", "reduction")):
        for members in MEMBERS[options.quick]:
            name = f"phasers {figures}: {construct}, n = {members}"
            yield program(build, read_epcc(name, construct, workers),
                          f"epcc --construct {construct} --tasks {members}", workers, few)
    yield program(build, read_epcc(GROWING, "growing", workers),
                  "epcc --construct growing --tasks 64", workers, few)


def kernels(build, options, workers, title, cases):
    for label, (full, quick, variants) in cases.items():
        for argument, name in variants.items():
            if name == "serial" and workers > 1:
                continue
            key = programs.Key(f"{title}: {label}", name, workers, 1)
            words = quick if options.quick else full
            extra = (["--serial"] if words.startswith("uts ") and argument == "serial"
                     else ["--variant", argument])
            if title == "phasers 17":
                extra += ["--tasks", workers]
            yield program(build, read_seconds(key), words, workers, extra)


def commands(build, options):
    size = (["--nodes", "8", "--kernels", "KC", "BF", "--repeat", "1"] if options.quick
            else ["--nodes", "32"])
    made = [programs.Command(
        [programs.ROOT / "apps/imsuite/compare.py", "--program", build / "apps/imsuite",
         "--repetitions", "1", *size, "--workers", *options.workers],
        read_imsuite, seconds=(90, 10))]
    for workers in options.workers:
        made += overheads(build, options, workers)
        made += kernels(build, options, workers, "phasers 17", PHASERS_17)
        made += kernels(build, options, workers, "Chapel 6", CHAPEL_6)
        made += kernels(build, options, workers, "Chapel 8", CHAPEL_8)
    return made


def medians(records, title):
    """Maps the labels of a title to the medians by (variant, workers)."""
    found = {}
    for each in records:
        if each["benchmark"].startswith(f"{title}: "):
            label = each["benchmark"].removeprefix(f"{title}: ")
            found.setdefault(label, {})[each["variant"], each["workers"]] = each["median"]
    return found


def over_the_same_workers(found, base, variant):
    """A series of quotients for each number of workers: base / variant, by label."""
    series = {}
    for label, times in found.items():
        for (name, workers), median in times.items():
            if name == variant and (base, workers) in times:
                series.setdefault(f"{base} / {variant.removeprefix('apgas ')}, {workers} w", {})[
                    label] = times[base, workers] / median
    return series


def over_serial(found):
    """A series of speed-ups over the serial program for each variant and number of workers."""
    series = {}
    for label, times in found.items():
        for (name, workers), median in times.items():
            if name != "serial" and ("serial", 1) in times:
                series.setdefault(f"{name}, {workers} w", {})[label] = times["serial", 1] / median
    return series


def with_mean(series):
    return {name: values | {"geometric mean": statistics.geometric_mean(values.values())}
            for name, values in series.items()}


def figures(records):
    """Yields (title, label of the values, base line, {series: {label: value}}) of each figure of
    bars; those of phasers 10 to 13 are lines by size, as in other groups."""
    imsuite = medians(records, IMSUITE)
    high = {label: times for label, times in imsuite.items() if label in HIGH}
    low = {label: times for label, times in imsuite.items() if label in LOW}
    to_finish = [("X10's clocks", "apgas finish"), ("apgas clocks", "apgas finish")]
    yield "uClocks 16", "speed-up over X10's clocks", 1, with_mean(
        over_the_same_workers(high, "X10's clocks", "apgas clocks"))
    for title, found in (("uClocks 20", high), ("uClocks 23", low)):
        series = {}
        for base, variant in to_finish:
            series |= over_the_same_workers(found, base, variant)
        yield title, "speed-up of finish", 1, with_mean(series)
    yield "phasers 17", "speed-up over serial", 1, with_mean(
        over_serial(medians(records, "phasers 17")))
    chapel = medians(records, "Chapel 6")
    yield "Chapel 6", "speed-up over serial", 1, over_serial(chapel)
    uts = chapel.get("UTS T1", {})
    recursive = medians(records, "Chapel 8").get("UTS-REC", {})
    yield "Chapel 7", "overhead with one worker, % of the serial time", 0, {
        name: {label: (median / uts["serial", 1] - 1) * 100}
        for label, times in (("UTS T1", uts), ("UTS-REC", recursive))
        for (name, workers), median in times.items()
        if workers == 1 and name != "serial" and ("serial", 1) in uts}
    yield "Chapel 8", "ms (median)", 0, {
        f"{name}, {workers} w": {"UTS-REC": median / 1e6}
        for (name, workers), median in recursive.items()}
