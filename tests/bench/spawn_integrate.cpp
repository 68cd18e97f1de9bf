// SPDX-License-Identifier: Apache-2.0

// The area under x^3 + x by recursive halving, with about ten times the work of fib for each spawn.
// All variants add the same numbers in the same order, so their sums are equal to the last bit.

#include <cmath>
#include <cstdint>
#include <string>

#include <apgas/apgas.hpp>

#include "spawn_benchmarks.hpp"
#include "spawn_peers.hpp"

namespace bench {
namespace {

constexpr double enough = 1e-9;

double f(double x) { return (x * x + 1.0) * x; }

// An interval with the values of f at its ends, and the area of the trapezium.
struct interval {
  double from, f_from, to, f_to, area;
};

struct halves {
  interval left, right;
  [[nodiscard]] double area() const { return left.area + right.area; }
};

interval whole(double to) { return {0, f(0), to, f(to), (f(0) + f(to)) / 2 * to}; }

[[gnu::always_inline]] inline halves split(const interval& i) {
  const double half = (i.to - i.from) / 2;
  const double middle = i.from + half;
  const double f_middle = f(middle);
  return {{i.from, i.f_from, middle, f_middle, (i.f_from + f_middle) / 2 * half},
          {middle, f_middle, i.to, i.f_to, (f_middle + i.f_to) / 2 * half}};
}

[[gnu::always_inline]] inline bool fine(const interval& i, const halves& h) {
  return std::abs(h.area() - i.area) < enough;
}

// Five numbers as arguments are passed in registers, while a struct of them is not. All variants
// call themselves in this way.
#define BENCH_INTERVAL double from, double f_from, double to, double f_to, double area
#define BENCH_ALL_OF(part) part.from, part.f_from, part.to, part.f_to, part.area

double serial(BENCH_INTERVAL) {
  const interval i{from, f_from, to, f_to, area};
  const halves h = split(i);
  return fine(i, h) ? h.area() : serial(BENCH_ALL_OF(h.left)) + serial(BENCH_ALL_OF(h.right));
}

[[gnu::noinline]] double serial_call(BENCH_INTERVAL) {
  const interval i{from, f_from, to, f_to, area};
  const halves h = split(i);
  if (fine(i, h)) return h.area();
  return serial_call(BENCH_ALL_OF(h.left)) + serial_call(BENCH_ALL_OF(h.right));
}

double forked(BENCH_INTERVAL) {
  const interval i{from, f_from, to, f_to, area};
  const halves h = split(i);
  if (fine(i, h)) return h.area();
  const auto [left, right] =
      apgas::fork_join([part = h.left] { return forked(BENCH_ALL_OF(part)); },
                       [part = h.right] { return forked(BENCH_ALL_OF(part)); });
  return left + right;
}

// As a carefully tuned program would do it: no tasks for work of microseconds.
double forked_above(int levels, BENCH_INTERVAL) {
  if (levels == 0) return serial(from, f_from, to, f_to, area);
  const interval i{from, f_from, to, f_to, area};
  const halves h = split(i);
  if (fine(i, h)) return h.area();
  const auto [left, right] = apgas::fork_join(
      [levels, part = h.left] { return forked_above(levels - 1, BENCH_ALL_OF(part)); },
      [levels, part = h.right] { return forked_above(levels - 1, BENCH_ALL_OF(part)); });
  return left + right;
}

double forked_with_cut_off(BENCH_INTERVAL) {
  return forked_above(10, from, f_from, to, f_to, area);
}

#if defined(BENCH_TBB)
double grouped(BENCH_INTERVAL) {
  const interval i{from, f_from, to, f_to, area};
  const halves h = split(i);
  if (fine(i, h)) return h.area();
  double left = 0;
  tbb::task_group group;
  group.run([&left, part = h.left] { left = grouped(BENCH_ALL_OF(part)); });
  const double right = grouped(BENCH_ALL_OF(h.right));
  group.wait();
  return left + right;
}
#endif

#if defined(BENCH_OPENMP)
double tasked(BENCH_INTERVAL) {
  const interval i{from, f_from, to, f_to, area};
  const halves h = split(i);
  if (fine(i, h)) return h.area();
  double left = 0;
  const interval part = h.left;
#pragma omp task shared(left) firstprivate(part)
  left = tasked(BENCH_ALL_OF(part));
  const double right = tasked(BENCH_ALL_OF(h.right));
#pragma omp taskwait
  return left + right;
}
#endif

std::int64_t splits(const interval& i) {
  const halves h = split(i);
  return fine(i, h) ? 0 : 1 + splits(h.left) + splits(h.right);
}

template <auto Function>
double of(const interval& i) {
  return Function(BENCH_ALL_OF(i));
}

}  // namespace

benchmark integrate(const sizes& s) {
  const interval i = whole(s.integrate_to);
  const double expected = of<serial>(i);
  const auto spawns = static_cast<double>(splits(i));
  benchmark b{
      "integrate to " + std::to_string(s.integrate_to), "spawn", spawns, 2 * spawns + 1, {}};
  add_serial(b, "serial", of<serial>, i, expected);
  add_serial(b, "serial, not inlined", of<serial_call>, i, expected);
  add_ours(b, "apgas fork_join", of<forked>, i, expected);
  add_ours(b, "apgas fork_join, 10 levels", of<forked_with_cut_off>, i, expected);
#if defined(BENCH_TBB)
  add_peer(b, "TBB task_group", [](int w) { return with_tbb(w, of<grouped>); }, i, expected);
#endif
#if defined(BENCH_OPENMP)
  add_peer(b, "OpenMP task", [](int w) { return with_openmp(w, of<tasked>); }, i, expected);
#endif
  return b;
}

}  // namespace bench
