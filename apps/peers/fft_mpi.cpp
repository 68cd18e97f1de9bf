// SPDX-License-Identifier: Apache-2.0

// apps/fft in plain MPI: the same steps in slabs, and MPI_Alltoall between them.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fft/check.hpp"
#include "fft/slab.hpp"
#include "peers/job.hpp"
#include "support/command_line.hpp"
#include "support/memory.hpp"

namespace {

using fft::number;
using fft::shape;

void exchange(const shape& s, const std::vector<number>& out, std::vector<number>& in) {
  const int each = static_cast<int>(2 * s.local() / s.places);  // a complex number is two doubles
  MPI_Alltoall(out.data(), each, MPI_DOUBLE, in.data(), each, MPI_DOUBLE, MPI_COMM_WORLD);
}

int transform_and_report(const peers::job& job, const shape& s, std::uint64_t seed, int rounds) {
  const auto rank = static_cast<std::size_t>(job.rank());
  const fft::slab steps(s);
  std::vector<number> points(s.local());
  std::vector<number> packed(s.local());
  std::vector<number> coefficients(s.local());
  double seconds = 0;
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t k = 0; k < s.local(); ++k) {
      points[k] = fft::input_at(seed, rank * s.local() + k);
    }
    exchange(s, points, packed);
    const double start = MPI_Wtime();
    for (std::size_t i = 0; i < steps.planes(); ++i) {
      steps.plane_forward(i, points.data(), packed.data());
    }
    exchange(s, packed, coefficients);
    for (std::size_t i = 0; i < steps.columns(); ++i) steps.column(i, coefficients.data(), true);
    const double forward = MPI_Wtime() - start;
    std::vector<number> columns = coefficients;
    const double again = MPI_Wtime();
    for (std::size_t i = 0; i < steps.columns(); ++i) steps.column(i, columns.data(), false);
    exchange(s, columns, packed);
    for (std::size_t i = 0; i < steps.planes(); ++i) {
      steps.plane_backward(i, packed.data(), points.data());
    }
    seconds += forward + MPI_Wtime() - again;
  }
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  fft::sums all = fft::check(s, rank, seed, coefficients, points);
  static_assert(sizeof all % sizeof(double) == 0);  // it consists of doubles
  MPI_Allreduce(MPI_IN_PLACE, &all, sizeof all / sizeof(double), MPI_DOUBLE, MPI_SUM,
                MPI_COMM_WORLD);
  const fft::errors found(s, all);
  return job.report("fft_mpi", seconds, found.small(s),
                    {{"x", static_cast<std::int64_t>(s.x)},
                     {"y", static_cast<std::int64_t>(s.y)},
                     {"z", static_cast<std::int64_t>(s.z)},
                     {"rounds", rounds},
                     {"inverse_error", found.inverse},
                     {"parseval_error", found.parseval},
                     {"direct_error", found.direct},
                     {"weighted_error", found.weighted},
                     {"gflops", fft::operations(s) * rounds / seconds / 1e9}});
}

}  // namespace

int main(int argc, char** argv) {
  int x = 64;
  int y = 64;
  int z = 64;
  int rounds = 1;
  std::int64_t seed = 1;
  apps::command_line line("fft_mpi", "Transforms a cuboid of points over all ranks, by MPI.");
  line.option("-x", x, 1, 4096, "points along x; factors 2, 3 and 5, and the ranks divide it");
  line.option("-y", y, 1, 4096, "points along y, likewise");
  line.option("-z", z, 1, 4096, "points along z; factors 2, 3 and 5");
  line.option("--rounds", rounds, 1, 1000, "how often to transform, forward and backward");
  line.option("--seed", seed, 0, 1'000'000'000, "seed of the points");
  if (const auto code = line.parse(argc, argv)) return *code;
  const peers::job job(argc, argv);
  const shape s{static_cast<std::size_t>(x), static_cast<std::size_t>(y),
                static_cast<std::size_t>(z), static_cast<std::size_t>(job.size())};
  if (!fft::has_small_factors(s.x) || !fft::has_small_factors(s.y) ||
      !fft::has_small_factors(s.z) || s.x % s.places != 0 || s.y % s.places != 0) {
    return line.refuse(
        "-x, -y, -z: choose numbers with the factors 2, 3 and 5 only; -x and -y multiples of " +
        std::to_string(s.places));
  }
  if (const auto problem = apps::beyond_memory(s.bytes(job.placement())); !problem.empty()) {
    return line.refuse("-x, -y, -z: " + problem + "; choose fewer points");
  }
  return transform_and_report(job, s, static_cast<std::uint64_t>(seed), rounds);
}
