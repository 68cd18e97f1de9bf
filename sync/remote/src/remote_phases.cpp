// SPDX-License-Identifier: Apache-2.0
#include <apgas/sync/remote_phases.hpp>

#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include <apgas/base/assert.hpp>
#include <apgas/sync/place_state.hpp>
#include <apgas/sync/registration.hpp>

#include "phase_wire.hpp"

// The table, the messages, and registrations in transit. The end of a phase runs the operations of
// accumulators, so messages are queued for a single external task. A clock has no accumulators, and
// a worker that polls takes its message at once.
namespace apgas::inline v0::sync {

remote_phases::~remote_phases() {
  for (const auto& [number, core] : std::exchange(cores_, {})) core->abandon();
}

// ---- messages -----------------------------------------------------------------------------------

void remote_phases::send(comm::rank dest, std::uint64_t what, std::uint64_t number,
                         std::int64_t phase, std::span<const std::byte> payload) noexcept {
  place_.endpoint->send(dest,
                        {.kind = comm::frame_kind::control,
                         .handler = control_phase | what,
                         .finish = number,
                         .credit = static_cast<std::uint64_t>(phase)},
                        payload);
  place_.task_scheduler->keep_polling();
}

void remote_phases::send_arrived(std::uint64_t number, const phase_transits& t) noexcept {
  count_one(arrived_);
  send(t.sender,
       operation_arrived | (t.signals ? flag_signals : 0U) | std::uint64_t{t.leaf} << leaf_shift |
           std::uint64_t{t.number} << number_shift,
       number, t.at);
}

namespace {

// The worker that runs this handler; null on a thread that is none, and if it has batched arrivals,
// because to flush these may run the operations of accumulators.
scheduler::worker* receiving_worker(const scheduler::scheduler& here) noexcept {
  const scheduler::fiber* const caller = scheduler::current_fiber();
  if (caller == nullptr || caller->on->home != &here) return nullptr;
  return caller->on->arrivals.noted() ? nullptr : caller->on;
}

}  // namespace

void remote_phases::on_message(const comm::inbound_frame& frame) {
  message m{frame.source,
            frame.header->handler & ~control_phase,
            frame.header->finish,
            static_cast<std::int64_t>(frame.header->credit),
            {frame.payload.begin(), frame.payload.end()}};
  scheduler::worker* const w = receiving_worker(*place_.task_scheduler);
  phase_core* const core = w != nullptr ? find(m.number) : nullptr;
  const auto may_take = [this] {  // no other message is being taken, or waits for that
    const std::lock_guard hold(inbox_lock_);
    return !stopped_ && !std::exchange(draining_, true);
  };
  if (core != nullptr && core->kind() == phase_kind::clock && may_take()) {
    take(*w, core, m);
    const std::lock_guard hold(inbox_lock_);
    APGAS_ASSERT(inbox_.empty(), "two threads received messages at the same time");
    draining_ = false;
    return;
  }
  if (core != nullptr) core->release();
  bool begin = false;
  {
    const std::lock_guard hold(inbox_lock_);
    if (stopped_) return;
    inbox_.push_back(std::move(m));
    begin = !std::exchange(draining_, true);
  }
  if (begin) place_.task_scheduler->submit_from_poll(&drain_);
}

scheduler::task_counter* remote_phases::drain(scheduler::external_task* work,
                                              scheduler::fiber& self) noexcept {
  remote_phases& all = *static_cast<drain_task*>(work)->self;
  std::vector<message> taken;
  for (;;) {
    taken.clear();
    {
      std::lock_guard hold(all.inbox_lock_);
      taken.swap(all.inbox_);
      if (taken.empty()) {
        all.draining_ = false;
        return nullptr;
      }
    }
    for (const message& m : taken) all.take(*self.on, all.find(m.number), m);
  }
}

void remote_phases::stop() noexcept {
  for (;;) {
    {
      std::lock_guard hold(inbox_lock_);
      stopped_ = true;
      if (!draining_) return;
    }
    std::this_thread::yield();
  }
}

namespace {

// The end of a clock that an operation is meant for.
enum class addressee : std::uint8_t { nobody, home, replica, either };

addressee addressee_of(std::uint64_t operation) noexcept {
  switch (operation) {
    case operation_position:
    case operation_gone:
    case operation_part:
    case operation_ask:
    case operation_elected:
    case operation_single_done:
      return addressee::home;
    case operation_phase:
    case operation_result:
    case operation_run_single:
      return addressee::replica;
    case operation_arrived:
      return addressee::either;
    default:
      return addressee::nobody;
  }
}

// Whether the message can be meant for this end. Nothing in a message is trusted before this check.
bool fits(const phase_core& core, addressee to, std::uint64_t what) noexcept {
  const std::uint64_t operation = what & 0xff;
  if (core.link() == nullptr ||
      (to != addressee::either && core.is_replica() != (to == addressee::replica))) {
    return false;
  }
  if (operation == operation_part || operation == operation_ask) {
    return core.find_action(static_cast<std::uint32_t>(what >> action_shift)) != nullptr;
  }
  return operation != operation_arrived || (what >> leaf_shift & 0xffff) < core.leaves();
}

}  // namespace

// Releases `core`, to which the message belongs; null if this place does not know it.
void remote_phases::take(scheduler::worker& w, phase_core* core, const message& m) noexcept {
  const std::uint64_t operation = m.what & 0xff;
  const addressee to = addressee_of(operation);
  if (to == addressee::nobody) {
    base::fatal(fmt::format("place {} sent a frame of a clock with the unknown operation {}",
                            m.source, operation));
  }
  // A removed replica is told of phases until the home receives its `gone`.
  const bool may_be_late = operation == operation_phase || operation == operation_result;
  if (core == nullptr && may_be_late) return;
  if (core == nullptr || !fits(*core, to, m.what)) {
    base::fatal(fmt::format(
        "place {} sent a frame for clock {:#x} with operation {}: {}", m.source, m.number,
        operation,
        core == nullptr ? "the clock has ended here" : "the operation is not meant for this end"));
  }
  switch (operation) {
    case operation_position:
      static_cast<phase_home*>(core->link())
          ->on_position(w, m.source, m.phase, (m.what & flag_acknowledge) != 0);
      break;
    case operation_gone:
      static_cast<phase_home*>(core->link())->on_gone(w, m.source);
      break;
    case operation_phase:
      static_cast<phase_replica*>(core->link())
          ->on_phase(w, m.phase, (m.what & flag_open) != 0, (m.what & flag_acknowledge) != 0);
      break;
    case operation_arrived:
      let_go(w, *core, m);
      break;
    case operation_elected:
      static_cast<phase_home*>(core->link())->on_task_elected(m.source);
      break;
    case operation_run_single:
      static_cast<phase_replica*>(core->link())->on_chosen();
      break;
    case operation_single_done:
      static_cast<phase_home*>(core->link())->on_single_done(w);
      break;
    default:  // partial result, result, request for a result
      take_value(*core, m);
      break;
  }
  core->release();
}

// ---- registrations ------------------------------------------------------------------------------

// Registrations in transit have arrived: stop counting them here.
void remote_phases::let_go(scheduler::worker& w, phase_core& core, const message& m) noexcept {
  const auto n = static_cast<std::int64_t>(m.what >> number_shift);
  const bool signals = (m.what & flag_signals) != 0;
  if (!signals) {
    for (std::int64_t i = 0; i < n; ++i) core.waiter_moved(m.phase, -1);
  }
  core.leaf(m.what >> leaf_shift & 0xffff)
      .update(w, m.phase, {.leave = signals ? n : 0, .gone = n});
}

// ---- the table ----------------------------------------------------------------------------------

phase_core* remote_phases::find(std::uint64_t number) noexcept {
  std::lock_guard hold(lock_);
  const auto found = cores_.find(number);
  if (found == cores_.end()) return nullptr;
  found->second->retain();
  return found->second;
}

const void* remote_phases::object_of(std::uint64_t number) noexcept {
  const std::lock_guard hold(objects_lock_);
  const auto found = objects_.find(number);
  return found == objects_.end() ? nullptr : found->second;
}

// Requires: lock_ is held.
void remote_phases::entered(const phase_core& core) {
  const std::lock_guard hold(objects_lock_);
  objects_.emplace(core.number(), &core);
}

// Requires: lock_ is held.
void remote_phases::erase(std::uint64_t number) noexcept {
  cores_.erase(number);
  const std::lock_guard hold(objects_lock_);
  objects_.erase(number);
}

void remote_phases::forget(const phase_core& home) noexcept {
  std::lock_guard hold(lock_);
  erase(home.number());
}

void remote_phases::remove(phase_replica& r) noexcept {
  {
    std::scoped_lock hold(lock_, r.lock_);
    if (r.gone_ || !r.tell()) return;  // a registration has arrived meanwhile
    r.gone_ = true;
    erase(r.core_.number());
    count_one(gone_);
    send(phase_core::home_of(r.core_.number()), operation_gone, r.core_.number(), 0);
  }
  r.core_.release();
}

remote_phases::counts remote_phases::count() noexcept {
  counts n{.arrivals = arrivals_.load(base::relaxed),
           .positions = positions_.load(base::relaxed),
           .gone = gone_.load(base::relaxed),
           .releases = releases_.load(base::relaxed),
           .acknowledgements = acknowledgements_.load(base::relaxed),
           .arrived = arrived_.load(base::relaxed),
           .parts = parts_.load(base::relaxed),
           .results = results_.load(base::relaxed),
           .asked = asked_.load(base::relaxed)};
  std::lock_guard hold(lock_);
  for (const auto& [number, core] : cores_) ++(core->is_replica() ? n.replicas : n.homes);
  return n;
}

// ---- registrations in transit -------------------------------------------------------------------

transferred_registration remote_phases::sent(const transit& t, bool in_finish) {
  phase_core& core = t.node().core();
  if (core.link() == nullptr) {
    auto link = std::make_unique<phase_home>(*this, core);
    std::lock_guard hold(lock_);
    if (core.link() == nullptr) {
      cores_.emplace(core.number(), &core);
      entered(core);
      link->listed_ = true;
      core.tie(std::move(link));
    }
  }
  return {.number = core.number(),
          .bits = t.bits(),
          .base = core.phase(),
          .leaf = static_cast<std::uint16_t>(core.index_of(t.node())),
          .kind = core.kind(),
          .in_finish = in_finish};
}

// Finds or makes the replica, and counts the registration there, so that the replica is not
// removed.
phase_core& remote_phases::join(const transferred_registration& t, std::int64_t signalled) {
  phase_core* made = nullptr;
  for (;;) {
    {
      std::lock_guard hold(lock_);
      const auto found =
          made == nullptr ? cores_.find(t.number) : cores_.try_emplace(t.number, made).first;
      if (found != cores_.end()) {
        if (found->second == made) {
          entered(*made);
          made = nullptr;  // now owned by the table
        }
        found->second->root().join(signalled, 1);
        if (made != nullptr) made->release();
        return *found->second;
      }
    }
    made =
        &phase_core::make_replica(t.kind, place_.task_scheduler->num_workers(), {t.number, t.base});
    made->tie(std::make_unique<phase_replica>(*this, *made));
  }
}

transit remote_phases::received(scheduler::fiber& self, const transferred_registration& t,
                                comm::rank sender) {
  const int home = phase_core::home_of(t.number);
  if (sender == place_.here) {
    // The registration has been counted here all the time.
    phase_core* const core = find(t.number);
    APGAS_ASSERT(core != nullptr, "a task came to a clock that has ended");
    core->release();
    return {core->leaf(t.leaf), t.bits};
  }
  registration r;
  transit::open(t.bits, r);
  const std::int64_t signalled = r.signals() ? r.signalled : -1;
  const phase_transits in_transit{.sender = sender,
                                  .leaf = t.leaf,
                                  .at = r.signals() ? r.signalled : r.waited,
                                  .signals = r.signals()};
  if (home != place_.here) {
    phase_core& core = join(t, signalled);
    if (!r.signals()) core.waiter_moved(-1, r.waited);
    static_cast<phase_replica*>(core.link())->on_transit(*self.on, t.base, in_transit);
    return {core.root(), t.bits};
  }
  phase_core* const core = find(t.number);
  APGAS_ASSERT(core != nullptr, "a task came to a clock that has ended");
  // The leaves of a tree advance one after another. A task that waits must not join a leaf that is
  // behind its phase.
  while (r.waits() && !core->leaf_of(*self.on).passed(r.waited - 1)) scheduler::yield();
  phaser_tree_node& leaf = core->leaf_of(*self.on);
  if (!r.signals()) core->waiter_moved(-1, r.waited);
  leaf.join(signalled, 1);
  send_arrived(t.number, in_transit);
  core->release();
  return {leaf, t.bits};
}

}  // namespace apgas::inline v0::sync
