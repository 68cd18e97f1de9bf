// SPDX-License-Identifier: Apache-2.0
#pragma once

// An exchange in which every place has data of any length for every other place: an alltoall of the
// lengths, an alltoall of the target addresses, and one-sided copies. Used by the apps that
// distribute their input.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <apgas/apgas.hpp>

namespace apps {

template <class T>
struct arrivals {
  std::vector<T> values;            // those of member 0, then those of member 1, ...
  std::vector<std::size_t> bounds;  // those of member i are [bounds[i], bounds[i + 1])
};

// Sends outgoing[i] to member i of the team, and returns what the members had for this one. T must
// be trivially copyable. A collective: called at all members.
// Context: task; may suspend, and may resume on another worker.
template <class T>
arrivals<T> exchange(const apgas::team& team, const std::vector<std::vector<T>>& outgoing) {
  const std::size_t n = team.size();
  std::vector<std::uint64_t> out(n);
  std::vector<std::uint64_t> in(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = outgoing[i].size();
  team.alltoall(std::span(out), std::span(in));
  arrivals<T> all;
  all.bounds.reserve(n + 1);
  all.bounds.push_back(0);
  for (const std::uint64_t length : in) all.bounds.push_back(all.bounds.back() + length);

  const auto block = apgas::allocate<T>(apgas::here(), all.bounds.back());
  std::vector<apgas::global_ptr<T>> mine;
  mine.reserve(n);
  for (std::size_t i = 0; i < n; ++i) {
    mine.push_back(block + static_cast<std::ptrdiff_t>(all.bounds[i]));
  }
  std::vector<apgas::global_ptr<T>> theirs(n);
  team.alltoall(std::span(mine), std::span(theirs));
  apgas::finish([&] {
    for (std::size_t i = 0; i < n; ++i) {
      if (out[i] != 0) apgas::async_copy(std::span<const T>(outgoing[i]), theirs[i]);
    }
  });
  team.barrier();  // all copies have arrived
  all.values.resize(all.bounds.back());
  if (!all.values.empty()) apgas::copy(block, std::span(all.values));
  apgas::deallocate(block);
  return all;
}

}  // namespace apps
