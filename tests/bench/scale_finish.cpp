// SPDX-License-Identifier: Apache-2.0
// The finish protocol in the simulator of tests/sim, whose checker watches the end of each run.
// Every task takes no time and every message one round, so a place is idle before the places that
// it reached: the worst case for returns that wait for others.
#include <algorithm>

#include <apgas/base/random.hpp>

#include "scale.hpp"
#include "sim_finish_world.hpp"

namespace bench {
namespace {

using sim::op;
using sim::tree_script;

struct expected {
  std::int64_t frames;   // at most; -1: as many as there were quiescences
  std::int64_t to_home;  // at most; -1: as many as frames
  std::int64_t depth;    // at most
};

scale_result simulate(int places, tree_script program, const expected& claim) {
  sim::traffic seen(places);
  sim::settings s;
  s.places = places;
  s.order = sim::schedule::rounds;
  s.late_reports = false;
  s.check_every = 1'000'000'000;  // at the end
  s.max_steps = 1'000'000'000;
  s.seen = &seen;
  sim::random_choice chooser(1);
  sim::counters c;
  scale_result r;
  r.wrong = sim::run(s, program, chooser, &c);
  r.task_frames = c.frames;
  r.frames = seen.frames();
  r.to_home = seen.received_by(0);
  r.to_other = seen.most_received_but_by(0);
  r.bytes = seen.most_bytes();
  r.depth = c.completed - c.last_end;
  if (!r.wrong.empty()) return r;
  const std::int64_t most_frames = claim.frames < 0 ? c.quiescences : claim.frames;
  if (c.returns + c.reply_returns != c.quiescences) r.wrong = "not one return per quiescence";
  if (r.frames != c.returns + 2 * c.requests) r.wrong = "frames that nobody accounts for";
  if (r.frames > most_frames + 2 * c.requests) r.wrong = "too many frames";
  if (r.to_home > (claim.to_home < 0 ? r.frames : claim.to_home)) r.wrong = "too many to home";
  if (r.depth > claim.depth) r.wrong = "too deep";
  return r;
}

// ---- programs ---------------------------------------------------------------------------------

scale_result one(int places) {
  tree_script program;
  program.add(0, places - 1);
  return simulate(places, std::move(program), {1, 1, 1});
}

scale_result flat(int places) {
  tree_script program;
  for (int p = 1; p < places; ++p) program.add(0, p);
  return simulate(places, std::move(program), {places - 1, places - 1, 1});
}

// Place p is reached from (p - 1) / degree.
scale_result tree(int places, int degree) {
  tree_script program;
  for (int p = 1; p < places; ++p) program.add((p - 1) / degree, p);
  return simulate(places, std::move(program), {places - 1, places - 1, 1});
}

// The same, and every place waits for its children in a finish of its own.
scale_result nested(int places, int degree) {
  tree_script program;
  for (int p = 1; p < places; ++p) program.add((p - 1) / degree, p);
  std::int64_t levels = 0;
  for (int p = places - 1; p > 0; p = (p - 1) / degree) ++levels;
  for (int p = 1; p < places; ++p) {
    program.at(p).own_finish = !program.at(p).children.empty();
  }
  return simulate(places, std::move(program), {places - 1, degree, levels});
}

// A tree of tasks, ten for each place, each with two children at any places.
scale_result scattered(int places) {
  tree_script program;
  apgas::base::random_engine random(static_cast<std::uint64_t>(places));
  const int tasks = 10 * places;
  for (int i = 1; i <= tasks; ++i) {
    program.add((i - 1) / 2, static_cast<int>(random.below(static_cast<std::uint32_t>(places))));
  }
  return simulate(places, std::move(program), {-1, -1, 1});
}

// A tenth as many walkers as places; each goes to any place a hundred times.
scale_result walks(int places) {
  tree_script program;
  apgas::base::random_engine random(static_cast<std::uint64_t>(places));
  for (int i = 0; i < std::max(places / 10, 1); ++i) {
    int task = 0;
    for (int hop = 0; hop < 100; ++hop) {
      task = program.add(task, static_cast<int>(random.below(static_cast<std::uint32_t>(places))));
    }
  }
  return simulate(places, std::move(program), {-1, -1, 1});
}

scale_result all_to_all(int places) {
  tree_script program;
  for (int p = 1; p < places; ++p) program.add(0, p);  // task p is at place p
  for (int p = 0; p < places; ++p) {
    for (int q = 0; q < places; ++q) {
      if (q != p) program.add(p, q);
    }
  }
  return simulate(places, std::move(program), {2 * (places - 1), -1, 1});
}

scale_result there_and_back(int places) {
  tree_script program;
  for (int p = 1; p < places; ++p) program.add(0, p, op::at);
  return simulate(places, std::move(program), {0, 0, 1});
}

}  // namespace

std::vector<workload> finish_workloads() {
  const auto of = [](const char* name, auto run, int most = 100'000) {
    return workload{"finish", name, most, run};
  };
  return {
      of("one remote task", one),
      of("one task per place, from home", flat),
      of("binary tree of places", [](int places) { return tree(places, 2); }),
      of("tree of places, degree 16", [](int places) { return tree(places, 16); }),
      of("the same, a finish at each place", [](int places) { return nested(places, 16); }),
      of("random tree of 10 P tasks", scattered),
      of("P/10 random walks of 100 hops", walks),
      of("every place to every other", all_to_all, 1'000),
      of("`at` each place", there_and_back),
  };
}

}  // namespace bench
