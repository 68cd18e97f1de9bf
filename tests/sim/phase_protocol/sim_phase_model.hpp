// SPDX-License-Identifier: Apache-2.0
#pragma once

// A model of a phaser without counters: a set of tasks, each with the first phases that it has not
// signalled and not waited for. A phase is complete when every signaller has signalled it.

#include <cstdint>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include <apgas/phaser_mode.hpp>

namespace phase_sim {

class violation : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline void require(bool holds, const char* what, std::int64_t of) {
  if (!holds) throw violation(std::string(what) + " (" + std::to_string(of) + ")");
}

class phase_model {
 public:
  struct member {
    bool signals;
    bool waits;
    std::int64_t signalled;  // the first phase that the task has not signalled
    std::int64_t waited;
  };

  void make(int task, apgas::phaser_mode mode) { add(task, {signals(mode), waits(mode), 0, 0}); }

  // The child starts in its parent's phase, and has signalled it if the parent has.
  void spawn(int parent, int child, apgas::phaser_mode mode) {
    const member& p = members_.at(parent);
    const std::int64_t now = p.waits ? p.waited : p.signalled;
    add(child, {signals(mode), waits(mode), p.signals ? p.signalled : now, now});
  }

  // Except in mode signal, a second signal before the wait has no effect.
  void signal(int task) {
    member& m = members_.at(task);
    if (!m.signals || (m.waits && m.signalled > m.waited)) return;
    uncount(m);
    ++m.signalled;
    count(m);
  }

  void leave(int task) {
    uncount(members_.at(task));
    members_.erase(task);
  }

  bool complete(std::int64_t p) const {
    return (signallers_.empty() || signallers_.begin()->first > p) && !singles_.contains(p);
  }

  // The task continues. Checks that its phase is complete.
  void released(int task) {
    const member& m = members_.at(task);
    require(m.waits, "a task waited although its mode does not allow it", task);
    require(complete(m.waited), "a task continued before its phase was complete", task);
  }
  void has_waited(int task) {
    member& m = members_.at(task);
    ++m.waited;
    if (m.signals && m.signalled < m.waited) {
      throw violation("a task waited before it signalled");
    }
  }

  // Phase p has a closure, which runs when all signallers have signalled.
  void single_begins(std::int64_t p) { singles_.insert(p); }
  void single_runs(std::int64_t p) {
    require(singles_.erase(p) == 1, "the closure of next_single ran twice", p);
    require(complete(p), "the closure of next_single ran early", p);
  }

  bool has_signallers() const { return !signallers_.empty(); }
  std::int64_t phase() const { return signallers_.begin()->first; }
  std::int64_t signallers() const {
    std::int64_t n = 0;
    for (const auto& [p, c] : signallers_) n += c;
    return n;
  }
  const std::unordered_map<int, member>& members() const { return members_; }

 private:
  static bool signals(apgas::phaser_mode m) { return m != apgas::phaser_mode::wait; }
  static bool waits(apgas::phaser_mode m) { return m != apgas::phaser_mode::signal; }
  void add(int task, member m) {
    members_.emplace(task, m);
    count(m);
  }
  void count(const member& m) {
    if (m.signals) ++signallers_[m.signalled];
  }
  void uncount(const member& m) {
    if (m.signals && --signallers_.at(m.signalled) == 0) signallers_.erase(m.signalled);
  }

  std::unordered_map<int, member> members_;
  std::map<std::int64_t, std::int64_t> signallers_;  // by phase: the signallers that signal it next
  std::set<std::int64_t> singles_;
};

}  // namespace phase_sim
