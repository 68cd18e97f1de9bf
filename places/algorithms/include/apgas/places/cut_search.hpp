// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

// Finds where the portions of an array must be cut so that each place receives its part of the
// sorted sequence, when each portion is already sorted by itself (multisequence selection; Varman
// et al., "Merging multiple lists on hierarchical-memory multiprocessors", 1991). These are pure
// computations, without messages. The cut of rank r is a position in each portion: together, the
// elements before these positions are the r least elements of the array. The search has rounds. It
// keeps, for each portion, an interval in which the position must lie; a round takes samples from
// the intervals and narrows them. The cut found is exact, so that each place receives as many
// elements as it had.
//
// Equal elements are ordered by their portion, and then by their position in it, so that no two
// have the same rank.
//
// Invariants C1  For each portion, low <= c <= high, where c is the number of elements before the
// cut and [low, high) the interval.
namespace apgas::inline v0::remote {

// The positions [low, high) of a portion.
struct interval {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  std::size_t size() const noexcept { return high > low ? high - low : 0; }
};

// The number of samples of an interval, at most `most`, and the position of sample k. The samples
// have equal distances, up to rounding. Of an interval with fewer elements, all are samples.
inline std::size_t sample_count(const interval& r, std::size_t most) noexcept {
  return std::min(r.size(), most);
}
inline std::size_t sample_position(const interval& r, std::size_t k, std::size_t count) noexcept {
  return r.low + (2 * k + 1) * r.size() / (2 * count);
}
// The most samples of an interval. With four for each portion, at least half of the elements are
// out of the question after a round. With 64, a round leaves 1/34 (16 portions) to 1/64 (two) of
// random elements.
inline std::size_t most_samples(std::size_t portions) noexcept {
  return std::max<std::size_t>(64, 4 * portions);
}

template <class T>
struct sample {
  T value;
  std::size_t portion;
  std::size_t position;
};

// The search for one cut.
class cut_search {
 public:
  // Begins the search for the cut of rank `rank`. `sizes` are the sizes of the portions.
  cut_search(std::size_t rank, const std::vector<std::size_t>& sizes) : rank_(rank) {
    for (const std::size_t n : sizes) intervals_.push_back({0, n});
    end_if_found();
  }

  bool found() const noexcept { return found_; }
  // The interval of each portion. If the cut is found, all are empty, and it is at their ends.
  const std::vector<interval>& intervals() const noexcept { return intervals_; }

  // Narrows the intervals by their samples, which are in the order of all elements. Returns false
  // if that was not possible, which means that the order is not a strict weak order.
  template <class T>
  bool narrow(const std::vector<sample<T>>& sorted) {
    // Of the elements before a sample there are at least `least` and at most `most`: those before
    // the last samples of all portions, and those before the next ones. Both rise along the
    // samples.
    std::vector<std::uint64_t> before;
    std::vector<std::uint64_t> next;
    for (const interval& each : intervals_) {
      before.push_back(each.low);
      next.push_back(each.high);
    }
    std::vector<std::uint64_t> after(sorted.size());  // the next sample of the same portion
    for (std::size_t k = sorted.size(); k-- > 0;) {
      after[k] = next[sorted[k].portion];
      next[sorted[k].portion] = sorted[k].position;
    }
    std::uint64_t least = std::accumulate(before.begin(), before.end(), std::uint64_t{0});
    std::uint64_t most = std::accumulate(next.begin(), next.end(), std::uint64_t{0});
    std::size_t not_behind = 0;          // how many samples do not lie behind the cut's element
    std::size_t behind = sorted.size();  // the first sample that does
    for (std::size_t k = 0; k < sorted.size() && behind == sorted.size(); ++k) {
      const sample<T>& s = sorted[k];
      least += s.position - before[s.portion];
      if (most <= rank_) not_behind = k + 1;
      if (least > rank_) behind = k;
      before[s.portion] = s.position + 1;
      ++least;
      most += after[k] - s.position;
    }
    const std::size_t in_question = total();
    for (std::size_t k = sorted.size(); k-- > behind;) {
      intervals_[sorted[k].portion].high = sorted[k].position;
    }
    for (std::size_t k = 0; k < not_behind; ++k) {
      intervals_[sorted[k].portion].low = sorted[k].position + (k + 1 < not_behind ? 1 : 0);
    }
    end_if_found();
    return found_ || total() < in_question;
  }

 private:
  std::size_t total() const noexcept {
    std::size_t sum = 0;
    for (const interval& each : intervals_) sum += each.size();
    return sum;
  }

  // The cut is found if it must be at all lower or at all upper ends.
  void end_if_found() noexcept {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    for (const interval& each : intervals_) {
      low += each.low;
      high += each.high;
    }
    found_ = low == rank_ || high == rank_;
    if (!found_) return;
    for (interval& each : intervals_) {
      (low == rank_ ? each.high : each.low) = low == rank_ ? each.low : each.high;
    }
  }

  std::size_t rank_;
  std::vector<interval> intervals_;
  bool found_ = false;
};

}  // namespace apgas::inline v0::remote
