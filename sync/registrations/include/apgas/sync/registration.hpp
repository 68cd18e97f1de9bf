// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include <apgas/phaser_mode.hpp>
#include <apgas/sync/phase_core.hpp>
#include <apgas/sync/task.hpp>

// What a task has to do with clocks and phasers: a record for each that it is registered on, which
// only the task itself reads and writes.
//
// A record counts phases from 0: `signalled` and `waited` are the first that the task has not
// signalled and not waited for. One that signals and waits has signalled its phase, or not:
// signalled is waited or waited + 1. One that only signals runs ahead.
//
// A task that spawns many registered children would lock the node for each: it takes registrations
// for several in advance (`credit`, twice as many each time) and gives back what is left when it
// signals. They keep the phase from completing no longer than the task itself does.
namespace apgas::inline v0::sync {

// What a handle is: a name without pointers.
struct phase_id {
  std::int32_t home = 0;
  std::uint64_t number = 0;  // 0: none

  bool operator==(const phase_id&) const = default;
};

[[noreturn]] void throw_not_registered(phase_kind kind, const phase_id& id, const char* operation);

struct alignas(64) registration {
  registration* next = nullptr;
  phaser_tree_node* node = nullptr;
  std::uint64_t number = 0;
  std::int64_t signalled = 0;
  std::int64_t waited = 0;
  const scheduler::task_counter* finish = nullptr;  // innermost when it was acquired
  std::int32_t credit = 0;
  std::int32_t credit_taken = 0;  // the last time, this phase
  phaser_mode mode = phaser_mode::signal_wait;
  phase_kind kind = phase_kind::clock;
  bool implicit = false;   // the clock of a clocked_finish
  bool made_here = false;  // by this task: on the heap
  bool in_single = false;  // its next_single runs

  bool signals() const noexcept { return mode != phaser_mode::wait; }
  bool waits() const noexcept { return mode != phaser_mode::signal; }
  std::int64_t phase() const noexcept { return waits() ? waited : signalled; }
  bool has_signalled() const noexcept { return waits() && signalled != waited; }
};

// A registration on its way to a child, which was counted already.
class transit {
 public:
  transit() = default;
  transit(phaser_tree_node& node, std::int64_t phase, phaser_mode mode, bool signalled, bool implicit)
      : node_(&node),
        bits_(static_cast<std::uint64_t>(phase) << 4 | (signalled ? 8U : 0U) |
              (implicit ? 4U : 0U) | static_cast<std::uint64_t>(mode)) {}

  bool is_for(const phaser_tree_node& node) const noexcept { return node_ == &node; }
  // Whether the node waits for a signal of the task in the phase that it is born in.
  bool is_unarrived() const noexcept { return (bits_ & 8U) == 0 && (bits_ & 3U) <= 1; }

  // Fills in `r`, which is as new.
  void open(registration& r) const noexcept;
  static void open(std::uint64_t bits, registration& r) noexcept;

  // For one that goes to another place (registration_transfer.hpp).
  phaser_tree_node& node() const noexcept { return *node_; }
  std::uint64_t bits() const noexcept { return bits_; }
  transit(phaser_tree_node& node, std::uint64_t bits) noexcept : node_(&node), bits_(bits) {}

 private:
  phaser_tree_node* node_ = nullptr;
  std::uint64_t bits_ = 0;
};

// The records of a task.
class registrations : public scheduler::task_extension {
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

  // Of the running task; null while it never had one.
  static registrations* of(const scheduler::fiber& self) noexcept {
    return static_cast<registrations*>(self.task.registrations);
  }
  // The same, made if need be. Throws: std::bad_alloc.
  static registrations& needed(scheduler::fiber& self);

  void task_ended(scheduler::fiber& self) noexcept override;

  // Leaves everything that the task acquired inside the finish.
  static void leave_finish(scheduler::fiber& self, const scheduler::task_counter& finish) noexcept;

 protected:
  explicit registrations(bool on_heap) noexcept : on_heap_(on_heap) {}
  ~registrations() = default;

  registration* first_ = nullptr;
  const bool on_heap_;
};

// The record that the running task has for a handle; `operation` names the caller in what is
// thrown. Throws: clock_use_error, phaser_use_error when there is none; illegal_operation outside a
// task.
[[gnu::always_inline]] inline registration& registration_of(const scheduler::fiber& self,
                                                            const phase_id& id, phase_kind kind,
                                                            const char* operation) {
  if (const registrations* all = registrations::of(self)) [[likely]] {
    if (registration* r = all->find(id.number)) [[likely]]
      return *r;
  }
  throw_not_registered(kind, id, operation);
}

// Makes a clock or phaser, on which the running task is registered. Throws: std::bad_alloc.
registration& make_registration(scheduler::fiber& self, phase_kind kind, phaser_mode mode,
                                int tiers, int degree);

// ---- what a task does with one ------------------------------------------------------------------

enum class wait_style : std::uint8_t { lazy, eager };

// All may complete the phase. signal() does nothing if it was done; advance() is both, and signals
// if that was not done. advance and wait: may resume elsewhere. Requires: the mode allows it.
void signal(scheduler::fiber& self, registration& r);
void advance(scheduler::fiber& self, registration& r, wait_style style);
void wait(scheduler::fiber& self, registration& r, wait_style style);
// As advance, with run(closure) called by one of the tasks that do this, when all have signalled.
void advance_single(scheduler::fiber& self, registration& r, void (*run)(void*), void* closure);
void drop(scheduler::fiber& self, registration& r) noexcept;
// The same for a task whose body has ended.
void drop_at_end(scheduler::fiber& self, registration& r) noexcept;

// Every clock, or every phaser, of the task: signalled first, then waited for.
void signal_all(scheduler::fiber& self, phase_kind kind);
void advance_all(scheduler::fiber& self, phase_kind kind, wait_style style);

// A registration for a child. Throws: clock_use_error, phaser_use_error.
transit begin_transit(scheduler::fiber& self, registration& r, phaser_mode mode,
                   const char* operation);
[[noreturn]] void throw_given_twice(phase_kind kind, const char* operation);
// Takes one back that no child got.
void cancel_transit(scheduler::fiber& self, const transit& t) noexcept;

// The records of a task that was spawned with tickets, while its body runs.
class registered_body final : public registrations {
 public:
  registered_body(scheduler::fiber& self, std::span<const transit> transits,
                  std::span<registration> storage) noexcept;
  registered_body(const registered_body&) = delete;
  registered_body& operator=(const registered_body&) = delete;
  ~registered_body();
};

}  // namespace apgas::inline v0::sync
