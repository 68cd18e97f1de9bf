// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#ifdef APGAS_MODEL_CHECK
#include <relacy/relacy.hpp>
#endif

namespace apgas::inline v0::base {

// A number that tells the calling thread from all other threads that exist; never 0. It is always
// read anew, because a fiber may have moved to another thread since the last call.
// Context: any thread. Cost: one load.
[[gnu::always_inline]] inline std::uintptr_t thread_pointer() noexcept {
#if defined(APGAS_MODEL_CHECK)
  return rl::thread_index() + 1;
#elif defined(__x86_64__)
  std::uintptr_t pointer;
  asm volatile("mov %%fs:0, %0" : "=r"(pointer));  // the thread control block begins with it
  return pointer;
#elif defined(__aarch64__)
  std::uintptr_t pointer;
  asm volatile("mrs %0, tpidr_el0" : "=r"(pointer));
  return pointer;
#else
  return reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
#endif
}

}  // namespace apgas::inline v0::base
