// SPDX-License-Identifier: Apache-2.0
#pragma once

// Simulates a job whose places run tasks, wait and send frames, while place 0 asks them in waves
// whether the job is deadlocked. Frames arrive in any order and after any time. A frame is first
// counted by the place that receives it and takes effect later, as in the endpoint.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../../launch/hang_protocol/src/deadlock_waves.hpp"
#include "sim_choice.hpp"

namespace sim {

// The faults that can be injected.
enum class deadlock_fault {
  none,
  one_wave,
  running_places,
  no_counts,
  frames_in_hand,
  timers_forgotten,
  own_frames,
  last
};
inline const char* name(deadlock_fault f) {
  constexpr const char* names[] = {"no fault",
                                   "one wave is enough",
                                   "places that run a task count as still",
                                   "frames are not counted",
                                   "a place answers while it handles a frame",
                                   "a place with a timer counts as still",
                                   "the frames of the waves are counted"};
  return names[static_cast<std::size_t>(f)];
}

class deadlock_world {
 public:
  // At most `frames` frames are sent and `timers` timers set, and at most `waves` waves begin while
  // the program runs.
  deadlock_world(int places, int frames, int timers, int waves, deadlock_fault fault)
      : frames_left_(frames),
        timers_left_(timers),
        waves_left_(waves),
        fault_(fault),
        detection_(places),
        places_(static_cast<std::size_t>(places)) {
    places_[0].running = 1;
  }

  // Runs until no task can run, and then lets waves follow each other. Returns what is wrong, or
  // "".
  std::string run(choice& chooser) {
    for (;;) {
      std::vector<event> all = enabled();
      if (all.empty()) break;
      perform(all[chooser.below(static_cast<std::uint32_t>(all.size()))], chooser);
      if (!wrong_.empty()) return wrong_;
      if (found_) return "";
      if (chooser.wants_state() && chooser.known(state())) return "";
    }
    if (!is_deadlock()) return "the simulation stops while something can happen";
    for (int i = 0; i < 3 && !found_; ++i) ask_in_order();
    return found_ ? "" : "a deadlock is not found";
  }

  std::uint64_t waves_begun() const { return waves_; }

 private:
  struct place {
    int running = 0;  // tasks that can run
    int timers = 0;
    int in_hand = 0;  // frames that were counted and have not taken effect
    std::uint64_t activity = 0;
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
  };
  struct probe {
    std::size_t place;
    std::uint32_t wave;
  };
  struct reply {
    std::size_t place;
    std::uint32_t wave;
    apgas::launch::place_answer answer;
  };
  struct event {
    enum kind { sends, sets_timer, waits, fires, arrives, handled, asks, answers, takes, gives_up };
    kind is;
    std::size_t index;
  };

  bool has_work(const place& p) const { return p.running != 0 || p.timers != 0 || p.in_hand != 0; }
  bool is_deadlock() const {
    return frames_.empty() &&
           std::ranges::none_of(places_, [&](const auto& p) { return has_work(p); });
  }

  std::vector<event> enabled() const {
    std::vector<event> all;
    for (std::size_t p = 0; p < places_.size(); ++p) {
      const place& me = places_[p];
      if (me.running != 0) {
        if (frames_left_ != 0) all.push_back({event::sends, p});
        if (timers_left_ != 0) all.push_back({event::sets_timer, p});
        all.push_back({event::waits, p});
      }
      if (me.timers != 0) all.push_back({event::fires, p});
      if (me.in_hand != 0) all.push_back({event::handled, p});
    }
    for (std::size_t i = 0; i < frames_.size(); ++i) all.push_back({event::arrives, i});
    if (!detection_.in_progress() && waves_left_ != 0) all.push_back({event::asks, 0});
    for (std::size_t i = 0; i < probes_.size(); ++i) {
      if (places_[probes_[i].place].in_hand == 0 || fault_ == deadlock_fault::frames_in_hand)
        all.push_back({event::answers, i});
    }
    for (std::size_t i = 0; i < replies_.size(); ++i) all.push_back({event::takes, i});
    if (detection_.in_progress() && waves_left_ != 0) all.push_back({event::gives_up, 0});
    return all;
  }

  void perform(const event& e, choice& chooser) {
    const std::size_t i = e.index;
    switch (e.is) {
      case event::sends:
        --frames_left_;
        ++places_[i].sent;
        frames_.push_back(chooser.below(static_cast<std::uint32_t>(places_.size())));
        break;
      case event::sets_timer:
        --timers_left_;
        ++places_[i].timers;
        break;
      case event::waits:
        --places_[i].running;
        ++places_[i].activity;
        break;
      case event::fires:
        --places_[i].timers;
        ++places_[i].running;
        break;
      case event::arrives: {
        place& to = places_[frames_[i]];
        frames_.erase(frames_.begin() + static_cast<std::ptrdiff_t>(i));
        ++to.received;
        ++to.in_hand;
        break;
      }
      case event::handled:
        --places_[i].in_hand;
        places_[i].running += static_cast<int>(chooser.below(2));  // it need not resume a task
        break;
      case event::asks:
        --waves_left_;
        ask();
        break;
      case event::answers:
        answer(i);
        break;
      case event::takes:
        take(i);
        break;
      case event::gives_up:
        detection_.abandon();
        break;
    }
  }

  void ask() {
    const std::uint32_t wave = detection_.begin();
    ++waves_;
    for (std::size_t p = 0; p < places_.size(); ++p) {
      probes_.push_back({p, wave});
      if (fault_ == deadlock_fault::own_frames) ++places_[0].sent;
    }
  }

  void answer(std::size_t i) {
    const probe asked = probes_[i];
    probes_.erase(probes_.begin() + static_cast<std::ptrdiff_t>(i));
    place& p = places_[asked.place];
    apgas::launch::place_answer a{p.running == 0 && p.timers == 0, p.activity, p.sent, p.received};
    if (fault_ == deadlock_fault::running_places) a.still = true;
    if (fault_ == deadlock_fault::timers_forgotten) a.still = p.running == 0;
    if (fault_ == deadlock_fault::no_counts) a.sent = a.received = 0;
    if (fault_ == deadlock_fault::own_frames) {
      a.received = ++p.received;
      ++p.sent;
      ++places_[0].received;
    }
    replies_.push_back({asked.place, asked.wave, a});
  }

  void take(std::size_t i) {
    const reply r = replies_[i];
    replies_.erase(replies_.begin() + static_cast<std::ptrdiff_t>(i));
    using result = apgas::launch::deadlock_waves::result;
    const result seen = detection_.on_answer(static_cast<int>(r.place), r.wave, r.answer);
    if (seen != result::deadlock && !(seen == result::repeat && fault_ == deadlock_fault::one_wave))
      return;
    found_ = true;
    if (!is_deadlock()) wrong_ = "a job that can go on is taken for a deadlock";
  }

  // A wave that is answered at once.
  void ask_in_order() {
    probes_.clear();
    replies_.clear();
    ask();
    while (!probes_.empty()) answer(0);
    while (!replies_.empty()) take(0);
  }

  std::string state() const {
    std::string s;
    const auto add = [&s](auto n) { s += std::to_string(n) + ","; };
    for (const place& p : places_) {
      add(p.running), add(p.timers), add(p.in_hand), add(p.activity), add(p.sent), add(p.received);
    }
    for (const std::size_t f : frames_) add(f);
    s += ";";
    for (const probe& p : probes_) add(p.place), add(p.wave);
    s += ";";
    for (const reply& r : replies_) {
      add(r.place), add(r.wave), add(r.answer.still), add(r.answer.activity), add(r.answer.sent);
      add(r.answer.received);
    }
    s += ";";
    add(frames_left_), add(timers_left_), add(waves_left_), add(waves_);
    return s + detection_.state();
  }

  int frames_left_;
  int timers_left_;
  int waves_left_;
  const deadlock_fault fault_;
  apgas::launch::deadlock_waves detection_;
  std::vector<place> places_;
  std::vector<std::size_t> frames_;  // on their way, by destination
  std::vector<probe> probes_;
  std::vector<reply> replies_;
  std::uint64_t waves_ = 0;
  bool found_ = false;
  std::string wrong_;
};

}  // namespace sim
