// SPDX-License-Identifier: Apache-2.0
#pragma once

// The input of a kernel, and the text file that stores it. A file consists of the number of nodes
// and of sections, one item per line; the layout of a kernel lists its sections. So there is one
// reader, one writer and one generator for all kernels.

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "imsuite/graph.hpp"

namespace imsuite {

enum class section {
  end,              // no further section
  root,             // a node
  committee_size,   // a number of nodes
  links,            // a line of '0' and '1' per node: its neighbours
  connected_links,  // the same; the network is connected
  separator,        // a line that is one space
  ids,              // a number per node, all different
  weights,          // n x n numbers: the weight of each edge; the others are ignored
  votes,            // one line: '0' or '1' per node
  traitors,         // nodes, as many as traitors_among()
  parents,          // a node per node: towards the root, which is its own; the links form that tree
};

using layout = std::array<section, 6>;

struct input {
  int nodes = 0;
  int root = 0;
  int committee_size = 0;
  graph links;
  per_node<int> ids;
  std::vector<int> weights;  // in the order of the edges of `links`
  per_node<int> votes;
  std::vector<int> traitors;
  per_node<int> parents;

  bool operator==(const input&) const = default;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(nodes, root, committee_size, links, ids, weights, votes, traitors, parents);
  }
};

inline constexpr int largest_id = 2'147'483'646;

// byzantine reaches agreement only with fewer than an eighth of traitors.
constexpr int traitors_among(int nodes) { return std::max(0, nodes / 8 - 1); }

// A file that does not have the expected layout. The message is one line: file, line, what was
// wanted and what was found.
class input_error : public std::runtime_error {
 public:
  using runtime_error::runtime_error;
};

// Throws: input_error.
input read_input(const std::string& path, const layout& sections, int most_nodes);
void write_input(const std::string& path, const layout& sections, const input& in);

enum class shape { sparse, tree, chain };

// A random network and random numbers for it, determined by the seed. `sparse` has some nodes with
// very many neighbours and a small diameter, like the inputs of the suite.
input generate_input(const layout& sections, shape s, int nodes, std::uint64_t seed);

}  // namespace imsuite
