// SPDX-License-Identifier: Apache-2.0

// apps/sor in plain MPI: blocks of rows, and after each half of a sweep the outermost rows of the
// points that it has updated, by non-blocking sends and receives.

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "peers/job.hpp"
#include "sor/rows.hpp"
#include "support/command_line.hpp"

namespace {

template <std::size_t N>
class block {
 public:
  explicit block(const peers::job& job)
      : first_(share(job.rank(), job.size())),
        rows_(share(job.rank() + 1, job.size()) - first_),
        above_(job.rank() == 0 ? MPI_PROC_NULL : job.rank() - 1),
        below_(job.rank() + 1 == job.size() ? MPI_PROC_NULL : job.rank() + 1) {
    for (auto& points : colours_) points.resize(rows_ + 2);
    sor::generate<N>(first_, first_ + rows_,
                     [this](std::size_t i, std::size_t colour, const sor::half_row<N>& row) {
                       colours_[colour][i - first_ + 1] = row;
                     });
    for (std::size_t colour = 0; colour < 2; ++colour) exchange(colour);
  }

  void sweep(int iterations) {
    const std::size_t begin = first_ == 0 ? 1 : 0;
    const std::size_t end = first_ + rows_ == N ? rows_ - 1 : rows_;
    for (int half = 0; half < 2 * iterations; ++half) {
      const std::size_t colour = half % 2 == 0 ? 0 : 1;
      for (std::size_t r = begin; r < end; ++r) {
        sor::relax<N>(first_ + r, colour, colours_[colour][r + 1], &colours_[1 - colour][r + 1]);
      }
      exchange(colour);
    }
  }

  // Over all ranks.
  [[nodiscard]] double sum() const {
    double all = 0;
    for (std::size_t c = 0; c < 2; ++c) {
      for (std::size_t r = 0; r < rows_; ++r) {
        all += sor::sum_inside<N>(first_ + r, c, colours_[c][r + 1]);
      }
    }
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
  }

 private:
  // The first row of a rank.
  static std::size_t share(int rank, int ranks) {
    return N * static_cast<std::size_t>(rank) / static_cast<std::size_t>(ranks);
  }

  void exchange(std::size_t colour) {
    enum : int { up, down };
    constexpr int points = N / 2;
    auto& rows = colours_[colour];
    std::array<MPI_Request, 4> all{};
    MPI_Irecv(rows.front().data(), points, MPI_DOUBLE, above_, down, MPI_COMM_WORLD, &all[0]);
    MPI_Irecv(rows.back().data(), points, MPI_DOUBLE, below_, up, MPI_COMM_WORLD, &all[1]);
    MPI_Isend(rows[1].data(), points, MPI_DOUBLE, above_, up, MPI_COMM_WORLD, &all[2]);
    MPI_Isend(rows[rows_].data(), points, MPI_DOUBLE, below_, down, MPI_COMM_WORLD, &all[3]);
    MPI_Waitall(static_cast<int>(all.size()), all.data(), MPI_STATUSES_IGNORE);
  }

  std::size_t first_;
  std::size_t rows_;
  int above_;
  int below_;
  std::array<std::vector<sor::half_row<N>>, 2> colours_;
};

int run_and_report(const std::string& size, int iterations, const peers::job& job) {
  return sor::with_length(size, [&](auto n) {
    block<n> mine(job);
    const peers::common_time clock;
    mine.sweep(iterations);
    const double seconds = clock.seconds();
    const double value = mine.sum();
    const sor::check_result checked = sor::check<n>(value, iterations);
    return job.report("sor_mpi", seconds, checked.right(),
                      {{"size", size},
                       {"iterations", iterations},
                       {"value", value},
                       {"expected", checked.expected},
                       {"error", checked.error}});
  });
}

}  // namespace

int main(int argc, char** argv) {
  std::string size = "A";
  int iterations = sor::published_iterations;
  apps::command_line line("sor_mpi", "Relaxes a square grid, whose rows are distributed, by MPI.");
  line.choice("--size", size, {"A", "B", "C"}, "1000, 1500 or 2000 points a side");
  line.option("--iterations", iterations, 1, 1'000'000, "sweeps over the grid");
  if (const auto code = line.parse(argc, argv)) return *code;
  const peers::job job(argc, argv);
  return run_and_report(size, iterations, job);
}
