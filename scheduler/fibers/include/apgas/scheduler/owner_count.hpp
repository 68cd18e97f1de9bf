// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <apgas/base/atomic.hpp>

namespace apgas::inline v0::scheduler {

// A counter that one thread at a time increments and any thread may read. Incrementing it costs no
// more than an ordinary variable does.
class owner_count {
 public:
  std::uint64_t operator+=(std::uint64_t n) noexcept {
    const std::uint64_t sum = value_.load(base::relaxed) + n;
    value_.store(sum, base::relaxed);
    return sum;
  }
  std::uint64_t operator++() noexcept { return *this += 1; }
  // The same, in one instruction, for paths that are counted in instructions.
  void add_one() noexcept {
#if defined(__x86_64__) && !defined(APGAS_MODEL_CHECK)
    asm("incq %0" : "+m"(value_));
#else
    ++*this;
#endif
  }
  operator std::uint64_t() const noexcept { return value_.load(base::relaxed); }

 private:
  base::atomic<std::uint64_t> value_{0};
};

}  // namespace apgas::inline v0::scheduler
