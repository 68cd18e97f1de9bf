# SPDX-License-Identifier: Apache-2.0
"""The programs of the papers in the sizes that these publish: kernels of JGF and NPB in lock-step,
from the paper on hierarchical phasers, and the large loops of Chapel-on-X in all their forms.

One round takes minutes, so a report has them only if --only names them.
"""

import os

import papers
import programs
import threads

TITLE = "sizes"
# Kernel: the program with the option of its size, and its sizes, of which --quick takes the first.
KERNELS = {
    "LUFact": ("jgf lufact --size", "ABC"),
    "SOR": ("jgf sor --size", "ABC"),
    "MolDyn": ("jgf moldyn --size", "AB"),
    "CG": ("npb cg --class", "SWA"),
    "MG": ("npb mg --class", "SWA"),
}
LOOPS = {
    "Stream": ("stream_peers -n 268435456 --rounds 3", "stream_peers -n 100000"),
    "k-means": ("kmeans_peers -n 10000000", "kmeans_peers -n 5000"),
}
FORMS = {"begin": "apgas begin", "cobegin": "apgas cobegin", "coforall": "apgas coforall",
         "forall": "apgas forall", "openmp": "OpenMP", "tbb": "oneTBB", "serial": "serial"}
MANY_TASKS = 8


def numbers_of_tasks(workers):
    """As many as workers; and more, if a thread of OpenMP for each task has no other cores."""
    return sorted({workers, MANY_TASKS}) if workers == len(os.sched_getaffinity(0)) else [workers]


def lock_step(build, options, workers):
    """OpenMP's threads wait by spinning, and sleep if they are told to: the faster way differs."""
    for kernel, (words, sizes) in KERNELS.items():
        for size in sizes[:1] if options.quick else sizes:
            cases = [(tasks, *variant) for tasks in numbers_of_tasks(workers)
                     for variant in papers.LOCK_STEP.items() if variant[0] != "serial"]
            if workers == 1:
                cases.append((1, "serial", papers.LOCK_STEP["serial"]))
            for tasks, argument, name in cases:
                what = f"{TITLE}: {kernel} {size} ({tasks} task{'s' if tasks > 1 else ''})"
                for passive in (False, True) if argument == "openmp" else (False,):
                    key = programs.Key(what, f"{name}, passive" if passive else name, workers, 1)
                    command = papers.program(
                        build, papers.read_seconds(key), f"{words} {size}", workers,
                        ["--variant", argument, "--tasks", tasks])
                    if passive:
                        command.environment["OMP_WAIT_POLICY"] = "passive"
                    yield command


def commands(build, options):
    made = []
    for workers in options.workers:
        made += lock_step(build, options, workers)
        made += papers.kernels(build, options, workers, TITLE,
                               {name: (*sizes, FORMS) for name, sizes in LOOPS.items()})
    return made


def figures(records):
    """Yields the figure of bars, as papers.figures does."""
    yield ("the published sizes", threads.RATIO, 1,
           threads.beside_peers([each for each in records if each["variant"] != "serial"],
                                "workers"))
