// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <apgas/base/api.hpp>
#include <apgas/place_group.hpp>

// Distributions: how the elements of a distributed array (dist_array.hpp) are spread over places.
namespace apgas::inline v0 {

// A distribution of elements over the n places of a group (X10's Dist, Chapel's domain maps). A
// value. A *block* is a run of consecutive elements.
//
//   const apgas::distribution d = apgas::distribution::block_cyclic(64);
//   assert(d.what() == apgas::distribution::kind::block_cyclic && d.block_size() == 64);
//   const apgas::dist_array<int> dealt(10'000, d);
//   const apgas::dist_array<int> blocks(10'000, apgas::distribution::block());
//   const apgas::dist_array<int> one_by_one(10'000, apgas::distribution::cyclic());
//   const apgas::dist_array<int> table(100, apgas::distribution::replicated());
//
// Context of all: any thread; no function suspends.
class distribution {
 public:
  enum class kind : std::uint8_t { block, block_cyclic, replicated };

  // Returns the distribution in blocks: each place has one, and their sizes differ by at most one.
  static constexpr distribution block() noexcept { return {kind::block, 0}; }
  // Returns the distribution in which element i is at member i % n of the group.
  static constexpr distribution cyclic() noexcept { return {kind::block_cyclic, 1}; }
  // Returns the distribution that deals blocks of `elements` consecutive elements to the places in
  // turn. Throws: illegal_operation if `elements` is 0. Cost: none.
  APGAS_API static distribution block_cyclic(std::size_t elements);
  // Returns the distribution in which each place has a copy of all elements.
  static constexpr distribution replicated() noexcept { return {kind::replicated, 0}; }

  // Which kind of distribution it is; cyclic() is block_cyclic(1).
  constexpr kind what() const noexcept { return kind_; }
  // The number of elements in a block of block_cyclic; otherwise 0.
  constexpr std::size_t block_size() const noexcept { return block_size_; }
  constexpr bool operator==(const distribution&) const noexcept = default;

 private:
  constexpr distribution(kind k, std::size_t block_size) noexcept
      : kind_(k), block_size_(block_size) {}

  kind kind_;
  std::size_t block_size_;
};

// Optional settings of a dist_array or dist_grid.
//
//   apgas::dist_options options;
//   options.group = apgas::place_group(apgas::places()).same_node();
//   const apgas::dist_array<int> at_this_host(1'000, apgas::distribution::block(), options);
struct dist_options {
  // Width of the halo: how many elements of each neighbour a place keeps copies of, beside its own.
  // Needs a block distribution, and at least this many elements (in a dist_grid: rows and columns)
  // at each place.
  std::size_t halo = 0;
  // The places that have the elements.
  place_group group = places();
};

}  // namespace apgas::inline v0
