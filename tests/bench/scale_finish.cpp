// SPDX-License-Identifier: Apache-2.0
// The finish protocol in the simulator of tests/sim, whose checker checks the end of each run. A
// task takes no time and a message takes one round, so a place is idle before the places it
// reached. This is the worst case for returns that wait for others.
#include <algorithm>

#include <apgas/base/random.hpp>

#include "scale.hpp"
#include "sim_finish_world.hpp"

namespace bench {
namespace {

using sim::op;
using sim::tree_script;

enum class way { home, tree };  // of returns: directly home, or along the tree

constexpr std::int64_t any = -1;
// What docs/protocols/finish.md claims about a program.
struct expected {
  std::int64_t returns;  // at most
  std::int64_t to_home;  // at most
  std::int64_t depth;    // at most
};

scale_result simulate(way back, int places, tree_script program, const expected& claim) {
  sim::traffic seen(places);
  sim::settings s;
  s.places = places;
  s.order = sim::schedule::rounds;
  s.late_reports = false;
  s.check_every = 1'000'000'000;  // only at the end
  s.max_steps = 1'000'000'000;
  s.seen = &seen;
  s.links = back == way::tree ? sim::tree_return::links_max : 0;
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
  const std::int64_t lives = c.returns + c.reply_returns;  // of a finish at a place
  if (lives != c.quiescences) r.wrong = "the number of returns is not one per quiescence";
  if (r.frames != c.returns + c.releases + 2 * c.requests)
    r.wrong = "there are frames of an unknown kind";
  if (c.releases > s.links * lives) r.wrong = "too many releases";
  if (claim.returns != any && c.returns > claim.returns) r.wrong = "too many returns";
  if (claim.to_home != any && r.to_home > claim.to_home) r.wrong = "too many messages to the home";
  if (r.depth > claim.depth) r.wrong = "the chain of messages is too long";
  return r;
}

// ---- programs ---------------------------------------------------------------------------------

// For any program: a place on the last level returns to its parent, and so on, and the first place
// on the path returns to the home.
std::int64_t deepest(way back) { return back == way::tree ? sim::tree_return::levels_max + 1 : 1; }

scale_result one(way back, int places) {
  tree_script program;
  program.add(0, places - 1);
  return simulate(back, places, std::move(program), {1, 1, 1});
}

scale_result flat(way back, int places) {
  tree_script program;
  for (int p = 1; p < places; ++p) program.add(0, p);
  return simulate(back, places, std::move(program), {places - 1, places - 1, 1});
}

// Place p is reached from place (p - 1) / degree.
tree_script tree_of_places(int places, int degree) {
  tree_script program;
  for (int p = 1; p < places; ++p) program.add((p - 1) / degree, p);
  return program;
}

std::int64_t levels(int places, int degree) {
  std::int64_t n = 0;
  for (int p = places - 1; p > 0; p = (p - 1) / degree) ++n;
  return n;
}

scale_result tree(way back, int places, int degree) {
  const bool links = back == way::tree;
  return simulate(back, places, tree_of_places(places, degree),
                  {places - 1, links ? degree : places - 1, links ? levels(places, degree) : 1});
}

// The same tree, in which every place waits for its children in a finish of its own.
scale_result nested(way back, int places, int degree) {
  tree_script program = tree_of_places(places, degree);
  for (int p = 1; p < places; ++p) {
    program.at(p).own_finish = !program.at(p).children.empty();
  }
  return simulate(back, places, std::move(program), {places - 1, degree, levels(places, degree)});
}

// Like async_at of a group: the task serves the places from `first` to `last`, and hands over the
// second half of those that remain to the first place of that half.
void spread(tree_script& program, int task, int first, int last) {
  while (first != last) {
    const int half = first + (last - first) / 2;
    spread(program, program.add(task, half), half + 1, last);
    last = half;
  }
}

scale_result group(way back, int places) {
  tree_script program;
  spread(program, 0, 1, places);
  std::int64_t most = 0;
  for (int left = places - 1; left > 0; left /= 2) ++most;
  const bool links = back == way::tree;
  return simulate(back, places, std::move(program),
                  {places - 1, links ? most : places - 1, deepest(back)});
}

// A tree of tasks, ten for each place, each with two children at random places.
scale_result scattered(way back, int places) {
  tree_script program;
  apgas::base::random_engine random(static_cast<std::uint64_t>(places));
  const int tasks = 10 * places;
  for (int i = 1; i <= tasks; ++i) {
    program.add((i - 1) / 2, static_cast<int>(random.below(static_cast<std::uint32_t>(places))));
  }
  return simulate(back, places, std::move(program), {any, any, deepest(back)});
}

// One walker for every ten places; each visits a random place a hundred times.
scale_result walks(way back, int places) {
  tree_script program;
  apgas::base::random_engine random(static_cast<std::uint64_t>(places));
  for (int i = 0; i < std::max(places / 10, 1); ++i) {
    int task = 0;
    for (int hop = 0; hop < 100; ++hop) {
      task = program.add(task, static_cast<int>(random.below(static_cast<std::uint32_t>(places))));
    }
  }
  return simulate(back, places, std::move(program), {any, any, deepest(back)});
}

scale_result all_to_all(way back, int places) {
  tree_script program;
  for (int p = 1; p < places; ++p) program.add(0, p);  // task p runs at place p
  for (int p = 0; p < places; ++p) {
    for (int q = 0; q < places; ++q) {
      if (q != p) program.add(p, q);
    }
  }
  return simulate(back, places, std::move(program),
                  {std::int64_t{2} * (places - 1), any, deepest(back)});
}

scale_result there_and_back(way back, int places) {
  tree_script program;
  for (int p = 1; p < places; ++p) program.add(0, p, op::at);
  return simulate(back, places, std::move(program), {0, 0, 1});
}

}  // namespace

std::vector<workload> finish_workloads() {
  std::vector<workload> all;
  const auto add = [&all](const char* name, auto run, int most = 100'000) {
    for (const way back : {way::home, way::tree}) {
      all.push_back({back == way::home ? "finish" : "finish, links", name, most,
                     [run, back](int places) { return run(back, places); }});
    }
  };
  add("one remote task", one);
  add("one task per place, from home", flat);
  add("binary tree of places", [](way back, int places) { return tree(back, places, 2); });
  add("tree of places, degree 16", [](way back, int places) { return tree(back, places, 16); });
  add("the same with a finish at each place",
      [](way back, int places) { return nested(back, places, 16); });
  add("async_at of the group of all places", group);
  add("random tree of 10 P tasks", scattered);
  add("P/10 random walks of 100 hops", walks);
  add("every place to every other", all_to_all, 1'000);
  add("`at` each place", there_and_back);
  return all;
}

}  // namespace bench
