// SPDX-License-Identifier: Apache-2.0
#include <apgas/sync/remote_finish.hpp>

#include <cstring>
#include <mutex>

#include <apgas/base/assert.hpp>
#include <apgas/sync/place_state.hpp>

#include "finish_details.hpp"
#include "wire_exceptions.hpp"

// Frames of kind finish: `handler` says which, `finish` of which, `credit` the share of a grant.
namespace apgas::inline v0::sync {
namespace {

enum operation : std::uint64_t {
  operation_return = 1,  // payload: returned_credit, then exceptions and offers if there are any
  operation_request,     // no payload
  operation_grant,       // no payload
};

returned_credit credit_from(std::span<const std::byte> payload) {
  returned_credit credit;
  APGAS_ASSERT(payload.size() >= sizeof credit, "a return message is too short");
  std::memcpy(&credit, payload.data(), sizeof credit);
  return credit;
}

}  // namespace

remote_finishes::remote_finishes(place_state& place)
    : place_(place),
      next_id_((static_cast<finish_id>(place.here) << finish_number_bits) + root_finish + 1) {}

remote_finishes::~remote_finishes() {
  APGAS_ASSERT(replicas_.empty(), "a finish of another place still has tasks here");
}

void remote_finishes::open_root(finish_core& core) {
  core.need_details().id = root_finish;
  std::lock_guard guard(lock_);
  at_home_.emplace(root_finish, &core);
}

void remote_finishes::close(finish_details& details) {
  if (details.id == 0) return;
  APGAS_ASSERT(details.ledger.outstanding() == 0, "a finish ended before its credit was back");
  std::lock_guard guard(lock_);
  at_home_.erase(details.id);
}

void remote_finishes::send_task(finish_core& finish, comm::rank dest, comm::frame_header header,
                                comm::out_archive& payload) {
  const finish_details* details = finish.details();
  if (details != nullptr && details->reducer != 0) {
    header.flags |= flag_collecting;
    payload(details->reducer);
  }
  if (details != nullptr && details->replica != nullptr) {
    send_from_replica(details->replica, nullptr, dest, header, payload);
  } else {
    send_from_home(finish, dest, header, payload);
  }
}

void remote_finishes::send_uncounted(finish_core& running, comm::rank dest,
                                     comm::frame_header header, comm::out_archive& payload) {
  if (place_.here == home_of(root_finish)) {
    send_from_home(finish_at_home(root_finish), dest, header, payload);
  } else {
    send_from_replica(nullptr, &running, dest, header, payload);
  }
}

void remote_finishes::send_from_home(finish_core& finish, comm::rank dest,
                                     comm::frame_header header, comm::out_archive& payload) {
  finish_details& details = finish.need_details();
  {
    std::lock_guard guard(details.lock);
    if (details.id == 0) {
      std::lock_guard table_guard(lock_);
      details.id = next_id_++;
      at_home_.emplace(details.id, &finish);
    }
    const auto minted = details.ledger.mint();
    if (minted.takes_unit) finish.add(1);
    header.credit = minted.share;
  }
  header.finish = details.id;
  place_.network->send(dest, header, std::move(payload));
}

// `own`: the replica that the running task is counted in; null: of the root finish, as a guest.
void remote_finishes::send_from_replica(finish_replica* own, finish_core* guest_of, comm::rank dest,
                                        comm::frame_header header, comm::out_archive& payload) {
  header.finish = own == nullptr ? root_finish : own->id;
  bool ask = false;
  {
    std::lock_guard guard(lock_);
    finish_replica& replica = own == nullptr ? replica_of(root_finish) : *own;
    const auto split =
        guest_of == nullptr ? replica.machine.split() : replica.machine.split_guest();
    header.credit = split.share;
    ask = split.ask;
    if (split.share == 0) {
      if (guest_of != nullptr) guest_of->add(1);
      const auto bytes = payload.bytes();
      replica.waiting.push_back({dest, header, {bytes.begin(), bytes.end()}, guest_of});
    }
  }
  if (header.credit != 0) place_.network->send(dest, header, std::move(payload));
  if (ask) send_message(home_of(header.finish), operation_request, header.finish, 0, nullptr);
}

void remote_finishes::send_message(comm::rank dest, std::uint64_t operation, finish_id id,
                                   std::uint64_t credit, comm::out_archive* payload) noexcept {
  if (operation == operation_request) {
    std::lock_guard guard(lock_);
    ++sent_.requests;
  }
  const comm::frame_header header{
      .kind = comm::frame_kind::finish, .handler = operation, .finish = id, .credit = credit};
  if (payload == nullptr) {
    place_.network->send(dest, header, std::span<const std::byte>{});
  } else {
    place_.network->send(dest, header, std::move(*payload));
  }
}

// ---- arrivals ---------------------------------------------------------------------------------

finish_core& remote_finishes::finish_at_home(finish_id id) noexcept {
  std::lock_guard guard(lock_);
  const auto found = at_home_.find(id);
  APGAS_ASSERT(found != at_home_.end(), "a frame belongs to a finish that has ended");
  return *found->second;
}

// Requires: lock_ is held.
finish_replica& remote_finishes::replica_of(finish_id id) {
  auto& replica = replicas_[id];
  if (replica == nullptr) replica = std::make_unique<finish_replica>(*this, id);
  return *replica;
}

finish_core& remote_finishes::on_task(const comm::frame_header& header,
                                      comm::handler_id reducer) noexcept {
  return arrived(header.finish, header.credit, 1, reducer);
}

finish_core& remote_finishes::arrived(finish_id id, credit_sum credit, std::uint64_t frames,
                                      comm::handler_id reducer) noexcept {
  if (home_of(id) == place_.here) {
    finish_core& finish = finish_at_home(id);
    finish.add(1);  // before the credit is settled, or the finish might end
    finish_details& details = *finish.details();
    bool unit_due = false;
    {
      std::lock_guard guard(details.lock);
      unit_due = details.ledger.on_arrival(credit, frames);
    }
    settle_home(finish, unit_due);
    return finish;
  }
  std::lock_guard guard(lock_);
  finish_replica& replica = replica_of(id);
  // Written once, before the first task: its tasks read it without the lock.
  if (replica.own.reducer != reducer) replica.own.reducer = reducer;
  const bool wakes = replica.add_first();
  replica.machine.on_arrival(credit, wakes, frames);
  return replica;
}

void remote_finishes::settle_home(finish_core& finish, bool unit_due) noexcept {
  if (unit_due) scheduler::release_unit(finish);
}

void remote_finishes::on_message(const comm::inbound_frame& frame) noexcept {
  switch (frame.header->handler) {
    case operation_return:
      on_return(frame);
      break;
    case operation_request: {
      finish_core& finish = finish_at_home(frame.header->finish);
      finish_details& details = *finish.details();
      std::uint64_t share = 0;
      {
        std::lock_guard guard(details.lock);
        const auto minted = details.ledger.on_request();
        if (minted.takes_unit) finish.add(1);
        share = minted.share;
      }
      {
        std::lock_guard guard(lock_);
        ++sent_.grants;
      }
      send_message(frame.source, operation_grant, frame.header->finish, share, nullptr);
      break;
    }
    case operation_grant:
      on_grant(frame);
      break;
    default:
      base::fatal("a frame of the finish protocol has an unknown operation");
  }
}

void remote_finishes::on_return(const comm::inbound_frame& frame) noexcept {
  finish_core& finish = finish_at_home(frame.header->finish);
  finish_details& details = *finish.details();
  bool unit_due = false;
  {
    const returned_credit credit = credit_from(frame.payload);
    const auto rest = frame.payload.subspan(sizeof credit);
    std::vector<std::byte> kept(rest.begin(), rest.end());
    std::lock_guard guard(details.lock);
    if (!kept.empty()) details.returned.push_back(std::move(kept));
    unit_due = details.ledger.on_return(credit);
  }
  settle_home(finish, unit_due);
}

void remote_finishes::on_grant(const comm::inbound_frame& frame) noexcept {
  finish_replica* replica = nullptr;
  {
    std::lock_guard guard(lock_);
    replica = &replica_of(frame.header->finish);
    replica->machine.on_grant(frame.header->credit);
  }
  send_waiting(*replica);
}

void remote_finishes::send_waiting(finish_replica& replica) noexcept {
  std::vector<waiting_frame> ready;
  const finish_id id = replica.id;
  bool ask = false;
  {
    std::lock_guard guard(lock_);
    std::size_t sent = 0;
    while (sent < replica.waiting.size()) {
      const auto next = replica.machine.next_waiting();
      if (next.share == 0) {
        ask = next.ask;
        break;
      }
      replica.waiting[sent++].header.credit = next.share;
    }
    const auto end = replica.waiting.begin() + static_cast<std::ptrdiff_t>(sent);
    ready.assign(std::make_move_iterator(replica.waiting.begin()), std::make_move_iterator(end));
    replica.waiting.erase(replica.waiting.begin(), end);
    if (replica.machine.quiescent()) list(replica);  // tasks ended while their frames waited
  }
  for (waiting_frame& frame : ready) {
    place_.network->send(frame.dest, frame.header, std::span<const std::byte>(frame.payload));
    if (frame.held != nullptr) scheduler::release_unit(*frame.held);
  }
  if (ask) send_message(home_of(id), operation_request, id, 0, nullptr);
}

// ---- giving back ------------------------------------------------------------------------------

void remote_finishes::replica_idle(finish_replica& replica) noexcept {
  std::lock_guard guard(lock_);
  replica.machine.on_idle();
  if (replica.machine.quiescent()) list(replica);
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
  return_with_results(std::unique_ptr<finish_replica> from, returned_credit c)
      : injected{.run = send}, replica(std::move(from)), credit(c) {}

  static scheduler::task_counter* send(injected* work, scheduler::fiber&) noexcept {
    const std::unique_ptr<return_with_results> self(static_cast<return_with_results*>(work));
    comm::out_archive payload;
    payload(self->credit);
    save_results(payload, self->replica->own);
    self->replica->table.send_return(self->replica->id, payload);
    return nullptr;
  }

  std::unique_ptr<finish_replica> replica;
  returned_credit credit;
};

}  // namespace

void remote_finishes::send_return(finish_id id, comm::out_archive& payload) noexcept {
  send_message(home_of(id), operation_return, id, 0, &payload);
}

bool remote_finishes::send_returns() noexcept {
  if (!quiescence_possible_.load(base::relaxed)) return false;
  for (bool any = false;; any = true) {
    std::unique_ptr<finish_replica> gone;
    returned_credit credit;
    {
      std::lock_guard guard(lock_);
      while (!maybe_quiescent_.empty() && gone == nullptr) {
        finish_replica& replica = *maybe_quiescent_.back();
        maybe_quiescent_.pop_back();
        replica.listed = false;
        if (!replica.machine.quiescent()) continue;
        credit = replica.machine.give_back();
        gone = take_out(replica);
        ++sent_.returns;
      }
      if (gone == nullptr) quiescence_possible_.store(false, base::relaxed);
    }
    if (gone == nullptr) return any;
    if (gone->own.exceptions.empty() && gone->own.offers == nullptr) {
      comm::out_archive payload;
      payload(credit);
      send_return(gone->id, payload);
    } else {
      place_.tasks->inject(
          std::make_unique<return_with_results>(std::move(gone), credit).release());
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
  if (!replica.machine.quiescent() || replica.listed) return {};
  // Exceptions, offers and a sum beyond 64 bits need a message of their own.
  if (!details->exceptions.empty() || details->offers != nullptr ||
      replica.machine.pool() >> 64 != 0) {
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

remote_finishes::counts remote_finishes::sent() const noexcept {
  std::lock_guard guard(lock_);
  return sent_;
}

}  // namespace apgas::inline v0::sync
