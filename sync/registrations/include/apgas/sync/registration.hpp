// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include <apgas/base/api.hpp>
#include <apgas/phaser_mode.hpp>
#include <apgas/sync/phase_core.hpp>
#include <apgas/sync/task.hpp>

// The registrations of a task on clocks and phasers. The task has one record for each clock or
// phaser it is registered on, and only the task itself reads and writes the record.
//
// Phases count from 0. `signalled` is the first phase that the task has not signalled, `waited` the
// first that it has not waited for. For a task that signals and waits, signalled == waited until it
// has signalled its phase, and then signalled == waited + 1. A signal-only task may run further
// ahead.
//
// A task that spawns many registered children would lock its tree node once for each. Instead it
// registers several children in advance (`credit`, twice as many each time), and deregisters those
// it did not spawn when it signals. They hold the phase open no longer than the task itself does.
namespace apgas::inline v0::sync {

// The value of a handle: it identifies a clock or phaser without a pointer.
struct phase_id {
  std::int32_t home = 0;
  std::uint64_t number = 0;  // 0: an empty handle

  bool operator==(const phase_id&) const = default;
};

APGAS_API [[noreturn]] void throw_not_registered(phase_kind kind, const phase_id& id,
                                                 const char* operation);

struct alignas(64) registration {
  registration* next = nullptr;
  phaser_tree_node* node = nullptr;
  std::uint64_t number = 0;
  std::int64_t signalled = 0;
  std::int64_t waited = 0;
  // The innermost finish when the task was registered.
  const scheduler::task_counter* finish = nullptr;
  scheduler::call_site where{};  // of the last wait, for reports
  std::int32_t credit = 0;
  // How many children were registered in advance the last time in this phase.
  std::uint8_t last_credit = 0;
  phaser_mode mode = phaser_mode::signal_wait;
  phase_kind kind = phase_kind::clock;
  bool implicit : 1 = false;   // the clock of a clocked_finish
  bool made_here : 1 = false;  // made by this task, with the record on the heap
  bool in_single : 1 = false;  // the task runs the closure of a next_single
  bool away : 1 = false;       // it is with the body of an `at` of the task, at another place

  bool signals() const noexcept { return mode != phaser_mode::wait; }
  bool waits() const noexcept { return mode != phaser_mode::signal; }
  std::int64_t phase() const noexcept { return waits() ? waited : signalled; }
  bool has_signalled() const noexcept { return waits() && signalled != waited; }
};
static_assert(sizeof(registration) == 64);  // the fast path of advance touches one cache line

// A registration in transit: it is counted at a tree node, but its task has not started yet, or is
// on its way to another place.
class transit {
 public:
  transit() = default;
  transit(phaser_tree_node& node, std::int64_t phase, phaser_mode mode, bool signalled,
          bool implicit)
      : node_(&node),
        bits_(static_cast<std::uint64_t>(phase) << 4 | (signalled ? 8U : 0U) |
              (implicit ? 4U : 0U) | static_cast<std::uint64_t>(mode)) {}

  bool is_for(const phaser_tree_node& node) const noexcept { return node_ == &node; }
  // Whether the tree node waits for a signal of the task in the phase in which the task starts.
  bool is_unarrived() const noexcept { return (bits_ & 8U) == 0 && (bits_ & 3U) <= 1; }

  // Fills in `r`, which must be newly constructed.
  void open(registration& r) const noexcept;
  static void open(std::uint64_t bits, registration& r) noexcept;

  // For a registration that goes to another place (registration_transfer.hpp).
  phaser_tree_node& node() const noexcept { return *node_; }
  std::uint64_t bits() const noexcept { return bits_; }
  transit(phaser_tree_node& node, std::uint64_t bits) noexcept : node_(&node), bits_(bits) {}

 private:
  phaser_tree_node* node_ = nullptr;
  std::uint64_t bits_ = 0;
};

// The list of a task's records.
class APGAS_API registrations : public scheduler::task_extension {
 public:
  registration* first() const noexcept { return first_; }
  registration* find(std::uint64_t number) const noexcept {
    registration* r = first_;
    while (r != nullptr && r->number != number) r = r->next;
    return r;
  }
  void add(registration& r) noexcept {
    r.next = first_;
    first_ = &r;
  }
  void remove(registration& r) noexcept;
  registration* take_all() noexcept { return std::exchange(first_, nullptr); }

  // The list of the running task, or null if the task never had one.
  static registrations* of(const scheduler::fiber& self) noexcept {
    return static_cast<registrations*>(self.task.registrations);
  }
  // The same list, created if necessary. Throws: std::bad_alloc.
  static registrations& needed(scheduler::fiber& self);

  void task_ended(scheduler::fiber& self) noexcept override;
  void explain(const scheduler::fiber& self, scheduler::wait_explainer& to) const override;
  scheduler::wait_record waits_for() const override;

  // Drops every clock and phaser that the task made inside the finish.
  static void leave_finish(scheduler::fiber& self, const scheduler::task_counter& finish) noexcept;

 protected:
  explicit registrations(bool on_heap) noexcept : on_heap_(on_heap) {}
  ~registrations() = default;

  registration* first_ = nullptr;
  const bool on_heap_;
};

// The running task's record for a handle. `operation` names the caller in an error message. Throws:
// clock_use_error or phaser_use_error if the task is not registered.
[[gnu::always_inline]] inline registration& registration_of(const scheduler::fiber& self,
                                                            const phase_id& id, phase_kind kind,
                                                            const char* operation) {
  if (const registrations* all = registrations::of(self)) [[likely]] {
    if (registration* r = all->find(id.number)) [[likely]]
      return *r;
  }
  throw_not_registered(kind, id, operation);
}

// Makes a clock or phaser and registers the running task on it. Throws: std::bad_alloc.
registration& make_registration(scheduler::fiber& self, phase_kind kind, phaser_mode mode,
                                int tiers, int degree, const scheduler::call_site& where);

// ---- operations on a registration ---------------------------------------------------------------

enum class wait_style : std::uint8_t { lazy, eager };

// Each of these may complete the phase. signal() has no effect if the task has signalled already.
// advance() signals if necessary, and waits. advance() and wait() may resume on another worker.
// Requires: the mode of the registration allows the operation.
void signal(scheduler::fiber& self, registration& r);
void advance(scheduler::fiber& self, registration& r, wait_style style,
             const scheduler::call_site& where);
void wait(scheduler::fiber& self, registration& r, wait_style style,
          const scheduler::call_site& where);
// Like advance(). One of the tasks that call it in a phase runs run(closure) when all signallers
// have signalled.
void advance_single(scheduler::fiber& self, registration& r, void (*run)(void*), void* closure,
                    const scheduler::call_site& where);
void drop(scheduler::fiber& self, registration& r) noexcept;
// Drops the registration of a task whose body has ended.
void drop_at_end(scheduler::fiber& self, registration& r) noexcept;

// Moves the registration of a task to the leaf of the worker that runs it, if there is a tree: it
// may have been spawned or suspended on another worker. Requires: no child is registered in advance
// (credit).
void move_to_leaf_of(scheduler::worker& w, registration& r);

// For every clock, or every phaser, of the task: signals all of them, then waits for each.
void signal_all(scheduler::fiber& self, phase_kind kind);
void advance_all(scheduler::fiber& self, phase_kind kind, wait_style style,
                 const scheduler::call_site& where);

// Registers a child. Throws: clock_use_error, phaser_use_error.
APGAS_API transit begin_transit(scheduler::fiber& self, registration& r, phaser_mode mode,
                                const char* operation);
APGAS_API [[noreturn]] void throw_given_twice(phase_kind kind, const char* operation);
// Deregisters a child that was not spawned.
APGAS_API void cancel_transit(scheduler::fiber& self, const transit& t) noexcept;

// The records of a task that was spawned with registrations, while its body runs.
class registered_body final : public registrations {
 public:
  APGAS_API registered_body(scheduler::fiber& self, std::span<const transit> transits,
                            std::span<registration> storage) noexcept;
  registered_body(const registered_body&) = delete;
  registered_body& operator=(const registered_body&) = delete;
  APGAS_API ~registered_body();
};

}  // namespace apgas::inline v0::sync
