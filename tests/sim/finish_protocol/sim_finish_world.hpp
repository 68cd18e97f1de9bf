// SPDX-License-Identifier: Apache-2.0
#pragma once

// Simulates the remote finish protocol: N places in one thread run a script. The world plays the
// part of the runtime. It counts tasks, keeps waiting frames, and delivers messages in any order at
// all. A checker that knows the whole world examines it after every step and throws `violation`.

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

// Thrown when the world is in a state that the protocol forbids.
class violation : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What may happen next.
enum class schedule {
  any,             // any task's next action, any message, any late report
  tasks_first,     // tasks run as far as they can, by tree node; then any message or report
  messages_first,  // all messages, in any order; then tasks by tree node; then any report
  rounds,          // a message takes one round, a task none: all arrivals, then tasks by tree node
};

struct settings {
  int places = 3;
  std::uint64_t share =
      apgas::sync::full_share;  // issued with tasks and grants; small ones run out
  schedule order = schedule::any;
  bool late_reports = true;  // idle counters and drains are reported later, as by another worker
  int links = 0;             // the most frames that a place links; 0: all returns go home directly
  int levels = tree_return::levels_max;
  bool self_frames = false;   // a task for its sender's own place is sent as a frame with credit
  bool lazy_returns = false;  // a quiescent place returns its credit much later, as when it idles
  int slow_kind = -1;         // messages of this kind (0 task ... 5 release) take long
  int slow_place = -1;        // so do all messages to this place
  int check_every = 1;        // number of steps between full checks
  std::int64_t max_steps = 100'000'000;
  fault broken = fault::none;
  traffic* seen = nullptr;  // if not null, records every message
};

struct counters {
  std::int64_t steps = 0;
  std::int64_t tasks = 0;
  std::int64_t finishes = 0;
  std::int64_t frames = 0;         // tasks that were sent to another place
  std::int64_t returns = 0;        // messages that returned credit, home or to a parent
  std::int64_t releases = 0;       // messages that only released links
  std::int64_t reply_returns = 0;  // replies of an at that carried credit
  std::int64_t requests = 0;       // each is followed by a grant
  std::int64_t quiescences = 0;    // of a finish at a place that is not its home
  std::int64_t overtakings =
      0;                      // messages that came after a younger one of the same pair of places
  std::int64_t revivals = 0;  // arrivals at an idle remote state that had not given back yet
  // With the schedule `rounds`: when the last task ended, and when the last finish completed.
  std::int64_t last_end = 0;
  std::int64_t completed = 0;
};

class world {
 public:
  world(settings s, script& program, choice& chooser);

  // Runs until nothing is left to do, or until the chooser knows the state. Throws: violation.
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
    returned_credit returned = {};  // of a return, or of a reply with credit
    int task = -1;                  // the task that is sent, or the caller that is replied to
    std::int64_t number = 0;
    std::int64_t round = 0;  // the round in which it arrives
    std::uint8_t level = 0;  // of a task: not 0 if its frame is linked
    std::uint8_t links = 0;  // released by a return or a release
  };
  struct task {
    int tree_node;
    int place;   // -1 while it is on its way
    int finish;  // the finish that governs it now
    int caller;  // the caller of the at whose body it is, or -1
    std::vector<int> outer;
    int step = 0;
    bool ended = false;
    bool parked = false;
  };
  struct finish {
    int home;
    int opener;
    tested_home ledger;
    std::int64_t count =
        1;  // the counter at home: body, tasks, and one for all credit that is away
    bool complete = false;
    // Used by the checker only.
    std::int64_t living = 0;  // tasks, also those on their way
    std::int64_t messages = 0;
    std::int64_t remotes = 0;
    std::int64_t credit_counts = 0;  // counts added for credit and not released
  };
  struct waiting_frame {
    int task;
    int to;
    int holds;  // the finish that an escaping spawn keeps open, or -1
  };
  struct remote {
    explicit remote(fault f) : protocol(f) {}
    tested_remote protocol;
    std::int64_t count = 0;  // the counter at this place
    std::deque<waiting_frame> frames;
    std::int64_t present = 0;  // tasks, waiting frames and links that are not released
  };
  enum class duty { report_idle, give_back, drain };
  struct report {  // something that a worker still has to do
    duty what;
    int place;
    int finish;
    int caller = -1;  // report_idle: the caller of the at whose body ended last
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
  int new_task(int tree_node, int f, int caller);
  void ready(int id);
  int take_ready(std::uint32_t n);

  // sim_finish_glue.cpp: the driver, as in a runtime
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
  void release_credit_count(int f);
  void receive(const message& m);
  void receive_task(const message& m);
  void receive_from_child(const message& m);
  void gone(remote& p);

  static bool is_of_protocol(const message& m);
  void post(message m);
  void take_credit_count(int f, bool takes);
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
  std::vector<int> ready_;  // with schedule `any` a set, else a heap by tree node
  std::deque<message> messages_;
  std::vector<report> reports_;
  std::map<std::pair<int, int>, std::int64_t>
      youngest_;  // message that arrived, by sender and target
  std::int64_t round_ = 0;
};

// Examines the whole world. Throws: violation.
class checker {
 public:
  static void after_step(const world& w);          // credit is conserved, and is where tasks are
  static void on_complete(const world& w, int f);  // the finish is not too early
  static void at_end(const world& w);              // everything completed, nothing is left
  static std::string state(const world& w);        // equal for states with the same future
};

// Runs the program. Returns a description of what is wrong, or "".
std::string run(const settings& s, script& program, choice& chooser, counters* out = nullptr);

}  // namespace sim
