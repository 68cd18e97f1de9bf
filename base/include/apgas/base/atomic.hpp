// SPDX-License-Identifier: Apache-2.0
#pragma once

// Atomic variables, memory orders and fences for lock-free code, in a form that a model checker can
// replace.
//
// Lock-free structures use apgas::base::atomic and the order names below, never <atomic> directly.
// In the product these are std::atomic and its orders. With APGAS_MODEL_CHECK they are those of the
// Relacy model checker, which explores thread interleavings and the stale values that weak orders
// permit (tests/model). Relacy defines `new` and `delete` as macros, so a header that the models
// include cannot contain `= delete`. Every access names its order explicitly; tests/tidy.py rejects
// the defaults of std::atomic.
//
// light_fence() and heavy_fence() form an asymmetric pair of sequentially consistent fences (the
// asymmetric Dekker pattern). Suppose two threads each store to a word of their own, execute a
// fence and load the word of the other thread. If one uses the light fence and the other the heavy
// one, at least one of the two loads returns the value that the other thread stored. The light
// fence costs nothing; the heavy fence is a system call that interrupts the other running threads
// of the process. This requires membarrier_available(). Without it, heavy_fence() orders only its
// own thread, and the light side must use full_fence() instead.

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

// An ordinary sequentially consistent fence. ThreadSanitizer does not model fences, and g++ rejects
// std::atomic_thread_fence in such a build. The structures that use this fence synchronise through
// their atomics, so the bare instruction is enough there.
inline void full_fence() noexcept {
#if APGAS_THREAD_SANITIZER && defined(__x86_64__)
  asm volatile("mfence" ::: "memory");
#elif APGAS_THREAD_SANITIZER && defined(__aarch64__)
  asm volatile("dmb ish" ::: "memory");
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

// The two sides of the asymmetric pair described above. Cost: none; that of membarrier().
inline void light_fence() noexcept { asm volatile("" ::: "memory"); }
inline void heavy_fence() noexcept { membarrier(); }

}  // namespace apgas::inline v0::base

#endif
