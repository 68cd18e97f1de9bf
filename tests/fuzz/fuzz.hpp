// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the fuzz targets share: an invariant that ends the process, and how much memory a decoder
// may ask for.

#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include <apgas/comm/archive.hpp>

// Of the address sanitizer. Called for every allocation and every release.
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void*,
                                                                           std::size_t),
                                                         void (*on_free)(const volatile void*));

namespace apgas_fuzz {

namespace comm = apgas::comm;

inline void require(bool holds, const char* invariant) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: does not hold: %s\n", invariant);
  std::abort();
}

// All that is asked for while one of these lives is at most a multiple of the input, freed or not.
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

// The input, in as many bytes as it has: one more is seen by the address sanitizer.
inline std::span<const std::byte> input(const unsigned char* data, std::size_t size) {
  return {reinterpret_cast<const std::byte*>(data), size};
}

}  // namespace apgas_fuzz

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size);
