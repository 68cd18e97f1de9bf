// SPDX-License-Identifier: Apache-2.0
#pragma once

// A place's portion of the vertices and of a search by delta stepping (Meyer and Sanders:
// "Delta-stepping: a parallelizable shortest path algorithm", Journal of Algorithms 49, 2003).
//
// Bucket b holds the vertices whose length is in [b * delta, (b + 1) * delta). In a round each
// place empties its bucket b, also of vertices that come into it meanwhile, and follows all their
// arcs. Then it sends the lengths that it offers to vertices of other places in one exchange, which
// also finds the lowest bucket of all places for the next round.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <apgas/apgas.hpp>

#include "bfs/dealing.hpp"
#include "sssp/weighted_graph.hpp"
#include "support/exchange.hpp"

namespace sssp {

class portion {
 public:
  // A collective: each place generates some of the edges and sends them to the places that they
  // start from. `lengths` is this place's portion of the result, in cyclic distribution.
  portion(const plan& p, length delta, std::span<length> lengths, const apgas::team& team);

  // A collective. Returns the number of rounds.
  std::int64_t search(vertex root);

 private:
  using local_vertex = std::uint32_t;                      // the index of a vertex of this place
  using buckets = std::vector<std::vector<local_vertex>>;  // by number
  // What the tasks on one worker have found, and use without synchronisation.
  struct found {
    buckets improved;                        // vertices of this place
    std::vector<std::vector<offer>> offers;  // to vertices of other places, by place
    std::size_t lowest_offer = no_bucket;
  };
  static constexpr std::size_t no_bucket = SIZE_MAX;

  void take(std::size_t bucket);
  template <class T, class F>
  void in_pieces(const std::vector<T>& values, F f);
  void follow(local_vertex v, found& mine);
  void improve(std::size_t index, length via, found& mine) const;
  void offer_elsewhere(const arc& a, length via, found& mine) const;
  std::size_t exchange_offers();
  std::size_t lowest_bucket() const;

  length delta_;
  bfs::dealing dealt_;
  const apgas::team& team_;
  std::span<length> lengths_;
  std::vector<length> followed_;  // by vertex: the length with which its arcs were followed
  arcs arcs_;
  apgas::worker_local<found> found_;
  std::vector<std::vector<local_vertex>>
      taken_;  // by worker: vertices of the bucket that is emptied
  // By place and index: the least length that this place has offered. A greater one is not sent.
  std::vector<std::vector<length>> offered_;
  apps::exchanger<offer, std::size_t> exchanger_;
  std::vector<std::vector<offer>> outgoing_;  // by place
  apps::arrivals<offer> incoming_;
};

}  // namespace sssp
