// SPDX-License-Identifier: Apache-2.0

// Successive over-relaxation of a square grid in red-black order (Java Grande Forum benchmark),
// with the rows distributed over the places. After each half of a sweep, a place sends its
// outermost rows to its neighbours and waits for theirs, and for no other place.

#include <array>
#include <cstddef>
#include <functional>
#include <string>

#include <apgas/apgas.hpp>

#include "sor/rows.hpp"
#include "support/command_line.hpp"
#include "support/report.hpp"
#include "support/stopwatch.hpp"

namespace {

struct options {
  std::string size = "A";
  std::string variant = "places";
  int iterations = sor::published_iterations;
};

template <std::size_t N>
struct outcome {
  double seconds;
  double sum;
  sor::grid_points<N> points;
};

// The rows of the points of each colour, in blocks, with copies of the neighbours' outermost rows.
template <std::size_t N>
using colours = std::array<apgas::dist_array<sor::half_row<N>>, 2>;

template <class F>
void at_all_places(F f) {
  apgas::finish([&] { apgas::async_at(apgas::places(), f); });
}

template <std::size_t N>
colours<N> make_grid() {
  colours<N> grid;
  for (auto& points : grid) {
    points = apgas::dist_array<sor::half_row<N>>(N, apgas::distribution::block(), {.halo = 1});
  }
  at_all_places([grid] {
    const std::size_t first = grid[0].index_of(0);
    sor::generate<N>(first, first + grid[0].local().size(),
                     [&](std::size_t i, std::size_t colour, const sor::half_row<N>& row) {
                       grid[colour][i] = row;
                     });
  });
  for (const auto& points : grid) points.exchange_halo();
  return grid;
}

// Context: a task at each place; may suspend.
template <std::size_t N>
void sweep_here(const colours<N>& grid, int iterations) {
  const std::size_t first = grid[0].index_of(0);
  const std::size_t rows = grid[0].local().size();
  const std::size_t begin = first == 0 ? 1 : 0;
  const std::size_t end = first + rows == N ? rows - 1 : rows;
  for (int half = 0; half < 2 * iterations; ++half) {
    const std::size_t colour = half % 2 == 0 ? 0 : 1;
    sor::half_row<N>* const mine = grid[colour].local().data();
    const sor::half_row<N>* const other = grid[1 - colour].local().data();
    apgas::forall(begin, end,
                  [=](std::size_t r) { sor::relax<N>(first + r, colour, mine[r], other + r); });
    grid[colour].swap_halo();
  }
}

template <std::size_t N>
double sum_of(const colours<N>& grid) {
  double sum = 0;
  for (const apgas::place p : apgas::places()) {
    sum += apgas::at(p, [grid] {
      double here = 0;
      for (std::size_t c = 0; c < 2; ++c) {
        const auto rows = grid[c].local();
        for (std::size_t r = 0; r < rows.size(); ++r) {
          here += sor::sum_inside<N>(grid[c].index_of(r), c, rows[r]);
        }
      }
      return here;
    });
  }
  return sum;
}

template <std::size_t N>
outcome<N> over_places(int iterations) {
  const colours<N> grid = make_grid<N>();
  const apps::stopwatch clock;
  at_all_places([grid, iterations] { sweep_here<N>(grid, iterations); });
  const double seconds = clock.seconds();
  outcome<N> found{seconds, sum_of<N>(grid), {}};
  for (std::size_t c = 0; c < 2; ++c) found.points[c] = grid[c].gather();
  for (const auto& points : grid) points.destroy();
  return found;
}

template <std::size_t N>
outcome<N> serially(int iterations) {
  sor::serial_grid<N> grid;
  const apps::stopwatch clock;
  grid.sweep(iterations);
  return {clock.seconds(), grid.sum(), grid.points()};
}

int run_and_report(const options& o) {
  return sor::with_length(o.size, [&](auto n) {
    const outcome<n> found =
        o.variant == "serial" ? serially<n>(o.iterations) : over_places<n>(o.iterations);
    const sor::check_result checked = sor::check<n>(found.sum, o.iterations, &found.points);
    return apps::report("sor", found.seconds, checked.right(),
                        {{"size", o.size},
                         {"variant", o.variant},
                         {"iterations", o.iterations},
                         {"value", found.sum},
                         {"expected", checked.expected},
                         {"error", checked.error}});
  });
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  apps::command_line line("sor", "Relaxes a square grid, whose rows are distributed over places.");
  line.choice("--size", o.size, {"A", "B", "C"}, "1000, 1500 or 2000 points a side");
  line.option("--iterations", o.iterations, 1, 1'000'000, "sweeps over the grid");
  line.choice("--variant", o.variant, {"places", "serial"}, "over all places, or by one task");
  if (const auto code = line.parse(argc, argv)) return *code;
  return apgas::run(argc, argv, [&] {
    if (apgas::num_places() > 1000) return line.refuse("at most 1000 places: start fewer of them");
    return run_and_report(o);
  });
}
