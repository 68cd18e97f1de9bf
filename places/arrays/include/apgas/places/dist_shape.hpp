// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

#include <apgas/distribution.hpp>

// Which part has which element: arithmetic, without places. A part is a member of the group.
//
// Invariants
//   D1  i -> (part_of(i), offset_of(i)) is one to one onto all (p, k) with k < size_of(p), and
//       index_of is its inverse; replicated: for each p onto (p, i).
namespace apgas::inline v0::remote {

class dist_shape {
 public:
  dist_shape() = default;
  // Requires: parts > 0.
  dist_shape(std::size_t size, distribution d, std::size_t parts) noexcept
      : size_(size), parts_(parts), spread_(d), quotient_(size / parts), rest_(size % parts) {}

  std::size_t size() const noexcept { return size_; }
  std::size_t parts() const noexcept { return parts_; }
  bool replicated() const noexcept { return spread_.what() == distribution::kind::replicated; }
  bool in_blocks() const noexcept { return spread_.what() == distribution::kind::block; }

  // Requires: i < size(); not replicated.
  std::size_t part_of(std::size_t i) const noexcept {
    if (!in_blocks()) return i / spread_.block_size() % parts_;
    const std::size_t in_larger = rest_ * (quotient_ + 1);
    return i < in_larger ? i / (quotient_ + 1) : rest_ + (i - in_larger) / quotient_;
  }
  // Where it is among the elements of its part.
  std::size_t offset_of(std::size_t i) const noexcept {
    if (replicated()) return i;
    if (in_blocks()) return i - first_of(part_of(i));
    const std::size_t b = spread_.block_size();
    return i / b / parts_ * b + i % b;
  }
  std::size_t size_of(std::size_t part) const noexcept {
    if (replicated()) return size_;
    if (in_blocks()) return quotient_ + (part < rest_ ? 1 : 0);
    const std::size_t b = spread_.block_size();
    const std::size_t full = size_ / b;
    const std::size_t last = full % parts_;  // who has the block that is not full
    return full / parts_ * b + (part < last ? b : part == last ? size_ % b : 0);
  }
  std::size_t index_of(std::size_t part, std::size_t offset) const noexcept {
    if (replicated()) return offset;
    if (in_blocks()) return first_of(part) + offset;
    const std::size_t b = spread_.block_size();
    return (offset / b * parts_ + part) * b + offset % b;
  }
  // Of blocks: the first element of a part.
  std::size_t first_of(std::size_t part) const noexcept {
    return part * quotient_ + std::min(part, rest_);
  }

 private:
  std::size_t size_ = 0;
  std::size_t parts_ = 1;
  distribution spread_ = distribution::block();
  std::size_t quotient_ = 0;
  std::size_t rest_ = 0;
};

}  // namespace apgas::inline v0::remote
