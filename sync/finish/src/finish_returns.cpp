// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <mutex>

#include <fmt/format.h>

#include <apgas/base/assert.hpp>
#include <apgas/scheduler/task_observer.hpp>
#include <apgas/sync/place_state.hpp>
#include <apgas/sync/remote_finish.hpp>

#include "finish_details.hpp"
#include "finish_frames.hpp"
#include "finish_results.hpp"

// How credit comes back: a place where nothing of a finish is left returns it to its parent or to
// the home place, and these take it in.
namespace apgas::inline v0::sync {
namespace {

returned_credit credit_from(const comm::inbound_frame& frame) {
  returned_credit credit;
  if (frame.payload.size() < sizeof credit) {
    base::fatal(fmt::format("place {} sent a malformed return of {} bytes for a finish",
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

void remote_finishes::remote_idle(remote_finish& remote) noexcept {
  std::lock_guard guard(lock_);
  remote.state.on_idle();
  if (remote.quiescent()) list(remote);
}

// Requires: lock_ is held.
void remote_finishes::list(remote_finish& remote) {
  if (remote.listed) return;
  remote.listed = true;
  quiescence_candidates_.push_back(&remote);
  quiescence_possible_.store(true, base::relaxed);
  place_.task_scheduler->request_poll();
}

// Removes a remote finish from the table. Requires: lock_ is held and the remote finish is
// quiescent.
remote_finishes::remote_table::node_type remote_finishes::extract(remote_finish& remote) noexcept {
  return remotes_.extract(remote.id);
}

// Ends a remote finish that has no results and has given back its credit. The last one stays in the
// table, since more tasks of it may come soon. The memory of the others is used again. Requires:
// lock_ is held.
void remote_finishes::retire(remote_finish& remote) noexcept {
  if (&remote == last_) return;
  remote_table::node_type node = extract(remote);
  if (spare_.size() < spare_.capacity()) spare_.push_back(std::move(node));
}

namespace {

// Sends a return message with exceptions and offers. A task does this, because encoding them runs
// user code.
struct return_with_results : scheduler::external_task {
  return_with_results(std::unique_ptr<remote_finish> from, returned_credit c, tree_return::target t)
      : external_task{.run = send}, remote(std::move(from)), credit(c), to(t) {}

  static scheduler::task_counter* send(external_task* work, scheduler::fiber&) noexcept {
    const std::unique_ptr<return_with_results> self(static_cast<return_with_results*>(work));
    finish_details& own = self->remote->own;
    comm::out_archive payload;
    payload(self->credit);
    if (!own.exceptions.empty() || own.offers != nullptr) save_results(payload, own);
    for (const std::vector<std::byte>& results : own.returned) payload.append(results);
    self->remote->table.send_return(self->remote->id, self->to, payload);
    return nullptr;
  }

  static bool has_results(const remote_finish& remote) noexcept {
    const finish_details& own = remote.own;
    return !own.exceptions.empty() || own.offers != nullptr || !own.returned.empty();
  }

  std::unique_ptr<remote_finish> remote;
  returned_credit credit;
  tree_return::target to;
};

}  // namespace

void remote_finishes::send_return(finish_id id, tree_return::target to,
                                  comm::out_archive& payload) noexcept {
  const comm::rank dest = to.place == tree_return::to_home ? home_of(id) : to.place;
  send_message(dest, operation_return, id, to.links, &payload);
}

bool remote_finishes::send_all_returns() noexcept {
  scheduler::task_observer* const observer = place_.task_scheduler->worker_at(0).observer.get();
  for (bool any = false;; any = true) {
    remote_table::node_type gone;
    finish_id id = 0;
    returned_credit credit;
    tree_return::target to{};
    {
      std::lock_guard guard(lock_);
      while (!quiescence_candidates_.empty() && id == 0) {
        remote_finish& remote = *quiescence_candidates_.back();
        quiescence_candidates_.pop_back();
        remote.listed = false;
        if (!remote.quiescent()) continue;
        credit = remote.state.give_back();
        if (observer != nullptr) [[unlikely]]
          observer->returns(remote, false);
        to = remote.links.give_back();
        id = remote.id;
        ++count_.returns;
        if (return_with_results::has_results(remote)) {
          if (&remote == last_) last_ = nullptr;
          gone = extract(remote);
        } else {
          retire(remote);
        }
      }
      if (id == 0) {
        quiescence_possible_.store(false, base::relaxed);
        return any;
      }
    }
    if (gone.empty()) {
      comm::out_archive payload;
      payload(credit);
      send_return(id, to, payload);
    } else {
      place_.task_scheduler->submit(
          std::make_unique<return_with_results>(std::move(gone.mapped()), credit, to).release());
    }
  }
}

returned_credit remote_finishes::give_back_with_reply(finish_core& finish) noexcept {
  scheduler::task_observer* const observer = scheduler::fiber_of_this_stack()->on->observer.get();
  if (observer != nullptr) [[unlikely]]
    observer->replies(finish);
  finish_details* details = finish.details();
  if (details == nullptr || details->remote == nullptr) {
    scheduler::release_count(finish);
    return {};
  }
  remote_finish& remote = *details->remote;
  std::lock_guard guard(lock_);
  if (!remote.release_only() && !remote.release()) return {};
  remote.state.on_idle();
  if (!remote.quiescent() || remote.listed) return {};
  // Exceptions, offers, links and a sum of more than 64 bits need a return message.
  if (return_with_results::has_results(remote) || remote.links.linked() ||
      remote.state.pool() >> 64 != 0) {
    list(remote);
    return {};
  }
  const returned_credit credit = remote.state.give_back();
  if (observer != nullptr) [[unlikely]]
    observer->returns(remote, true);
  static_cast<void>(remote.links.give_back());
  retire(remote);
  return credit;
}

void remote_finishes::on_reply(finish_core& finish, const returned_credit& returned) noexcept {
  if (returned.credit() == 0) return;
  finish_details& details = *finish.details();
  if (details.remote != nullptr) {
    std::lock_guard guard(lock_);
    details.remote->state.on_reply(returned);
    return;
  }
  bool all_returned = false;
  {
    std::lock_guard guard(details.lock);
    all_returned = details.ledger.on_return(returned);
  }
  release_when_returned(finish, all_returned);
}

// ---- arrivals ---------------------------------------------------------------------------------

void remote_finishes::on_return(const comm::inbound_frame& frame) {
  {
    std::lock_guard guard(lock_);
    ++count_.returns_in;
  }
  if (home_of(frame.header->finish) != place_.here) return on_return_of_child(frame);
  finish_core& finish = finish_at_home(frame.header->finish, frame.source);
  finish_details& details = *finish.details();
  bool all_returned = false;
  {
    const returned_credit credit = credit_from(frame);
    std::vector<std::byte> results = results_from(frame.payload);
    std::lock_guard guard(details.lock);
    if (!results.empty()) details.returned.push_back(std::move(results));
    all_returned = details.ledger.on_return(credit);
  }
  release_when_returned(finish, all_returned);
}

// A child returned. Its credit and its results go on with those of this place.
void remote_finishes::on_return_of_child(const comm::inbound_frame& frame) {
  const returned_credit credit = credit_from(frame);
  std::vector<std::byte> results = results_from(frame.payload);
  std::lock_guard guard(lock_);
  remote_finish& remote = known_remote(frame.header->finish, frame.source);
  if (!results.empty()) remote.own.returned.push_back(std::move(results));
  remote.state.on_return(credit);
  remote.links.on_release(static_cast<std::uint8_t>(frame.header->credit));
  if (remote.quiescent()) list(remote);
}

void remote_finishes::on_release(const comm::inbound_frame& frame) {
  std::lock_guard guard(lock_);
  remote_finish& remote = known_remote(frame.header->finish, frame.source);
  remote.links.on_release(static_cast<std::uint8_t>(frame.header->credit));
  if (remote.quiescent()) list(remote);
}

}  // namespace apgas::inline v0::sync
