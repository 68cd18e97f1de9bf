// SPDX-License-Identifier: Apache-2.0
#pragma once

// glb over many places in one thread: the state machines of lifelines.hpp, driven as glb_place.hpp
// drives them with one runner at each place, over a network that delivers messages in any order. A
// checker verifies the invariants after each step.

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <apgas/places/lifelines.hpp>

#include "sim_choice.hpp"
#include "sim_traffic.hpp"

namespace glb_sim {

using apgas::remote::lifelines;

enum class fault : std::uint8_t {
  none,
  lifeline_loot_is_lost,
  split_makes_work,
  thief_is_forgotten,
  loot_leaves_lifeline_activated,
  answer_leaves_lifeline_activated,
  requests_are_left,
  stops_after_random,
  initial_thieves_are_not_remembered,
  last
};
std::string name(fault f);

struct violation : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The tasks of a binary tree, counted by the height of their subtree; or one task which must first
// be processed `spine` times.
struct work {
  static constexpr int most_height = 40;
  std::array<std::int32_t, most_height> of_height{};
  std::int64_t spine = 0;
  std::int64_t count = 0;

  static work tree(int height, std::int64_t spine_length);
  static std::int64_t tasks_in_tree(int height) { return (std::int64_t{2} << height) - 1; }
  // Processes one task.
  // Requires: count > 0.
  void step();
  // Removes and returns half of it; returns no task if there are fewer than two.
  work split();
  void merge(const work& other);
  // The number of tasks that it still makes, itself included.
  std::int64_t total() const;
};

struct settings {
  int places = 4;
  int height = 8;
  std::int64_t spine = 0;
  lifelines::shape shape;
  bool rounds = false;  // each message takes one round, and so does each task
  std::int64_t check_every = 1;
  std::int64_t most_steps = 10'000'000;
  fault broken = fault::none;
  sim::traffic* seen = nullptr;
};

struct counters {
  std::int64_t steps = 0;
  std::int64_t rounds = 0;
  std::int64_t last_work = 0;  // the round in which the last task was processed
  std::int64_t asks = 0;
  std::int64_t lifeline_loot = 0;
  std::int64_t answers_with_work = 0;
  std::int64_t dormant = 0;     // of places other than the home: returns of the finish
  std::int64_t early_loot = 0;  // loot that arrived before the reply to the steal request
};

// Runs a simulation. Returns what is wrong, or "".
std::string run(const settings& s, sim::choice& chooser, counters* out = nullptr);

class world {
 public:
  world(const settings& s, sim::choice& chooser);
  void run();
  const counters& counted() const { return counted_; }

 private:
  enum class kind : std::uint8_t { ask, answer, loot };
  struct message {
    kind what = kind::ask;
    int from = 0;
    int to = 0;
    lifelines::attempt asked;
    work loot;
  };
  struct place_state {
    explicit place_state(lifelines initial) : protocol(std::move(initial)) {}
    lifelines protocol;
    work bag;
    std::vector<message> requests;
    std::size_t working_index = 0;  // index in working_, while the place has work
    bool stealing = false;
    bool waits = false;  // for a reply
  };

  void run_rounds();
  void begin_work(int p);
  void step();
  void deliver(const message& m);
  void do_task(int p);
  void share(int p);
  void answer(int p, const message& ask, const work& loot);
  void refuse(int p);
  void retire(int p);
  void steal(int p);
  void send(message m);
  void check() const;
  void check_lifelines(const std::vector<std::vector<int>>& owed) const;
  void check_end() const;
  std::string state() const;

  place_state& at(int p) { return places_[static_cast<std::size_t>(p)]; }
  const place_state& at(int p) const { return places_[static_cast<std::size_t>(p)]; }

  settings settings_;
  sim::choice& choice_;
  std::vector<place_state> places_;
  std::vector<message> messages_;
  std::vector<int> working_;
  std::int64_t all_ = 0;
  std::int64_t done_ = 0;
  counters counted_;
};

}  // namespace glb_sim

namespace apgas::inline v0::remote {

// Access to private state, for the checker and for faults.
struct lifelines_test_access {
  template <class F>
  static void for_each_lifeline(const lifelines& m, F f) {
    for (const auto& l : m.lifelines_) f(l.to, l.activated);
  }
  static const std::vector<int>& remembered(const lifelines& m) { return m.remembered_; }
  static void forget_all(lifelines& m) { m.remembered_.clear(); }
  static void activate(lifelines& m, int to) {
    for (auto& l : m.lifelines_) {
      if (l.to == to) l.activated = true;
    }
  }
  static int asked(const lifelines& m) { return m.asked_; }
  // Its next random number, which stands for the state of its generator.
  static std::uint64_t chance(lifelines m) { return m.random_(); }
};

}  // namespace apgas::inline v0::remote
