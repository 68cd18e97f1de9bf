// SPDX-License-Identifier: Apache-2.0
#pragma once

// A place's portion of the vertices and of a search by delta stepping (Meyer and Sanders:
// "Delta-stepping: a parallelizable shortest path algorithm", Journal of Algorithms 49, 2003).
//
// Bucket b holds the vertices whose length is in [b * delta, (b + 1) * delta). The lowest bucket of
// all places is emptied in rounds, which follow its light arcs, those of weight delta or less. Then
// one round follows the heavy arcs of all vertices that were in it. In each round a place sends the
// lengths that it offers to vertices of other places in one exchange.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <apgas/apgas.hpp>

#include "bfs/dealing.hpp"
#include "sssp/serial.hpp"
#include "sssp/weighted_graph.hpp"

namespace sssp {

class portion {
 public:
  // A collective: each place generates some of the edges and sends their arcs to the places that
  // they start from. `lengths` is this place's portion of the result, in cyclic distribution.
  portion(const plan& p, length delta, std::span<length> lengths, const apgas::team& team);

  // A collective. Returns the number of rounds.
  std::int64_t search(vertex root);

 private:
  struct offer {
    vertex to;
    length via;
  };
  using buckets = std::vector<std::vector<std::size_t>>;  // by number: indices of vertices
  static constexpr std::size_t no_bucket = SIZE_MAX;

  std::size_t lowest_bucket();
  std::vector<std::size_t> take(std::size_t bucket);
  void follow(std::size_t index, std::span<const arc> some);
  void exchange_offers();
  void take_offer(std::size_t index, length via);
  [[nodiscard]] std::span<const arc> light(std::size_t index) const;
  [[nodiscard]] std::span<const arc> heavy(std::size_t index) const;

  length delta_;
  bfs::dealing dealt_;
  const apgas::team& team_;
  std::span<length> lengths_;
  std::vector<length> followed_;  // by vertex: the length with which its light arcs were followed
  std::vector<std::uint8_t> removed_;  // by vertex: whether it is among those of this bucket
  arcs arcs_;
  apgas::worker_local<buckets> buckets_;
  apgas::worker_local<std::vector<std::vector<offer>>> offers_;  // by place
};

}  // namespace sssp
