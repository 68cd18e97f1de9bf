// SPDX-License-Identifier: Apache-2.0

// Conjugate gradients over places, for the Poisson equation on a cube. The vectors are in a
// dist_array in blocks; its halo has the points of the neighbours that a product with the matrix
// needs. The inner products are sums over all workers and an allreduce over all places.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <apgas/apgas.hpp>

#include "cg/conjugate_gradients.hpp"
#include "cg/poisson.hpp"
#include "support/command_line.hpp"
#include "support/memory.hpp"
#include "support/peer_thread.hpp"
#include "support/peers.hpp"
#include "support/report.hpp"
#include "support/stopwatch.hpp"

namespace {

using vector = apgas::dist_array<double>;

// Sent to all places.
struct plan {
  std::int64_t n;
  double tolerance;
  int most_iterations;
  std::int64_t seed;

  [[nodiscard]] cg::poisson equation() const {
    return {static_cast<std::size_t>(n), static_cast<std::uint64_t>(seed)};
  }
};

// The workers of a place, and the threads of OpenMP, share the points in parts.
constexpr std::size_t points_of_a_part = 8192;
std::size_t parts(std::size_t n) { return (n + points_of_a_part - 1) / points_of_a_part; }
std::size_t end(std::size_t part, std::size_t n) {
  return std::min(n, (part + 1) * points_of_a_part);
}

class over_places {
 public:
  explicit over_places(const vector& direction) : direction_(direction) {}

  template <class F>
  double sum_over(std::size_t n, F f) const {
    const double here = apgas::parallel_reduce(
        std::size_t{0}, parts(n), 0.0,
        [&](std::size_t part) { return f(part * points_of_a_part, end(part, n)); }, std::plus<>());
    return team_.allreduce(here, std::plus<>());
  }
  template <class F>
  void for_all(std::size_t n, F f) const {
    apgas::forall(std::size_t{0}, parts(n),
                  [&](std::size_t part) { f(part * points_of_a_part, end(part, n)); });
  }
  void exchange_halo() const { direction_.swap_halo(); }

 private:
  apgas::team team_ = apgas::team::world();
  vector direction_;
};

class by_openmp {
 public:
  explicit by_openmp(int threads) : threads_(threads) {}

  template <class F>
  double sum_over(std::size_t n, F f) const {
    double sum = 0;
#if defined(_OPENMP)
#pragma omp parallel for num_threads(threads_) schedule(static) reduction(+ : sum)
#endif
    for (std::size_t part = 0; part < parts(n); ++part) {
      sum += f(part * points_of_a_part, end(part, n));
    }
    return sum;
  }
  template <class F>
  void for_all(std::size_t n, F f) const {
#if defined(_OPENMP)
#pragma omp parallel for num_threads(threads_) schedule(static)
#endif
    for (std::size_t part = 0; part < parts(n); ++part) f(part * points_of_a_part, end(part, n));
  }
  void exchange_halo() const {}

 private:
  [[maybe_unused]] int threads_;
};

struct outcome {
  cg::outcome result;
  double seconds;
};

std::pair<outcome, std::vector<double>> solve_everywhere(const plan& p) {
  const cg::poisson equation = p.equation();
  const vector x(equation.points(), apgas::distribution::block());
  const vector direction(equation.points(), apgas::distribution::block(),
                         [](std::size_t) { return 0.0; }, {.halo = equation.reach()});
  std::vector<apgas::future<outcome>> all;
  for (const apgas::place q : apgas::places()) {
    all.push_back(apgas::async_future_at(q, [p, x, direction] {
      const cg::poisson mine = p.equation();
      const std::size_t first = x.index_of(0);
      direction.for_each_local([&](std::size_t k, double& d) { d = mine.right_hand_side(k); });
      cg::portion points{first, x.local(), direction.local()};
      const over_places how(direction);
      apgas::team::world().barrier();
      const apps::stopwatch clock;
      const cg::outcome o = cg::solve(mine, points, p.tolerance, p.most_iterations, how);
      return outcome{o, clock.seconds()};
    }));
  }
  for (const auto& each : all) each.wait();
  std::vector<double> found = x.gather();
  x.destroy();
  direction.destroy();
  return {all.front().get(), std::move(found)};
}

// At this place alone.
template <class How>
std::pair<outcome, std::vector<double>> solve_here(const plan& p, const How& how) {
  const cg::poisson equation = p.equation();
  std::vector<double> x(equation.points());
  std::vector<double> direction(equation.points() + 2 * equation.reach());
  const auto inner = std::span(direction).subspan(equation.reach(), equation.points());
  for (std::size_t k = 0; k < inner.size(); ++k) inner[k] = equation.right_hand_side(k);
  cg::portion points{0, x, inner};
  const apps::stopwatch clock;
  const cg::outcome o = cg::solve(equation, points, p.tolerance, p.most_iterations, how);
  return {outcome{o, clock.seconds()}, std::move(x)};
}

int solve_and_report(const plan& p, const std::string& variant,
                     std::optional<apps::peer_thread>& peer) {
  std::pair<outcome, std::vector<double>> solved;
  if (peer) {
    peer->run([&, threads = apgas::num_workers()] { solved = solve_here(p, by_openmp(threads)); });
  } else {
    solved = variant == "serial" ? solve_here(p, cg::serially()) : solve_everywhere(p);
  }
  const auto& [o, found] = solved;
  const cg::check_result result = cg::check(p.equation(), found, p.tolerance);
  return apps::report("cg", o.seconds, result.small,
                      {{"variant", variant},
                       {"n", p.n},
                       {"iterations", o.result.iterations},
                       {"recurrence", o.result.residual},
                       {"residual", result.residual},
                       {"error", result.error}});
}

}  // namespace

int main(int argc, char** argv) {
  plan p{.n = 64, .tolerance = 1e-10, .most_iterations = 10'000, .seed = 1};
  std::string variant = "places";
  apps::command_line line("cg", "Solves the Poisson equation on a cube by conjugate gradients.");
  line.option("-n,--n", p.n, 1, 1024, "points in each direction, at least as many as places");
  line.option("--tolerance", p.tolerance, 1e-12, 0.1, "largest residual, relative to the input");
  line.option("--iterations", p.most_iterations, 1, 1'000'000, "largest number of iterations");
  line.option("--seed", p.seed, 0, 1'000'000'000, "seed of the solution");
  apps::declare_variant_beside_openmp(line, variant, {"places", "serial"},
                                      "over all places, or serially at one");
  if (const auto code = line.parse(argc, argv)) return *code;
  std::optional<apps::peer_thread> peer;
  if (apps::is_peer(variant)) peer.emplace();
  return apgas::run(argc, argv, [&] {
    if (variant == "places" && p.n < apgas::num_places()) {
      return line.refuse("--n: fewer planes than places");
    }
    const apps::placement all = variant == "places" ? apps::placement_of_job() : apps::placement();
    const double bytes = p.equation().bytes(all);
    if (const auto problem = apps::beyond_memory(bytes); !problem.empty()) {
      return line.refuse("--n: " + problem + "; choose fewer points");
    }
    return solve_and_report(p, variant, peer);
  });
}
