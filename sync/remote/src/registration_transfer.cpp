// SPDX-License-Identifier: Apache-2.0
#include <apgas/sync/registration_transfer.hpp>

#include <cstring>
#include <memory>
#include <utility>

#include <apgas/base/assert.hpp>
#include <apgas/sync/flow_control.hpp>
#include <apgas/sync/place_state.hpp>
#include <apgas/sync/registration.hpp>

namespace apgas::inline v0::sync {
namespace {

void append(comm::out_archive& to, std::span<const transferred_registration> all) {
  for (const transferred_registration& t : all) to(t);
  to(std::uint64_t{all.size()});
}

// Prepares a record of the task for transfer. This place counts the registration until it has
// arrived.
transferred_registration leaving(scheduler::fiber& self, registration& r) {
  if (const std::int32_t credit = std::exchange(r.credit, 0); credit != 0) {
    r.node->update(*self.on, r.signalled, {.leave = credit, .gone = credit});
  }
  r.last_credit = 0;
  const bool signalled = r.signals() && r.has_signalled();
  return place_of(self).phases->sent({*r.node, r.phase(), r.mode, signalled, r.implicit},
                                     r.finish == self.task.finish);
}

// All registrations of the task, oldest first. A phaser whose next_single closure the task is
// running stays behind.
std::vector<transferred_registration> all_leaving(scheduler::fiber& self,
                                                  const registrations& all) {
  std::vector<transferred_registration> list;
  for (registration* r = all.first(); r != nullptr; r = r->next) {
    if (r->in_single) continue;
    list.insert(list.begin(), leaving(self, *r));
    r->away = true;
  }
  return list;
}

void arrive(scheduler::fiber& self, registration& r, const transferred_registration& t,
            comm::rank sender) {
  place_of(self).phases->received(self, t, sender).open(r);
}

// The records of a task that arrived with registrations.
class transferred_registrations final : public registrations {
 public:
  transferred_registrations(scheduler::fiber& self, std::span<const transferred_registration> all,
                            comm::rank sender)
      : registrations(false), records_(all.size()) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      arrive(self, records_[i], all[i], sender);
      records_[i].finish = all[i].in_finish ? self.task.finish : nullptr;
      add(records_[i]);
    }
    self.task.registrations = this;
    self.task.rare.has_attributes |= scheduler::is_described;
  }
  transferred_registrations(const transferred_registrations&) = delete;
  transferred_registrations& operator=(const transferred_registrations&) = delete;
  ~transferred_registrations() {
    scheduler::fiber& self = *scheduler::current_fiber();
    task_ended(self);
    self.task.registrations = nullptr;
    name_task(self.task.name);
  }

 private:
  std::vector<registration> records_;
};

}  // namespace

std::vector<transferred_registration> take_transferred(std::span<const std::byte>& payload) {
  std::uint64_t n = 0;
  APGAS_ASSERT(payload.size() >= sizeof n, "a frame with registrations is too short");
  std::memcpy(&n, payload.data() + payload.size() - sizeof n, sizeof n);
  payload = payload.first(payload.size() - sizeof n);
  APGAS_ASSERT(n <= payload.size() / sizeof(transferred_registration),
               "a frame contains fewer registrations than it says");
  std::vector<transferred_registration> all(n);
  const std::size_t bytes = n * sizeof(transferred_registration);
  if (n != 0) std::memcpy(all.data(), payload.data() + payload.size() - bytes, bytes);
  payload = payload.first(payload.size() - bytes);
  return all;
}

void send_registered_task(scheduler::fiber& self, comm::rank dest, comm::handler_id thunk,
                          comm::out_archive& payload, std::span<const transit> transits) {
  std::vector<transferred_registration> all;
  all.reserve(transits.size());
  for (const transit& t : transits) all.push_back(place_of(self).phases->sent(t, true));
  append(payload, all);
  send_task(self, dest, thunk, payload, flag_registered);
}

void send_call(scheduler::fiber& self, comm::rank dest, comm::handler_id thunk,
               comm::out_archive& payload) {
  const registrations* const all = registrations::of(self);
  if (all == nullptr || all->first() == nullptr) [[likely]] {
    const bool is_short = payload.size() <= flow_control::unlimited_bytes;
    return send_task(self, dest, thunk, payload, is_short ? flag_unlimited : 0);
  }
  append(payload, all_leaving(self, *all));
  send_task(self, dest, thunk, payload, flag_registered);
}

scheduler::task_counter* run_registered(remote_task& task, scheduler::fiber& self,
                                        task_thunk* thunk) noexcept {
  const std::vector<transferred_registration> all = take_transferred(task.frame.payload);
  const transferred_registrations registered(self, all, task.frame.source);
  return thunk(task, *scheduler::current_fiber());
}

bool give_back_registrations(scheduler::fiber& self, comm::out_archive& value) {
  registrations* const all = registrations::of(self);
  if (all == nullptr) return false;
  append(value, all_leaving(self, *all));
  for (registration* r = all->take_all(); r != nullptr;) {
    registration* const next = r->next;
    if (r->made_here) delete r;
    r = next;
  }
  return true;
}

void take_registrations_back(scheduler::fiber& self, suspended_call& call) {
  registrations& all = registrations::needed(self);
  registration* away = all.take_all();  // newest first
  const auto take = [&away](std::uint64_t number) -> registration* {
    for (registration** at = &away; *at != nullptr; at = &(*at)->next) {
      if ((*at)->number == number) return std::exchange(*at, (*at)->next);
    }
    return nullptr;
  };
  for (const transferred_registration& t : call.take_registrations()) {
    registration* r = take(t.number);
    if (r == nullptr) {  // made at the other place
      r = new registration;
      r->made_here = true;
      r->finish = t.in_finish ? self.task.finish : nullptr;
    }
    r->away = false;
    arrive(self, *r, t, call.from());
    all.add(*r);
  }
  while (away != nullptr) {  // dropped at the other place, or left behind here
    registration* const r = std::exchange(away, away->next);
    if (r->in_single) {
      all.add(*r);
    } else if (r->made_here) {
      delete r;
    }
  }
}

}  // namespace apgas::inline v0::sync
