// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

#include <apgas/base/api.hpp>
#include <apgas/place_group.hpp>

// How a group of places is divided when something is sent to all of them along a tree. Pure
// functions; async_at_group.hpp applies them to each half again.
namespace apgas::inline v0::remote {

// Returns the index at which the second half begins: the place in the group, nearest to the middle,
// where one host's members end and another's begin. If all are on one host, it is 0 if that host is
// not the sender's, so that one message enters it, and the middle otherwise. So if the members of
// each host follow each other, there are as many messages between hosts as there are hosts other
// than the sender's.
//
// `together(i, j)` tells whether members i and j are on one host; `near` whether member 0 is on the
// sender's.
// Requires: size > 0.
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

// The same for a group to which the calling task sends.
// Context: task.
APGAS_API std::size_t division_by_hosts(const place_group& places);

}  // namespace apgas::inline v0::remote
