// SPDX-License-Identifier: Apache-2.0

// A Fourier transform of three dimensions, in slabs over the places: each place transforms its
// planes along two directions, team::alltoall exchanges the blocks of all places, and each place
// transforms along the third direction.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <apgas/apgas.hpp>

#include "fft/check.hpp"
#include "fft/slab.hpp"
#include "support/command_line.hpp"
#include "support/memory.hpp"
#include "support/peer_thread.hpp"
#include "support/peers.hpp"
#include "support/report.hpp"
#include "support/stopwatch.hpp"

namespace {

using fft::number;
using fft::shape;

// How the steps of a place run, and how its blocks are exchanged.
struct by_workers {
  apgas::team team = apgas::team::world();

  template <class F>
  void each(std::size_t n, F f) const {
    apgas::forall(std::size_t{0}, n, f);
  }
  void exchange(const std::vector<number>& out, std::vector<number>& in) const {
    team.alltoall(std::span(out), std::span(in));
  }
};
struct at_one_place {
  void exchange(const std::vector<number>& out, std::vector<number>& in) const { in = out; }
};
struct by_openmp : at_one_place {
  int threads;

  explicit by_openmp(int count) : threads(count) {}
  template <class F>
  void each(std::size_t n, F f) const {
#if defined(_OPENMP)
#pragma omp parallel for num_threads(threads) schedule(static)
#endif
    for (std::size_t i = 0; i < n; ++i) f(i);
  }
};
struct serially : at_one_place {
  template <class F>
  void each(std::size_t n, F f) const {
    for (std::size_t i = 0; i < n; ++i) f(i);
  }
};

struct outcome {
  double seconds;
  fft::sums sums;
};

// Context: a task at each place; may suspend.
template <class How>
outcome transform_here(const shape& s, std::size_t place, std::uint64_t seed, int rounds,
                       const How& how) {
  const fft::slab steps(s);
  std::vector<number> points(s.local());
  std::vector<number> packed(s.local());
  std::vector<number> coefficients(s.local());
  double seconds = 0;
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t k = 0; k < s.local(); ++k) {
      points[k] = fft::input_at(seed, place * s.local() + k);
    }
    how.exchange(points, packed);  // all begin together, and the buffers are in use already
    const apps::stopwatch clock;
    how.each(steps.planes(),
             [&](std::size_t i) { steps.plane_forward(i, points.data(), packed.data()); });
    how.exchange(packed, coefficients);
    how.each(steps.columns(), [&](std::size_t i) { steps.column(i, coefficients.data(), true); });
    const double forward = clock.seconds();
    std::vector<number> columns = coefficients;
    const apps::stopwatch backward;
    how.each(steps.columns(), [&](std::size_t i) { steps.column(i, columns.data(), false); });
    how.exchange(columns, packed);
    how.each(steps.planes(),
             [&](std::size_t i) { steps.plane_backward(i, packed.data(), points.data()); });
    seconds += forward + backward.seconds();
  }
  return {seconds, fft::check(s, place, seed, coefficients, points)};
}

outcome transform_everywhere(const shape& s, std::uint64_t seed, int rounds) {
  std::vector<apgas::future<outcome>> all;
  for (const apgas::place p : apgas::places()) {
    all.push_back(apgas::async_future_at(p, [=] {
      const by_workers how;
      return transform_here(s, how.team.index(), seed, rounds, how);
    }));
  }
  outcome sum{};
  for (const auto& each : all) {
    sum.seconds = std::max(sum.seconds, each.get().seconds);
    sum.sums = sum.sums + each.get().sums;
  }
  return sum;
}

int transform_and_report(const shape& s, std::uint64_t seed, int rounds, const std::string& variant,
                         std::optional<apps::peer_thread>& peer) {
  outcome o{};
  if (peer) {
    peer->run([&, threads = apgas::num_workers()] {
      o = transform_here(s, 0, seed, rounds, by_openmp(threads));
    });
  } else {
    o = variant == "serial" ? transform_here(s, 0, seed, rounds, serially())
                            : transform_everywhere(s, seed, rounds);
  }
  const fft::errors found(s, o.sums);
  return apps::report("fft", o.seconds, found.small(s),
                      {{"variant", variant},
                       {"x", static_cast<std::int64_t>(s.x)},
                       {"y", static_cast<std::int64_t>(s.y)},
                       {"z", static_cast<std::int64_t>(s.z)},
                       {"rounds", rounds},
                       {"inverse_error", found.inverse},
                       {"parseval_error", found.parseval},
                       {"direct_error", found.direct},
                       {"weighted_error", found.weighted},
                       {"gflops", fft::operations(s) * rounds / o.seconds / 1e9}});
}

}  // namespace

int main(int argc, char** argv) {
  int x = 64;
  int y = 64;
  int z = 64;
  int rounds = 1;
  std::int64_t seed = 1;
  std::string variant = "places";
  apps::command_line line("fft", "Transforms a cuboid of points, in slabs over the places.");
  line.option("-x", x, 1, 4096, "points along x; factors 2, 3 and 5, and the places divide it");
  line.option("-y", y, 1, 4096, "points along y, likewise");
  line.option("-z", z, 1, 4096, "points along z; factors 2, 3 and 5");
  line.option("--rounds", rounds, 1, 1000, "how often to transform, forward and backward");
  line.option("--seed", seed, 0, 1'000'000'000, "seed of the points");
  apps::declare_variant_beside_openmp(line, variant, {"places", "serial"},
                                      "over all places, or serially at one");
  if (const auto code = line.parse(argc, argv)) return *code;
  shape s{static_cast<std::size_t>(x), static_cast<std::size_t>(y), static_cast<std::size_t>(z), 1};
  for (const std::size_t n : {s.x, s.y, s.z}) {
    if (!fft::has_small_factors(n)) {
      return line.refuse("-x, -y, -z: " + std::to_string(n) +
                         " has a prime factor other than 2, 3 and 5; choose another number");
    }
  }
  std::optional<apps::peer_thread> peer;
  if (apps::is_peer(variant)) peer.emplace();
  return apgas::run(argc, argv, [&] {
    const apps::placement all = variant == "places" ? apps::placement_of_job() : apps::placement();
    s.places = static_cast<std::size_t>(all.places);
    if (s.x % s.places != 0 || s.y % s.places != 0) {
      return line.refuse("-x, -y: choose multiples of the number of places, " +
                         std::to_string(s.places));
    }
    if (const auto problem = apps::beyond_memory(s.bytes(all)); !problem.empty()) {
      return line.refuse("-x, -y, -z: " + problem + "; choose fewer points");
    }
    return transform_and_report(s, static_cast<std::uint64_t>(seed), rounds, variant, peer);
  });
}
