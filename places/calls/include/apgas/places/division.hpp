// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

#include <apgas/place_group.hpp>

// How a group of places is divided, again and again, when something is sent to all of them along a
// tree. Pure.
namespace apgas::inline v0::remote {

// The first of the second part: where hosts change, as near to the middle as possible. All on one
// host: the first of all if that is not the sender's, else the middle. So as many messages go from
// host to host as there are other hosts, if the places of each follow each other.
// `together(i, j)`: whether members i and j are on one host; `near`: whether the first is on the
// sender's. Requires: size > 0.
template <class Together>
std::size_t division(std::size_t size, Together together, bool near) {
  const std::size_t middle = size / 2;
  const auto divides = [&](std::size_t i) { return i > 0 && i < size && !together(i - 1, i); };
  for (std::size_t distance = 0; distance <= middle; ++distance) {
    if (divides(middle - distance)) return middle - distance;
    if (divides(middle + distance)) return middle + distance;
  }
  return near ? middle : 0;
}

// Of these places, sent to from here. Context: task.
std::size_t division_by_hosts(const place_group& places);

}  // namespace apgas::inline v0::remote
