// SPDX-License-Identifier: Apache-2.0
#pragma once

// Simulates the end of a run: places tell each other that main has returned, while messages of the
// run are still on their way, and then take the shutdown steps of the transports. A collective of
// MPI is the number of places that have entered it; each place learns some time after the last one
// that it is complete.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include <apgas/comm/shutdown_steps.hpp>

#include "../../launch/place/src/end_tree.hpp"
#include "sim_choice.hpp"

namespace sim {

// The faults that can be injected.
enum class end_fault { none, counts_before_sent, counts_before_all, rendezvous_before_all, last };
inline const char* name(end_fault f) {
  constexpr const char* names[] = {"no fault", "messages are counted before all have been sent",
                                   "counts are complete before all places have entered",
                                   "the rendezvous is complete before all places have entered"};
  return names[static_cast<std::size_t>(f)];
}

class end_world {
 public:
  using steps = apgas::comm::shutdown_steps;

  // `extras` is the number of messages of the run, which are sent at any time before their sender
  // ends.
  end_world(int places, int extras, end_fault fault = end_fault::none)
      : extras_(extras), fault_(fault), places_(static_cast<std::size_t>(places)) {
    places_[0].told = true;
    tell(0);
  }

  // Runs until nothing can happen. Returns what is wrong, or "".
  std::string run(choice& chooser) {
    for (;;) {
      std::vector<event> all = enabled();
      if (all.empty()) break;
      const event e = all[chooser.below(static_cast<std::uint32_t>(all.size()))];
      perform(e, chooser);
      if (!wrong_.empty()) return wrong_;
      if (chooser.wants_state() && chooser.known(state())) return "";
    }
    const bool all_over = std::ranges::all_of(places_, [](const auto& p) { return p.end.over(); });
    return all_over ? "" : "a place does not end";
  }

  // For a world of any size: lets everything happen that can happen, round by round. Returns the
  // number of rounds in which a place was told.
  int run_in_rounds() {
    int depth = 0;
    for (bool any = true; any && wrong_.empty();) {
      any = false;
      for (std::size_t p = 0; p < places_.size(); ++p) {
        while (!places_[p].posted.empty()) perform({event::leaves, p}, unused_choice_);
      }
      std::deque<message> now;
      now.swap(in_flight_);
      depth += now.empty() ? 0 : 1;
      for (const message& m : now) {
        arrive(m);
        deliver(m.to);
      }
      any = !now.empty();
      for (std::size_t p = 0; p < places_.size(); ++p) {
        if (may_begin(p)) places_[p].end.begin();
        while (may_advance(p)) {
          advance(p);
          any = true;
        }
      }
    }
    return depth;
  }

  std::int64_t tells_by(int p) const { return places_[static_cast<std::size_t>(p)].tells; }
  std::int64_t tells() const {
    std::int64_t sum = 0;
    for (const auto& p : places_) sum += p.tells;
    return sum;
  }
  bool all_over() const {
    return std::ranges::all_of(places_, [](const auto& p) { return p.end.over(); });
  }
  const std::string& wrong() const { return wrong_; }

 private:
  struct message {
    std::size_t to = 0;
    bool tells = false;
  };
  struct place {
    steps end;
    bool told = false;
    std::deque<message> posted;
    std::deque<message> arrived;
    std::uint64_t received = 0;
    std::int64_t tells = 0;
  };
  struct event {
    enum kind { sends, leaves, arrives, delivers, begins, advances } is;
    std::size_t index;  // of the place; for `arrives`, of the message
  };

  std::vector<event> enabled() {
    std::vector<event> all;
    for (std::size_t m = 0; m < in_flight_.size(); ++m) {
      if (places_[in_flight_[m].to].end.takes_messages()) all.push_back({event::arrives, m});
    }
    for (std::size_t p = 0; p < places_.size(); ++p) {
      const place& me = places_[p];
      const bool running = me.end.now() == steps::step::running;
      if (extras_ > 0 && running) all.push_back({event::sends, p});
      if (!me.posted.empty() && fault_ != end_fault::counts_before_sent) {
        all.push_back({event::leaves, p});
      }
      if (!me.arrived.empty()) all.push_back({event::delivers, p});
      if (may_begin(p)) all.push_back({event::begins, p});
      if (may_advance(p)) all.push_back({event::advances, p});
    }
    return all;
  }

  void perform(event e, choice& chooser) {
    switch (e.is) {
      case event::sends:
        --extras_;
        post(e.index, {chooser.below(static_cast<std::uint32_t>(places_.size())), false});
        break;
      case event::leaves:
        in_flight_.push_back(places_[e.index].posted.front());
        places_[e.index].posted.pop_front();
        break;
      case event::arrives: {
        const message m = in_flight_[e.index];
        in_flight_.erase(in_flight_.begin() + static_cast<std::ptrdiff_t>(e.index));
        arrive(m);
        break;
      }
      case event::delivers:
        deliver(e.index);
        break;
      case event::begins:
        places_[e.index].end.begin();
        break;
      case event::advances:
        advance(e.index);
        break;
    }
  }

  void post(std::size_t from, message m) {
    places_[from].posted.push_back(m);
    if (fault_ == end_fault::counts_before_sent && m.tells) {  // only other messages are late
      in_flight_.push_back(m);
      places_[from].posted.pop_back();
    }
    ++undelivered_;
  }
  void tell(std::size_t from) {
    apgas::launch::for_each_told_by(static_cast<int>(from), static_cast<int>(places_.size()),
                                    [&](int to) {
                                      post(from, {static_cast<std::size_t>(to), true});
                                      ++places_[from].tells;
                                    });
  }
  void arrive(const message& m) {
    ++places_[m.to].received;
    places_[m.to].arrived.push_back(m);
  }
  void deliver(std::size_t p) {
    const message m = places_[p].arrived.front();
    places_[p].arrived.pop_front();
    --undelivered_;
    if (!m.tells) return;
    if (places_[p].told) wrong_ = "a place is told twice";
    places_[p].told = true;
    tell(p);
  }

  bool may_begin(std::size_t p) const {
    return places_[p].told && places_[p].end.now() == steps::step::running;
  }
  bool may_advance(std::size_t p) const {
    if (places_[p].end.now() == steps::step::running) return false;
    steps copy = places_[p].end;
    return copy.advance(view_of(p)) != steps::action::nothing || copy.now() != places_[p].end.now();
  }
  steps::view view_of(std::size_t p) const {
    const place& me = places_[p];
    const bool in_rendezvous = me.end.now() == steps::step::rendezvous;
    const auto n = static_cast<std::int64_t>(places_.size());
    bool done = in_rendezvous ? rendezvous_ == n : counting_ == n;
    if (in_rendezvous && fault_ == end_fault::rendezvous_before_all) done = true;
    if (!in_rendezvous && fault_ == end_fault::counts_before_all) done = true;
    const bool exact = fault_ == end_fault::none || fault_ == end_fault::rendezvous_before_all;
    const std::uint64_t expected = p < expected_.size() ? expected_[p] : 0;
    return {.sending = !me.posted.empty() && fault_ != end_fault::counts_before_sent,
            .collective_done = done,
            .expected = expected,
            .received = exact ? me.received : std::min(me.received, expected),
            .delivering = !me.arrived.empty()};
  }
  void advance(std::size_t p) {
    place& me = places_[p];
    const steps::action now = me.end.advance(view_of(p));
    if (now == steps::action::begin_counts) {
      ++counting_;
      count_sent();
    }
    if (now == steps::action::begin_rendezvous) ++rendezvous_;
    if (me.end.over() && undelivered_ != 0) wrong_ = "a place is over, but not all was delivered";
  }
  // Counts what all places have sent, once all have entered: then no place sends any more.
  void count_sent() {
    const bool all = counting_ == static_cast<std::int64_t>(places_.size());
    if (!all && fault_ == end_fault::none) return;
    expected_.assign(places_.size(), 0);
    for (const message& m : in_flight_) ++expected_[m.to];
    for (std::size_t p = 0; p < places_.size(); ++p) expected_[p] += places_[p].received;
  }

  std::string state() const {
    std::string s = std::to_string(extras_);
    for (const place& p : places_) {
      s += '|' + std::to_string(static_cast<int>(p.end.now())) + (p.told ? 't' : '-') +
           std::to_string(p.received) + list(p.posted) + '/' + list(p.arrived);
    }
    std::vector<std::string> flying;
    for (const message& m : in_flight_) flying.push_back(list(std::deque<message>{m}));
    std::ranges::sort(flying);
    for (const std::string& m : flying) s += '>' + m;
    return s;
  }
  static std::string list(const std::deque<message>& all) {
    std::string s;
    for (const message& m : all) s += std::to_string(m.to) + (m.tells ? "T" : "x");
    return s;
  }

  int extras_;
  end_fault fault_;
  std::vector<place> places_;
  std::deque<message> in_flight_;
  std::vector<std::uint64_t> expected_;
  std::int64_t counting_ = 0;
  std::int64_t rendezvous_ = 0;
  std::int64_t undelivered_ = 0;
  std::string wrong_;
  every_choice unused_choice_;
};

}  // namespace sim
