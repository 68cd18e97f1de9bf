// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <new>
#include <source_location>
#include <type_traits>
#include <vector>

#include <apgas/sync/algorithm_ranges.hpp>
#include <apgas/sync/blocks.hpp>

// Memory for as many elements as a range has, for the algorithms that cannot work in place.
namespace apgas::inline v0::sync {

// Whether elements may be copied as bytes into memory that holds no object yet.
template <class T>
inline constexpr bool bytes_suffice =
    std::is_trivially_copyable_v<T> && std::is_trivially_default_constructible_v<T>;

// Holds no elements at first, and either none or all of them later. The destructor destroys them.
template <class T>
class scratch {
 public:
  // Throws: std::bad_alloc.
  explicit scratch(std::size_t n) : n_(n), data_(std::allocator<T>().allocate(n)) {}
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  ~scratch() {
    if (full_) std::destroy_n(data_, n_);
    std::allocator<T>().deallocate(data_, n_);
  }

  T* data() noexcept { return data_; }

  // Moves the elements of [first, first + n) into this memory, in parallel. If a move constructor
  // throws, the elements that were moved already are destroyed, and the memory is empty again.
  // Throws, Context: as for_blocks.
  template <class I>
  void take(I first, std::source_location site) {
    const division all = divide(n_);
    std::vector<char> moved(all.blocks());
    try {
      for_blocks(all, site, [&](std::size_t k, std::size_t begin, std::size_t end) {
        std::uninitialized_move(nth(first, begin), nth(first, end), data_ + begin);
        moved[k] = 1;
      });
    } catch (...) {
      for (std::size_t k = 0; k < moved.size(); ++k) {
        if (moved[k] != 0) std::destroy(data_ + all.begin(k), data_ + all.end(k));
      }
      throw;
    }
    full_ = true;
  }

  // Moves the elements back to [first, first + n), in parallel.
  template <class I>
  void give_back(I first, std::source_location site) {
    for_blocks(divide(n_), site, [&](std::size_t, std::size_t begin, std::size_t end) {
      std::move(data_ + begin, data_ + end, nth(first, begin));
    });
  }

 private:
  std::size_t n_;
  T* data_;
  bool full_ = false;
};

}  // namespace apgas::inline v0::sync
