// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <ranges>
#include <vector>

#include <apgas/base/api.hpp>
#include <apgas/place.hpp>

// Groups of places. Data, teams and tasks can be spread over the places of a group: place_local,
// dist_array, team, async_at.
namespace apgas::inline v0 {

// An ordered set of places (X10's PlaceGroup). Its members are numbered from 0 in the order given.
// It is a value that may be copied, captured and sent. Members with consecutive place numbers, as
// those of places(), take no memory of their own.
//
//   const apgas::place_group world = apgas::places();
//   const apgas::place right = world.next(apgas::here());  // in a ring
//   assert(world.prev(right) == apgas::here() && world[world.index_of(right)] == right);
//
//   const apgas::place_group host = world.same_node();
//   assert(host.contains(apgas::here()) && !host.empty() && host.size() <= world.size());
//   for (apgas::place each : host) work(each.id());
//   const apgas::place_group alone{apgas::here()};
//
// No function suspends.
// Context: any thread, except for same_node().
class place_group {
 public:
  // The empty group.
  place_group() = default;
  // All places, in order; `all` is places(). Not explicit, so that it can be passed for a group.
  APGAS_API place_group(const place_range& all) noexcept;  // NOLINT(*-explicit-*)
  // The given places, in the given order.
  // Throws: bad_place if a place is given twice; std::bad_alloc.
  // Cost: O(n log n) for n places.
  APGAS_API place_group(std::initializer_list<place> members);
  template <std::ranges::input_range R>
    requires std::same_as<std::ranges::range_value_t<R>, place>
  explicit place_group(R&& members) {
    for (place p : members) add(p);
    check_and_pack();
  }
  // The same from the iterators `first` and `last`.
  template <std::input_iterator I, std::sentinel_for<I> S>
    requires std::same_as<std::iter_value_t<I>, place>
  place_group(I first, S last) : place_group(std::ranges::subrange(first, last)) {}

  // How many members the group has, and whether it has none.
  std::size_t size() const noexcept { return ids_.empty() ? count_ : ids_.size(); }
  bool empty() const noexcept { return size() == 0; }

  // Member i, counted from 0.
  // Throws: bad_place if i >= size().
  APGAS_API place operator[](std::size_t i) const;
  // The index of p in the group: (*this)[index_of(p)] == p.
  // Throws: bad_place if p is not a member.
  // Cost: constant for consecutive place numbers, else linear in size().
  APGAS_API std::size_t index_of(place p) const;
  // Whether p is a member.
  // Cost: as index_of.
  APGAS_API bool contains(place p) const noexcept;

  // The member after p, and the member before p; the first member follows the last one.
  // Throws: bad_place if p is not a member.
  // Cost: as index_of.
  APGAS_API place next(place p) const;
  APGAS_API place prev(place p) const;

  // The members that run on the same host as the calling task, in the same order.
  // Throws: illegal_operation outside a task.
  // Context: task.
  // Cost: linear in size().
  APGAS_API place_group same_node() const;

  // Whether both groups have the same members in the same order.
  APGAS_API bool operator==(const place_group& other) const noexcept;

  // Iterates over the members in order. The group must outlive its iterators.
  class iterator {
   public:
    using iterator_concept = std::forward_iterator_tag;
    using iterator_category = std::input_iterator_tag;  // operator* returns a value
    using value_type = place;
    using difference_type = std::ptrdiff_t;
    using reference = place;
    using pointer = void;

    iterator() noexcept = default;
    iterator(const place_group& group, std::size_t i) noexcept : group_(&group), i_(i) {}

    place operator*() const noexcept { return group_->member(i_); }
    iterator& operator++() noexcept {
      ++i_;
      return *this;
    }
    iterator operator++(int) noexcept { return {*group_, i_++}; }
    bool operator==(const iterator& other) const noexcept { return i_ == other.i_; }

   private:
    const place_group* group_ = nullptr;
    std::size_t i_ = 0;
  };

  // The first member, and the end.
  iterator begin() const noexcept { return {*this, 0}; }
  iterator end() const noexcept { return {*this, size()}; }

  // For the implementation: Cereal sends groups with it.
  template <class Archive>
  void serialize(Archive& archive) {
    archive(first_, count_, ids_);
  }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  // Requires: i < size().
  place member(std::size_t i) const noexcept {
    return {place::trusted{}, ids_.empty() ? first_ + static_cast<int>(i) : ids_[i]};
  }
  void add(place p) { ids_.push_back(p.id()); }
  // Throws bad_place if ids_ has a place twice. Replaces ids_ by a range if its places are
  // consecutive.
  APGAS_API void check_and_pack();
  // The index of p, or `none`.
  std::size_t find(place p) const noexcept;

  // The members are the places in ids_. If ids_ is empty, they are the count_ places from first_
  // on.
  int first_ = 0;
  std::size_t count_ = 0;
  std::vector<int> ids_;
};

}  // namespace apgas::inline v0
