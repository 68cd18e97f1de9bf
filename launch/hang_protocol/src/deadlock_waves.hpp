// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// Decides whether a job is deadlocked: no task can run at any place, and no frame is on its way. It
// is the four-counter method of F. Mattern ("Algorithms for distributed termination detection",
// Distributed Computing 2, 1987), for a program that does not end but waits. Place 0 asks all
// places, in *waves*: each answers whether it stands still and how many frames it has sent and
// received so far. Two successive waves with the same answers, in which every place stands still
// and as many frames were received as sent, are a deadlock. docs/protocols/deadlock.md has the
// proof. This class sends nothing and reads no clock.
namespace apgas::inline v0::launch {

// What a place knows at one moment.
struct place_answer {
  bool still = false;          // no task can become ready here unless a frame arrives
  std::uint64_t activity = 0;  // a number that changes when tasks have run
  std::uint64_t sent = 0;      // frames, without those of the waves themselves
  std::uint64_t received = 0;
  bool operator==(const place_answer&) const = default;
};

class deadlock_waves {
 public:
  explicit deadlock_waves(int places) : answers_(static_cast<std::size_t>(places)) {}

  // Begins a wave and returns its number, which all places must be asked to answer from now on. An
  // unfinished wave is abandoned.
  std::uint32_t begin() {
    abandon();
    missing_ = answers_.size();
    return ++wave_;
  }
  // Forgets the wave in progress and the one before it.
  void abandon() {
    if (missing_ != 0) last_.clear();
    answers_.assign(answers_.size(), std::nullopt);
    missing_ = 0;
  }

  bool in_progress() const noexcept { return missing_ != 0; }
  bool has_answered(int place) const noexcept {
    return answers_[static_cast<std::size_t>(place)].has_value();
  }

  enum class result : std::uint8_t {
    none,       // more answers must come, or this one belongs to no wave in progress
    not_still,  // the wave is complete, and the job is not deadlocked
    repeat,     // the job may be deadlocked; another wave decides
    deadlock,   // the job is deadlocked
  };
  // Takes the answer of a place to wave number `wave`.
  result on_answer(int place, std::uint32_t wave, const place_answer& answer) {
    if (missing_ == 0 || wave != wave_ || has_answered(place)) return result::none;
    answers_[static_cast<std::size_t>(place)] = answer;
    if (--missing_ != 0) return result::none;
    std::vector<place_answer> complete;
    complete.reserve(answers_.size());
    for (const auto& a : answers_) complete.push_back(*a);
    if (!quiet(complete)) {
      last_.clear();
      return result::not_still;
    }
    const bool same = complete == last_;
    last_ = std::move(complete);
    return same ? result::deadlock : result::repeat;
  }

  // All that decides what happens next, as text; for tests that explore states.
  std::string state() const {
    std::string s = std::to_string(wave_);
    const auto add_number = [&s](std::uint64_t n) { s.append(",").append(std::to_string(n)); };
    const auto add = [&](const place_answer& a) {
      for (const std::uint64_t n : {std::uint64_t{a.still}, a.activity, a.sent, a.received})
        add_number(n);
    };
    add_number(missing_);
    for (const auto& a : answers_) a ? add(*a) : s.push_back('-');
    s.push_back('/');
    for (const place_answer& a : last_) add(a);
    return s;
  }

 private:
  static bool quiet(const std::vector<place_answer>& answers) {
    std::uint64_t on_their_way = 0;
    for (const place_answer& a : answers) {
      if (!a.still) return false;
      on_their_way += a.sent - a.received;
    }
    return on_their_way == 0;
  }

  std::uint32_t wave_ = 0;
  std::size_t missing_ = 0;  // answers to the wave in progress; 0: there is none
  std::vector<std::optional<place_answer>> answers_;
  std::vector<place_answer> last_;  // of the wave before, if the job may be deadlocked
};

}  // namespace apgas::inline v0::launch
