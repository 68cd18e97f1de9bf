// SPDX-License-Identifier: Apache-2.0
#pragma once

// Simulates the tasks of one phaser at several places in a single thread. The world plays the role
// of remote_phases: what is done under one lock is one step; messages from one place to another
// arrive in order, all others in any order. Counters, uplinks and the downlink are those of the
// product; accumulators (sim_phase_places_values.cpp) and next_single (sim_phase_places_single.cpp)
// mirror phase_links.cpp. Throws `violation`.

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
#include "sim_phase_values.hpp"

namespace phase_sim {

enum class place_fault {
  none,
  transit_is_not_counted,  // by its sender
  sender_is_told_at_once,  // without an acknowledgement
  sender_is_not_told,
  base_is_ignored,
  position_is_the_node_s_phase,  // of a replica that lags behind
  no_look_after_a_phase,
  home_forgets_to_release,
  goes_unacknowledged,
  // of accumulators
  part_is_lost,
  part_is_a_phase_late,
  part_is_sent_twice,
  parts_after_the_position,
  goes_with_parts,
  result_of_the_phase_before,
  ask_is_not_answered,
  run_ahead_is_not_reduced,
  // of next_single
  run_before_all_have_signalled,
  every_place_runs,
  goes_on_without_done,
  election_is_not_told,
  elected_is_kept,
  last,
};

struct places_settings {
  int places = 2;
  int accumulators = 0;
  place_fault broken = place_fault::none;
  std::int64_t most_steps = 1'000'000;
};

class places_world {
 public:
  places_world(const places_settings& s, script& actions, sim::choice& chooser);
  void run();

  struct counts {
    std::int64_t steps = 0, phases = 0, travels = 0, arrivals = 0, positions = 0, releases = 0,
                 replicas = 0, kept = 0, parts = 0, reads = 0, asks = 0, too_late = 0, singles = 0,
                 not_chosen = 0;
  };
  counts counted;

 private:
  enum class stage : std::uint8_t {
    away,
    arrived,
    act,
    parked,
    asks,     // waits for a result
    elected,  // elected, has not signalled yet
    single,   // elected, has signalled
    chosen,
    ended
  };
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
    int read = 0;  // the results of the previous phase that it has read
    bool answered = false;
    // The phase in which it was spawned, if its spawner had signalled that.
    std::int64_t signalled_by_spawner = -1;

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
    std::vector<place_accumulator> values;
    std::map<std::int64_t, int> waiters;  // wait-only tasks, by phase
    std::vector<int> asking;
    int elected = nobody;
  };
  enum class sort : std::uint8_t {
    registration,
    position,
    gone,
    phase,
    arrived,
    part,
    result,
    ask,
    elected,
    run_single,
    single_done
  };
  struct message {
    sort what;
    std::int64_t phase = 0;
    std::int64_t number = 0;  // the task, the number of registrations, or the accumulator
    bool acknowledge = false;
    bool open = false;
    bool signals = false;
    bool nothing = false;  // there is no such result
    contributions value = {};
  };
  static constexpr int nobody = -1;

  void step();
  void act(int id);
  void travel(int id, int to);
  void arrive(int id);
  void signal(int id);
  void wait(int id);
  void leave(int id);
  void deliver(int from, int to);
  void record(int place, std::int64_t s, std::int64_t signals, std::int64_t leave,
              std::int64_t gone);
  void join(int place, std::int64_t s);
  void waiter_moved(int place, std::int64_t from, std::int64_t to);
  std::int64_t oldest(int place);
  void contribute(task& t);
  bool reads(int id);
  void read(const task& t, std::size_t accumulator);
  void send_parts(int place, std::int64_t first);
  void reduce();
  void reduce_last();
  void deliver_value(int from, int to, const message& m);
  void check_values() const;
  bool elect(int id);
  void choose();
  void run_single(int id);
  void single_ended();
  void deliver_single(int from, int to, const message& m);
  void follow(int place, std::int64_t p);
  void advance_phase(int place);
  void begin_phases();
  void advance_home();
  void announce();
  void look(int place);
  void resume(int place);
  void go_on(int id);
  void send(int from, int to, const message& m);
  std::string state() const;
  void check_end() const;
  bool passed(const task& t) const;
  task& at(int id) { return tasks_[static_cast<std::size_t>(id)]; }
  node& at_place(int p) { return nodes_[static_cast<std::size_t>(p)]; }

  const places_settings settings_;
  script& script_;
  sim::choice& choice_;
  const place_fault broken_;
  phase_model model_;
  std::vector<node> nodes_;  // by place; place 0 is the home
  std::vector<task> tasks_;
  std::vector<int> ready_;
  apgas::sync::phase_downlink down_;
  bool unannounced_ = false;
  bool reduced_ = false;  // the phase is reduced, but has not advanced yet
  int runner_ = nobody;   // the place that the home has elected
  bool told_single_ = false;
  std::map<std::pair<std::size_t, std::int64_t>, contributions> sent_;  // by accumulator and phase
  std::map<std::pair<std::size_t, std::int64_t>, contributions> made_;  // the results at the home
  std::map<std::pair<int, int>, std::deque<message>> channels_;
};

std::string run_places(const places_settings& s, script& actions, sim::choice& chooser,
                       places_world::counts* out = nullptr);

}  // namespace phase_sim
