// SPDX-License-Identifier: Apache-2.0
#include <apgas/sync/remote_phases.hpp>

#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include <apgas/base/assert.hpp>
#include <apgas/sync/place_state.hpp>
#include <apgas/sync/registration.hpp>

// The table, the messages, and travellers. A handler only keeps what came: one task after the other
// takes it, since the end of a phase resumes tasks and reduces accumulators.
namespace apgas::inline v0::sync {
namespace {

enum operation : std::uint64_t {
  operation_position = 1,  // replica to home: the first phase that it has not signalled
  operation_gone,          // replica to home
  operation_phase,         // home to replica: phases before are over
  operation_arrived,       // to the sender of travellers
};

constexpr std::uint64_t flag_acknowledge = 1U << 8;  // position: wanted; phase: given
constexpr std::uint64_t flag_open = 1U << 9;         // phase: no signaller is left
constexpr std::uint64_t flag_signals = 1U << 10;     // arrived: of signallers
constexpr int leaf_shift = 16;
constexpr int number_shift = 32;

void count_one(base::atomic<std::uint64_t>& n) noexcept { n.fetch_add(1, base::relaxed); }

}  // namespace

remote_phases::~remote_phases() {
  for (const auto& [number, core] : std::exchange(cores_, {})) core->abandon();
}

// ---- messages -----------------------------------------------------------------------------------

void remote_phases::send(comm::rank dest, std::uint64_t what, std::uint64_t number,
                         std::int64_t phase) noexcept {
  place_.network->send(dest,
                       {.kind = comm::frame_kind::control,
                        .handler = control_phase | what,
                        .finish = number,
                        .credit = static_cast<std::uint64_t>(phase)},
                       std::span<const std::byte>{});
  place_.tasks->keep_polling();
}

void remote_phases::send_arrived(std::uint64_t number, const phase_travellers& t) noexcept {
  count_one(arrived_);
  send(t.sender,
       operation_arrived | (t.signals ? flag_signals : 0U) | std::uint64_t{t.leaf} << leaf_shift |
           std::uint64_t{t.number} << number_shift,
       number, t.at);
}

void remote_phases::on_message(const comm::inbound_frame& frame) noexcept {
  bool begin = false;
  {
    std::lock_guard hold(inbox_lock_);
    if (stopped_) return;
    inbox_.push_back({frame.source, frame.header->handler & ~control_phase, frame.header->finish,
                      static_cast<std::int64_t>(frame.header->credit)});
    begin = !std::exchange(draining_, true);
  }
  if (begin) place_.tasks->inject(&drain_);
}

scheduler::task_counter* remote_phases::drain(scheduler::injected* work,
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
    for (const message& m : taken) all.take(*self.on, m);
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

void remote_phases::take(scheduler::worker& w, const message& m) noexcept {
  const std::uint64_t operation = m.what & 0xff;
  phase_core* const core = find(m.number);
  if (core == nullptr) {
    // A replica that has gone is told of phases until its home has heard of that.
    APGAS_ASSERT(operation == operation_phase, "a message belongs to a clock that has ended");
    return;
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
    default:
      base::fatal("a frame of the phase protocol has an unknown operation");
  }
  core->release();
}

// Travellers have arrived: they are members here no more.
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

void remote_phases::forget(const phase_core& home) noexcept {
  std::lock_guard hold(lock_);
  cores_.erase(home.number());
}

void remote_phases::remove(phase_replica& r) noexcept {
  {
    std::scoped_lock hold(lock_, r.lock_);
    if (r.gone_ || !r.tell()) return;  // somebody has come
    r.gone_ = true;
    cores_.erase(r.core_.number());
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
           .arrived = arrived_.load(base::relaxed)};
  std::lock_guard hold(lock_);
  for (const auto& [number, core] : cores_) ++(core->is_replica() ? n.replicas : n.homes);
  return n;
}

// ---- travellers ---------------------------------------------------------------------------------

travelling remote_phases::sent(const ticket& t, bool in_finish) {
  phase_core& core = t.node().core();
  if (core.link() == nullptr) {
    auto link = std::make_unique<phase_home>(*this, core);
    std::lock_guard hold(lock_);
    if (core.link() == nullptr) {
      cores_.emplace(core.number(), &core);
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

// Finds or makes the replica, and counts the traveller there, so that it does not go.
phase_core& remote_phases::join(const travelling& t, std::int64_t signalled) {
  phase_core* made = nullptr;
  for (;;) {
    {
      std::lock_guard hold(lock_);
      const auto found =
          made == nullptr ? cores_.find(t.number) : cores_.try_emplace(t.number, made).first;
      if (found != cores_.end()) {
        if (found->second == made) made = nullptr;  // the table has it now
        found->second->root().join(signalled, 1);
        if (made != nullptr) made->release();
        return *found->second;
      }
    }
    made = &phase_core::make_replica(t.kind, place_.tasks->num_workers(), {t.number, t.base});
    made->tie(std::make_unique<phase_replica>(*this, *made));
  }
}

ticket remote_phases::received(scheduler::fiber& self, const travelling& t, comm::rank sender) {
  const int home = phase_core::home_of(t.number);
  if (sender == place_.here) {
    // It was counted here all the time.
    phase_core* const core = find(t.number);
    APGAS_ASSERT(core != nullptr, "a task came to a clock that has ended");
    core->release();
    return {core->leaf(t.leaf), t.bits};
  }
  registration r;
  ticket::open(t.bits, r);
  const std::int64_t signalled = r.signals() ? r.signalled : -1;
  const phase_travellers who{.sender = sender,
                             .leaf = t.leaf,
                             .at = r.signals() ? r.signalled : r.waited,
                             .signals = r.signals()};
  if (home != place_.here) {
    phase_core& core = join(t, signalled);
    if (!r.signals()) core.waiter_moved(-1, r.waited);
    static_cast<phase_replica*>(core.link())->on_traveller(*self.on, t.base, who);
    return {core.root(), t.bits};
  }
  phase_core* const core = find(t.number);
  APGAS_ASSERT(core != nullptr, "a task came to a clock that has ended");
  // The leaves of a tree roll one after the other: a task that waits goes to none that is behind.
  while (r.waits() && !core->leaf_of(*self.on).passed(r.waited - 1)) scheduler::yield();
  phase_node& leaf = core->leaf_of(*self.on);
  if (!r.signals()) core->waiter_moved(-1, r.waited);
  leaf.join(signalled, 1);
  send_arrived(t.number, who);
  core->release();
  return {leaf, t.bits};
}

// ---- the home -----------------------------------------------------------------------------------

void phase_home::changed(scheduler::worker&) noexcept {
  std::lock_guard hold(lock_);
  const std::int64_t p = core_.phase();
  const std::uint64_t open = core_.root().is_open() ? flag_open : 0U;
  replicas_.on_phase(p, [&](comm::rank place) {
    count_one(table_.releases_);
    table_.send(place, operation_phase | open, core_.number(), p);
  });
}

void phase_home::apply(scheduler::worker& w, const phase_downlink::steps& s) {
  phase_node& leaf = core_.leaf(0);
  if (s.join >= 0) leaf.join(s.join, 1);
  if (s.signal >= 0) leaf.update(w, s.signal, {.signals = 1});
  if (s.leave >= 0) leaf.update(w, s.leave, {.leave = 1, .gone = 1});
}

void phase_home::on_position(scheduler::worker& w, comm::rank place, std::int64_t at,
                             bool acknowledge) {
  phase_downlink::steps steps;
  {
    std::lock_guard hold(lock_);
    steps = replicas_.on_position(place, at);
  }
  if (steps.first) {
    core_.retain();
    core_.end_phases_in_steps();
  }
  apply(w, steps);
  if (!acknowledge) return;
  std::lock_guard hold(lock_);
  const phase_uplink::view now = core_.root().look();
  replicas_.on_told(place, now.phase);
  count_one(table_.acknowledgements_);
  table_.send(place, operation_phase | flag_acknowledge | (core_.root().is_open() ? flag_open : 0U),
              core_.number(), now.phase);
}

void phase_home::on_gone(scheduler::worker& w, comm::rank place) {
  phase_downlink::steps steps;
  {
    std::lock_guard hold(lock_);
    steps = replicas_.on_gone(place);
  }
  apply(w, steps);
  core_.release();
}

// ---- the replica --------------------------------------------------------------------------------

// Requires: lock_ is held. True: nobody is here any more.
bool phase_replica::tell() {
  const phase_uplink::view v = core_.root().look();
  if (home_.may_go(v)) return true;
  const std::int64_t told = home_.told();
  if (const auto news = home_.look(v)) {
    count_one(told >= 0 && news->at > told ? table_.arrivals_ : table_.positions_);
    table_.send(phase_core::home_of(core_.number()),
                operation_position | (news->acknowledge ? flag_acknowledge : 0U), core_.number(),
                news->at);
  }
  return false;
}

void phase_replica::changed(scheduler::worker&) noexcept {
  {
    std::lock_guard hold(lock_);
    if (gone_ || !tell()) return;
  }
  table_.remove(*this);
}

void phase_replica::on_traveller(scheduler::worker& w, std::int64_t base,
                                 const phase_travellers& t) {
  std::lock_guard hold(lock_);
  core_.follow(w, base, false);
  static_cast<void>(tell());
  // What the home itself has sent it lets go in the order of the messages.
  if (t.sender == phase_core::home_of(core_.number()) || home_.may_tell(t)) {
    table_.send_arrived(core_.number(), t);
  }
}

void phase_replica::on_phase(scheduler::worker& w, std::int64_t p, bool open, bool acknowledged) {
  {
    std::lock_guard hold(lock_);
    core_.follow(w, p, open);
    if (acknowledged) {
      for (const phase_travellers& t : home_.on_acknowledged()) {
        table_.send_arrived(core_.number(), t);
      }
    }
    if (gone_ || !tell()) return;
  }
  table_.remove(*this);
}

}  // namespace apgas::inline v0::sync
