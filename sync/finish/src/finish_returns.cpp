// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <mutex>

#include <fmt/format.h>

#include <apgas/base/assert.hpp>
#include <apgas/sync/place_state.hpp>
#include <apgas/sync/remote_finish.hpp>

#include "finish_details.hpp"
#include "finish_frames.hpp"
#include "finish_results.hpp"

// How credit comes back: from a place of which nothing of a finish is left to its parent or home,
// and what these do with it.
namespace apgas::inline v0::sync {
namespace {

returned_credit credit_from(const comm::inbound_frame& frame) {
  returned_credit credit;
  if (frame.payload.size() < sizeof credit) {
    base::fatal(fmt::format("place {} sent a return of a finish in {} bytes, which is none",
                            frame.source, frame.payload.size()));
  }
  std::memcpy(&credit, frame.payload.data(), sizeof credit);
  return credit;
}

std::vector<std::byte> results_from(std::span<const std::byte> payload) {
  const auto results = payload.subspan(sizeof(returned_credit));
  return {results.begin(), results.end()};
}

}  // namespace

void remote_finishes::replica_idle(finish_replica& replica) noexcept {
  std::lock_guard guard(lock_);
  replica.machine.on_idle();
  if (replica.quiescent()) list(replica);
}

// Requires: lock_ is held.
void remote_finishes::list(finish_replica& replica) {
  if (replica.listed) return;
  replica.listed = true;
  maybe_quiescent_.push_back(&replica);
  quiescence_possible_.store(true, base::relaxed);
  place_.tasks->request_poll();
}

// Requires: lock_ is held and the replica is quiescent.
std::unique_ptr<finish_replica> remote_finishes::take_out(finish_replica& replica) {
  const auto at = replicas_.find(replica.id);
  std::unique_ptr<finish_replica> gone = std::move(at->second);
  replicas_.erase(at);
  return gone;
}

namespace {

// Exceptions and offers are turned into bytes by a task, because that runs code of the user.
struct return_with_results : scheduler::injected {
  return_with_results(std::unique_ptr<finish_replica> from, returned_credit c,
                      finish_ties::target t)
      : injected{.run = send}, replica(std::move(from)), credit(c), to(t) {}

  static scheduler::task_counter* send(injected* work, scheduler::fiber&) noexcept {
    const std::unique_ptr<return_with_results> self(static_cast<return_with_results*>(work));
    finish_details& own = self->replica->own;
    comm::out_archive payload;
    payload(self->credit);
    if (own_results(own)) save_results(payload, own);
    for (const std::vector<std::byte>& results : own.returned) payload.append(results);
    self->replica->table.send_return(self->replica->id, self->to, payload);
    return nullptr;
  }

  static bool own_results(const finish_details& own) {
    return !own.exceptions.empty() || own.offers != nullptr;
  }

  std::unique_ptr<finish_replica> replica;
  returned_credit credit;
  finish_ties::target to;
};

}  // namespace

void remote_finishes::send_return(finish_id id, finish_ties::target to,
                                  comm::out_archive& payload) noexcept {
  const comm::rank dest = to.place == finish_ties::to_home ? home_of(id) : to.place;
  send_message(dest, operation_return, id, to.ties, &payload);
}

bool remote_finishes::send_returns() noexcept {
  if (!quiescence_possible_.load(base::relaxed)) return false;
  for (bool any = false;; any = true) {
    std::unique_ptr<finish_replica> gone;
    returned_credit credit;
    finish_ties::target to{};
    {
      std::lock_guard guard(lock_);
      while (!maybe_quiescent_.empty() && gone == nullptr) {
        finish_replica& replica = *maybe_quiescent_.back();
        maybe_quiescent_.pop_back();
        replica.listed = false;
        if (!replica.quiescent()) continue;
        credit = replica.machine.give_back();
        to = replica.ties.give_back();
        gone = take_out(replica);
        ++count_.returns;
      }
      if (gone == nullptr) quiescence_possible_.store(false, base::relaxed);
    }
    if (gone == nullptr) return any;
    if (!return_with_results::own_results(gone->own) && gone->own.returned.empty()) {
      comm::out_archive payload;
      payload(credit);
      send_return(gone->id, to, payload);
    } else {
      place_.tasks->inject(
          std::make_unique<return_with_results>(std::move(gone), credit, to).release());
    }
  }
}

returned_credit remote_finishes::give_back_with_reply(finish_core& finish) noexcept {
  finish_details* details = finish.details();
  if (details == nullptr || details->replica == nullptr) {
    scheduler::release_unit(finish);
    return {};
  }
  finish_replica& replica = *details->replica;
  if (!replica.release()) return {};
  std::unique_ptr<finish_replica> gone;  // destroyed after the lock is
  std::lock_guard guard(lock_);
  replica.machine.on_idle();
  if (!replica.quiescent() || replica.listed) return {};
  // Exceptions, offers, ties and a sum beyond 64 bits need a message of their own.
  if (return_with_results::own_results(*details) || !details->returned.empty() ||
      replica.ties.tied() || replica.machine.pool() >> 64 != 0) {
    list(replica);
    return {};
  }
  const returned_credit credit = replica.machine.give_back();
  gone = take_out(replica);
  return credit;
}

void remote_finishes::on_reply(finish_core& finish, const returned_credit& returned) noexcept {
  if (returned.credit() == 0) return;
  finish_details& details = *finish.details();
  if (details.replica != nullptr) {
    std::lock_guard guard(lock_);
    details.replica->machine.on_reply(returned);
    return;
  }
  bool unit_due = false;
  {
    std::lock_guard guard(details.lock);
    unit_due = details.ledger.on_return(returned);
  }
  settle_home(finish, unit_due);
}

// ---- arrivals ---

void remote_finishes::on_return(const comm::inbound_frame& frame) {
  {
    std::lock_guard guard(lock_);
    ++count_.returns_in;
  }
  if (home_of(frame.header->finish) != place_.here) return on_return_of_child(frame);
  finish_core& finish = finish_at_home(frame.header->finish, frame.source);
  finish_details& details = *finish.details();
  bool unit_due = false;
  {
    const returned_credit credit = credit_from(frame);
    std::vector<std::byte> results = results_from(frame.payload);
    std::lock_guard guard(details.lock);
    if (!results.empty()) details.returned.push_back(std::move(results));
    unit_due = details.ledger.on_return(credit);
  }
  settle_home(finish, unit_due);
}

// The credit and the results go on with those of this place.
void remote_finishes::on_return_of_child(const comm::inbound_frame& frame) {
  const returned_credit credit = credit_from(frame);
  std::vector<std::byte> results = results_from(frame.payload);
  std::lock_guard guard(lock_);
  finish_replica& replica = known_replica(frame.header->finish, frame.source);
  if (!results.empty()) replica.own.returned.push_back(std::move(results));
  replica.machine.on_return(credit);
  replica.ties.on_release(static_cast<std::uint8_t>(frame.header->credit));
  if (replica.quiescent()) list(replica);
}

void remote_finishes::on_release(const comm::inbound_frame& frame) {
  std::lock_guard guard(lock_);
  finish_replica& replica = known_replica(frame.header->finish, frame.source);
  replica.ties.on_release(static_cast<std::uint8_t>(frame.header->credit));
  if (replica.quiescent()) list(replica);
}

}  // namespace apgas::inline v0::sync
