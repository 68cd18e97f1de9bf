// SPDX-License-Identifier: Apache-2.0
#pragma once

// The state of a place in a computation over several places: the input, the letters to other places
// that wait for the end of the phase, and finally the place's part of the solution.

#include <array>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include <apgas/apgas.hpp>

#include "imsuite/kernel.hpp"
#include "imsuite/letters.hpp"

namespace imsuite {

// Distributes the nodes of a network in blocks, one for each place, in the order of the places. A
// block may be empty.
class blocks {
 public:
  blocks(int nodes, int places) : nodes_(nodes), places_(places) {}

  [[nodiscard]] int first(int place) const { return static_cast<int>(nodes_ * place / places_); }
  [[nodiscard]] int end(int place) const { return first(place + 1); }
  // The place whose block contains the node.
  [[nodiscard]] int place_of(int node) const {
    return static_cast<int>(((node + std::int64_t{1}) * places_ - 1) / nodes_);
  }

 private:
  std::int64_t nodes_;
  std::int64_t places_;
};

// Letters to one place. Tasks write them concurrently.
class outgoing_letters {
 public:
  template <class Write>
  void write(const Write& f) {
    const std::scoped_lock hold(mutex_);
    f(waiting_);
  }
  letters take() {
    const std::scoped_lock hold(mutex_);
    return std::exchange(waiting_, {});
  }

 private:
  std::mutex mutex_;
  letters waiting_;
};

struct office {
  explicit office(input i)
      : in(std::move(i)),
        whose(in.nodes, apgas::num_places()),
        outgoing(static_cast<std::size_t>(apgas::num_places())) {
    parts.fill(std::vector<int>(outgoing.size()));
  }

  input in;
  blocks whose;
  std::byte* kernel = nullptr;
  std::vector<outgoing_letters> outgoing;  // to each place
  std::array<std::vector<int>, 2> parts;   // of a sum, one from each place; two sums alternate
  outcome result;                          // of the nodes of this place
};

using offices = apgas::place_local<office>;

}  // namespace imsuite
