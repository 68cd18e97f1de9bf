// SPDX-License-Identifier: Apache-2.0

// apps/jacobi in plain MPI: blocks of the mesh on a grid of ranks, and halos by non-blocking sends
// and receives with the four neighbours.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "jacobi/wave.hpp"
#include "peers/job.hpp"
#include "support/command_line.hpp"
#include "support/memory.hpp"

namespace {

// A rank's block along one axis of the mesh.
struct extent {
  extent(int n, int position, int parts)
      : first(start(n, position, parts)), size(start(n, position + 1, parts) - first) {}

  static int start(int n, int position, int parts) {
    return static_cast<int>(std::int64_t{n} * position / parts);
  }

  int first;
  int size;
};

class block {
 public:
  block(int n, const std::array<int, 2>& grid, MPI_Comm ranks) : ranks_(ranks) {
    std::array<int, 2> position{};
    int rank = 0;
    MPI_Comm_rank(ranks, &rank);
    MPI_Cart_coords(ranks, rank, 2, position.data());
    rows_ = extent(n, position[0], grid[0]);
    columns_ = extent(n, position[1], grid[1]);
    MPI_Cart_shift(ranks, 0, 1, &above_, &below_);
    MPI_Cart_shift(ranks, 1, 1, &left_, &right_);
    for (auto& copy : copies_) copy.resize((size(rows_) + 2) * (size(columns_) + 2));
    MPI_Type_vector(rows_.size, 1, columns_.size + 2, MPI_DOUBLE, &column_);
    MPI_Type_commit(&column_);
    const jacobi::wave w(n);
    for (std::size_t i = 0; i < size(rows_); ++i) {
      for (std::size_t j = 0; j < size(columns_); ++j) *point(0, i, j) = start(w, i, j);
    }
    exchange_halo(0);
  }
  ~block() { MPI_Type_free(&column_); }
  block(const block&) = delete;
  block& operator=(const block&) = delete;

  void relax(int step) {
    for (std::size_t i = 0; i < size(rows_); ++i) {
      const double* const here = point(step, i, 0);
      jacobi::relax_row(here - stride(), here, here + stride(), point(step + 1, i, 0),
                        columns_.size);
    }
    exchange_halo(step + 1);
  }

  double largest_error(const jacobi::wave& w, int steps) {
    return jacobi::largest_error(
        w, steps, static_cast<std::size_t>(rows_.first), size(rows_),
        static_cast<std::size_t>(columns_.first), size(columns_),
        [this, steps](std::size_t i, std::size_t j) { return *point(steps, i, j); });
  }

 private:
  static std::size_t size(const extent& e) { return static_cast<std::size_t>(e.size); }
  [[nodiscard]] std::ptrdiff_t stride() const { return columns_.size + 2; }
  // Point (i, j) of this block, in the copy that step `step` reads.
  double* point(int step, std::size_t i, std::size_t j) {
    auto& copy = copies_[static_cast<std::size_t>(step) % 2];
    return copy.data() + (i + 1) * (size(columns_) + 2) + j + 1;
  }
  [[nodiscard]] double start(const jacobi::wave& w, std::size_t i, std::size_t j) const {
    return w.start(static_cast<std::size_t>(rows_.first) + i,
                   static_cast<std::size_t>(columns_.first) + j);
  }

  // The tag is the direction of the points.
  void exchange_halo(int step) {
    enum : int { up, down, to_left, to_right };
    double* const first = point(step, 0, 0);
    double* const last_row = first + (rows_.size - 1) * stride();
    std::array<MPI_Request, 8> all{};
    MPI_Irecv(first - stride(), columns_.size, MPI_DOUBLE, above_, down, ranks_, &all[0]);
    MPI_Irecv(last_row + stride(), columns_.size, MPI_DOUBLE, below_, up, ranks_, &all[1]);
    MPI_Irecv(first - 1, 1, column_, left_, to_right, ranks_, &all[2]);
    MPI_Irecv(first + columns_.size, 1, column_, right_, to_left, ranks_, &all[3]);
    MPI_Isend(first, columns_.size, MPI_DOUBLE, above_, up, ranks_, &all[4]);
    MPI_Isend(last_row, columns_.size, MPI_DOUBLE, below_, down, ranks_, &all[5]);
    MPI_Isend(first, 1, column_, left_, to_left, ranks_, &all[6]);
    MPI_Isend(first + columns_.size - 1, 1, column_, right_, to_right, ranks_, &all[7]);
    MPI_Waitall(static_cast<int>(all.size()), all.data(), MPI_STATUSES_IGNORE);
  }

  MPI_Comm ranks_;
  extent rows_{0, 0, 1};
  extent columns_{0, 0, 1};
  int above_ = 0, below_ = 0, left_ = 0, right_ = 0;
  MPI_Datatype column_ = MPI_DATATYPE_NULL;
  std::array<std::vector<double>, 2> copies_;
};

int relax_and_report(const peers::job& job, int n, int steps) {
  // At most as many rows of ranks as columns, as in dist_grid, so that both have the same blocks.
  std::array<int, 2> grid{};
  MPI_Dims_create(job.size(), 2, grid.data());
  std::ranges::reverse(grid);
  const std::array<int, 2> not_round{};
  MPI_Comm ranks = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 2, grid.data(), not_round.data(), 0, &ranks);
  double seconds = 0;
  double error = 0;
  {
    block mine(n, grid, ranks);
    const peers::common_time clock;
    for (int step = 0; step < steps; ++step) mine.relax(step);
    seconds = clock.seconds();
    error = mine.largest_error(jacobi::wave(n), steps);
  }
  MPI_Comm_free(&ranks);
  // Each rank judges its own block, because a maximum may ignore what is not a number.
  const bool right = jacobi::small_error(error, steps);
  MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return job.report("jacobi_mpi", seconds, right, {{"n", n}, {"steps", steps}, {"error", error}});
}

}  // namespace

int main(int argc, char** argv) {
  int n = 1024;
  int steps = 100;
  apps::command_line line("jacobi_mpi", "Relaxes a square mesh over all ranks, by MPI.");
  line.option("-n,--n", n, 1, jacobi::most_rows, "rows and columns");
  line.option("--steps", steps, 0, 1'000'000, "steps of relaxation");
  if (const auto code = line.parse(argc, argv)) return *code;
  const peers::job job(argc, argv);
  if (n < job.size()) return line.refuse("--n: fewer rows than ranks");
  const double bytes = jacobi::bytes_of_mesh(n, job.placement());
  if (const auto problem = apps::beyond_memory(bytes); !problem.empty()) {
    return line.refuse("--n: " + problem + "; choose fewer rows");
  }
  return relax_and_report(job, n, steps);
}
