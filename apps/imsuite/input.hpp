// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a kernel works on, and the text files it is kept in. A file is the number of nodes followed
// by sections, one item per line; a kernel's layout says which. So there is one reader, one writer
// and one generator for all kernels.

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
  links,            // a row of '0' and '1' per node: its neighbours
  connected_links,  // the same; every node can be reached from every other
  separator,        // a line that is one space
  ids,              // a number per node, no two alike
  weights,          // rows x columns numbers: the weight of each edge; the others mean nothing
  votes,            // one row: '0' or '1' per node
  traitors,         // nodes, as many as traitors_among()
  parents,          // a node per node: towards the root, which is its own; the links are that tree
};

using layout = std::array<section, 6>;

struct input {
  int nodes = 0;
  int root = 0;
  int committee_size = 0;
  graph links;
  per_node<int> ids;
  std::vector<int> weights;  // beside the edges of `links`
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

// The agreement that byzantine reaches needs fewer traitors than an eighth.
constexpr int traitors_among(int nodes) { return std::max(0, nodes / 8 - 1); }

// A file that is not what the layout says. One line: file, line, what was wanted and found.
class input_error : public std::runtime_error {
 public:
  using runtime_error::runtime_error;
};

// Throws: input_error.
input read_input(const std::string& path, const layout& sections, int most_nodes);
void write_input(const std::string& path, const layout& sections, const input& in);

enum class shape { sparse, tree, chain };

// A random network and random numbers for it; the same ones for the same seed. `sparse` has some
// nodes with very many neighbours and a small diameter, as have the inputs of the suite.
input generate_input(const layout& sections, shape s, int nodes, std::uint64_t seed);

}  // namespace imsuite
