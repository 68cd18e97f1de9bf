// SPDX-License-Identifier: Apache-2.0
#include <apgas/places/remote_teams.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include <apgas/base/assert.hpp>

#include "team_board.hpp"

namespace apgas::inline v0::remote {

remote_teams::remote_teams(sync::place_state& place)
    : place_(place), timer_{{nullptr, &look}, this} {}

remote_teams::~remote_teams() {
  for (const auto& [id, frame] : early_) frame.owner->release();
}

// ---- members ------------------------------------------------------------------------------------

namespace {

// Delivers a message that has been kept, and gives up the reference, unless the member takes it.
void deliver_early(team_member& member, comm::inbound_frame& early) {
  comm::inbound_frame frame = early;
  early.owner = nullptr;
  std::uint32_t kept = 0;
  frame.kept = &kept;
  const auto release = [&kept](comm::inbound_buffer* owner) {
    if (kept == 0) owner->release();
  };
  const std::unique_ptr<comm::inbound_buffer, decltype(release)> hold(frame.owner, release);
  member.deliver(frame);
}

}  // namespace

void remote_teams::add(const global_id& id, const place_group& group) {
  const std::size_t me = group.index_of(trusted_place(place_.here));
  auto made = std::make_unique<team_member>(place_, id, group, me);
  team_member& member = *made;
  std::vector<comm::inbound_frame> waiting;
  std::lock_guard hold(lock_);
  members_.emplace(id, std::move(made));
  for (auto& [wanted, frame] : early_) {
    if (wanted != id) continue;
    deliver_early(member, frame);
  }
  std::erase_if(early_, [](const auto& e) { return e.second.owner == nullptr; });
}

std::uint64_t remote_teams::boards() const noexcept {
  const auto area = place_.endpoint->network().shared_area(place_.here);
  return (std::uint64_t{1} << std::min<std::size_t>(area.size() / board_bytes, 63)) - 1;
}

std::uint64_t remote_teams::offer_boards() noexcept {
  std::lock_guard hold(lock_);
  const std::uint64_t free = offering_ ? 0 : boards() & ~used_boards_;
  if (free != 0) offering_ = true;
  return free;
}

int remote_teams::take_board(std::uint64_t offered, std::uint64_t agreed) noexcept {
  std::lock_guard hold(lock_);
  if (offered != 0) offering_ = false;
  if (agreed == 0) return -1;
  const int first = std::countr_zero(agreed);
  used_boards_ |= std::uint64_t{1} << first;
  return first;
}

void remote_teams::remove(const global_id& id) noexcept {
  std::unique_ptr<team_member> gone;
  {
    std::lock_guard hold(lock_);
    const auto at = members_.find(id);
    if (at == members_.end()) return;
    gone = std::move(at->second);
    if (last_ == gone.get()) last_ = nullptr;
    members_.erase(at);
  }
  const int board = gone->has_board() ? gone->board_index() : -1;
  gone.reset();  // empties the board
  if (board < 0) return;
  std::lock_guard hold(lock_);
  used_boards_ &= ~(std::uint64_t{1} << board);
}

team_member* remote_teams::find(const global_id& id) {
  std::lock_guard hold(lock_);
  return look_up(id);
}

// Requires: lock_ is held.
team_member* remote_teams::look_up(const global_id& id) {
  if (last_ != nullptr && last_->id() == id) return last_;
  const auto at = members_.find(id);
  if (at != members_.end()) return last_ = at->second.get();
  if (id.generation != world_generation) return nullptr;
  const place_range all(place_.places);
  auto world =
      std::make_unique<team_member>(place_, id, all, static_cast<std::size_t>(place_.here));
  const bool shared = world->may_use_boards() && place_.endpoint->network().shares_areas();
  world->decide_boards(shared ? world_board : -1);
  return members_.emplace(id, std::move(world)).first->second.get();
}

void remote_teams::on_message(const comm::inbound_frame& frame) {
  if (frame.payload.size() < sizeof(team_envelope)) {
    base::fatal(fmt::format("place {} sent a malformed team message of {} bytes", frame.source,
                            frame.payload.size()));
  }
  team_envelope e;
  std::memcpy(&e, frame.payload.data(), sizeof e);
  const global_id id{.home = e.home,
                     .index = static_cast<std::uint32_t>(frame.header->handler),
                     .generation = frame.header->finish};
  if (e.step == team_member::step_called || e.step == team_member::step_check) {
    heard_.store(heard_.load(base::relaxed) + 1, base::relaxed);  // by one thread at a time
  }
  // The lock is held meanwhile, so that no membership ends before its messages are delivered.
  std::lock_guard hold(lock_);
  if (team_member* const member = look_up(id)) {
    member->deliver(frame);
    if (e.step == team_member::step_called) take_held(*member, e.sequence, held_calls_of(frame));
    return;
  }
  // It will be told again, or the team has ended here.
  if (e.step >= team_member::step_wake && e.step <= team_member::step_called) return;
  frame.keep();
  early_.emplace_back(id, frame);
}

// ---- members that wait long ---------------------------------------------------------------------

// Only the lower of two places warns; in a ring of places at least one is lower than its holder.
// Requires: lock_ is held.
// NOLINTNEXTLINE(bugprone-exception-escape): the indices of a run lie within the group
void remote_teams::take_held(team_member& told, std::uint32_t sequence, held_calls held) noexcept {
  if (place_.team_warning_s != 0 && !told.has_begun(sequence)) {
    for (const held_call& each : held) {
      if (each.holder <= place_.here || each.team == told.id()) continue;
      if (team_member* const mine = look_up(each.team)) mine->crossed(each, told.id(), sequence);
    }
  }
  told.pass_on(sequence, std::move(held));
}

void remote_teams::begin_watch() noexcept {
  std::lock_guard hold(lock_);
  if (stopped_ || watching_.load(base::relaxed)) return;
  looks_in_vain_ = 0;
  set_timer();
}

// Requires: lock_ is held.
void remote_teams::set_timer() noexcept {
  watching_.store(true, base::relaxed);
  when_ = place_.task_scheduler->now() + patience_;
  place_.task_scheduler->submit_at(when_, &timer_);
}

// Whether to look again. A seeded schedule lets time pass as soon as nothing else can happen. There
// the looks end when everything that members can be told has gone round the team: if the members
// are in a deadlock, the schedule notices it only if no timer is set. So with a seed there are no
// warnings about members that do not come.
// Requires: lock_ is held.
bool remote_teams::looks_again(std::uint64_t calls) noexcept {
  looks_in_vain_ = calls == std::exchange(calls_, calls) ? looks_in_vain_ + 1 : 0;
  if (stopped_ || calls == 0) return false;
  return !place_.seeded || looks_in_vain_ <= place_.places;
}

scheduler::task_counter* remote_teams::look(scheduler::external_task* work,
                                            scheduler::fiber&) noexcept {
  remote_teams& self = *static_cast<timer*>(work)->self;
  {
    std::lock_guard hold(self.lock_);
    // A task that is not found waiting below finds this false, or the timer set again: it reads it
    // after it has held the lock of its member, which the looks below hold, too.
    self.watching_.store(false, base::relaxed);
    held_calls held;
    std::uint64_t calls = 0;
    for (const auto& [id, member] : self.members_) member->add_held(held);
    for (const auto& [id, member] : self.members_) calls += member->tell_if_waiting(held);
    const bool again = self.looks_again(calls);
    if (again) self.set_timer();
  }
  return nullptr;
}

void remote_teams::set_patience(std::chrono::microseconds time) noexcept {
  std::lock_guard hold(lock_);
  patience_ = time;
}

bool remote_teams::pause() noexcept {
  std::lock_guard hold(lock_);
  if (paused_ || !watching_.load(base::relaxed)) return true;
  paused_ = place_.task_scheduler->cancel_at(when_, &timer_);
  return paused_;
}

bool remote_teams::timer_set() noexcept {
  std::lock_guard hold(lock_);
  return watching_.load(base::relaxed) && !paused_;
}

void remote_teams::resume() noexcept {
  std::lock_guard hold(lock_);
  if (std::exchange(paused_, false)) set_timer();
}

std::vector<scheduler::place_waits::team> remote_teams::for_report() {
  std::vector<scheduler::place_waits::team> all;
  std::lock_guard hold(lock_);
  for (const auto& [id, member] : members_) {
    if (auto t = member->for_report()) all.push_back(*std::move(t));
  }
  return all;
}

void remote_teams::stop() noexcept {
  for (;;) {
    {
      std::lock_guard hold(lock_);
      stopped_ = true;
      if (paused_ || !watching_.load(base::relaxed)) return;
      if (place_.task_scheduler->cancel_at(when_, &timer_)) {
        watching_.store(false, base::relaxed);
        return;
      }
    }
    std::this_thread::yield();
  }
}

}  // namespace apgas::inline v0::remote
