// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace apgas::inline v0::remote {

// A range of members, elements or blocks: from first to last - 1.
struct span_of {
  std::size_t first = 0;
  std::size_t last = 0;

  std::size_t size() const noexcept { return last - first; }
  bool contains(std::size_t i) const noexcept { return first <= i && i < last; }
  bool operator==(const span_of&) const = default;
};

// The members of a team by host, as a list of *runs*. A run is a longest sequence of consecutive
// members on the same host. If the members of a host do not all follow each other, the host has
// several runs. Pure.
class host_runs {
 public:
  // All members on one host.
  // Requires: members > 0.
  explicit host_runs(std::size_t members) : host_runs(members, [](auto...) { return true; }) {}
  // together(i, j) tells whether members i and j are on one host.
  // Requires: members > 0.
  template <class Together>
  host_runs(std::size_t members, Together together) : members_(members), begins_{0} {
    for (std::size_t i = 1; i < members; ++i) {
      if (!together(i - 1, i)) begins_.push_back(i);
    }
  }

  std::size_t members() const noexcept { return members_; }
  std::size_t count() const noexcept { return begins_.size(); }
  std::size_t index_of_run(std::size_t member) const noexcept {
    return static_cast<std::size_t>(std::ranges::upper_bound(begins_, member) - begins_.begin()) -
           1;
  }
  span_of run(std::size_t i) const noexcept {
    return {begins_[i], i + 1 < count() ? begins_[i + 1] : members_};
  }

  // The number of members of the longest run.
  std::size_t longest_run() const noexcept {
    std::size_t most = 0;
    for (std::size_t i = 0; i < count(); ++i) most = std::max(most, run(i).size());
    return most;
  }

  // Divides `part`, and returns the half that contains `head` first. The border is the beginning of
  // a run, as near to the middle as possible; a range within one run is divided in the middle. A
  // tree that is built by dividing again and again therefore enters each run once. Its depth is at
  // most about 1.7 log2 of the number of its members: of any two consecutive levels outside of a
  // run, at least one leaves no more than two thirds of the members.
  // Requires: part.size() > 1 and part.contains(head).
  std::pair<span_of, span_of> divide(const span_of& part, std::size_t head) const noexcept {
    const std::size_t at = division(part);
    const span_of low{part.first, at};
    const span_of high{at, part.last};
    return head < at ? std::pair{low, high} : std::pair{high, low};
  }

 private:
  std::size_t division(const span_of& part) const noexcept {
    const std::size_t middle = part.first + part.size() / 2;
    const auto [low, high] = run(index_of_run(middle));
    const bool low_divides = part.first < low;
    const bool high_divides = high < part.last;
    if (low_divides && (!high_divides || middle - low <= high - middle)) return low;
    return high_divides ? high : middle;
  }

  std::size_t members_;
  std::vector<std::size_t> begins_;
};

}  // namespace apgas::inline v0::remote
