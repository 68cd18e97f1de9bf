// SPDX-License-Identifier: Apache-2.0

// CoMD: molecular dynamics of copper with link cells, after the mini-application of that name.
// The physics is written once (slab.hpp, simulate.hpp); the variants differ in how the rows of link
// cells are worked on in parallel, and in whether several places share the cube.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <apgas/apgas.hpp>

#include "comd/one_place.hpp"
#include "comd/places.hpp"
#include "comd/result.hpp"
#include "support/command_line.hpp"
#include "support/peer_thread.hpp"
#include "support/peers.hpp"
#include "support/report.hpp"
#include "support/tbb_arena.hpp"

namespace {

template <class How>
std::vector<comd::slab_outcome> run_here(const comd::problem& p, How how) {
  return {comd::run_slab(p, 0, 1, how)};
}

std::vector<comd::slab_outcome> run_by_peer([[maybe_unused]] const comd::problem& p,
                                            [[maybe_unused]] const std::string& variant,
                                            [[maybe_unused]] int threads) {
#if defined(_OPENMP)
  if (variant == "openmp") return run_here(p, comd::by_openmp(threads));
#endif
#if defined(APPS_TBB)
  if (variant == "tbb") {
    return apps::in_tbb_arena(threads, [&p] { return run_here(p, comd::by_tbb()); });
  }
#endif
  return {};
}

std::vector<comd::slab_outcome> run(const comd::problem& p, const std::string& variant,
                                    apps::peer_thread& peer) {
  if (variant == "places") return comd::run_over_places(p);
  if (variant == "begin") return run_here(p, comd::by_begin());
  if (variant == "cobegin") return run_here(p, comd::by_cobegin());
  if (variant == "coforall") return run_here(p, comd::by_coforall());
  if (variant == "forall") return run_here(p, comd::by_forall());
  if (apps::is_peer(variant)) {
    std::vector<comd::slab_outcome> all;
    peer.run([&, threads = apgas::num_workers()] { all = run_by_peer(p, variant, threads); });
    return all;
  }
  return run_here(p, comd::serially());
}

}  // namespace

int main(int argc, char** argv) {
  comd::problem p;
  std::int64_t seed = 1;
  std::string variant = "places";
  apps::command_line line("comd", "Molecular dynamics of copper atoms, with link cells.");
  line.option("--lattice", p.lattice, 4, 100, "unit cells along each edge, of four atoms each");
  line.option("--steps", p.steps, 1, 100'000, "time steps of 1 fs");
  line.option("--seed", seed, 0, 1'000'000'000, "seed of the momenta");
  apps::declare_variant(line, variant,
                        {"places", "serial", "begin", "cobegin", "coforall", "forall"},
                        "slabs over all places, or a form of tasks at one");
  if (const auto code = line.parse(argc, argv)) return *code;
  p.seed = static_cast<std::uint64_t>(seed);
  const comd::cube c(p.lattice);
  apps::peer_thread peer;
  return apgas::run(argc, argv, [&] {
    if (variant == "places" && std::cmp_less(c.cells(), apgas::num_places())) {
      return line.refuse("--lattice " + std::to_string(p.lattice) + ": the cube has " +
                         std::to_string(c.cells()) + " link cells along x, fewer than the " +
                         std::to_string(apgas::num_places()) +
                         " places; choose a larger lattice or fewer places");
    }
    const apps::placement all = variant == "places" ? apps::placement_of_job() : apps::placement();
    if (const auto problem = apps::beyond_memory(p.bytes(all)); !problem.empty()) {
      return line.refuse("--lattice: " + problem + "; choose a smaller one");
    }
    comd::result r = comd::combine("comd", p, run(p, variant, peer));
    r.figures.insert(r.figures.begin(), {"variant", variant});
    return apps::report("comd", r.seconds, r.found.wrong.empty(), r.figures);
  });
}
