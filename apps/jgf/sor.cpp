// SPDX-License-Identifier: Apache-2.0

// Successive over-relaxation of a square grid, in red-black order: a sweep updates the points whose
// indices have an even sum, then those whose sum is odd. The members share the rows and wait for
// each other after each half of a sweep. The order of the updates within a half does not matter, so
// that all variants find the same grid to the last bit.

#include <cstddef>
#include <string>
#include <vector>

#include "jgf/check.hpp"
#include "jgf/java_random.hpp"
#include "jgf/kernel.hpp"
#include "support/stopwatch.hpp"

namespace jgf {
namespace {

constexpr double omega = 1.25;

class grid {
 public:
  explicit grid(std::ptrdiff_t n) : n_(n), points_(static_cast<std::size_t>(n * n)) {
    java_random random(10101010);
    for (double& x : points_) x = random.next_double() * 1e-6;
  }
  [[nodiscard]] std::ptrdiff_t size() const { return n_; }

  // Updates the points of row i whose i + j has the parity of `colour`.
  void relax(std::ptrdiff_t i, int colour) {
    constexpr double quarter = omega * 0.25;
    double* const row = &points_[static_cast<std::size_t>(i * n_)];
    const double* const above = row - n_;
    const double* const below = row + n_;
    for (std::ptrdiff_t j = 1 + (i + 1 + colour) % 2; j < n_ - 1; j += 2) {
      row[j] = quarter * (above[j] + below[j] + row[j - 1] + row[j + 1]) + (1 - omega) * row[j];
    }
  }

  friend bool operator==(const grid&, const grid&) = default;

  [[nodiscard]] double sum_inside() const {
    double sum = 0;
    for (std::ptrdiff_t i = 1; i < n_ - 1; ++i) {
      for (std::ptrdiff_t j = 1; j < n_ - 1; ++j) {
        sum += points_[static_cast<std::size_t>(i * n_ + j)];
      }
    }
    return sum;
  }

 private:
  std::ptrdiff_t n_;
  std::vector<double> points_;
};

template <class Member>
void sweep(grid& g, int iterations, const Member& member) {
  const apps::range rows = apps::share(member.id(), member.members(), 1, g.size() - 1);
  for (int half = 0; half < 2 * iterations; ++half) {
    for (std::ptrdiff_t i = rows.first; i < rows.last; ++i) g.relax(i, half % 2);
    member.wait();
  }
}

}  // namespace

apps::kernel_outcome run_sor(const std::string& size, int iterations, const apps::task_plan& plan) {
  constexpr std::ptrdiff_t lengths[] = {1000, 1500, 2000};
  const apps::published_result known = published_sor(size);
  const int n = iterations == 0 ? known.iterations : iterations;

  grid g(lengths[index_of(size)]);
  const apps::stopwatch watch;
  apps::run_in_lock_step(plan.how, plan.peer, [&](auto& member) { sweep(g, n, member); });
  const double seconds = watch.seconds();

  double expected = known.value;
  bool same = true;  // as far as the serial program tells
  if (n != known.iterations) {
    grid serial(lengths[index_of(size)]);
    sweep(serial, n, apps::lone_member());
    expected = serial.sum_inside();
    same = g == serial;
  }
  apps::kernel_outcome o = apps::compare(seconds, n, g.sum_inside(), expected, known.tolerance);
  o.verified = o.verified && same;
  return o;
}

}  // namespace jgf
