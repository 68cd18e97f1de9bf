// SPDX-License-Identifier: Apache-2.0
// Detection of teams that wait for each other: the calls that a place holds up are told from member
// to member, until a place finds its own calls among them (docs/protocols/team.md, "Teams that wait
// for each other").
#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <apgas/base/log.hpp>
#include <apgas/places/remote_teams.hpp>
#include <apgas/places/team_member.hpp>

#include "team_board.hpp"

namespace apgas::inline v0::remote {
namespace {

// The limit of held calls in a message; programs use few teams at once.
constexpr std::size_t most_held = 16;

// Both ends repeat their messages every 100 ms. After a longer silence it is another wait.
constexpr std::chrono::seconds longest_silence{3};

}  // namespace

held_calls held_calls_of(const comm::inbound_frame& frame) {
  const auto bytes = frame.payload.subspan(sizeof(team_envelope));
  held_calls all(std::min(bytes.size() / sizeof(held_call), most_held));
  if (!all.empty()) std::memcpy(all.data(), bytes.data(), all.size() * sizeof(held_call));
  return all;
}

void team_member::add_held(held_calls& to) {
  std::lock_guard hold(lock_);
  if (!broken_.empty() || !before(sequence_, ahead_.sequence)) return;
  to.push_back({.team = id_, .sequence = ahead_.sequence, .holder = place_.here});
  if (passed_sequence_ == ahead_.sequence) to.insert(to.end(), passed_.begin(), passed_.end());
}

// NOLINTNEXTLINE(bugprone-exception-escape): the index is below size()
std::uint32_t team_member::tell_if_waiting(const held_calls& held) noexcept {
  check_board();
  team_envelope e{.step = step_called};
  held_calls told;
  comm::rank missing = place_.here;
  {
    std::lock_guard hold(lock_);
    if (waiter_ == nullptr) return 0;
    e.signature = signatures_[sequence_ % remembered];
    e.sequence = sequence_;
    told = held;
    if (awaited_ != nullptr) missing = rank_in_run(awaited_->member);
    for (held_call& each : told) {
      if (each.holder == place_.here) each.waits_in = e.signature;
    }
    if (passed_sequence_ == sequence_) {
      for (const held_call& each : passed_) {
        if (each.holder != place_.here) told.push_back(each);
      }
    }
  }
  if (told.size() > most_held) told.resize(most_held);
  post(group_[(me_ + 1) % size()].id(), e, std::as_bytes(std::span(told)));
  static_cast<remote_teams*>(place_.teams)->count_told();
  if (missing != place_.here) {
    post(missing, {.step = step_check}, {});
    static_cast<remote_teams*>(place_.teams)->count_told();
  }
  return e.sequence;
}

std::optional<scheduler::place_waits::team> team_member::for_report() {
  scheduler::place_waits::team t;
  t.name = fmt::format("{:x}.{:x}.{:x}", id_.home, id_.index, id_.generation);
  for (const place p : group_) t.members.push_back(p.id());
  std::lock_guard hold(lock_);
  if (sequence_ == 0) return std::nullopt;
  t.calls = sequence_;
  t.waits = waiter_ != nullptr;
  if (!t.waits) return t;
  t.object = scheduler::text_of(name_for_report());
  t.call = text_of(signatures_[sequence_ % remembered]);
  if (t.call.find(" at ") == std::string::npos && called_at_.line() != 0) {
    t.call += fmt::format(" at {}:{}", called_at_.file_name(), called_at_.line());
  }
  return t;
}

void team_member::pass_on(std::uint32_t sequence, held_calls held) {
  std::lock_guard hold(lock_);
  if (before(sequence, sequence_)) return;  // the sender is only slower
  passed_sequence_ = sequence;
  passed_ = std::move(held);
}

bool team_member::has_begun(std::uint32_t sequence) {
  std::lock_guard hold(lock_);
  return !before(sequence_, sequence);
}

void team_member::crossed(const held_call& mine, const global_id& other,
                          std::uint32_t other_sequence) {
  const auto now = std::chrono::steady_clock::now();
  std::string text;
  {
    std::lock_guard hold(lock_);
    if (!broken_.empty() || !calling_ || sequence_ != mine.sequence) return;
    crossing& c = crossing_;
    if (c.sequence != sequence_ || c.other != other || c.other_sequence != other_sequence ||
        now - c.last > longest_silence) {
      c = {sequence_, other, other_sequence, now, now, false};
    }
    c.last = now;
    if (c.reported || now - c.first < std::chrono::seconds(place_.team_warning_s)) return;
    c.reported = true;
    text = fmt::format(
        "for {} s place {} has been in {} of a team, which place {} has not called; place {} is in "
        "{} of another team, and waits for place {} in turn. Both go on waiting. If no other task "
        "makes these calls, the program hangs: call collectives of several teams in the same order "
        "at all members",
        place_.team_warning_s, place_.here, text_of(signatures_[sequence_ % remembered]),
        mine.holder, mine.holder, text_of(mine.waits_in), place_.here);
  }
  base::warn(text);
}

}  // namespace apgas::inline v0::remote
