// SPDX-License-Identifier: Apache-2.0

// Heat diffusion on a rectangular plate by explicit time steps. As in the example of Cilk 5.4.6,
// each step halves the plate until a strip is at most `leaf` lines wide.

#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <apgas/apgas.hpp>

#include "support/command_line.hpp"
#include "support/report.hpp"
#include "support/standing_wave.hpp"
#include "support/stopwatch.hpp"

namespace {

// The plate with a frame of cold points around it. There are two copies; step s reads copy s % 2
// and writes the other.
class plate {
 public:
  plate(int lines, int columns);

  // Computes the lines [first, last) of 1 .. lines() for step `step` + 1 from those of `step`.
  void advance(int step, int first, int last);

  [[nodiscard]] int lines() const { return lines_; }
  [[nodiscard]] double largest_error(int steps) const;

 private:
  [[nodiscard]] double* line(int step, int i) {
    return copies_[static_cast<std::size_t>(step) % 2].data() +
           static_cast<std::ptrdiff_t>(i) * (columns_ + 2);
  }

  int lines_;
  int columns_;
  double along_, across_;  // time step over the square of the distance of points
  std::vector<double> wave_down_, wave_across_;
  std::array<std::vector<double>, 2> copies_;
};

// The heat starts as a standing wave, which a step multiplies by the same factor everywhere.
constexpr int waves_down = 3;
constexpr int waves_across = 5;

// A plate of side 1; the time step is half of the largest stable one.
plate::plate(int lines, int columns)
    : lines_(lines),
      columns_(columns),
      wave_down_(apps::standing_wave(lines, waves_down)),
      wave_across_(apps::standing_wave(columns, waves_across)) {
  const double a = (lines + 1.0) * (lines + 1.0);
  const double b = (columns + 1.0) * (columns + 1.0);
  along_ = 0.25 * a / (a + b);
  across_ = 0.25 * b / (a + b);
  copies_.fill(std::vector<double>(wave_down_.size() * wave_across_.size()));
  auto point = copies_[0].begin();
  for (const double down : wave_down_) {
    for (const double across : wave_across_) *point++ = down * across;
  }
}

void plate::advance(int step, int first, int last) {
  for (int i = first; i < last; ++i) {
    const double *above = line(step, i - 1), *here = line(step, i), *below = line(step, i + 1);
    double* const to = line(step + 1, i);
    for (int j = 1; j <= columns_; ++j) {
      to[j] = here[j] + along_ * (above[j] - 2 * here[j] + below[j]) +
              across_ * (here[j - 1] - 2 * here[j] + here[j + 1]);
    }
  }
}

double plate::largest_error(int steps) const {
  const double factor = 1 - 2 * along_ * (1 - apps::neighbour_mean(lines_, waves_down)) -
                        2 * across_ * (1 - apps::neighbour_mean(columns_, waves_across));
  const double shrunk = std::pow(factor, steps);
  auto point = copies_[static_cast<std::size_t>(steps) % 2].begin();
  double worst = 0;
  for (const double down : wave_down_) {
    for (const double across : wave_across_) {
      worst = std::fmax(worst, std::abs(*point++ - shrunk * down * across));
    }
  }
  return worst;
}

void advance_in_parallel(plate& p, int step, int first, int last, int leaf) {
  if (last - first <= leaf) return p.advance(step, first, last);
  const int middle = first + (last - first) / 2;
  apgas::fork_join([=, &p] { advance_in_parallel(p, step, first, middle, leaf); },
                   [=, &p] { advance_in_parallel(p, step, middle, last, leaf); });
}

struct options {
  int lines = 1024;
  int columns = 1024;
  int steps = 100;
  int leaf = 10;
  std::string variant = "fork_join";
};

int diffuse_and_report(const options& o) {
  plate p(o.lines, o.columns);
  const apps::stopwatch clock;
  for (int step = 0; step < o.steps; ++step) {
    if (o.variant == "serial") {
      p.advance(step, 1, p.lines() + 1);
    } else {
      advance_in_parallel(p, step, 1, p.lines() + 1, o.leaf);
    }
  }
  const double seconds = clock.seconds();
  const double error = p.largest_error(o.steps);
  // Every step rounds by a few units in the last place of a value below 1.
  const bool verified = error <= 2e-15 * (o.steps + 10);
  return apps::report("heat", seconds, verified,
                      {{"variant", o.variant},
                       {"lines", o.lines},
                       {"columns", o.columns},
                       {"steps", o.steps},
                       {"error", error}});
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  apps::command_line line("heat", "Diffuses heat on a rectangular plate.");
  line.option("--lines", o.lines, 1, 32768, "lines of the plate, which are divided among tasks");
  line.option("--columns", o.columns, 1, 32768, "points of a line");
  line.option("--steps", o.steps, 0, 1'000'000, "time steps");
  line.option("--leaf", o.leaf, 1, 32768, "lines of a strip that is not divided");
  line.choice("--variant", o.variant, {"fork_join", "serial"}, "how to run the strips");
  if (const auto code = line.parse(argc, argv)) return *code;
  return apgas::run(argc, argv, [&o] { return diffuse_and_report(o); });
}
