// SPDX-License-Identifier: Apache-2.0
#include <apgas/place_group.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <apgas/errors.hpp>
#include <apgas/places/division.hpp>
#include <apgas/sync/place_state.hpp>
#include <apgas/sync/task.hpp>

namespace apgas::inline v0 {

place_group::place_group(const place_range& all) noexcept : count_(all.size()) {}

place_group::place_group(std::initializer_list<place> members)
    : place_group(members.begin(), members.end()) {}

void place_group::check_and_pack() {
  std::vector<int> sorted = ids_;
  std::ranges::sort(sorted);
  const auto twice = std::ranges::adjacent_find(sorted);
  if (twice != sorted.end()) {
    throw bad_place(fmt::format(
        "place {} was given twice, but a place_group has each place at most once", *twice));
  }
  const bool rising =
      std::ranges::adjacent_find(ids_, [](int a, int b) { return b != a + 1; }) == ids_.end();
  if (!rising) return;
  first_ = ids_.empty() ? 0 : ids_.front();
  count_ = ids_.size();
  ids_ = {};
}

place place_group::operator[](std::size_t i) const {
  if (i >= size()) {
    throw bad_place(
        fmt::format("index {} was asked for, but the place_group has size {}", i, size()));
  }
  return member(i);
}

std::size_t place_group::find(place p) const noexcept {
  if (ids_.empty()) {
    const auto i = static_cast<std::size_t>(p.id() - first_);  // wraps if p < first_
    return i < count_ ? i : none;
  }
  const auto at = std::ranges::find(ids_, p.id());
  return at == ids_.end() ? none : static_cast<std::size_t>(at - ids_.begin());
}

std::size_t place_group::index_of(place p) const {
  const std::size_t i = find(p);
  if (i == none) {
    throw bad_place(
        fmt::format("place {} is not in this place_group of size {}; check with contains() first",
                    p.id(), size()));
  }
  return i;
}

bool place_group::contains(place p) const noexcept { return find(p) != none; }

place place_group::next(place p) const { return (*this)[(index_of(p) + 1) % size()]; }

place place_group::prev(place p) const { return (*this)[(index_of(p) + size() - 1) % size()]; }

place_group place_group::same_node() const {
  const sync::place_state& state = sync::place_of(sync::task_fiber("place_group::same_node"));
  place_group result;
  for (place p : *this) {
    if (state.endpoint->same_node(p.id(), state.here)) result.add(p);
  }
  result.check_and_pack();
  return result;
}

bool place_group::operator==(const place_group& other) const noexcept {
  if (size() != other.size()) return false;
  return empty() || (ids_ == other.ids_ && (!ids_.empty() || first_ == other.first_));
}

std::size_t remote::division_by_hosts(const place_group& places) {
  const sync::place_state& state = sync::place_of(sync::task_fiber("async_at"));
  const auto together = [&](std::size_t i, std::size_t j) {
    return state.endpoint->same_node(places[i].id(), places[j].id());
  };
  return division(places.size(), together, state.endpoint->same_node(places[0].id(), state.here));
}

}  // namespace apgas::inline v0
