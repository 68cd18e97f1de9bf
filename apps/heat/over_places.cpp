// SPDX-License-Identifier: Apache-2.0

// One task at each place performs all steps of its block. A clock keeps the tasks in lock-step,
// with one phase for each step. At the end of a step a place sends its outermost points to the
// halos of its neighbours.

#include <array>
#include <cstddef>

#include <apgas/apgas.hpp>

#include "heat/over_places.hpp"
#include "heat/plate.hpp"
#include "support/stopwatch.hpp"

namespace heat {
namespace {

using grid = apgas::dist_grid<double>;

// Two copies: step s reads copy s % 2 and writes the other. So a neighbour that finishes a step
// earlier does not overwrite points that are still needed.
struct spread_plate {
  std::array<grid, 2> copies;
  scheme how;

  [[nodiscard]] const grid& at(int step) const {
    return copies[static_cast<std::size_t>(step) % 2];
  }
};

// Context: a task at each place, registered on the innermost clock; may suspend.
void diffuse_here(const spread_plate& p, int steps) {
  for (int step = 0; step < steps; ++step) {
    const auto from = p.at(step).local();
    const auto to = p.at(step + 1).local();
    const auto lines = static_cast<std::ptrdiff_t>(from.rows());
    apgas::forall(std::ptrdiff_t{0}, lines, [&](std::ptrdiff_t i) {
      p.how.advance_line(from.row(i - 1), from.row(i), from.row(i + 1), to.row(i),
                         static_cast<std::ptrdiff_t>(from.columns()));
    });
    apgas::finish([&] { p.at(step + 1).send_halo(); });
    apgas::clock::advance_all();
  }
}

}  // namespace

spread_outcome diffuse_over_places(int lines, int columns, int steps) {
  spread_plate p{.copies = {}, .how = {lines, columns}};
  for (grid& copy : p.copies) {
    copy = grid(static_cast<std::size_t>(lines), static_cast<std::size_t>(columns), {.halo = 1});
  }
  apgas::finish([&] {
    apgas::async_at(
        apgas::places(),
        [first = p.at(0)](int l, int c) {
          const wave w(l, c);
          first.for_each_local(
              [&w](std::size_t i, std::size_t j, double& x) { x = w.start(i + 1, j + 1); });
        },
        lines, columns);
  });
  p.at(0).exchange_halo();
  const apps::stopwatch clock;
  apgas::clocked_finish([&] {
    for (const apgas::place q : apgas::places()) {
      apgas::clocked_async_at(q, [p, steps] { diffuse_here(p, steps); });
    }
  });
  spread_outcome o{.seconds = clock.seconds(), .points = p.at(steps).gather()};
  for (const grid& copy : p.copies) copy.destroy();
  return o;
}

}  // namespace heat
