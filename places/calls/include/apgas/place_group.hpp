// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <ranges>
#include <vector>

#include <apgas/place.hpp>

// Some of the places, in an order.
namespace apgas::inline v0 {

// A value: the places are numbered from 0 in the order given, none is in it twice. It can be sent.
// Places that follow each other by id, as all of them do, take no memory.
class place_group {
 public:
  // None.
  place_group() = default;
  // All: place_group world = places();
  place_group(const place_range& all) noexcept;  // NOLINT(*-explicit-*)
  // Throws: bad_place when one is given twice.
  place_group(std::initializer_list<place> members);
  template <std::ranges::input_range R>
    requires std::same_as<std::ranges::range_value_t<R>, place>
  explicit place_group(R&& members) {
    for (place p : members) add(p);
    check_and_pack();
  }
  // The same from iterators.
  template <std::input_iterator I, std::sentinel_for<I> S>
    requires std::same_as<std::iter_value_t<I>, place>
  place_group(I first, S last) : place_group(std::ranges::subrange(first, last)) {}

  std::size_t size() const noexcept { return ids_.empty() ? count_ : ids_.size(); }
  bool empty() const noexcept { return size() == 0; }

  // Requires: i < size(). Throws: bad_place otherwise.
  place operator[](std::size_t i) const;
  // Throws: bad_place when p is not in the group. Cost: linear in the size unless consecutive.
  std::size_t index_of(place p) const;
  bool contains(place p) const noexcept;

  // The one after p, or before it, in a ring. Throws: bad_place when p is not in the group.
  place next(place p) const;
  place prev(place p) const;

  // The members on the machine of the running task, in the same order. Context: task.
  place_group same_node() const;

  bool operator==(const place_group& other) const noexcept;

  class iterator {
   public:
    using iterator_concept = std::forward_iterator_tag;
    using iterator_category = std::input_iterator_tag;  // since * gives no reference
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

  iterator begin() const noexcept { return {*this, 0}; }
  iterator end() const noexcept { return {*this, size()}; }

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
  void check_and_pack();
  std::size_t find(place p) const noexcept;

  // Either `count_` places from `first_` on, or those listed.
  int first_ = 0;
  std::size_t count_ = 0;
  std::vector<int> ids_;
};

}  // namespace apgas::inline v0
