// SPDX-License-Identifier: Apache-2.0
#pragma once

// N places in one thread that run a script under the finish protocol. The world plays the part of
// the runtime: it counts tasks, keeps waiting frames and carries messages, in any order at all. A
// checker that knows the whole world looks at it after every step and throws `violation`.

#include <cstdint>
#include <deque>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "sim_choice.hpp"
#include "sim_finish_faults.hpp"
#include "sim_finish_script.hpp"
#include "sim_traffic.hpp"

namespace sim {

class violation : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What may happen next.
enum class schedule {
  any,             // any task's next action, any message, any late report
  tasks_first,     // tasks run as far as they can, by node; then any message or report
  messages_first,  // all messages, in any order; then tasks by node; then any report
  rounds,          // a message takes one round and a task none: all arrivals, then tasks by node
};

struct settings {
  int places = 3;
  std::uint64_t share = apgas::sync::full_share;  // of mints and grants; small ones run out soon
  schedule order = schedule::any;
  bool late_reports = true;  // idle counters and drains come some time later, as by another worker
  int links = 0;              // frames that a place ties at most; 0: all returns go straight home
  int levels = tree_return::levels_max;
  bool self_frames = false;   // a task for its spawner's own place goes as a frame with credit too
  bool lazy_returns = false;  // a quiescent place returns its credit much later, as when it idles
  int slow_kind = -1;   // messages of this kind (0 task ... 5 release) stay on the way for long
  int slow_place = -1;  // so do all messages to this place
  int check_every = 1;  // steps between full checks
  std::int64_t max_steps = 100'000'000;
  fault broken = fault::none;
  traffic* seen = nullptr;  // is told of every message
};

struct counters {
  std::int64_t steps = 0;
  std::int64_t tasks = 0;
  std::int64_t finishes = 0;
  std::int64_t frames = 0;         // tasks that went to another place
  std::int64_t returns = 0;        // messages that gave credit back, home or to a parent
  std::int64_t releases = 0;       // messages that gave back ties alone
  std::int64_t reply_returns = 0;  // replies of at that carried it instead
  std::int64_t requests = 0;       // each has its grant
  std::int64_t quiescences = 0;    // of a finish at a place that is not its home
  std::int64_t overtakings =
      0;                      // messages that came after a younger one of the same pair of places
  std::int64_t revivals = 0;  // arrivals at an idle proxy that had not given back yet
  // In order `rounds`: when the last task ended, and when the last finish completed.
  std::int64_t last_end = 0;
  std::int64_t completed = 0;
};

class world {
 public:
  world(settings s, script& program, choice& chooser);

  // Runs to the end, or to a state that the chooser knows; throws violation.
  void run();
  const counters& counted() const { return counted_; }

 private:
  friend class checker;

  enum class message_kind { task, reply, returned, request, grant, release };
  struct message {
    message_kind kind;
    int from;
    int to;
    int finish;
    std::uint64_t credit = 0;       // of a task or a grant
    returned_credit returned = {};  // of a return, or of a reply that carries one
    int task = -1;                  // the task that goes, or the caller that is replied to
    std::int64_t number = 0;
    std::int64_t round = 0;  // in which it arrives
    std::uint8_t level = 0;  // of a task: not 0 if tied
    std::uint8_t links = 0;   // given back by a return or a release
  };
  struct task {
    int node;
    int place;   // -1 on the way
    int finish;  // that governs it now
    int caller;  // of the at whose body it is, or -1
    std::vector<int> outer;
    int step = 0;
    bool ended = false;
    bool parked = false;
  };
  struct finish {
    int home;
    int opener;
    tested_home ledger;
    std::int64_t count = 1;  // the counter at home: body, tasks, one unit for all credit away
    bool complete = false;
    // What only the checker looks at.
    std::int64_t living = 0;  // tasks, also on their way
    std::int64_t messages = 0;
    std::int64_t remotes = 0;
    std::int64_t units = 0;  // taken for credit and not dropped
  };
  struct waiting_frame {
    int task;
    int to;
    int holds;  // the finish kept open for a guest, or -1
  };
  struct remote {
    explicit remote(fault f) : machine(f) {}
    tested_remote machine;
    std::int64_t count = 0;  // the counter at this place
    std::deque<waiting_frame> frames;
    std::int64_t present = 0;  // tasks, waiting frames and ties that it owes, for the checker
  };
  enum class duty { report_idle, give_back, drain };
  struct report {  // what a worker still has to do
    duty what;
    int place;
    int finish;
    int caller = -1;  // report_idle: of the at whose body ended last
  };

  // sim_finish_world.cpp: steps and tasks
  void step();
  std::uint32_t pick();
  std::uint32_t pick_in_rounds();
  message take_message(std::uint32_t n);
  bool held_up(std::uint32_t n);
  void act(int id);
  void spawn(int id, const action& a);
  void open(int id);
  void complete(int f);
  void end(int id);
  int new_task(int node, int f, int caller);
  void ready(int id);
  int take_ready(std::uint32_t n);

  // sim_finish_glue.cpp: what a runtime does with the machines
  void send_task(int from, int to, int f, int id);
  void send_escaping(int sender, int to, int id);
  void post_task(int from, int to, int f, int id, std::uint64_t credit);
  std::uint8_t link(remote& p, int from, int to, int f, int id);
  void drain(int place, int f);
  void leave(int place, int f, int caller);
  void on_duty(const report& r);
  void on_zero(const report& r);
  void on_quiescent(int place, int f);
  void give_back(int place, int f, int caller);
  void reply(int from, int f, int caller, returned_credit returned);
  void hold(int place, int f);
  void drop_home(int f);
  void drop_credit_unit(int f);
  void receive(const message& m);
  void receive_task(const message& m);
  void receive_from_child(const message& m);
  void gone(remote& p);

  static bool is_of_protocol(const message& m);
  void post(message m);
  void take_credit_unit(int f, bool takes);
  finish& of(int f) { return finishes_[static_cast<std::size_t>(f)]; }
  task& at(int id) { return tasks_[static_cast<std::size_t>(id)]; }
  std::map<int, remote>& remotes(int place) { return remotes_[static_cast<std::size_t>(place)]; }
  remote& remote_of(int place, int f);

  settings settings_;
  script& script_;
  choice& choice_;
  counters counted_;
  std::vector<task> tasks_;
  std::vector<finish> finishes_;
  std::vector<std::map<int, remote>> remotes_;  // by place, then finish
  std::vector<int> ready_;                     // in order `any` just a set, else a heap by node
  std::deque<message> messages_;
  std::vector<report> reports_;
  std::map<std::pair<int, int>, std::int64_t> youngest_;  // that arrived, by source and target
  std::int64_t round_ = 0;
};

// Looks at the whole world; throws violation.
class checker {
 public:
  static void after_step(const world& w);          // conservation, and credit where tasks are
  static void on_complete(const world& w, int f);  // never early
  static void at_end(const world& w);              // everything completed, nothing left
  static std::string state(const world& w);        // the same for the same future
};

// Runs the program; returns what is wrong, or "".
std::string run(const settings& s, script& program, choice& chooser, counters* out = nullptr);

}  // namespace sim
