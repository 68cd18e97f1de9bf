// SPDX-License-Identifier: Apache-2.0

// Jacobi relaxation of a square mesh: in each step every point becomes the mean of its four
// neighbours. The mesh is a dist_grid. Each place has a block of it, relaxes the rows of the block
// in parallel, and exchanges its outermost points with its neighbours. It waits for no other place.

#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <apgas/apgas.hpp>

#include "jacobi/wave.hpp"
#include "support/command_line.hpp"
#include "support/memory.hpp"
#include "support/report.hpp"
#include "support/stopwatch.hpp"

namespace {

// The points of one place, surrounded by a frame of the neighbours' points or the boundary.
using block = apgas::grid_view<double>;

void start(const block& points, const jacobi::wave& w) {
  for (std::size_t i = 0; i < points.rows(); ++i) {
    double* const row = points.row(static_cast<std::ptrdiff_t>(i));
    for (std::size_t j = 0; j < points.columns(); ++j) {
      row[j] = w.start(points.first_row() + i, points.first_column() + j);
    }
  }
}

double largest_error(const block& points, const jacobi::wave& w, int steps) {
  return jacobi::largest_error(w, steps, points.first_row(), points.rows(), points.first_column(),
                               points.columns(), [&points](std::size_t i, std::size_t j) {
                                 return points.row(static_cast<std::ptrdiff_t>(i))[j];
                               });
}

void relax_row(const block& from, const block& to, std::ptrdiff_t i) {
  jacobi::relax_row(from.row(i - 1), from.row(i), from.row(i + 1), to.row(i),
                    static_cast<std::ptrdiff_t>(from.columns()));
}

struct outcome {
  double seconds;
  double error;
};

// Two copies: step s reads copy s % 2 and writes the other. So a neighbour that is a step ahead
// does not overwrite points that are still needed.
struct mesh {
  std::array<apgas::dist_grid<double>, 2> copies;

  [[nodiscard]] const apgas::dist_grid<double>& at(int step) const {
    return copies[static_cast<std::size_t>(step) % 2];
  }
};

// Context: a task at each place; may suspend.
void relax_here(const mesh& m, int steps) {
  for (int step = 0; step < steps; ++step) {
    const block from = m.at(step).local();
    const block to = m.at(step + 1).local();
    const auto rows = static_cast<std::ptrdiff_t>(from.rows());
    apgas::forall(std::ptrdiff_t{0}, rows, [&](std::ptrdiff_t i) { relax_row(from, to, i); });
    m.at(step + 1).swap_halo();
  }
}

template <class F>
void at_all_places(F f) {
  apgas::finish([&] {
    for (const apgas::place p : apgas::places()) apgas::async_at(p, f);
  });
}

outcome relax_everywhere(int n, int steps) {
  const auto size = static_cast<std::size_t>(n);
  mesh m;
  for (auto& copy : m.copies) copy = apgas::dist_grid<double>(size, size, {.halo = 1});
  at_all_places([m, n] { start(m.at(0).local(), jacobi::wave(n)); });
  m.at(0).exchange_halo();
  const apps::stopwatch clock;
  at_all_places([m, steps] { relax_here(m, steps); });
  const double seconds = clock.seconds();
  double error = 0;
  for (const apgas::place p : apgas::places()) {
    const double there = apgas::at(
        p, [m, n, steps] { return largest_error(m.at(steps).local(), jacobi::wave(n), steps); });
    apps::keep_greatest(error, there);
  }
  for (const auto& copy : m.copies) copy.destroy();
  return {seconds, error};
}

outcome relax_serially(int n, int steps) {
  const auto size = static_cast<std::size_t>(n);
  const std::size_t width = size + 2;
  std::vector<double> a(width * width);
  std::vector<double> b(width * width);
  block from(a.data() + width + 1, size, size, width, 0, 0);
  block to(b.data() + width + 1, size, size, width, 0, 0);
  const jacobi::wave w(n);
  start(from, w);
  const apps::stopwatch clock;
  for (int step = 0; step < steps; ++step) {
    for (int i = 0; i < n; ++i) relax_row(from, to, i);
    std::swap(from, to);
  }
  return {clock.seconds(), largest_error(from, w, steps)};
}

int relax_and_report(const std::string& variant, int n, int steps) {
  const outcome o = variant == "serial" ? relax_serially(n, steps) : relax_everywhere(n, steps);
  return apps::report("jacobi", o.seconds, jacobi::small_error(o.error, steps),
                      {{"variant", variant}, {"n", n}, {"steps", steps}, {"error", o.error}});
}

}  // namespace

int main(int argc, char** argv) {
  int n = 1024;
  int steps = 100;
  std::string variant = "forall";
  apps::command_line line("jacobi",
                          "Relaxes a square mesh that is distributed over the places in blocks.");
  line.option("-n,--n", n, 1, jacobi::most_rows, "rows and columns");
  line.option("--steps", steps, 0, 1'000'000, "steps of relaxation");
  line.choice("--variant", variant, {"forall", "serial"}, "how to go over the rows");
  if (const auto code = line.parse(argc, argv)) return *code;
  return apgas::run(argc, argv, [&] {
    // The checks are here because the number of places is known only here.
    if (n < apgas::num_places()) return line.refuse("--n: fewer rows than places");
    const apps::placement all = variant == "forall" ? apps::placement_of_job() : apps::placement();
    const double bytes = jacobi::bytes_of_mesh(n, all);
    if (const auto problem = apps::beyond_memory(bytes); !problem.empty()) {
      return line.refuse("--n: " + problem + "; choose fewer rows");
    }
    return relax_and_report(variant, n, steps);
  });
}
