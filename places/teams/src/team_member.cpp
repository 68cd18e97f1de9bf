// SPDX-License-Identifier: Apache-2.0
#include <apgas/places/team_member.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include <apgas/errors.hpp>
#include <apgas/places/remote_teams.hpp>
#include <apgas/scheduler/task_observer.hpp>

#include "team_board.hpp"
#include "team_polling.hpp"

namespace apgas::inline v0::remote {
namespace {

team_envelope envelope_of(const comm::inbound_frame& frame) noexcept {
  team_envelope e;
  std::memcpy(&e, frame.payload.data(), sizeof e);
  return e;
}

std::uint64_t history_after(std::uint64_t history, const call_signature& call) noexcept {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;
  return std::rotl((history ^ call.what) * odd, 29) ^ call.bytes * odd;
}

host_runs host_runs_of(const place_group& group, const sync::place_state& at) {
  const auto rank_of = [&](std::size_t i) { return (*place_group::iterator(group, i)).id(); };
  const auto together = [&](std::size_t a, std::size_t b) {
    return at.endpoint->same_node(rank_of(a), rank_of(b));
  };
  return {group.size(), together};
}

}  // namespace

team_member::team_member(sync::place_state& place, const global_id& id, place_group group,
                         std::size_t me)
    : place_(place),
      id_(id),
      group_(std::move(group)),
      hosts_(host_runs_of(group_, place)),
      me_(me),
      run_(hosts_.run(hosts_.index_of_run(me))) {}

team_member::~team_member() = default;

// ---- a call -------------------------------------------------------------------------------------

void team_member::begin(const team_call& call) {
  const call_signature mine = signature_of(call);
  std::string wrong;
  bool broken = false;
  {
    std::lock_guard hold(lock_);
    broken = !broken_.empty();
    if (calling_ && !broken) {
      wrong = fmt::format(
          "two tasks of place {} called collectives of the same team at the same time, {} and {}; "
          "let one task of each place call them, one after the other",
          place_.here, text_of(signatures_[sequence_ % remembered]), text_of(mine));
    } else if (!broken) {
      calling_ = true;
      called_at_ = call.site;
      history_ = history_after(history_, signatures_[sequence_ % remembered]);
      signatures_[++sequence_ % remembered] = mine;
      const auto differs = [&](const key& k, const call_signature& theirs) {
        return k.sequence == sequence_ && !same_call(theirs, mine);
      };
      for (const received_message& m : messages_) {
        if (differs(m.where, m.signature))
          wrong = difference(m.where.source, m.signature, mine, sequence_);
      }
      if (differs(ahead_, ahead_signature_)) {
        wrong = difference(ahead_.source, ahead_signature_, mine, sequence_);
      }
    }
  }
  if (!wrong.empty()) break_all(wrong);
  if (broken || !wrong.empty()) throw_broken();
}

void team_member::end() {
  std::string wrong;
  {
    std::lock_guard hold(lock_);
    calling_ = false;
    if (!broken_.empty()) return;  // this call is complete
    const auto left = std::ranges::find_if(
        messages_, [&](const received_message& m) { return m.where.sequence == sequence_; });
    if (left == messages_.end()) return;
    wrong = difference(left->where.source, left->signature, signatures_[sequence_ % remembered],
                       sequence_);
  }
  break_all(wrong);
}

void team_member::fail(const team_call& call) noexcept {
  std::string why;
  try {
    throw;
  } catch (const std::exception& e) {
    why = e.what();
  } catch (...) {
    why = "an exception that is not derived from std::exception";
  }
  bool first = false;
  {
    std::lock_guard hold(lock_);
    first = broken_.empty();
  }
  if (first) {
    break_all(
        fmt::format("place {} left {} of a team with an exception, so that the other members would "
                    "wait forever: {}. The team cannot be used any more; make another one",
                    place_.here, text_of(signature_of(call)), why));
  }
  // Not before, since a message of this call that comes meanwhile is not one of another order.
  std::lock_guard hold(lock_);
  calling_ = false;
}

bool team_member::count_one_sided(std::size_t bytes) noexcept {
  constexpr std::size_t most_bytes = std::size_t{16} << 20;
  constexpr std::size_t least = most_bytes / 256;  // so a barrier after at most 256 short calls
  one_sided_ += std::max(bytes, least);
  return one_sided_ > most_bytes;
}

// ---- messages -----------------------------------------------------------------------------------

void team_member::post(comm::rank dest, team_envelope envelope, std::span<const std::byte> data) {
  envelope.home = id_.home;
  const comm::frame_header header{.kind = comm::frame_kind::control,
                                  .handler = control_team | id_.index,
                                  .finish = id_.generation};
  place_.endpoint->send(dest, header, std::as_bytes(std::span(&envelope, 1)), data);
  place_.task_scheduler->keep_polling();
}

void team_member::send(std::size_t to, std::uint16_t step, std::uint32_t part,
                       std::span<const std::byte> data) {
  const comm::rank dest = group_[to].id();
  while (place_.endpoint->congested(dest)) scheduler::yield();
  post(dest,
       {.signature = signatures_[sequence_ % remembered],
        .sequence = sequence_,
        .part = part,
        .step = step},
       data);
}

bool team_member::expects(const key& k) const noexcept {
  return std::ranges::any_of(messages_, [&](const received_message& m) { return m.where == k; });
}

bool team_member::take(const key& wanted, received_message& to) {
  const auto at =
      std::ranges::find_if(messages_, [&](const received_message& m) { return m.where == wanted; });
  if (at == messages_.end()) return false;
  to = std::move(*at);
  messages_.erase(at);
  return true;
}

// Polls the network before the task suspends, as long as this worker has nothing else to do. Most
// messages of a collective arrive soon, and suspending or sleeping costs more than polling.
bool team_member::poll_for(const key& wanted, received_message& to) {
  if (place_.seeded) return false;  // nothing arrives meanwhile
  const scheduler::worker& w = *scheduler::current_fiber()->on;
  std::size_t had = 0;
  {
    std::lock_guard hold(lock_);
    had = messages_.size();
  }
  std::chrono::steady_clock::time_point end;
  for (int i = 0; nothing_else_ready(w); ++i) {
    if (i >= polls_at_once) {
      const auto now = std::chrono::steady_clock::now();
      if (i == polls_at_once) end = now + longest_look;
      if (now >= end) return false;
      std::this_thread::yield();
    }
    const bool any = place_.endpoint->progress();
    std::lock_guard hold(lock_);
    if (take(wanted, to)) return true;
    if (!broken_.empty()) return false;
    // What arrived may be a task, for which the scheduling loop must look.
    if (const std::size_t before = std::exchange(had, messages_.size()); any && before == had) {
      return false;
    }
  }
  return false;
}

team_arrival team_member::receive(std::size_t from, std::uint16_t step, std::uint32_t part) {
  const key wanted{sequence_, part, step, group_[from].id()};
  received_message got;
  yield_now_and_then();
  const auto arrived = [&got] {
    scheduler::observe_wait(got.what.payload());
    return std::move(got.what);
  };
  for (bool first = true;; first = false) {
    {
      std::lock_guard hold(lock_);
      if (take(wanted, got)) return arrived();
      if (!broken_.empty()) break;
    }
    if (first && poll_for(wanted, got)) return arrived();
    scheduler::suspend({"a collective of a team", this, called_at_},
                       [this, &wanted](scheduler::fiber* self) {
                         remote_teams& teams = *static_cast<remote_teams*>(place_.teams);
                         bool ready = false;
                         {
                           std::lock_guard hold(lock_);
                           ready = !broken_.empty() || expects(wanted);
                           if (!ready) {
                             wanted_ = wanted;
                             waiter_ = self;
                           }
                         }
                         if (ready) return scheduler::resume(self);
                         teams.watch();  // the member may be gone by now
                       });
  }
  throw_broken();
}

void team_member::deliver(const comm::inbound_frame& frame) {
  const team_envelope e = envelope_of(frame);
  if (e.step == step_wake) return wake();
  if (e.step == step_check) return check_board();
  if (e.step == step_broken) {
    const auto text = frame.payload.subspan(sizeof e);
    return mark_broken({reinterpret_cast<const char*>(text.data()), text.size()});
  }
  const key where{e.sequence, e.part, e.step, frame.source};
  bool left = false;
  scheduler::fiber* waiter = nullptr;
  call_signature mine;
  {
    std::lock_guard hold(lock_);
    if (!broken_.empty()) return;
    const bool now = calling_ && e.sequence == sequence_;
    left = !now && !before(sequence_, e.sequence);
    mine = signatures_[e.sequence % remembered];
    if (now ? same_call(e.signature, mine) : !left) {
      if (e.step == step_called) {
        if (now) return;
        ahead_ = where;
        ahead_signature_ = e.signature;
        return;
      }
      messages_.push_back({where, e.signature, team_arrival(frame)});
      if (waiter_ != nullptr && awaited_ == nullptr && wanted_ == where)
        waiter = std::exchange(waiter_, nullptr);
    } else if (left && e.step == step_called &&
               (same_call(e.signature, mine) || sequence_ - e.sequence >= remembered)) {
      return;  // the sender is only slower
    } else {
      if (sequence_ - e.sequence >= remembered) mine = {};
      left = true;
    }
  }
  if (waiter != nullptr) return scheduler::resume(waiter);
  if (left) break_all(difference(frame.source, e.signature, mine, e.sequence));
}

// ---- errors -------------------------------------------------------------------------------------

std::string team_member::difference(comm::rank source, const call_signature& theirs,
                                    const call_signature& mine, std::uint32_t sequence) const {
  return fmt::format(
      "the members of a team called its collectives in different orders: call {} was {} at place "
      "{} and {} at place {}. All members must make the same calls, with the same root and size, "
      "in the same order. The team cannot be used any more; make another one",
      sequence, text_of(mine), place_.here, text_of(theirs), source);
}

void team_member::mark_broken(std::string why) noexcept {
  scheduler::fiber* waiter = nullptr;
  {
    std::lock_guard hold(lock_);
    if (!broken_.empty()) return;
    broken_ = std::move(why);
    is_broken_.store(true, base::relaxed);
    waiter = std::exchange(waiter_, nullptr);
    awaited_ = nullptr;
  }
  if (waiter != nullptr) scheduler::resume(waiter);
}

// NOLINTNEXTLINE(bugprone-exception-escape): iterators stay inside the group
void team_member::break_all(const std::string& why) noexcept {
  mark_broken(why);
  for (place p : group_) {
    if (p.id() != place_.here) {
      post(p.id(), {.step = step_broken}, std::as_bytes(std::span(why)));
    }
  }
}

void team_member::throw_broken() {
  std::string why;
  {
    std::lock_guard hold(lock_);
    why = broken_;
  }
  throw illegal_operation(why);
}

}  // namespace apgas::inline v0::remote
