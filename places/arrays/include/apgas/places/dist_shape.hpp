// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

#include <apgas/distribution.hpp>

// Which portion has which element: pure arithmetic. Portion p belongs to member p of the group.
//
// Invariants D1  i -> (portion_of(i), offset_of(i)) maps one to one onto all (p, k) with k <
// size_of(p), and index_of is its inverse. If replicated, i -> (p, i) does so for each p.
//            D2  A portion consists of runs of run_size(p) consecutive indices, the last of which
// may be shorter. In the order of the indices, run r of portion p is run r * portions() + p of all.
namespace apgas::inline v0::remote {

// The shape of one dimension of a distributed array.
class dist_shape {
 public:
  dist_shape() = default;
  // Requires: portions > 0.
  dist_shape(std::size_t size, distribution d, std::size_t portions) noexcept
      : size_(size),
        portions_(portions),
        spread_(d),
        quotient_(size / portions),
        rest_(size % portions) {}

  std::size_t size() const noexcept { return size_; }
  std::size_t portions() const noexcept { return portions_; }
  bool replicated() const noexcept { return spread_.what() == distribution::kind::replicated; }
  bool in_blocks() const noexcept { return spread_.what() == distribution::kind::block; }

  // The portion that has element i.
  // Requires: i < size(); not replicated.
  std::size_t portion_of(std::size_t i) const noexcept {
    if (!in_blocks()) return i / spread_.block_size() % portions_;
    const std::size_t in_larger = rest_ * (quotient_ + 1);
    return i < in_larger ? i / (quotient_ + 1) : rest_ + (i - in_larger) / quotient_;
  }
  // The position of element i in its portion.
  std::size_t offset_of(std::size_t i) const noexcept {
    if (replicated()) return i;
    if (in_blocks()) return i - first_of(portion_of(i));
    const std::size_t b = spread_.block_size();
    return i / b / portions_ * b + i % b;
  }
  // The number of elements of a portion.
  std::size_t size_of(std::size_t portion) const noexcept {
    if (replicated()) return size_;
    if (in_blocks()) return quotient_ + (portion < rest_ ? 1 : 0);
    return size_before(portion, size_);
  }
  // The number of elements of a portion with an index less than i.
  // Requires: i <= size().
  std::size_t size_before(std::size_t portion, std::size_t i) const noexcept {
    if (replicated()) return i;
    if (in_blocks()) return std::min(i - std::min(i, first_of(portion)), size_of(portion));
    const std::size_t b = spread_.block_size();
    const std::size_t full = i / b;
    const std::size_t last = full % portions_;  // the portion with the incomplete block
    return full / portions_ * b + (portion < last ? b : portion == last ? i % b : 0);
  }
  // The number of elements in a run of a portion, and the number of runs of all portions together;
  // if replicated, those of one portion.
  std::size_t run_size(std::size_t portion) const noexcept {
    const bool one_run = replicated() || in_blocks();
    return one_run ? std::max<std::size_t>(size_of(portion), 1) : spread_.block_size();
  }
  std::size_t runs() const noexcept {
    if (replicated()) return 1;
    if (in_blocks()) return std::min(size_, portions_);
    return size_ / spread_.block_size() + (size_ % spread_.block_size() != 0 ? 1 : 0);
  }
  distribution spread() const noexcept { return spread_; }

  bool operator==(const dist_shape&) const noexcept = default;
  // The index of the element at a position in a portion.
  std::size_t index_of(std::size_t portion, std::size_t offset) const noexcept {
    if (replicated()) return offset;
    if (in_blocks()) return first_of(portion) + offset;
    const std::size_t b = spread_.block_size();
    return (offset / b * portions_ + portion) * b + offset % b;
  }
  // The index of the first element of a portion. Requires: block distribution.
  std::size_t first_of(std::size_t portion) const noexcept {
    return portion * quotient_ + std::min(portion, rest_);
  }

 private:
  std::size_t size_ = 0;
  std::size_t portions_ = 1;
  distribution spread_ = distribution::block();
  std::size_t quotient_ = 0;
  std::size_t rest_ = 0;
};

}  // namespace apgas::inline v0::remote
