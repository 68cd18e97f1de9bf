// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <iosfwd>
#include <iterator>
#include <string>

// Places: the processes of a program, each with its own memory and workers.
namespace apgas::inline v0 {

class place;
namespace remote {
// The place of an id that came from a place.
constexpr place trusted_place(int id) noexcept;
}  // namespace remote

// A place by number. A value: copying and sending it is free.
class place {
 public:
  constexpr place() noexcept = default;  // place 0
  // Throws: bad_place when there is no such place in the running program (place 0 always is).
  explicit place(int id);

  constexpr int id() const noexcept { return id_; }
  constexpr auto operator<=>(const place&) const noexcept = default;

  // The name of the machine it runs on. Context: task.
  std::string host() const;
  // Whether both run on the same machine. Context: task.
  bool same_node(place other) const;
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

std::ostream& operator<<(std::ostream& out, place p);

// The place of the running task. Throws: illegal_operation outside a task.
place here();
int num_places();
// Of this place; worker_id is that of the worker which runs the caller now, and may be another one
// after any suspension. Throws: illegal_operation outside a task.
int num_workers();
int worker_id();

// All places, in order: for (apgas::place p : apgas::places()).
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

place_range places();

}  // namespace apgas::inline v0

template <>
struct std::hash<apgas::place> {
  std::size_t operator()(apgas::place p) const noexcept { return std::hash<int>()(p.id()); }
};
