// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one seam between lock-free code and the model checker.
//
// Lock-free structures use apgas::base::atomic and the order names below, never <atomic> directly.
// In the product they are std::atomic and its orders; under APGAS_MODEL_CHECK they are Relacy's,
// which explores interleavings and the stale values that weak orders allow (tests/model).
// (Relacy makes `delete` and `new` macros: a header it sees has no `= delete`.)
// Every access names its order; tests/tidy.py refuses the defaults of std::atomic.
//
// light_fence() and heavy_fence() are an asymmetric pair of sequentially consistent fences: of two
// threads that each store, fence and load the other's word, one light and one heavy, at least one
// sees the other's store. The light one costs nothing, the heavy one a system call that
// interrupts the process's other running threads. That holds where membarrier_available(); without
// it the heavy fence orders its own thread only, and the light side must use full_fence().

#ifdef APGAS_MODEL_CHECK

#include <relacy/relacy.hpp>

namespace apgas::inline v0::base {

using order = rl::memory_order;
inline constexpr order relaxed = rl::mo_relaxed;
inline constexpr order acquire = rl::mo_acquire;
inline constexpr order release = rl::mo_release;
inline constexpr order acq_rel = rl::mo_acq_rel;
inline constexpr order seq_cst = rl::mo_seq_cst;

template <class T>
class atomic {
 public:
  atomic(T value = T{}) { store(value, relaxed); }

  T load(order o) const { return const_cast<rl::atomic<T>&>(value_)($).load(o); }
  void store(T value, order o) { value_($).store(value, o); }
  T exchange(T value, order o) { return value_($).exchange(value, o); }
  T fetch_add(T value, order o) { return value_($).fetch_add(value, o); }
  T fetch_sub(T value, order o) { return value_($).fetch_sub(value, o); }
  T fetch_or(T value, order o) { return value_($).fetch_or(value, o); }
  T fetch_and(T value, order o) { return value_($).fetch_and(value, o); }
  bool compare_exchange_strong(T& expected, T desired, order success, order failure) {
    return value_($).compare_exchange_strong(expected, desired, success, failure);
  }
  bool compare_exchange_weak(T& expected, T desired, order success, order failure) {
    return value_($).compare_exchange_weak(expected, desired, success, failure);
  }

 private:
  rl::atomic<T> value_;
};

inline void full_fence() { rl::atomic_thread_fence(rl::mo_seq_cst, $); }
inline void light_fence() { full_fence(); }
inline void heavy_fence() { full_fence(); }

}  // namespace apgas::inline v0::base

#else

#include <atomic>

#include <apgas/base/membarrier.hpp>
#include <apgas/base/sanitizer.hpp>

namespace apgas::inline v0::base {

template <class T>
using atomic = std::atomic<T>;
using order = std::memory_order;
inline constexpr order relaxed = std::memory_order_relaxed;
inline constexpr order acquire = std::memory_order_acquire;
inline constexpr order release = std::memory_order_release;
inline constexpr order acq_rel = std::memory_order_acq_rel;
inline constexpr order seq_cst = std::memory_order_seq_cst;

// An ordinary fence. ThreadSanitizer does not model fences, and g++ refuses std's in that build;
// the structures that use one synchronise by their atomics, so there the instruction is enough.
inline void full_fence() noexcept {
#if APGAS_THREAD_SANITIZER && defined(__x86_64__)
  asm volatile("mfence" ::: "memory");
#elif APGAS_THREAD_SANITIZER && defined(__aarch64__)
  asm volatile("dmb ish" ::: "memory");
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

inline void light_fence() noexcept { asm volatile("" ::: "memory"); }
inline void heavy_fence() noexcept { membarrier(); }

}  // namespace apgas::inline v0::base

#endif
