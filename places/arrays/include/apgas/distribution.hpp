// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <apgas/place_group.hpp>

// How the elements of an array are spread over places.
namespace apgas::inline v0 {

class distribution {
 public:
  enum class kind : std::uint8_t { block, block_cyclic, replicated };

  // A block of consecutive elements at each place; their sizes differ by one at most.
  static constexpr distribution block() noexcept { return {kind::block, 0}; }
  // Element i at member i % n of n places.
  static constexpr distribution cyclic() noexcept { return {kind::block_cyclic, 1}; }
  // Blocks of so many elements, dealt out in turn. Throws: illegal_operation for 0.
  static distribution block_cyclic(std::size_t elements);
  // A copy of all of them at each place.
  static constexpr distribution replicated() noexcept { return {kind::replicated, 0}; }

  constexpr kind what() const noexcept { return kind_; }
  // Of block_cyclic.
  constexpr std::size_t block_size() const noexcept { return block_size_; }
  constexpr bool operator==(const distribution&) const noexcept = default;

 private:
  constexpr distribution(kind k, std::size_t block_size) noexcept
      : kind_(k), block_size_(block_size) {}

  kind kind_;
  std::size_t block_size_;
};

// What dist_array and dist_grid take besides their size.
struct dist_options {
  // So many elements of the neighbours are kept beside the own ones. With block distribution only.
  std::size_t halo = 0;
  // The places that have a part.
  place_group group = places();
};

}  // namespace apgas::inline v0
