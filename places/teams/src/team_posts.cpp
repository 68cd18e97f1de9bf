// SPDX-License-Identifier: Apache-2.0
// The bulletin boards of a team at one member: publishing, reading, and waiting for what others
// publish (docs/protocols/team.md, "Bulletin boards").
#include <algorithm>
#include <chrono>
#include <limits>
#include <mutex>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include <apgas/base/assert.hpp>
#include <apgas/base/cpu_relax.hpp>
#include <apgas/places/remote_teams.hpp>

#include "team_board.hpp"
#include "team_polling.hpp"

namespace apgas::inline v0::remote {
namespace {

// How often a member looks at a board between two polls of the network, which take 50 ns.
constexpr int looks_per_poll = 16;

}  // namespace

const std::size_t team_member::post_bytes = team_board::slot_bytes;

// ---- the boards of a team -----------------------------------------------------------------------

bool team_member::may_use_boards() const noexcept {
  std::size_t longest = 0;
  for (std::size_t i = 0; i < hosts_.count(); ++i) {
    longest = std::max(longest, hosts_.run(i).size());
  }
  return longest > 1 && longest <= team_board::members_max;
}

void team_member::decide_boards(int index) {
  boards_decided_ = true;
  board_index_ = index;
  if (index < 0 || run_.size() == 1) return;
  std::vector<std::byte*> boards;
  for (std::size_t i = 0; i < run_.size(); ++i) {
    const auto area = place_.endpoint->network().shared_area(rank_in_run(i));
    const std::size_t begin = static_cast<std::size_t>(index) * board_bytes;
    APGAS_ASSERT(begin + board_bytes <= area.size());
    boards.push_back(area.data() + begin);
  }
  auto made =
      std::make_unique<team_board>(std::move(boards), static_cast<std::uint32_t>(me_ - run_.first));
  std::lock_guard hold(lock_);
  board_ = std::move(made);
}

// ---- a collective -------------------------------------------------------------------------------

void team_member::enter_boards() {
  yield_now_and_then();
  board_->enter(signatures_[sequence_ % remembered], sequence_, history_);
}

void team_member::leave_boards() {
  board_->leave();
  look_for_sleepers();
}

void team_member::note_all_entered(std::uint32_t before) noexcept {
  board_->note_all_entered(before);
}

void team_member::publish(std::span<const std::byte> data) {
  make_room(data.size());
  board_->publish(data, team_board::everybody);
}

void team_member::publish_for(std::size_t reader, std::span<const std::byte> data) {
  make_room(data.size());
  board_->publish(data, static_cast<std::uint32_t>(reader));
}

void team_member::make_room(std::size_t bytes) {
  while (const auto wait = board_->before_next(bytes)) wait_for_board(*wait);
}

void team_member::wait_for_post(std::size_t from, std::uint32_t number, std::size_t bytes) {
  const auto member = static_cast<std::uint32_t>(from);
  wait_for_board(board_->post_of(member, number));
  if (member == board_->me()) return;
  check_call(from, number);
  if (board_->post(member, number).bytes != bytes) refuse_board(from);
}

std::span<const std::byte> team_member::read(std::size_t from, std::uint32_t number,
                                             std::size_t bytes) {
  wait_for_post(from, number, bytes);
  return board_->data_of(static_cast<std::uint32_t>(from), number, bytes);
}

void team_member::take(std::size_t from, std::uint32_t number) {
  yield_now_and_then();
  board_->take(static_cast<std::uint32_t>(from), number);
}

// The member has published that post, or a later one in its slot, in this collective. It must be of
// the same call.
void team_member::check_call(std::size_t from, std::uint32_t number) {
  const auto member = static_cast<std::uint32_t>(from);
  const call_signature& mine = signatures_[sequence_ % remembered];
  const team_board::header& post = board_->post(member, number);
  const call_signature theirs = post.signature;
  if (post.sequence == sequence_ && post.history == history_ && same_call(theirs, mine)) return;
  const comm::rank other = rank_in_run(from);
  std::string wrong = difference(other, theirs, mine, sequence_);
  if (post.history != history_) {
    // The calls before already differed: the last of these is shown, if it has a post.
    const auto* const last = board_->post_before(member);
    const call_signature& before = signatures_[(sequence_ - 1) % remembered];
    if (last != nullptr && last->sequence == sequence_ - 1 && !same_call(last->signature, before)) {
      wrong = difference(other, last->signature, before, sequence_ - 1);
    } else if (same_call(theirs, mine)) {
      wrong = fmt::format(
          "the members of a team called its collectives in different orders: places {} and {} "
          "made different calls before call {}, {}. All members must make the same calls, with the "
          "same root and size, in the same order. The team cannot be used any more; make another "
          "one",
          place_.here, other, sequence_, text_of(mine));
    }
  }
  break_all(wrong);
  throw_broken();
}

void team_member::check_size(std::size_t from, std::uint64_t bytes) {
  if (bytes > comm::max_payload_bytes) refuse_board(from);
}

void team_member::refuse_board(std::size_t member) {
  break_all(
      fmt::format("the memory that place {} shares with the places of its host contains a value "
                  "that no place writes; the place or another process has overwritten it. The team "
                  "cannot be used any more; make another one",
                  rank_in_run(member)));
  throw_broken();
}

// ---- waiting ------------------------------------------------------------------------------------

bool team_member::board_has(const board_wait& what) const noexcept {
  return board_->look(what) != board_look::nothing;
}

// Returns when the board has the post, or the other value, that this member waits for.
void team_member::wait_for_board(const board_wait& what) {
  if (!board_has(what)) {
    look_for_sleepers();
    while (!poll_board(what)) {
      if (is_broken_.load(base::relaxed)) throw_broken();
      scheduler::suspend({"a collective of a team", this, called_at_},
                         [this, &what](scheduler::fiber* self) {
                           remote_teams& teams = *static_cast<remote_teams*>(place_.teams);
                           bool ready = false;
                           {
                             std::lock_guard hold(lock_);
                             board_->announce_sleep(what.member);
                             ready = !broken_.empty() || board_has(what);
                             if (!ready) {
                               awaited_ = &what;
                               waiter_ = self;
                             }
                           }
                           if (ready) return scheduler::resume(self);
                           teams.watch();  // the member may be gone by now
                         });
      board_->clear_sleep();
    }
  }
  if (board_->look(what) != board_look::impossible) return;
  if (what.kind == board_wait::what::post) check_call(what.member, what.key.number);
  refuse_board(what.member);
}

// As poll_for: polls before the task suspends, as long as this worker has nothing else to do. With
// more workers than processors it yields at once, since what it waits for needs the processor.
bool team_member::poll_board(const board_wait& what) {
  if (place_.seeded) return board_has(what);
  const scheduler::worker& w = *scheduler::current_fiber()->on;
  const int at_once = place_.oversubscribed ? 0 : polls_at_once;
  std::chrono::steady_clock::time_point end;
  for (int i = 0; nothing_else_ready(w); ++i) {
    if (i >= at_once) {
      const auto now = std::chrono::steady_clock::now();
      if (i == at_once) end = now + longest_look;
      if (now >= end) return board_has(what);
      std::this_thread::yield();
    }
    for (int k = 0; k < (place_.oversubscribed ? 1 : looks_per_poll); ++k) {
      if (board_has(what)) return true;
      base::cpu_relax();
    }
    // What arrived may be a task, for which the scheduling loop must look.
    if (place_.endpoint->progress() || is_broken_.load(base::relaxed)) return board_has(what);
  }
  return board_has(what);
}

// Wakes the members that sleep until this one publishes something, if it has.
void team_member::look_for_sleepers() {
  if (!board_->must_look_for_sleepers()) return;
  for (std::uint32_t i = 0; i < board_->size(); ++i) {
    if (i != board_->me() && board_->found_asleep(i)) {
      post(rank_in_run(i), {.step = step_wake}, {});
      static_cast<remote_teams*>(place_.teams)->count_told();
    }
  }
}

void team_member::wake() noexcept {
  scheduler::fiber* waiter = nullptr;
  {
    std::lock_guard hold(lock_);
    if (std::exchange(awaited_, nullptr) != nullptr) waiter = std::exchange(waiter_, nullptr);
  }
  if (waiter != nullptr) scheduler::resume(waiter);
}

// If the board of this member was overwritten, members that wait for its posts might wait forever.
// Also wakes the waiting task if it has what it waits for, in case a sleep mark was overwritten.
void team_member::check_board() noexcept {
  bool intact = true;
  bool wakes = false;
  {
    std::lock_guard hold(lock_);
    if (board_ == nullptr || !broken_.empty() || (calling_ && waiter_ == nullptr)) return;
    intact = board_->intact();
    wakes = awaited_ != nullptr && board_has(*awaited_);
  }
  if (!intact) {
    break_all(fmt::format(
        "another process has overwritten the memory that place {} shares with the places of its "
        "host. The team cannot be used any more; make another one",
        place_.here));
  } else if (wakes) {
    wake();
  }
}

}  // namespace apgas::inline v0::remote
