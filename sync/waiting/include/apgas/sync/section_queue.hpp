// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <span>

#include <apgas/base/api.hpp>
#include <apgas/scheduler/fiber.hpp>
#include <apgas/sync/handoff.hpp>

// The sections that wait at a monitor, and which of their conditions may have become true. A
// section waits in the queue of the monitor, whose conditions are tested after every section, or in
// the queues of the watched cells that its condition reads, and is tested only after one of them
// was written. Everything here is guarded by the monitor.
namespace apgas::inline v0::sync {

struct waiting_section;
class section_queue;

// The place of a section in one queue.
struct queue_entry {
  waiting_section* section;
  section_queue* in;
  queue_entry* previous;
  queue_entry* next;
};

// A critical section that its task could not begin by itself. It lives on the stack of that task.
// What a test of the condition reads stands last, beside the entries and the condition of the
// object that derives from this one: a section may end beside thousands that wait.
struct waiting_section {
  void (*body)(waiting_section&) = nullptr;
  std::exception_ptr error;         // thrown by the condition or the body
  bool granted = false;             // the task was given the monitor and runs the section itself
  waiting_section* next = nullptr;  // among those that have arrived
  handoff done;                     // signalled when the section has been run or granted
  std::uint64_t turn = 0;           // the number of sections that began to wait before

  bool (*condition)(waiting_section&) = nullptr;  // null: always true
  scheduler::fiber* task = nullptr;               // the task that waits
  std::span<queue_entry> entries;  // `in` is set; one that is null means the queue of the monitor
};

// Sections in the order in which they began to wait.
class section_queue {
 public:
  section_queue() = default;
  section_queue(const section_queue&) = delete;
  section_queue& operator=(const section_queue&) = delete;

  bool empty() const noexcept { return first_ == nullptr; }

 private:
  friend class waiting_sections;

  void append(queue_entry& e) noexcept;
  void remove(queue_entry& e) noexcept;

  queue_entry* first_ = nullptr;
  queue_entry* last_ = nullptr;
  queue_entry* untested_ = nullptr;  // from here on, conditions are to be tested; null: none
  section_queue* next_to_test_ = nullptr;
};

// All waiting sections of a monitor.
//
// Invariants
//   I1  A queue is in the list to_test_ exactly while its untested_ is not null. So a queue in
//   which
//       nothing waits is not referred to, and a cell may be destroyed.
//   I2  Since the conditions before untested_ of a queue were false, what the queue stands for has
//       not been written, or the queue will be marked before the next condition is tested.
class waiting_sections {
 public:
  // Whether no condition needs to be tested when a section ends.
  bool none_to_test() const noexcept { return for_all_.empty() && to_test_ == nullptr; }

  // Adds a section, whose condition is to be tested.
  void add(waiting_section& s) noexcept;

  // The conditions of this queue may have changed.
  void mark(section_queue& q) noexcept {
    if (!q.empty()) test_from(q, q.first_);
  }
  // A section has ended, so the conditions that watch no cells may have changed.
  void mark() noexcept { mark(for_all_); }

  // Returns the longest waiting section whose condition is to be tested, and counts it as tested;
  // null if there is none.
  APGAS_API waiting_section* next_to_test() noexcept;

  // Takes a section out of its queues.
  APGAS_API void remove(waiting_section& s) noexcept;

 private:
  void test_from(section_queue& q, queue_entry* e) noexcept;

  section_queue for_all_;
  section_queue* to_test_ = nullptr;
  std::uint64_t turns_ = 0;
};

}  // namespace apgas::inline v0::sync
