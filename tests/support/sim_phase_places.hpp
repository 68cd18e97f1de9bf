// SPDX-License-Identifier: Apache-2.0
#pragma once

// The tasks of one phaser at several places, in one thread. Plays the part of remote_phases: what
// is done under one lock is one step; messages of two places come in order, others in any.
// Counters, uplinks and downlink are the real ones. Throws `violation`.

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <apgas/sync/phase_counter.hpp>
#include <apgas/sync/phase_downlink.hpp>
#include <apgas/sync/phase_uplink.hpp>

#include "sim_choice.hpp"
#include "sim_phase_model.hpp"
#include "sim_phase_script.hpp"

namespace phase_sim {

enum class place_fault {
  none,
  traveller_is_not_counted,  // by its sender
  sender_is_told_at_once,    // without an acknowledgement
  sender_is_not_told,
  base_is_ignored,
  position_is_the_node_s_phase,  // of one that lags behind
  no_look_after_a_phase,
  home_forgets_to_release,
  goes_unacknowledged,
  last,
};

class places_world {
 public:
  places_world(int places, script& program, sim::choice& chooser, place_fault broken);
  void run(std::int64_t most_steps);

  struct counts {
    std::int64_t steps = 0, phases = 0, travels = 0, arrivals = 0, positions = 0, releases = 0,
                 replicas = 0, kept = 0;
  };
  counts counted;

 private:
  enum class stage : std::uint8_t { away, arrived, act, parked, ended };
  struct task {
    int name;
    phaser_mode mode;
    int place;
    std::int64_t signalled = 0;
    std::int64_t waited = 0;
    int step = 0;
    int sender = -1;
    std::int64_t base = 0;
    stage at = stage::act;
    bool registered = true;

    bool signals() const { return mode != phaser_mode::wait; }
    bool waits() const { return mode != phaser_mode::signal; }
    bool has_signalled() const { return signals() && waits() && signalled != waited; }
  };
  struct node {
    apgas::sync::phase_counter counter;
    apgas::sync::phase_uplink up;
    std::int64_t members = 0;
    bool open = false;
    bool exists = false;
    bool unseen = false;  // changed since the last look
    std::vector<int> parked;
  };
  enum class sort : std::uint8_t { traveller, position, gone, phase, arrived };
  struct message {
    sort what;
    std::int64_t phase = 0;
    std::int64_t number = 0;  // the task; of travellers
    bool acknowledge = false;
    bool open = false;
    bool signals = false;
  };

  void step();
  void act(int id);
  void travel(int id, int to);
  void arrive(int id);
  void signal(int id);
  void wait(int id);
  void leave(int id);
  void deliver(int from, int to);
  void settle(int place, std::int64_t s, std::int64_t signals, std::int64_t leave,
              std::int64_t gone);
  void join(int place, std::int64_t s);
  void roll(int place);
  void roll_home();
  void announce();
  void look(int place);
  void resume(int place);
  void send(int from, int to, const message& m);
  std::string state() const;
  void check_end() const;
  bool passed(const task& t) const;
  task& at(int id) { return tasks_[static_cast<std::size_t>(id)]; }
  node& at_place(int p) { return nodes_[static_cast<std::size_t>(p)]; }

  script& script_;
  sim::choice& choice_;
  place_fault broken_;
  phase_model model_;
  std::vector<node> nodes_;  // by place; 0 is the home
  std::vector<task> tasks_;
  std::vector<int> ready_;
  apgas::sync::phase_downlink down_;
  bool unannounced_ = false;
  std::map<std::pair<int, int>, std::deque<message>> channels_;
};

std::string run_places(int places, script& program, sim::choice& chooser,
                       place_fault broken = place_fault::none, places_world::counts* out = nullptr,
                       std::int64_t most_steps = 1'000'000);

}  // namespace phase_sim
