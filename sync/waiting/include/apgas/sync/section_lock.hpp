// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include <apgas/base/atomic.hpp>

// The lock of a monitor. A task that finds it taken leaves its section with it, and the holder
// takes these sections when it leaves. Entering and leaving a free lock takes one atomic
// read-modify-write each.
//
//              written by                               read by
//   holder_    a task that enters, leaves or arrives    any task
//   arrived_   a task that arrives; the holder          the holder
//
// Invariants
//   I1  holder_ is zero while the lock is free. Otherwise it is the address of the holder, plus one
//       if sections may have arrived since the holder last took them.
//   I2  A task pushes its section to arrived_ before it either sets that bit or takes the lock
//       itself. So every section in arrived_ is found by a holder before the lock is free again.
// Pairs
//   P1  A task that takes the lock sees what earlier holders wrote before they left.
//   P2  A holder that takes the sections sees what their tasks wrote before they arrived.
namespace apgas::inline v0::sync {

// Section has a member `Section* next`, which belongs to the lock from arrive() to take_arrived().
// Tasks are given by addresses that are multiples of two.
template <class Section>
class section_lock {
 public:
  // The task that holds the lock, or null. Context: any thread; exact for the calling task itself.
  const void* holder() const noexcept {
    return reinterpret_cast<const void*>(holder_.load(base::relaxed) & ~some_arrived);
  }

  // Takes the lock if it is free, and returns whether it did. Context: task that does not hold it.
  [[nodiscard]] bool try_enter(const void* task) noexcept {
    std::uintptr_t nobody = 0;
    return holder_.compare_exchange_strong(nobody, word(task), base::acquire, base::relaxed);  // P1
  }

  // Leaves the section with the lock. Returns true if the lock was free: then the task holds it
  // now, and is to take the sections that have arrived. Context: task that does not hold it.
  [[nodiscard]] bool arrive(const void* task, Section& section) noexcept {
    Section* first = arrived_.load(base::relaxed);
    do {
      section.next = first;
    } while (
        !arrived_.compare_exchange_strong(first, &section, base::release, base::relaxed));  // P2
    std::uintptr_t holder = holder_.load(base::relaxed);
    for (;;) {
      const std::uintptr_t next = (holder == 0 ? word(task) : holder) | some_arrived;
      if (holder_.compare_exchange_strong(holder, next, base::acq_rel, base::relaxed)) {  // P1, P2
        return holder == 0;
      }
    }
  }

  // Frees the lock unless sections have arrived. Returns whether it did. Context: the holder.
  [[nodiscard]] bool try_leave(const void* task) noexcept {
    std::uintptr_t mine = word(task);
    return holder_.compare_exchange_strong(mine, 0, base::release, base::relaxed);  // P1
  }

  // Returns the sections that have arrived, in the order of their arrival. There may be none even
  // after try_leave has failed. Context: the holder.
  Section* take_arrived(const void* task) noexcept {
    holder_.exchange(word(task), base::acquire);                  // P2
    Section* newest = arrived_.exchange(nullptr, base::acquire);  // P2
    Section* oldest = nullptr;
    while (newest != nullptr) {
      Section* const next = std::exchange(newest->next, oldest);
      oldest = std::exchange(newest, next);
    }
    return oldest;
  }

  // Makes another task the holder, which must learn of it by other means. Context: the holder.
  void pass(const void* to) noexcept {
    std::uintptr_t mine = holder_.load(base::relaxed);
    while (!holder_.compare_exchange_strong(mine, word(to) | (mine & some_arrived), base::relaxed,
                                            base::relaxed)) {
    }
  }

 private:
  static constexpr std::uintptr_t some_arrived = 1;
  static std::uintptr_t word(const void* task) noexcept {
    return reinterpret_cast<std::uintptr_t>(task);
  }

  base::atomic<std::uintptr_t> holder_{0};
  base::atomic<Section*> arrived_{nullptr};
};

}  // namespace apgas::inline v0::sync
