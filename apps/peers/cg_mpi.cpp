// SPDX-License-Identifier: Apache-2.0

// apps/cg in plain MPI: blocks of points, halos by MPI_Isend and MPI_Irecv with both neighbours,
// and one MPI_Allreduce for each inner product.

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "cg/conjugate_gradients.hpp"
#include "cg/poisson.hpp"
#include "peers/job.hpp"
#include "support/command_line.hpp"
#include "support/memory.hpp"

namespace {

// The points of this rank, between the halos.
class by_ranks {
 public:
  by_ranks(const peers::job& job, std::span<double> inner, std::size_t halo)
      : before_(job.rank() > 0 ? job.rank() - 1 : MPI_PROC_NULL),
        behind_(job.rank() + 1 < job.size() ? job.rank() + 1 : MPI_PROC_NULL),
        inner_(inner),
        halo_(halo) {}

  template <class F>
  double sum_over(std::size_t n, F f) const {
    double sum = f(std::size_t{0}, n);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
  }
  template <class F>
  void for_all(std::size_t n, F f) const {
    f(std::size_t{0}, n);
  }
  // The tag is the direction of the points.
  void exchange_halo() const {
    enum : int { up, down };
    const int count = static_cast<int>(halo_);
    double* const first = inner_.data();
    double* const end = first + inner_.size();
    std::array<MPI_Request, 4> all{};
    MPI_Irecv(first - halo_, count, MPI_DOUBLE, before_, up, MPI_COMM_WORLD, &all[0]);
    MPI_Irecv(end, count, MPI_DOUBLE, behind_, down, MPI_COMM_WORLD, &all[1]);
    MPI_Isend(first, count, MPI_DOUBLE, before_, down, MPI_COMM_WORLD, &all[2]);
    MPI_Isend(end - halo_, count, MPI_DOUBLE, behind_, up, MPI_COMM_WORLD, &all[3]);
    MPI_Waitall(static_cast<int>(all.size()), all.data(), MPI_STATUSES_IGNORE);
  }

 private:
  int before_;
  int behind_;
  std::span<double> inner_;
  std::size_t halo_;
};

// The points of all ranks, in order, at rank 0.
std::vector<double> gather(const std::vector<double>& mine, const peers::job& job) {
  const auto ranks = static_cast<std::size_t>(job.size());
  const int size = static_cast<int>(mine.size());
  std::vector<int> sizes(ranks);
  MPI_Gather(&size, 1, MPI_INT, sizes.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  std::vector<int> firsts(ranks);
  std::exclusive_scan(sizes.begin(), sizes.end(), firsts.begin(), 0);
  std::vector<double> all(static_cast<std::size_t>(firsts.back() + sizes.back()));
  MPI_Gatherv(mine.data(), size, MPI_DOUBLE, all.data(), sizes.data(), firsts.data(), MPI_DOUBLE, 0,
              MPI_COMM_WORLD);
  return all;
}

struct options {
  std::int64_t n = 64;
  double tolerance = 1e-10;
  int most_iterations = 10'000;
  std::int64_t seed = 1;

  [[nodiscard]] cg::poisson equation() const {
    return {static_cast<std::size_t>(n), static_cast<std::uint64_t>(seed)};
  }
};

int solve_and_report(const peers::job& job, const options& p) {
  const cg::poisson equation = p.equation();
  const auto rank = static_cast<std::size_t>(job.rank());
  const auto ranks = static_cast<std::size_t>(job.size());
  const std::size_t first = equation.points() * rank / ranks;
  std::vector<double> x(equation.points() * (rank + 1) / ranks - first);
  std::vector<double> direction(x.size() + 2 * equation.reach());
  const auto inner = std::span(direction).subspan(equation.reach(), x.size());
  for (std::size_t i = 0; i < inner.size(); ++i) inner[i] = equation.right_hand_side(first + i);
  cg::portion points{first, x, inner};
  const by_ranks how(job, inner, equation.reach());
  const peers::common_time clock;
  const cg::outcome o = cg::solve(equation, points, p.tolerance, p.most_iterations, how);
  const double seconds = clock.seconds();
  const std::vector<double> found = gather(x, job);
  cg::check_result result{0, 0, true};
  if (job.rank() == 0) result = cg::check(equation, found, p.tolerance);
  return job.report("cg_mpi", seconds, result.small,
                    {{"n", p.n},
                     {"iterations", o.iterations},
                     {"recurrence", o.residual},
                     {"residual", result.residual},
                     {"error", result.error}});
}

}  // namespace

int main(int argc, char** argv) {
  options p;
  apps::command_line line("cg_mpi", "Solves the Poisson equation over all ranks, by MPI.");
  line.option("-n,--n", p.n, 1, 1024, "points in each direction, at least as many as ranks");
  line.option("--tolerance", p.tolerance, 1e-12, 0.1, "largest residual, relative to the input");
  line.option("--iterations", p.most_iterations, 1, 1'000'000, "largest number of iterations");
  line.option("--seed", p.seed, 0, 1'000'000'000, "seed of the solution");
  if (const auto code = line.parse(argc, argv)) return *code;
  const peers::job job(argc, argv);
  if (p.n < job.size()) return line.refuse("--n: fewer planes than ranks");
  const double bytes = p.equation().bytes(job.placement());
  if (const auto problem = apps::beyond_memory(bytes); !problem.empty()) {
    return line.refuse("--n: " + problem + "; choose fewer points");
  }
  return solve_and_report(job, p);
}
