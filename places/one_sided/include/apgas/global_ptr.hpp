// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <apgas/at.hpp>
#include <apgas/place.hpp>
#include <apgas/places/place_memory.hpp>
#include <apgas/sync/task.hpp>

// Memory of a place that all places reach. What is done with it: one_sided.hpp, remote_atomics.hpp.
namespace apgas::inline v0 {

template <class T>
class global_ptr;

namespace remote {

struct global_ptr_access;

// The block of a pointer, and the bytes of `count` elements from it on.
template <class T>
[[gnu::always_inline]] inline allocation_range range_of(const global_ptr<T>& p, std::uint64_t count);

template <class T>
consteval bool require_target() {
  static_assert(std::is_trivially_copyable_v<T>,
                "apgas: the elements behind a global_ptr must be trivially copyable, since they "
                "are moved as bytes. Keep other objects at a place behind a global_ref, and go "
                "there with at");
  static_assert(!std::is_const_v<T> && !std::is_volatile_v<T> && std::is_object_v<T>,
                "apgas: a global_ptr points to objects without const or volatile");
  static_assert(alignof(T) <= allocation_unit,
                "apgas: the elements behind a global_ptr are aligned to 64 bytes at most");
  return true;
}

[[noreturn]] void throw_too_many(std::size_t elements, std::size_t bytes_each);
[[noreturn]] void throw_not_local(int here, int home);
[[noreturn]] void throw_not_first(std::int64_t index);

}  // namespace remote

// Points to an element of a block at one place, its home. A handle: trivially copyable, 24 bytes;
// copying registers nothing, and all copies are stale after deallocate(). Arithmetic may leave the
// block; an access there throws.
template <class T>
class global_ptr {
 public:
  using element_type = T;

  // Points to nothing.
  global_ptr() = default;
  explicit operator bool() const noexcept { return allocation_.generation != 0; }

  // Of a pointer to nothing: place 0.
  place home() const noexcept { return remote::trusted_place(allocation_.home); }

  // The element, at home, where it is an object as any other.
  // Throws: bad_place elsewhere; illegal_operation when it is not there. Context: task.
  T* local() const {
    scheduler::fiber& self = sync::task_fiber("global_ptr::local");
    const int here = sync::place_of(self).here;
    if (here != allocation_.home) remote::throw_not_local(here, allocation_.home);
    return reinterpret_cast<T*>(
        remote::direct_address(self, "global_ptr::local", remote::range_of(*this, 1)));
  }

  global_ptr& operator+=(std::ptrdiff_t n) noexcept {
    index_ = static_cast<std::int64_t>(static_cast<std::uint64_t>(index_) +
                                       static_cast<std::uint64_t>(n));
    return *this;
  }
  global_ptr& operator-=(std::ptrdiff_t n) noexcept {
    index_ = static_cast<std::int64_t>(static_cast<std::uint64_t>(index_) -
                                       static_cast<std::uint64_t>(n));
    return *this;
  }
  global_ptr& operator++() noexcept { return *this += 1; }
  global_ptr& operator--() noexcept { return *this -= 1; }
  global_ptr operator++(int) noexcept {
    const global_ptr before = *this;
    ++*this;
    return before;
  }
  global_ptr operator--(int) noexcept {
    const global_ptr before = *this;
    --*this;
    return before;
  }
  friend global_ptr operator+(global_ptr p, std::ptrdiff_t n) noexcept { return p += n; }
  friend global_ptr operator+(std::ptrdiff_t n, global_ptr p) noexcept { return p += n; }
  friend global_ptr operator-(global_ptr p, std::ptrdiff_t n) noexcept { return p -= n; }
  // Requires: both point into the same block.
  friend std::ptrdiff_t operator-(const global_ptr& a, const global_ptr& b) noexcept {
    return a.index_ - b.index_;
  }

  bool operator==(const global_ptr&) const = default;

 private:
  friend struct remote::global_ptr_access;

  remote::allocation_name allocation_;
  std::int64_t index_ = 0;
};

namespace remote {

struct global_ptr_access {
  template <class T>
  static global_ptr<T> make(const allocation_name& allocation) noexcept {
    global_ptr<T> p;
    p.allocation_ = allocation;
    return p;
  }
  template <class T>
  static const allocation_name& allocation(const global_ptr<T>& p) noexcept {
    return p.allocation_;
  }
  template <class T>
  static std::int64_t index(const global_ptr<T>& p) noexcept {
    return p.index_;
  }
};

// Where the numbers do not fit, they are the largest there are, and no block has them.
template <class T>
allocation_range range_of(const global_ptr<T>& p, std::uint64_t count) {
  static_assert(require_target<T>());
  allocation_range r{.allocation = global_ptr_access::allocation(p)};
  if (__builtin_mul_overflow(global_ptr_access::index(p), sizeof(T), &r.offset)) {
    r.offset = UINT64_MAX;
  }
  if (__builtin_mul_overflow(count, sizeof(T), &r.bytes)) r.bytes = UINT64_MAX;
  return r;
}

inline allocation_name allocate_here(std::uint64_t bytes) {
  return place_memory_of(*scheduler::current_fiber()).heap().allocate(bytes);
}
// Throws: illegal_operation when it is not there.
void release_here(const allocation_name& allocation);

}  // namespace remote

// Allocates n elements at p, with all bytes zero, for all places to reach until deallocate(), or
// the end of the run.
//
//   auto counts = allocate<long>(place(1), 1000);
//   fetch_add(counts + 7, 1L);
//
// Throws: std::bad_alloc when p has no memory left; illegal_operation for more bytes than there
// can be. Context: task; not inside an atomic section. May suspend.
// Cost: a short lock and the zeros, and a message each way to another place. Memory goes back to
// the system at the end of the run; until then it is used again.
template <class T>
global_ptr<T> allocate(place p, std::size_t n) {
  static_assert(remote::require_target<T>());
  scheduler::fiber& self = sync::suspendable_fiber("allocate");
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(n, sizeof(T), &bytes) || bytes > remote::memory_heap::most_bytes) {
    remote::throw_too_many(n, sizeof(T));
  }
  if (sync::place_of(self).here == p.id()) {
    return remote::global_ptr_access::make<T>(remote::allocate_here(bytes));
  }
  return remote::global_ptr_access::make<T>(
      at(p, [bytes] { return remote::allocate_here(bytes); }));
}

// Ends the block that p points to the first element of; nothing, where p points to nothing.
// Requires: nobody uses it. Throws: illegal_operation when it is gone, or p points elsewhere into
// it. Context: task; not inside an atomic section. May suspend.
template <class T>
void deallocate(const global_ptr<T>& p) {
  scheduler::fiber& self = sync::suspendable_fiber("deallocate");
  if (!p) return;
  const std::int64_t index = remote::global_ptr_access::index(p);
  if (index != 0) remote::throw_not_first(index);
  const remote::allocation_name allocation = remote::global_ptr_access::allocation(p);
  if (sync::place_of(self).here == allocation.home) {
    remote::release_here(allocation);
  } else {
    remote::place_memory_of(self).require_home("deallocate", {.allocation = allocation});
    at(p.home(), [allocation] { remote::release_here(allocation); });
  }
}

}  // namespace apgas::inline v0
