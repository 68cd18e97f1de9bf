// SPDX-License-Identifier: Apache-2.0
#pragma once

// The common part of the fuzz targets: invariants that end the process, and a limit for the memory
// that a decoder may allocate.

#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include <apgas/comm/archive.hpp>

// Part of the address sanitizer. The hooks are called for every allocation and every release.
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void*,
                                                                           std::size_t),
                                                         void (*on_free)(const volatile void*));

namespace apgas_fuzz {

namespace comm = apgas::comm;

inline void require(bool holds, const char* invariant) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: violated: %s\n", invariant);
  std::abort();
}

// Limits the sum of all allocations during its lifetime, whether they are freed or not.
class bounded_memory {
 public:
  explicit bounded_memory(std::size_t most) : most_(most) {
    static const int installed = __sanitizer_install_malloc_and_free_hooks(count, ignore);
    require(installed > 0, "the hook for allocations can be installed");
    asked_ = 0;
  }
  ~bounded_memory() {
    if (asked_ > most_) std::fprintf(stderr, "%zu bytes, at most %zu expected\n", asked_, most_);
    require(asked_ <= most_, "memory asked for is bounded by the input");
  }
  bounded_memory(const bounded_memory&) = delete;
  bounded_memory& operator=(const bounded_memory&) = delete;

 private:
  static void count(const volatile void*, std::size_t bytes) { asked_ += bytes; }
  static void ignore(const volatile void*) {}

  static inline std::size_t asked_ = 0;
  std::size_t most_;
};

// The input with exactly its size, so that the address sanitizer detects accesses beyond its end.
inline std::span<const std::byte> input(const unsigned char* data, std::size_t size) {
  return {reinterpret_cast<const std::byte*>(data), size};
}

}  // namespace apgas_fuzz

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size);
