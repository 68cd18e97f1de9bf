// SPDX-License-Identifier: Apache-2.0

// The area under x^3 + x by recursive halving: some ten times the work of fib per spawn. All
// variants add the same numbers in the same order, so their sums are equal to the last bit.

#include <cmath>
#include <cstdint>

#include <apgas/apgas.hpp>

#include "spawn_benchmarks.hpp"
#include "spawn_peers.hpp"

namespace bench {
namespace {

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

interval whole(double to) { return {0, f(0), to, f(to), (f(0) + f(to)) / 2 * to}; }

halves split(const interval& i) {
  const double half = (i.to - i.from) / 2;
  const double middle = i.from + half;
  const double f_middle = f(middle);
  return {{i.from, i.f_from, middle, f_middle, (i.f_from + f_middle) / 2 * half},
          {middle, f_middle, i.to, i.f_to, (f_middle + i.f_to) / 2 * half}};
}

bool fine(const interval& i, const halves& h) { return std::abs(h.area() - i.area) < enough; }

double serial(const interval& i) {
  const halves h = split(i);
  return fine(i, h) ? h.area() : serial(h.left) + serial(h.right);
}

[[gnu::noinline]] double serial_call(const interval& i) {
  const halves h = split(i);
  return fine(i, h) ? h.area() : serial_call(h.left) + serial_call(h.right);
}

// The form with everything in registers is the fastest one of gcc.
[[gnu::noinline]] double serial_values(double from, double f_from, double to, double f_to,
                                       double area) {
  const double half = (to - from) / 2;
  const double middle = from + half;
  const double f_middle = f(middle);
  const double left = (f_from + f_middle) / 2 * half;
  const double right = (f_middle + f_to) / 2 * half;
  const double sum = left + right;
  if (std::abs(sum - area) < enough) return sum;
  return serial_values(from, f_from, middle, f_middle, left) +
         serial_values(middle, f_middle, to, f_to, right);
}

double forked(const interval& i) {
  const halves h = split(i);
  if (fine(i, h)) return h.area();
  const auto [left, right] = apgas::fork_join([part = h.left] { return forked(part); },
                                              [part = h.right] { return forked(part); });
  return left + right;
}

#if defined(BENCH_TBB)
double grouped(const interval& i) {
  const halves h = split(i);
  if (fine(i, h)) return h.area();
  double left = 0;
  tbb::task_group group;
  group.run([&] { left = grouped(h.left); });
  const double right = grouped(h.right);
  group.wait();
  return left + right;
}
#endif

#if defined(BENCH_OPENMP)
double tasked(const interval& i) {
  const halves h = split(i);
  if (fine(i, h)) return h.area();
  double left = 0;
#pragma omp task shared(left, h)
  left = tasked(h.left);
  const double right = tasked(h.right);
#pragma omp taskwait
  return left + right;
}
#endif

std::int64_t splits(const interval& i) {
  const halves h = split(i);
  return fine(i, h) ? 0 : 1 + splits(h.left) + splits(h.right);
}

}  // namespace

benchmark integrate(const sizes& s) {
  const interval i = whole(s.integrate_to);
  const double expected = serial(i);
  const auto spawns = static_cast<double>(splits(i));
  benchmark b{"integrate to " + std::to_string(s.integrate_to), "spawn", spawns, 2 * spawns + 1, {}};
  add_serial(b, "serial", serial, i, expected);
  add_serial(b, "serial, not inlined", serial_call, i, expected);
  add_serial(
      b, "serial, in registers",
      [](const interval& w) { return serial_values(w.from, w.f_from, w.to, w.f_to, w.area); }, i,
      expected);
  add_ours(b, "apgas fork_join", forked, i, expected);
#if defined(BENCH_TBB)
  add_peer(b, "TBB task_group", [](int w) { return with_tbb(w, grouped); }, i, expected);
#endif
#if defined(BENCH_OPENMP)
  add_peer(b, "OpenMP task", [](int w) { return with_openmp(w, tasked); }, i, expected);
#endif
  return b;
}

}  // namespace bench
