// SPDX-License-Identifier: Apache-2.0
#include <apgas/finish.hpp>

#include <memory>
#include <mutex>

#include <fmt/format.h>

#include <apgas/base/assert.hpp>
#include <apgas/scheduler/poll_in_place.hpp>
#include <apgas/scheduler/task_observer.hpp>
#include <apgas/sync/place_state.hpp>
#include <apgas/sync/registration.hpp>

#include "failures.hpp"
#include "finish_details.hpp"
#include "finish_end.hpp"
#include "finish_results.hpp"

// The parts of finish that are not on the fast path.
//
//   P1  An offer that sees the box of its place sees the box as the first offer there has made it.
namespace apgas::inline v0::sync {

finish_details& finish_core::ensure_details(const place_state& here) {
  finish_details* present = details();
  if (present != nullptr) return *present;
  auto made = std::make_unique<finish_details>(here);
  if (set_details(present, made.get())) {
    add(waiter_bit);
    return *made.release();
  }
  return *present;
}

void task_failed(scheduler::fiber& self) noexcept {
  const spawn_site site = site_of(self.task);
  name_task(nullptr);
  finish_details& details = finish_of(self).ensure_details(place_of(self));
  std::vector<task_exception> caught;  // filled without the lock, since it copies user exceptions
  collect_current(caught, place_id_of(self), site);
  std::lock_guard guard(details.lock);
  for (task_exception& e : caught) details.exceptions.push_back(std::move(e));
}

std::unique_ptr<offer_box> close_finish(scheduler::fiber& self, finish_core& core,
                                        scheduler::task_counter* outer) {
  self.task.finish = outer;
  const std::unique_ptr<finish_details> details(core.details());
  if (details == nullptr) return nullptr;
  if (details->id.load(base::relaxed) != 0) place_of(self).finishes->close(*details);
  for (const std::vector<std::byte>& results : details->returned) load_results(results, *details);
  if (!details->exceptions.empty()) throw multiple_exceptions(std::move(details->exceptions));
  return std::move(details->offers);
}

namespace {

// Whether the finish has sent a task to another place.
bool spans_places(finish_core& core) {
  finish_details* const details = core.details();
  if (details == nullptr) return false;
  return details->id.load(base::relaxed) != 0;
}

// Waits for the tasks that are still running, and collects exceptions and offered values.
std::unique_ptr<offer_box> wait_and_collect(scheduler::fiber& self, finish_core& core,
                                            scheduler::task_counter* outer,
                                            const scheduler::call_site& where) {
  if (spans_places(core)) {
    static_cast<void>(scheduler::wait_in_place([&core] { return core.alone(); }));
  }
  scheduler::wait_for_others(core, {"finish", nullptr, where});
  scheduler::observe_join(self, core, where);
  return close_finish(self, core, outer);
}

[[gnu::noinline]] void run_children_hiding_attributes(scheduler::fiber& self,
                                                      const scheduler::frame_mark& mark,
                                                      const scheduler::call_site& where) noexcept {
  const scheduler::task_state own = self.task;
  const scheduler::hidden_task hidden{&own, self.hidden, "finish", where};
  self.hidden = &hidden;
  self.task = {.finish = own.finish};
  scheduler::run_children(self, mark);
  self.task = own;
  self.hidden = hidden.below;
}

}  // namespace

// The children have no name and no registrations, and each has its own spawn site, so the state of
// the running task is restored afterwards.
[[gnu::always_inline]] inline void finish_frame::run_own(
    scheduler::fiber& self, const scheduler::call_site& where) noexcept {
  if (self.task.rare.has_attributes != 0) [[unlikely]] {
    registrations::leave_finish(self, core_);
    run_children_hiding_attributes(self, mark_, where);
    return;
  }
  const std::source_location site = self.task.site;
  scheduler::run_children(self, mark_);
  self.task.site = site;
}

void run_own_children(scheduler::fiber& self, finish_core& core,
                      const scheduler::frame_mark& mark) noexcept {
  registrations::leave_finish(self, core);
  run_children_hiding_attributes(self, mark, {});
}

bool finish_frame::end_at_once(scheduler::call_site where) noexcept {
  scheduler::fiber& self = *scheduler::fiber_of_this_stack();
  run_own(self, where);
  if (!core_.untouched()) [[unlikely]]
    return false;
  self.task.finish = outer_;
  return true;
}

void finish_frame::wait(const scheduler::call_site& where) {
  static_cast<void>(wait_and_collect(*scheduler::fiber_of_this_stack(), core_, outer_, where));
}

std::unique_ptr<offer_box> finish_frame::end_collecting(const scheduler::call_site& where) {
  scheduler::fiber& self = *scheduler::fiber_of_this_stack();
  run_own(self, where);
  return wait_and_collect(self, core_, outer_, where);
}

void finish_frame::collect(comm::handler_id reducer, std::unique_ptr<offer_box> box) {
  const place_state& here = place_of(*scheduler::fiber_of_this_stack());
  finish_details& details = core_.ensure_details(here);
  details.reducer = reducer;
  details.offers = std::move(box);
  details.box.store(details.offers.get(), base::relaxed);  // tasks that offer are spawned later
}

offer_box& box_for_offer(scheduler::fiber& self, const std::type_info& type) {
  finish_details* details = finish_of(self).details();
  if (details == nullptr || details->reducer == 0) {
    throw illegal_operation(
        "offer was called in a task whose innermost finish collects nothing; use finish_reduce");
  }
  offer_box* box = details->box.load(base::acquire);  // P1
  if (box == nullptr) {  // this is the first offer at a place that is not the home place
    const auto make = comm::lookup<offer_box_maker>(details->reducer);
    APGAS_ASSERT(make != nullptr, "the reducer of a finish_reduce is unknown here");
    std::unique_ptr<offer_box> made(make(place_of(self).task_scheduler->num_workers()));
    std::lock_guard guard(details->lock);
    if (details->offers == nullptr) details->offers = std::move(made);
    box = details->offers.get();
    details->box.store(box, base::release);  // P1
  }
  if (box->type() != type) {
    throw illegal_operation(fmt::format(
        "offer was given a value of type {}, but its finish_reduce collects {}; convert the value",
        readable_type(type), readable_type(box->type())));
  }
  return *box;
}

}  // namespace apgas::inline v0::sync
