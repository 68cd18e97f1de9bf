// SPDX-License-Identifier: Apache-2.0
#pragma once

// glb over many places in one thread: the machines of lifelines.hpp, driven as glb_place.hpp does
// it with one runner per place, over a network that delivers in any order. A checker counts for
// itself after every step.

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
  who_asks_is_forgotten,
  loot_leaves_lifeline_out,
  answer_leaves_lifeline_out,
  requests_are_left,
  stops_after_random,
  first_lines_are_not_remembered,
  last
};
std::string name(fault f);

struct violation : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Tasks of a binary tree, counted by height; or one task that is followed by `spine` others first.
struct work {
  static constexpr int most_height = 40;
  std::array<std::int32_t, most_height> of_height{};
  std::int64_t spine = 0;
  std::int64_t count = 0;

  static work tree(int height, std::int64_t spine_length);
  static std::int64_t tasks_in_tree(int height) { return (std::int64_t{2} << height) - 1; }
  // Does one task. Requires: count > 0.
  void step();
  // Half of it; empty when there are fewer than two tasks.
  work split();
  void merge(const work& other);
  // Tasks that there will be.
  std::int64_t total() const;
};

struct settings {
  int places = 4;
  int height = 8;
  std::int64_t spine = 0;
  lifelines::shape shape;
  bool rounds = false;  // all messages take one round, all tasks too
  std::int64_t check_every = 1;
  std::int64_t most_steps = 10'000'000;
  fault broken = fault::none;
  sim::traffic* seen = nullptr;
};

struct counters {
  std::int64_t steps = 0;
  std::int64_t rounds = 0;
  std::int64_t last_work = 0;  // the round of the last task
  std::int64_t asks = 0;
  std::int64_t gifts = 0;
  std::int64_t answers_with_work = 0;
  std::int64_t dormant = 0;      // of places that are not home: the finish's returns
  std::int64_t early_loot = 0;  // that overtook the answer
};

// What is wrong, or "".
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
    lifelines::question asked;
    work loot;
  };
  struct place_state {
    explicit place_state(lifelines machine) : lines(std::move(machine)) {}
    lifelines lines;
    work bag;
    std::vector<message> requests;
    std::size_t working_index = 0;  // in working_, while there is work
    bool seeking = false;
    bool waits = false;  // for an answer
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
  void check_lines(const std::vector<std::vector<int>>& owed) const;
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

// What the checker sees of a machine.
struct lifelines_test_access {
  template <class F>
  static void for_each_line(const lifelines& m, F f) {
    for (const auto& l : m.lifelines_) f(l.to, l.out);
  }
  static const std::vector<int>& remembered(const lifelines& m) { return m.remembered_; }
  static void forget_all(lifelines& m) { m.remembered_.clear(); }
  static void put_out(lifelines& m, int to) {
    for (auto& l : m.lifelines_) {
      if (l.to == to) l.out = true;
    }
  }
  static int asked(const lifelines& m) { return m.asked_; }
  // What its random numbers will be.
  static std::uint64_t chance(lifelines m) { return m.random_(); }
};

}  // namespace apgas::inline v0::remote
