// SPDX-License-Identifier: Apache-2.0

// Jacobi relaxation of a square mesh: in each step every point becomes the mean of its four
// neighbours. The mesh is divided into blocks of rows, one per place. A place relaxes its rows in
// parallel and sends its outermost rows to the neighbours; the finish around the step is the
// barrier.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <apgas/apgas.hpp>

#include "support/command_line.hpp"
#include "support/report.hpp"
#include "support/standing_wave.hpp"
#include "support/stopwatch.hpp"

namespace {

using row = std::vector<double>;

// The rows of one place, with a frame of points around them: the boundary, or the neighbours' rows.
// There are two copies; step s reads copy s % 2 and writes the other. So a neighbour's row that
// arrives while this place still works on the same step disturbs nothing.
class mesh_block {
 public:
  mesh_block(int n, int first_row, int rows);

  void relax_row(int step, int i);
  void relax(int step, bool parallel);

  [[nodiscard]] row copy_row(int step, int i) const;
  void put_row(int step, int i, const row& values);

  [[nodiscard]] int rows() const { return rows_; }
  [[nodiscard]] double largest_error(int steps) const;

 private:
  [[nodiscard]] double* at(int step, int i) {
    return copies_[static_cast<std::size_t>(step) % 2].data() +
           static_cast<std::ptrdiff_t>(i) * width_;
  }
  [[nodiscard]] const double* at(int step, int i) const {
    return const_cast<mesh_block*>(this)->at(step, i);
  }

  int n_;
  int first_row_;
  int rows_;
  int width_;
  std::array<row, 2> copies_;
};

// The mesh starts as a standing wave, which a step multiplies by the same factor everywhere.
constexpr int waves_down = 3;
constexpr int waves_across = 5;

double damping(int n) {
  return (apps::neighbour_mean(n, waves_down) + apps::neighbour_mean(n, waves_across)) / 2;
}

mesh_block::mesh_block(int n, int first_row, int rows)
    : n_(n), first_row_(first_row), rows_(rows), width_(n + 2) {
  copies_.fill(row(static_cast<std::size_t>(rows + 2) * static_cast<std::size_t>(width_)));
  const row down_all = apps::standing_wave(n, waves_down);
  const row across = apps::standing_wave(n, waves_across);
  const double* const down = down_all.data() + first_row;
  // The frame, too: rows of neighbours at the start, and the boundary, where the wave is zero.
  for (int i = 0; i <= rows + 1; ++i) {
    for (int j = 0; j <= n + 1; ++j) at(0, i)[j] = down[i] * across[static_cast<std::size_t>(j)];
  }
}

void mesh_block::relax_row(int step, int i) {
  const double *above = at(step, i - 1), *here = at(step, i), *below = at(step, i + 1);
  double* const to = at(step + 1, i);
  for (int j = 1; j <= n_; ++j) to[j] = 0.25 * (above[j] + below[j] + here[j - 1] + here[j + 1]);
}

void mesh_block::relax(int step, bool parallel) {
  if (parallel) return apgas::forall(1, rows_ + 1, [this, step](int i) { relax_row(step, i); });
  for (int i = 1; i <= rows_; ++i) relax_row(step, i);
}

row mesh_block::copy_row(int step, int i) const { return {at(step, i), at(step, i) + width_}; }

void mesh_block::put_row(int step, int i, const row& values) {
  std::ranges::copy(values, at(step, i));
}

double mesh_block::largest_error(int steps) const {
  const row down_all = apps::standing_wave(n_, waves_down);
  const row across = apps::standing_wave(n_, waves_across);
  const double* const down = down_all.data() + first_row_;
  const double factor = std::pow(damping(n_), steps);
  double worst = 0;
  for (int i = 1; i <= rows_; ++i) {
    for (int j = 1; j <= n_; ++j) {
      const double exact = factor * down[i] * across[static_cast<std::size_t>(j)];
      worst = std::fmax(worst, std::abs(at(steps, i)[j] - exact));
    }
  }
  return worst;
}

using mesh = apgas::place_local<mesh_block>;

// The block of place p has the rows from first_row(p) + 1 to first_row(p + 1) of 1 .. n.
int first_row(int n, int p) {
  return static_cast<int>(static_cast<long>(n) * p / apgas::num_places());
}

// Context: a task at the place whose rows these are; may suspend.
void step_here(mesh m, int step) {
  const int p = apgas::here().id();
  m->relax(step, true);
  const int last = m->rows();
  if (p > 0) {
    apgas::async_at(
        apgas::place(p - 1),
        [m, step](const row& values) { m->put_row(step + 1, m->rows() + 1, values); },
        m->copy_row(step + 1, 1));
  }
  if (p + 1 < apgas::num_places()) {
    apgas::async_at(
        apgas::place(p + 1), [m, step](const row& values) { m->put_row(step + 1, 0, values); },
        m->copy_row(step + 1, last));
  }
}

struct outcome {
  double seconds;
  double error;
};

outcome relax_everywhere(int n, int steps) {
  const mesh m = mesh::make(apgas::places(), [n] {
    const int p = apgas::here().id();
    return mesh_block(n, first_row(n, p), first_row(n, p + 1) - first_row(n, p));
  });
  const apps::stopwatch clock;
  for (int step = 0; step < steps; ++step) {
    apgas::finish([&] {
      for (const apgas::place p : apgas::places()) {
        apgas::async_at(p, [m, step] { step_here(m, step); });
      }
    });
  }
  const double seconds = clock.seconds();
  double error = 0;
  for (const apgas::place p : apgas::places()) {
    error = std::fmax(error, apgas::at(p, [m, steps] { return m->largest_error(steps); }));
  }
  m.destroy();
  return {seconds, error};
}

outcome relax_serially(int n, int steps) {
  mesh_block whole(n, 0, n);
  const apps::stopwatch clock;
  for (int step = 0; step < steps; ++step) whole.relax(step, false);
  return {clock.seconds(), whole.largest_error(steps)};
}

int relax_and_report(const std::string& variant, int n, int steps) {
  const outcome o = variant == "serial" ? relax_serially(n, steps) : relax_everywhere(n, steps);
  // Every step rounds by about one unit in the last place of a value below 1.
  const bool verified = o.error <= 1e-15 * (steps + 10);
  return apps::report("jacobi", o.seconds, verified,
                      {{"variant", variant}, {"n", n}, {"steps", steps}, {"error", o.error}});
}

}  // namespace

int main(int argc, char** argv) {
  int n = 1024;
  int steps = 100;
  std::string variant = "forall";
  apps::command_line line("jacobi",
                          "Relaxes a square mesh; its rows are divided among the places.");
  line.option("-n,--n", n, 1, 32768, "rows and columns");
  line.option("--steps", steps, 0, 1'000'000, "steps of relaxation");
  line.choice("--variant", variant, {"forall", "serial"}, "how to go over the rows");
  if (const auto code = line.parse(argc, argv)) return *code;
  return apgas::run(argc, argv, [&] {
    // Checked only here, where the number of places is known.
    if (n < apgas::num_places()) return line.refuse("--n: fewer rows than places");
    return relax_and_report(variant, n, steps);
  });
}
