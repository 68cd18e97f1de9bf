# SPDX-License-Identifier: Apache-2.0
"""Programs beside plain MPI, and within one place beside OpenMP and oneTBB, as far as each program
has them."""

import math

import papers
import programs

FORALL = {"forall": "apgas forall", "openmp": "OpenMP", "tbb": "oneTBB"}
PLACES = {"places": "apgas", "openmp": "OpenMP"}
# Label: the program with its sizes, those of --quick, and its variants by their arguments.
CASES = {
    "cg": ("cg_peers -n 128", "cg_peers -n 8", PLACES),
    "fft": ("fft_peers -x 128 -y 128 -z 128 --rounds 3", "fft_peers -x 8 -y 8 -z 8", PLACES),
    "life": ("life_peers -n 512 --generations 200", "life_peers -n 64 --generations 20", PLACES),
    "sssp": ("sssp_peers --scale 16", "sssp_peers --scale 8",
             {"delta": "apgas", "openmp": "OpenMP"}),
    "triangles": ("triangles_peers --scale 14", "triangles_peers --scale 8", PLACES),
    "comd": ("comd_peers --lattice 20 --steps 20", "comd_peers --lattice 7 --steps 5", FORALL),
    "kmeans": ("kmeans_peers -n 1000000 --rounds 5", "kmeans_peers -n 5000", FORALL),
    "labelprop": ("labelprop_peers -n 500000", "labelprop_peers -n 5000", FORALL),
    "stream": ("stream_peers -n 16777216 --rounds 5", "stream_peers -n 100000", FORALL),
}
WITHIN = "within a place"
RATIO = "time of the peer / time of apgas\n(above 1, apgas is faster)"


def commands(build, options):
    beside_mpi = programs.peer_programs(build, options)
    return beside_mpi + [command for workers in options.workers for command in papers.kernels(
        build, options, workers, WITHIN, CASES)]


def beside_peers(records, what):
    """The time of each peer over that of the fastest variant of apgas, by program: a series for
    each peer and number of `what`, which is workers or places."""
    ours, theirs = {}, {}
    for each in records:
        case = each["benchmark"].split(": ")[-1], each[what]
        if each["variant"].startswith("apgas"):
            ours[case] = min(ours.get(case, math.inf), each["median"])
        else:
            theirs[each["variant"], *case] = each["median"]
    series = {}
    for (variant, name, count), median in sorted(theirs.items()):
        if (name, count) in ours:
            one = what[:-1] if count == 1 else what
            series.setdefault(f"{variant}, {count} {one}", {})[name] = median / ours[name, count]
    return series


def figures(records):
    """Yields the figures of bars, as papers.figures does."""
    within = [each for each in records if each["benchmark"].startswith(f"{WITHIN}: ")]
    yield ("beside plain MPI", RATIO, 1,
           beside_peers([each for each in records if each not in within], "places"))
    yield (WITHIN, RATIO, 1, beside_peers(within, "workers"))
