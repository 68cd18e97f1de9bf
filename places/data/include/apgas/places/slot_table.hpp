// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <apgas/base/atomic.hpp>

// A table of pointers, found by number without a lock. The slots are allocated in chunks that never
// move.
//
//               written by                               read by
//   chunks_     threads that call set(), once each (CAS)   any thread
//   a slot      a thread that calls set(), once (CAS)      any thread
//
// Pairs
//   P1  A thread that reads a non-null chunk pointer sees initialised slots.
//   P2  A thread that reads a non-null slot sees the fully constructed object.
namespace apgas::inline v0::remote {

// Owns the objects that its slots point to.
template <class T>
class slot_table {
 public:
  slot_table() = default;
  slot_table(const slot_table&) = delete;
  slot_table& operator=(const slot_table&) = delete;
  ~slot_table() {
    for (std::size_t k = 0; k < most_chunks; ++k) {
      const std::unique_ptr<slot[]> chunk(chunks_[k].load(base::relaxed));
      if (chunk == nullptr) continue;
      for (std::size_t i = 0; i < first_size << k; ++i) delete chunk[i].load(base::relaxed);
    }
  }

  // The object with this number, or null if none was set.
  // Context: any thread.
  // Cost: two dependent loads.
  T* find(std::uint32_t number) const noexcept {
    const auto [k, i] = place_of(number);
    const slot* const chunk = chunks_[k].load(base::acquire);          // P1
    return chunk == nullptr ? nullptr : chunk[i].load(base::acquire);  // P2
  }

  // Sets the object with this number, unless one was set before; then `made` is destroyed. Returns
  // the object that find() returns from now on.
  // Context: any thread.
  // Throws: std::bad_alloc.
  T& set(std::uint32_t number, std::unique_ptr<T> made) {
    const auto [k, i] = place_of(number);
    slot* chunk = chunks_[k].load(base::acquire);  // P1
    if (chunk == nullptr) {
      auto fresh = std::make_unique<slot[]>(first_size << k);
      if (chunks_[k].compare_exchange_strong(chunk, fresh.get(), base::acq_rel,  // P1
                                             base::acquire)) {                   // P1
        chunk = fresh.release();
      }
    }
    T* present = nullptr;
    if (chunk[i].compare_exchange_strong(present, made.get(), base::acq_rel,  // P2
                                         base::acquire)) {                    // P2
      present = made.release();
    }
    return *present;
  }

 private:
  using slot = base::atomic<T*>;
  // Chunk k has 8 << k slots; together they suffice for every 32-bit number.
  static constexpr unsigned first_bits = 3;
  static constexpr std::size_t first_size = std::size_t{1} << first_bits;
  static constexpr std::size_t most_chunks = 33 - first_bits;

  struct position {
    std::size_t chunk;
    std::size_t slot;
  };
  static position place_of(std::uint32_t number) noexcept {
    const std::uint64_t n = std::uint64_t{number} + first_size;
    const auto k = static_cast<unsigned>(std::bit_width(n)) - 1;
    return {k - first_bits, static_cast<std::size_t>(n - std::bit_floor(n))};
  }

  std::array<base::atomic<slot*>, most_chunks> chunks_{};
};

}  // namespace apgas::inline v0::remote
