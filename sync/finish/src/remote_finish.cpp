// SPDX-License-Identifier: Apache-2.0
#include <apgas/sync/remote_finish.hpp>

#include <mutex>

#include <fmt/format.h>

#include <apgas/base/assert.hpp>
#include <apgas/scheduler/task_observer.hpp>
#include <apgas/sync/place_state.hpp>

#include "finish_details.hpp"
#include "finish_frames.hpp"

// How credit goes out with tasks, and what happens when frames arrive. finish_returns.cpp has the
// way back.
namespace apgas::inline v0::sync {

remote_finishes::remote_finishes(place_state& place)
    : place_(place),
      lock_(*place.network_locks),
      next_id_((static_cast<finish_id>(place.here) << finish_number_bits) + root_finish + 1) {
  constexpr std::size_t spare_max = 64;
  spare_.reserve(spare_max);
  spare_home_nodes_.reserve(spare_max);
}

remote_finishes::~remote_finishes() {
  APGAS_ASSERT(remotes_.size() == (last_ != nullptr && last_->state.empty() ? 1U : 0U),
               "a finish of another place still has tasks here");
}

void remote_finishes::open_root(finish_core& core) {
  core.ensure_details(place_).id.store(root_finish, base::relaxed);
  std::lock_guard guard(lock_);
  at_home_.emplace(root_finish, &core);
}

void remote_finishes::close(finish_details& details) {
  const finish_id id = details.id.load(base::relaxed);
  if (id == 0) return;
  APGAS_ASSERT(details.ledger.outstanding() == 0, "a finish ended before its credit was back");
  std::lock_guard guard(lock_);
  home_table::node_type node = at_home_.extract(id);
  if (spare_home_nodes_.size() < spare_home_nodes_.capacity()) {
    spare_home_nodes_.push_back(std::move(node));
  }
}

// Requires: lock_ is held.
void remote_finishes::enter_at_home(finish_id id, finish_core& finish) {
  if (spare_home_nodes_.empty()) {
    at_home_.emplace(id, &finish);
    return;
  }
  home_table::node_type node = std::move(spare_home_nodes_.back());
  spare_home_nodes_.pop_back();
  node.key() = id;
  node.mapped() = &finish;
  at_home_.insert(std::move(node));
}

void remote_finishes::add_reducer(const finish_core& finish, comm::frame_header& header,
                                  comm::out_archive& payload) {
  const finish_details* const details = finish.details();
  if (details == nullptr || details->reducer == 0) return;
  header.flags |= flag_collecting;
  payload(details->reducer);
}

void remote_finishes::send_task(finish_core& finish, comm::rank dest, comm::frame_header& header,
                                comm::out_archive& payload) {
  const finish_details* const details = finish.details();
  if (details != nullptr && details->remote != nullptr) {
    send_from_remote(details->remote, nullptr, dest, header, payload);
  } else {
    send_from_home(finish, dest, header, payload);
  }
}

void remote_finishes::send_uncounted(finish_core& running, comm::rank dest,
                                     comm::frame_header& header, comm::out_archive& payload) {
  if (place_.here == home_of(root_finish)) {
    send_from_home(finish_at_home(root_finish, place_.here), dest, header, payload);
  } else {
    send_from_remote(nullptr, &running, dest, header, payload);
  }
}

bool remote_finishes::add_task(const finish_core& finish, comm::rank dest,
                               comm::frame_header& header, std::span<const std::byte> payload,
                               base::atomic<std::uint64_t>& bytes) noexcept {
  const finish_details* const details = finish.details();
  if (details == nullptr) return false;
  const remote_finish* const remote = details->remote;
  header.finish = remote != nullptr ? remote->id : details->id.load(base::relaxed);
  return header.finish != 0 && place_.endpoint->add_task(dest, header, payload, bytes);
}

void remote_finishes::send_from_home(finish_core& finish, comm::rank dest,
                                     comm::frame_header& header, comm::out_archive& payload) {
  finish_details* const present = finish.details();
  finish_details& details = present != nullptr ? *present : finish.ensure_details(place_);
  {
    std::lock_guard guard(details.lock);
    header.finish = details.id.load(base::relaxed);
    if (header.finish == 0) {
      std::lock_guard table_guard(lock_);
      header.finish = next_id_++;
      enter_at_home(header.finish, finish);
      details.id.store(header.finish, base::relaxed);
      if (auto* const observer = scheduler::current_fiber()->on->observer.get()) [[unlikely]]
        observer->reaches_places(finish);
    }
    const auto minted = details.ledger.mint();
    if (minted.takes_count) finish.add(1);
    header.credit = minted.share;
  }
  place_.endpoint->send(dest, header, std::move(payload));
}

// `own` is the remote finish in which the running task counts. If it is null, this is an escaping
// spawn into the root finish, and `escapes_from` is the finish that the task belongs to.
void remote_finishes::send_from_remote(remote_finish* own, finish_core* escapes_from,
                                       comm::rank dest, comm::frame_header& header,
                                       comm::out_archive& payload) {
  header.finish = own == nullptr ? root_finish : own->id;
  bool ask = false;
  {
    std::lock_guard guard(lock_);
    remote_finish& remote = own == nullptr ? remote_of(root_finish) : *own;
    const auto split =
        escapes_from == nullptr ? remote.state.split() : remote.state.split_escaping();
    header.credit = split.share;
    ask = split.ask;
    if (split.share != 0 && escapes_from == nullptr && (header.flags & flag_spawn) != 0 &&
        place_.places >= place_.finish_tree_places && dest != place_.here &&
        dest != home_of(header.finish)) {
      header.flags |= static_cast<std::uint8_t>(remote.links.link() << link_level_shift);
    }
    if (split.share == 0) {
      if (escapes_from != nullptr) escapes_from->add(1);
      const auto bytes = payload.bytes();
      remote.waiting.push_back({dest, header, {bytes.begin(), bytes.end()}, escapes_from});
    }
  }
  if (header.credit != 0) place_.endpoint->send(dest, header, std::move(payload));
  if (ask) send_message(home_of(header.finish), operation_request, header.finish, 0, nullptr);
}

void remote_finishes::send_message(comm::rank dest, std::uint64_t operation, finish_id id,
                                   std::uint64_t credit, comm::out_archive* payload) {
  if (operation == operation_request) {
    std::lock_guard guard(lock_);
    ++count_.requests;
  }
  const comm::frame_header header{
      .kind = comm::frame_kind::finish, .handler = operation, .finish = id, .credit = credit};
  if (payload == nullptr) {
    place_.endpoint->send(dest, header, std::span<const std::byte>{});
  } else {
    place_.endpoint->send(dest, header, std::move(*payload));
  }
}

// ---- arrivals ---------------------------------------------------------------------------------

namespace {

// Ends the job. The message names a finish by home and number.
[[noreturn]] void no_such_finish(finish_id id, comm::rank sender) {
  constexpr finish_id number = (finish_id{1} << finish_number_bits) - 1;
  base::fatal(fmt::format("place {} sent a frame of finish {} of place {}, which has ended here",
                          sender, id & number, home_of(id)));
}

}  // namespace

finish_core& remote_finishes::finish_at_home(finish_id id, comm::rank sender) noexcept {
  std::lock_guard guard(lock_);
  const auto found = at_home_.find(id);
  if (found == at_home_.end()) no_such_finish(id, sender);
  return *found->second;
}

// Requires: lock_ is held. Ends the job if the remote finish does not exist.
remote_finish& remote_finishes::known_remote(finish_id id, comm::rank sender) noexcept {
  const auto found = remotes_.find(id);
  if (found == remotes_.end() || found->second->state.empty()) no_such_finish(id, sender);
  return *found->second;
}

// Returns the remote finish, and creates it if necessary. Requires: lock_ is held.
remote_finish& remote_finishes::remote_of(finish_id id) {
  if (last_ != nullptr && last_->id == id) return *last_;
  remote_finish* const before = last_;
  last_ = &find_or_create(id);
  if (before != nullptr && before->state.empty()) retire(*before);
  return *last_;
}

// Requires: lock_ is held.
remote_finish& remote_finishes::find_or_create(finish_id id) {
  const auto found = remotes_.find(id);
  if (found != remotes_.end()) return *found->second;
  if (spare_.empty()) {
    return *remotes_.emplace(id, std::make_unique<remote_finish>(*this, id)).first->second;
  }
  remote_table::node_type node = std::move(spare_.back());
  spare_.pop_back();
  node.key() = id;
  std::destroy_at(node.mapped().get());
  std::construct_at(node.mapped().get(), *this, id);
  return *remotes_.insert(std::move(node)).position->second;
}

finish_core& remote_finishes::on_tasks(const arrived_frames& frames, comm::handler_id reducer) {
  if (home_of(frames.finish) >= place_.places) no_such_finish(frames.finish, frames.source);
  if (home_of(frames.finish) == place_.here) {
    finish_core& finish = finish_at_home(frames.finish, frames.source);
    finish.add(1);  // before the credit is received, or the finish might end
    finish_details& details = *finish.details();
    bool all_returned = false;
    {
      std::lock_guard guard(details.lock);
      all_returned = details.ledger.on_arrival(frames.credit, frames.count);
    }
    release_when_returned(finish, all_returned);
    return finish;
  }
  remote_finish* remote = nullptr;
  std::uint8_t release = 0;
  {
    std::lock_guard guard(lock_);
    remote = &remote_of(frames.finish);
    // Written once, before the first task starts; the tasks read it without the lock.
    if (remote->own.reducer != reducer) remote->own.reducer = reducer;
    release =
        remote->links.on_arrival(remote->state.empty(), frames.source, frames.level, frames.linked);
    const bool wakes = remote->add_first();
    remote->state.on_arrival(frames.credit, wakes, frames.count);
    if (release != 0) ++count_.releases;
  }
  if (release != 0) send_message(frames.source, operation_release, frames.finish, release, nullptr);
  return *remote;
}

void remote_finishes::release_when_returned(finish_core& finish, bool all_returned) noexcept {
  if (all_returned) scheduler::release_count(finish);
}

void remote_finishes::on_message(const comm::inbound_frame& frame) {
  switch (frame.header->handler) {
    case operation_return:
      return on_return(frame);
    case operation_request:
      return on_request(frame);
    case operation_grant:
      return on_grant(frame);
    case operation_release:
      return on_release(frame);
    default:
      base::fatal(fmt::format("place {} sent a frame of a finish with the unknown operation {}",
                              frame.source, frame.header->handler));
  }
}

void remote_finishes::on_request(const comm::inbound_frame& frame) {
  finish_core& finish = finish_at_home(frame.header->finish, frame.source);
  finish_details& details = *finish.details();
  std::uint64_t share = 0;
  {
    std::lock_guard guard(details.lock);
    const auto minted = details.ledger.on_request();
    if (minted.takes_count) finish.add(1);
    share = minted.share;
  }
  {
    std::lock_guard guard(lock_);
    ++count_.grants;
  }
  send_message(frame.source, operation_grant, frame.header->finish, share, nullptr);
}

void remote_finishes::on_grant(const comm::inbound_frame& frame) {
  remote_finish* remote = nullptr;
  {
    std::lock_guard guard(lock_);
    remote = &known_remote(frame.header->finish, frame.source);
    remote->state.on_grant(frame.header->credit);
  }
  send_waiting(*remote);
}

void remote_finishes::send_waiting(remote_finish& remote) {
  std::vector<waiting_frame> ready;
  const finish_id id = remote.id;
  bool ask = false;
  {
    std::lock_guard guard(lock_);
    std::size_t sent = 0;
    while (sent < remote.waiting.size()) {
      const auto next = remote.state.next_waiting();
      if (next.share == 0) {
        ask = next.ask;
        break;
      }
      remote.waiting[sent++].header.credit = next.share;
    }
    const auto end = remote.waiting.begin() + static_cast<std::ptrdiff_t>(sent);
    ready.assign(std::make_move_iterator(remote.waiting.begin()), std::make_move_iterator(end));
    remote.waiting.erase(remote.waiting.begin(), end);
    if (remote.quiescent()) list(remote);  // its tasks ended while their frames waited
  }
  for (waiting_frame& frame : ready) {
    place_.endpoint->send(frame.dest, frame.header, std::span<const std::byte>(frame.payload));
    if (frame.held != nullptr) scheduler::release_count(*frame.held);
  }
  if (ask) send_message(home_of(id), operation_request, id, 0, nullptr);
}

const scheduler::task_counter* remote_finishes::find(finish_id id) const noexcept {
  const std::lock_guard guard(lock_);
  if (const auto home = at_home_.find(id); home != at_home_.end()) return home->second;
  const auto remote = remotes_.find(id);
  return remote != remotes_.end() ? remote->second.get() : nullptr;
}

std::unordered_map<const scheduler::task_counter*, finish_id> remote_finishes::names() const {
  std::unordered_map<const scheduler::task_counter*, finish_id> all;
  const std::lock_guard guard(lock_);
  for (const auto& [id, finish] : at_home_) all.emplace(finish, id);
  for (const auto& [id, remote] : remotes_) all.emplace(remote.get(), id);
  return all;
}

remote_finishes::counts remote_finishes::count() const noexcept {
  std::lock_guard guard(lock_);
  return count_;
}

}  // namespace apgas::inline v0::sync
