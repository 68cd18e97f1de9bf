# SPDX-License-Identifier: Apache-2.0
"""Programs within one place, beside OpenMP and, where a program has it, oneTBB."""

import papers
import programs

FORALL = {"forall": "apgas forall", "openmp": "OpenMP", "tbb": "oneTBB"}
PLACES = {"places": "apgas", "openmp": "OpenMP"}
# Label: the program with its sizes, those of --quick, and its variants by their arguments.
CASES = {
    "cg": ("cg_peers -n 128", "cg_peers -n 8", PLACES),
    "fft": ("fft_peers -x 128 -y 128 -z 128 --rounds 3", "fft_peers -x 8 -y 8 -z 8", PLACES),
    "sssp": ("sssp_peers --scale 16", "sssp_peers --scale 8",
             {"delta": "apgas", "openmp": "OpenMP"}),
    "triangles": ("triangles_peers --scale 14", "triangles_peers --scale 8", PLACES),
    "comd": ("comd_peers --lattice 20 --steps 20", "comd_peers --lattice 7 --steps 5", FORALL),
    "kmeans": ("kmeans_peers -n 1000000 --rounds 5", "kmeans_peers -n 5000", FORALL),
    "labelprop": ("labelprop_peers -n 500000", "labelprop_peers -n 5000", FORALL),
    "stream": ("stream_peers -n 16777216 --rounds 5", "stream_peers -n 100000", FORALL),
}


def commands(build, options):
    beside_mpi = programs.peer_programs(build, options)
    return beside_mpi + [command for workers in options.workers for command in papers.kernels(
        build, options, workers, "within a place", CASES)]
