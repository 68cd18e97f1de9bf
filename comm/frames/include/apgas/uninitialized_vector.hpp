// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

#include <apgas/base/api.hpp>

// A vector for large arguments and results. A std::vector fills new elements with zeros. Its memory
// may come from the system, so that every page causes a page fault when it is written first. For
// data that is overwritten at once, both are wasted work: zeroing takes a tenth to a half as long
// as the copy between two places of a host, and page faults five times as long (decision 0014).
namespace apgas::inline v0 {

namespace comm::detail {

// Memory of the cache in which messages are allocated (block_cache.hpp).
APGAS_API void* allocate_recycled(std::size_t bytes);
APGAS_API void free_recycled(void* memory, std::size_t bytes) noexcept;
inline constexpr std::size_t recycled_min_bytes = std::size_t{16} << 10;
inline constexpr std::size_t recycled_alignment = 64;

}  // namespace comm::detail

// An allocator that leaves new elements uninitialised where a standard container would set them to
// zero. Elements of class types with a default constructor are still constructed by it. Memory of
// 16 KiB to 8 MiB comes from a cache, which keeps up to 32 MiB for the next allocation, here or for
// a message. Other memory comes from operator new.
//
// All uninitialized_allocators are equal, so memory may be moved between containers.
//
//   std::vector<char, apgas::uninitialized_allocator<char>> buffer(1 << 20);  // not zeroed
//
// Throws: std::bad_alloc.
// Context: any thread.
// Cost: one short lock if the cache has memory of the size.
template <class T>
class uninitialized_allocator {
 public:
  using value_type = T;

  // All objects are equal, and so are those for other types.
  uninitialized_allocator() noexcept = default;
  template <class U>
  uninitialized_allocator(const uninitialized_allocator<U>&) noexcept {}  // NOLINT(*-explicit-*)

  // Returns memory for `count` elements, and gives it back, as std::allocator does.
  [[nodiscard]] T* allocate(std::size_t count) {
    if (!recycled(count)) return std::allocator<T>().allocate(count);
    if (count > SIZE_MAX / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(comm::detail::allocate_recycled(count * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t count) noexcept {
    if (!recycled(count)) return std::allocator<T>().deallocate(memory, count);
    comm::detail::free_recycled(memory, count * sizeof(T));
  }

  // Containers call this for an element without an initial value.
  template <class U>
  void construct(U* element) noexcept(std::is_nothrow_default_constructible_v<U>) {
    ::new (static_cast<void*>(element)) U;
  }

  template <class U>
  friend bool operator==(uninitialized_allocator, uninitialized_allocator<U>) noexcept {
    return true;
  }

 private:
  static constexpr bool recycled(std::size_t count) noexcept {
    return count >= comm::detail::recycled_min_bytes / sizeof(T) &&
           alignof(T) <= comm::detail::recycled_alignment;
  }
};

// A std::vector whose elements have no value after `uninitialized_vector<double> v(n)` or
// `v.resize(n)`, until the program assigns one. As an argument or a result of at and the other
// functions that send values, it is received without being filled with zeros first, and mostly into
// memory that needs no page faults.
//
//   apgas::uninitialized_vector<double> block(100'000);
//   std::iota(block.begin(), block.end(), 0.0);
//   const auto sorted = apgas::at(p, [](apgas::uninitialized_vector<double> b) {
//     std::sort(b.begin(), b.end(), std::greater<>());
//     return b;
//   }, block);
template <class T>
using uninitialized_vector = std::vector<T, uninitialized_allocator<T>>;

}  // namespace apgas::inline v0
