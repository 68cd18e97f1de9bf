// SPDX-License-Identifier: Apache-2.0

// Iterative averaging, the example of the first figure of the uClocks paper: a task for each
// element replaces the element by the mean of its neighbours. All tasks work in lock-step, until no
// element changes by more than epsilon.

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
#include "support/stopwatch.hpp"

namespace {

// The line from 0 to n + 1, whose ends stay constant. Step k reads one copy and writes the other.
struct line {
  explicit line(std::size_t n) : copies{std::vector<double>(n + 2), std::vector<double>(n + 2)} {
    for (auto& c : copies) c[n + 1] = static_cast<double>(n + 1);
  }
  [[nodiscard]] std::size_t size() const { return copies[0].size() - 2; }
  [[nodiscard]] const std::vector<double>& after(std::size_t steps) const {
    return copies[steps % 2];
  }

  // Performs step k of element j and returns the change.
  double average(std::size_t k, std::size_t j) {
    const std::vector<double>& old = copies[k % 2];
    const double mean = (old[j - 1] + old[j + 1]) / 2;
    copies[(k + 1) % 2][j] = mean;
    return std::abs(mean - old[j]);
  }

  std::array<std::vector<double>, 2> copies;
};

std::size_t with_clock(line& a, double epsilon) {
  // The largest change of step k: written in that step, read in the next, cleared in the one after
  // that.
  std::array<double, 3> change{};
  std::size_t steps = 0;
  apgas::finish([&] {
    auto c = apgas::clock::make();
    for (std::size_t j = 1; j <= a.size(); ++j) {
      apgas::async(apgas::clocked(c), [&, c, j] {
        std::size_t k = 0;
        do {
          const double mine = a.average(k, j);
          apgas::atomic([&] { change[k % 3] = std::max(change[k % 3], mine); });
          if (j == 1) change[(k + 1) % 3] = 0;
          c.advance();
        } while (change[k++ % 3] > epsilon);
        if (j == 1) steps = k;
      });
    }
  });
  return steps;
}

std::size_t with_phaser(line& a, double epsilon) {
  std::size_t steps = 0;
  apgas::finish([&] {
    apgas::phaser ph;
    const apgas::accumulator<double, apgas::maximum> change(ph);
    for (std::size_t j = 1; j <= a.size(); ++j) {
      apgas::async(apgas::phased(ph, apgas::phaser_mode::signal_wait), [&, ph, change, j] {
        std::size_t k = 0;
        do {
          change.send(a.average(k++, j));
          ph.next();
        } while (change.result() > epsilon);
        if (j == 1) steps = k;
      });
    }
  });
  return steps;
}

std::size_t with_loops(line& a, double epsilon) {
  const auto larger = [](double x, double y) { return std::max(x, y); };
  for (std::size_t k = 0;; ++k) {
    const auto average = [&a, k](std::size_t j) { return a.average(k, j); };
    if (apgas::parallel_reduce(std::size_t{1}, a.size() + 1, 0.0, average, larger) <= epsilon) {
      return k + 1;
    }
  }
}

std::size_t serial(line& a, double epsilon) {
  for (std::size_t k = 0;; ++k) {
    double change = 0;
    for (std::size_t j = 1; j <= a.size(); ++j) change = std::max(change, a.average(k, j));
    if (change <= epsilon) return k + 1;
  }
}

int average_and_report(const std::string& variant, std::size_t n, double epsilon) {
  line a(n);
  const apps::stopwatch watch;
  const std::size_t steps = variant == "clock"    ? with_clock(a, epsilon)
                            : variant == "phaser" ? with_phaser(a, epsilon)
                            : variant == "loops"  ? with_loops(a, epsilon)
                                                  : serial(a, epsilon);
  const double seconds = watch.seconds();
  line expected(n);
  const std::size_t expected_steps = serial(expected, epsilon);
  const bool same = steps == expected_steps && a.after(steps) == expected.after(steps);
  return apps::report("averaging", seconds, same,
                      {{"variant", variant},
                       {"n", static_cast<std::uint64_t>(n)},
                       {"steps", static_cast<std::uint64_t>(steps)}});
}

}  // namespace

int main(int argc, char** argv) {
  int n = 500;
  double epsilon = 0.01;
  std::string variant = "clock";
  apps::command_line line("averaging", "Averages neighbours in lock-step until nothing changes.");
  line.option("-n", n, 1, 100000, "number of elements, and of tasks");
  line.option("--epsilon", epsilon, 1e-9, 1.0, "the change at which the program ends");
  line.choice("--variant", variant, {"clock", "phaser", "loops", "serial"},
              "how the tasks keep in lock-step");
  if (const auto code = line.parse(argc, argv)) return *code;
  return apgas::run(argc, argv, [&] {
    return average_and_report(variant, static_cast<std::size_t>(n), epsilon);
  });
}
