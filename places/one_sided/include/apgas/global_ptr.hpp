// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <apgas/at.hpp>
#include <apgas/base/api.hpp>
#include <apgas/place.hpp>
#include <apgas/places/place_memory.hpp>
#include <apgas/sync/task.hpp>

// Memory of one place that tasks at all places can access (UPC++'s global pointers, PGAS).
// one_sided.hpp has reads, writes and copies; remote_atomics.hpp has atomic operations.
namespace apgas::inline v0 {

template <class T>
class global_ptr;

namespace remote {

struct global_ptr_access;

// The bytes of `count` elements from p on.
template <class T>
[[gnu::always_inline]] inline allocation_range range_of(const global_ptr<T>& p,
                                                        std::uint64_t count);

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

APGAS_API [[noreturn]] void throw_too_many(std::size_t elements, std::size_t bytes_each);
APGAS_API [[noreturn]] void throw_not_local(int here, int home);
APGAS_API [[noreturn]] void throw_not_first(std::int64_t index);

}  // namespace remote

// A pointer to an element of an allocation at one place, its *home*. It is a handle: trivially
// copyable, 24 bytes, without addresses. Copying it registers nothing. After deallocate() all
// copies are stale, and an access through one throws. Pointer arithmetic works as within an array;
// a pointer may point outside of the allocation, but an access there throws.
//
//   const apgas::global_ptr<double> first = apgas::allocate<double>(p, 100);
//   apgas::at(first.home(), [first] { std::fill_n(first.local(), 100, 0.5); });
//   double sum = 0;
//   for (apgas::global_ptr<double> i = first; i != first + 100; ++i) sum += apgas::rget(i);
//
//   apgas::global_ptr<double> i = first;
//   i += 10;
//   i -= 5;
//   i--;
//   assert(i && i - first == 4);
//   apgas::deallocate(first);
//
// Unless its comment says otherwise, a member may be called by any thread and does not suspend.
template <class T>
class global_ptr {
 public:
  using element_type = T;

  // The null pointer, which points to nothing. Context: any thread.
  global_ptr() = default;
  // Whether it points to something. The memory may have been deallocated. Context: any thread.
  explicit operator bool() const noexcept { return allocation_.generation != 0; }

  // The place that has the memory; place 0 for the null pointer. Context: any thread.
  place home() const noexcept { return remote::trusted_place(allocation_.home); }

  // The address of the element, at the home, where it can be used like any other object.
  // Throws: bad_place at other places; illegal_operation if the element is not in a live
  // allocation, or outside a task.
  // Context: task, at the home; does not suspend.
  // Cost: about 3 ns.
  T* local() const {
    scheduler::fiber& self = sync::task_fiber("global_ptr::local");
    const int here = sync::place_of(self).here;
    if (here != allocation_.home) remote::throw_not_local(here, allocation_.home);
    return reinterpret_cast<T*>(
        remote::direct_address(self, "global_ptr::local", remote::range_of(*this, 1)));
  }

  // Pointer arithmetic, in elements. Context: any thread.
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
  // The distance in elements.
  // Requires: both point into the same allocation.
  friend std::ptrdiff_t operator-(const global_ptr& a, const global_ptr& b) noexcept {
    return a.index_ - b.index_;
  }

  // Whether both point to the same element, or both to nothing. Context: any thread.
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

// Numbers that overflow become the largest ones, which are outside of every allocation.
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

// Allocates memory of the calling task's place.
inline allocation_name allocate_here(std::uint64_t bytes) {
  return place_memory_of(*scheduler::current_fiber()).heap().allocate(bytes);
}
// Throws: illegal_operation if the allocation does not exist any more.
APGAS_API void release_here(const allocation_name& allocation);

}  // namespace remote

// Allocates n elements at place p, with all bytes zero, and returns a pointer to the first. Tasks
// at all places can access them until deallocate() is called, or else until the end of the run. T
// must be trivially copyable, without const or volatile, and aligned to 64 bytes at most.
//
//   auto counts = apgas::allocate<long>(p, 1000);
//   apgas::fetch_add(counts + 7, 1L);
//   apgas::deallocate(counts);
//
// Throws: std::bad_alloc if p has no memory left; illegal_operation if n elements exceed the
// largest allocation (128 GiB), inside `atomic` or `when`, or outside a task.
// Context: task, not inside `atomic` or `when`; may suspend and resume on another worker.
// Cost: a short lock and writing the zeros; at another place also a message each way. The system
// gets the memory back at the end of the run; until then it is used for other allocations.
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

// Releases the allocation whose first element p points to. May be called at any place. A null
// pointer is ignored.
// Requires: no task accesses the allocation any more.
// Throws: illegal_operation if the allocation does not exist any more, if p is not the pointer that
// allocate() returned, inside `atomic` or `when`, or outside a task.
// Context: task, not inside `atomic` or `when`; may suspend and resume on another worker.
// Cost: a short lock; at another place also a message each way.
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
