// SPDX-License-Identifier: Apache-2.0

// The area under f(x) = x^3 + x, by halving each interval until the halves add up to the whole.
// Like fib, but each task has about ten times the work.

#include <cmath>
#include <cstdint>
#include <string>

#include <apgas/apgas.hpp>

#include "support/command_line.hpp"
#include "support/report.hpp"
#include "support/stopwatch.hpp"

namespace {

// An interval is not split further if its halves differ less from it.
constexpr double enough = 1e-9;

double f(double x) { return (x * x + 1.0) * x; }

struct interval {
  double from, f_from;
  double to, f_to;
  double area;  // of the trapezium
};

struct halves {
  interval left, right;
  [[nodiscard]] double area() const { return left.area + right.area; }
};

interval whole(double from, double to) {
  return {from, f(from), to, f(to), (f(from) + f(to)) / 2 * (to - from)};
}

halves split(const interval& i) {
  const double half = (i.to - i.from) / 2;
  const double middle = i.from + half;
  const double f_middle = f(middle);
  return {{i.from, i.f_from, middle, f_middle, (i.f_from + f_middle) / 2 * half},
          {middle, f_middle, i.to, i.f_to, (f_middle + i.f_to) / 2 * half}};
}

bool fine(const interval& i, const halves& h) { return std::abs(h.area() - i.area) < enough; }

double integrate_serial(const interval& i) {
  const halves h = split(i);
  return fine(i, h) ? h.area() : integrate_serial(h.left) + integrate_serial(h.right);
}

double integrate_fork_join(const interval& i) {
  const halves h = split(i);
  if (fine(i, h)) return h.area();
  const auto [left, right] =
      apgas::fork_join([part = h.left] { return integrate_fork_join(part); },
                       [part = h.right] { return integrate_fork_join(part); });
  return left + right;
}

double integrate_finish(const interval& i) {
  const halves h = split(i);
  if (fine(i, h)) return h.area();
  double left = 0;
  double right = 0;
  apgas::finish([&] {
    apgas::async([&] { left = integrate_finish(h.left); });
    right = integrate_finish(h.right);
  });
  return left + right;
}

double integrate(const std::string& variant, const interval& i) {
  if (variant == "finish") return integrate_finish(i);
  if (variant == "serial") return integrate_serial(i);
  return integrate_fork_join(i);
}

std::int64_t count_splits(const interval& i) {
  const halves h = split(i);
  return fine(i, h) ? 0 : 1 + count_splits(h.left) + count_splits(h.right);
}

// The expected result, computed independently: x^4 / 4 + x^2 / 2 at the upper limit.
double exact(double to) { return to * to * (to * to + 2) / 4; }

int integrate_and_report(const std::string& variant, int to) {
  const interval i = whole(0, to);
  const apps::stopwatch clock;
  const double area = integrate(variant, i);
  const double seconds = clock.seconds();
  const std::int64_t splits = count_splits(i);
  // Halving an interval divides the error of a trapezium by four. The remaining error of each
  // interval is therefore at most a third of its last difference. In addition, the sums are rounded
  // once for each level of the recursion.
  const double bound = enough / 3 * static_cast<double>(splits + 1) + 1e-14 * exact(to);
  return apps::report("integrate", seconds, std::abs(area - exact(to)) <= bound,
                      {{"variant", variant},
                       {"to", to},
                       {"area", area},
                       {"tasks", variant == "serial" ? 0 : splits}});
}

}  // namespace

int main(int argc, char** argv) {
  int to = 500;
  std::string variant = "fork_join";
  apps::command_line line("integrate", "Integrates x^3 + x from 0 by recursive halving.");
  // An integer, so that all its halves are exact and the recursion ends.
  line.option("--to", to, 1, 10000, "the upper limit");
  line.choice("--variant", variant, {"fork_join", "finish", "serial"}, "how to recurse");
  if (const auto code = line.parse(argc, argv)) return *code;
  return apgas::run(argc, argv, [&] { return integrate_and_report(variant, to); });
}
