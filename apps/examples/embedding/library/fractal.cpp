// SPDX-License-Identifier: Apache-2.0
#include <complex>
#include <cstddef>

#include <apgas/apgas.hpp>

#include "fractal.hpp"

namespace fractal {
namespace {

// Started by the first call, and ended with the process: the static object is destroyed when main
// has returned. In a job of several processes all of them run the same program up to this first
// call. There place 0 goes on, and the others serve it until it ends, and end with it.
apgas::runtime& the_runtime() {
  static apgas::runtime runtime({.serve_and_exit = true});
  return runtime;
}

int steps_of(std::complex<double> c, int most_steps) {
  std::complex<double> z;
  int steps = 0;
  while (steps < most_steps && std::norm(z) <= 4) {
    z = z * z + c;
    ++steps;
  }
  return steps;
}

struct picture {
  int width;
  int height;
  int most_steps;
};

// The rows from `first` to `end`, by the workers of this place.
std::vector<int> rows(const picture& of, int first, int end) {
  const auto width = static_cast<std::size_t>(of.width);
  std::vector<int> result(static_cast<std::size_t>(end - first) * width);
  apgas::forall(first, end, [&](int y) {
    int* const row = &result[static_cast<std::size_t>(y - first) * width];
    for (int x = 0; x < of.width; ++x) {
      const std::complex<double> c(-2 + 3 * (x + 0.5) / of.width, -1 + 2 * (y + 0.5) / of.height);
      row[x] = steps_of(c, of.most_steps);
    }
  });
  return result;
}

// Every place computes a block of rows.
std::vector<int> all_rows(const picture& of) {
  std::vector<apgas::future<std::vector<int>>> blocks;
  for (const apgas::place p : apgas::places()) {
    blocks.push_back(apgas::async_future_at(
        p,
        [](const picture& all) {
          const int here = apgas::here().id();
          const int places = apgas::num_places();
          return rows(all, here * all.height / places, (here + 1) * all.height / places);
        },
        of));
  }
  std::vector<int> all;
  for (const auto& block : blocks) {
    const std::vector<int>& its_rows = block.get();
    all.insert(all.end(), its_rows.begin(), its_rows.end());
  }
  return all;
}

}  // namespace

std::vector<int> mandelbrot(int width, int height, int most_steps) {
  return the_runtime().run([&] { return all_rows({width, height, most_steps}); });
}

}  // namespace fractal
