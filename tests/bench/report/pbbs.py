# SPDX-License-Identifier: Apache-2.0
"""The kernels of PBBS (apps/pbbs) within one place, beside OpenMP and oneTBB.

Every kernel runs with every input of its kind, and --quick with the first of them. One program runs
all variants in turn.
"""

import papers
import programs

GRAPHS, SEQUENCES = ("rmat", "grid3d", "local"), ("random", "exponential", "trigrams")
INPUTS = {
    "scan": SEQUENCES, "pack": SEQUENCES, "filter": SEQUENCES, "sort": SEQUENCES,
    "mis": GRAPHS, "matching": GRAPHS, "colouring": GRAPHS, "bfs": GRAPHS,
}
VARIANTS = {"serial": "serial", "apgas": "apgas", "openmp": "OpenMP", "tbb": "oneTBB"}
ELEMENTS, VERTICES, FEW = 10_000_000, 1_000_000, 1000  # FEW: of --quick
TITLE = "PBBS"


def read(benchmark, workers):
    """The samples of the variants that are built in; the serial one is the same for all workers."""
    def read_line(line):
        if not line["verified"]:
            raise ValueError("the program did not verify its result")
        return {programs.Key(benchmark, name, workers, 1): line[f"{variant}_seconds"] * 1e9
                for variant, name in VARIANTS.items()
                if f"{variant}_seconds" in line and (variant != "serial" or workers == 1)}
    return read_line


def commands(build, options):
    made = []
    for workers in options.workers:
        for kernel, inputs in INPUTS.items():
            for each in inputs[:1] if options.quick else inputs:
                size = FEW if options.quick else VERTICES if inputs is GRAPHS else ELEMENTS
                made.append(programs.Command(
                    [build / "apps/pbbs", kernel, "--input", each, "-n", size, "--variant", "all",
                     "--repeat", 1 if options.quick else 3],
                    read(f"{TITLE}: {kernel}, {each}", workers), json_file=False, seconds=(5, 1),
                    environment=papers.environment(workers)))
    return made


def figures(records):
    """Yields a figure of speed-ups over the serial programs for each number of workers."""
    by_kernel = papers.medians(records, TITLE)
    series = papers.over_serial(by_kernel)
    for workers in sorted({each["workers"] for each in records}):
        suffix = f", {workers} w"
        yield (f"kernels, workers: {workers}", "speed-up over serial", 1,
               {name.removesuffix(suffix): values for name, values in series.items()
                if name.endswith(suffix)})
