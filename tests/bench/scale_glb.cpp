// SPDX-License-Identifier: Apache-2.0
// The lifelines of glb in the simulator of tests/sim. Each task and each message takes one round,
// and a place handles messages after each task. A tree of 128 to 256 tasks per place begins at
// place 0.
#include <algorithm>

#include "scale.hpp"
#include "sim_glb_world.hpp"

namespace bench {
namespace {

using glb_sim::work;

// log2 of the number of places, rounded up.
std::int64_t doublings(int places) {
  std::int64_t n = 0;
  while ((std::int64_t{1} << n) < places) ++n;
  return n;
}

scale_result simulate(const glb_sim::lifelines::shape& shape, std::int64_t spine, int places) {
  sim::traffic seen(places);
  glb_sim::settings s;
  s.places = places;
  s.height = static_cast<int>(doublings(places)) + 6;
  s.spine = spine;
  s.shape = shape;
  s.rounds = true;
  s.seen = &seen;
  sim::random_choice chooser(1);
  glb_sim::counters c;
  scale_result r;
  r.wrong = glb_sim::run(s, chooser, &c);
  r.task_frames = c.lifeline_loot + c.answers_with_work;
  // The finish hears of each place that becomes dormant: a return.
  for (std::int64_t i = 0; i < c.dormant; ++i) seen.add(places - 1, 0, 24);
  r.frames = seen.frames();
  r.to_home = seen.received_by(0);
  r.to_other = seen.most_received_but_by(0);
  r.bytes = seen.most_bytes();
  r.depth = c.rounds - c.last_work;
  const std::int64_t least = spine + work::tasks_in_tree(s.height) / places;
  r.balance = static_cast<double>(least) / static_cast<double>(c.last_work);
  return r;
}

}  // namespace

std::vector<workload> glb_workloads() {
  struct named {
    const char* name;
    glb_sim::lifelines::shape shape;
    std::int64_t spine;
  };
  std::vector<workload> all;
  for (const named& w : {
           named{"tree", {1, 4, 1}, 0},
           named{"tree, lifelines alone", {0, 4, 1}, 0},
           named{"tree, radix 2", {1, 2, 1}, 0},
           named{"tree, radix 32", {1, 32, 1}, 0},
           named{"1000 tasks one by one, then the tree", {1, 4, 1}, 1000},
       }) {
    all.push_back(
        {"glb", w.name, 100'000, [w](int places) { return simulate(w.shape, w.spine, places); }});
  }
  return all;
}

}  // namespace bench
