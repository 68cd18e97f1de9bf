// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <iosfwd>
#include <iterator>
#include <string>

#include <apgas/base/api.hpp>

// Places (X10; Chapel says locales): the parts of a program that have their own memory and their
// own workers, usually one process each. They are numbered from 0 to num_places() - 1, and `main`
// starts at place 0. at and async_at (at.hpp) run code at another place.
//
// Unless its comment says otherwise, a function of this header may be called by any task, also
// inside `atomic` or `when`. It never suspends, and outside a task it throws illegal_operation.
namespace apgas::inline v0 {

class place;
namespace remote {
// The place with a number that came from a place, and therefore needs no check.
constexpr place trusted_place(int id) noexcept;
}  // namespace remote

// A place, named by its number. It is a value, the size of an int, that may be copied, captured and
// sent. Places are ordered by number, can be hashed, and print as "place(2)".
//
//   const apgas::place last(apgas::num_places() - 1);
//   assert(last.id() == apgas::num_places() - 1 && apgas::place(0) <= last);
//   std::cout << last << " runs on " << last.host() << '\n';
//   if (last.same_node(apgas::here())) work();
class place {
 public:
  // Place 0, which always exists.
  // Context: any thread.
  constexpr place() noexcept = default;
  // The place with the number `id`.
  // Throws: bad_place if the running program has no such place; illegal_operation outside a task.
  // place(0) never throws.
  // Context: task; place(0) any thread.
  APGAS_API explicit place(int id);

  // Its number, from 0.
  // Context: any thread.
  constexpr int id() const noexcept { return id_; }
  // Compare the numbers.
  // Context: any thread.
  constexpr auto operator<=>(const place&) const noexcept = default;

  // The name of the host that this place runs on.
  // Throws: illegal_operation outside a task. Context: task; does not suspend.
  APGAS_API std::string host() const;
  // Whether this place and `other`, or `a` and `b`, run on the same host.
  // Throws: illegal_operation outside a task. Context: task; does not suspend. Cost: some loads.
  APGAS_API bool same_node(place other) const;
  static bool same_node(place a, place b) { return a.same_node(b); }

 private:
  friend class place_range;
  friend class place_group;
  friend place here();
  friend constexpr place remote::trusted_place(int id) noexcept;
  struct trusted {};
  constexpr place(trusted, int id) noexcept : id_(id) {}

  int id_ = 0;
};

constexpr place remote::trusted_place(int id) noexcept { return {place::trusted{}, id}; }

// Writes "place(2)" for place 2. Throws: what `out` throws.
// Context: any thread.
APGAS_API std::ostream& operator<<(std::ostream& out, place p);

// The place at which the calling task runs.
//
//   std::cout << "worker " << apgas::worker_id() << " of " << apgas::num_workers() << " at "
//             << apgas::here() << " of " << apgas::num_places() << '\n';
//
// Throws: illegal_operation outside a task.
// Context: task; does not suspend.
APGAS_API place here();
// How many places the program has; at least 1. Throws, Context: as here().
APGAS_API int num_places();
// How many workers this place has; at least 1. The number does not change while the program runs.
// Throws, Context: as here().
APGAS_API int num_workers();
// The number of the worker that runs the calling task, from 0 to num_workers() - 1. Across a
// suspension point it may change, because the task may resume on another worker; worker_local holds
// one value for each worker. Throws, Context: as here().
APGAS_API int worker_id();

// The places 0 to n - 1 in this order, as an immutable range with random access. places() returns
// one.
//
//   const apgas::place_range all = apgas::places();
//   const apgas::place last = all[all.size() - 1];
//
// Context: any thread.
class place_range {
 public:
  class iterator {
   public:
    using iterator_concept = std::random_access_iterator_tag;
    using iterator_category = std::random_access_iterator_tag;
    using value_type = place;
    using difference_type = std::ptrdiff_t;
    using reference = place;
    using pointer = void;

    constexpr iterator() noexcept = default;
    constexpr explicit iterator(std::ptrdiff_t id) noexcept : id_(id) {}

    constexpr place operator*() const noexcept { return {place::trusted{}, static_cast<int>(id_)}; }
    constexpr place operator[](std::ptrdiff_t n) const noexcept { return *(*this + n); }
    constexpr iterator& operator++() noexcept { return *this += 1; }
    constexpr iterator& operator--() noexcept { return *this -= 1; }
    constexpr iterator operator++(int) noexcept { return iterator(id_++); }
    constexpr iterator operator--(int) noexcept { return iterator(id_--); }
    constexpr iterator& operator+=(std::ptrdiff_t n) noexcept {
      id_ += n;
      return *this;
    }
    constexpr iterator& operator-=(std::ptrdiff_t n) noexcept { return *this += -n; }
    friend constexpr iterator operator+(iterator i, std::ptrdiff_t n) noexcept { return i += n; }
    friend constexpr iterator operator+(std::ptrdiff_t n, iterator i) noexcept { return i += n; }
    friend constexpr iterator operator-(iterator i, std::ptrdiff_t n) noexcept { return i -= n; }
    friend constexpr std::ptrdiff_t operator-(iterator a, iterator b) noexcept {
      return a.id_ - b.id_;
    }
    constexpr auto operator<=>(const iterator&) const noexcept = default;

   private:
    std::ptrdiff_t id_ = 0;
  };

  // The first `count` places, and what a range has: iterators, the number of places and element i.
  constexpr explicit place_range(int count) noexcept : count_(count) {}
  constexpr iterator begin() const noexcept { return iterator(0); }
  constexpr iterator end() const noexcept { return iterator(count_); }
  constexpr std::size_t size() const noexcept { return static_cast<std::size_t>(count_); }
  constexpr place operator[](std::size_t i) const noexcept {
    return *iterator(static_cast<std::ptrdiff_t>(i));
  }

 private:
  int count_;
};

// All places of the program. Throws, Context: as here().
//
//   apgas::finish([] {
//     for (apgas::place each : apgas::places()) apgas::async_at(each, [] { work(); });
//   });
APGAS_API place_range places();

}  // namespace apgas::inline v0

template <>
struct std::hash<apgas::place> {
  std::size_t operator()(apgas::place p) const noexcept { return std::hash<int>()(p.id()); }
};
