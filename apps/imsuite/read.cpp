// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <limits>
#include <set>

#include "imsuite/check.hpp"
#include "imsuite/input.hpp"
#include "imsuite/lines.hpp"

namespace imsuite {
namespace {

graph read_links(lines& file, int nodes) {
  graph links;
  // Neighbours of each node with a smaller number than the current line.
  per_node<std::size_t> seen(nodes, 0);
  std::vector<int> neighbours;
  for (int node = 0; node < nodes; ++node) {
    const std::string& row = file.bits("the neighbours of " + node_name(node), nodes);
    neighbours.clear();
    for (int other = 0; other < nodes; ++other) {
      const bool linked = row[static_cast<std::size_t>(other)] == '1';
      if (linked) neighbours.push_back(other);
      if (other > node) continue;
      if (other == node) {
        if (linked)
          file.refuse("'0' on the diagonal", "an edge of " + node_name(node) + " to itself");
        seen[node] = neighbours.size();
        continue;
      }
      const auto theirs = links.neighbours(other);
      const bool said = seen[other] < theirs.size() && theirs[seen[other]] == node;
      if (said) ++seen[other];
      if (said != linked) {
        file.refuse("a symmetric matrix", std::string(linked ? "'1'" : "'0'") + " for " +
                                              node_name(other) + ", whose row says otherwise");
      }
    }
    links.append_row(neighbours);
  }
  return links;
}

void demand_connected(const lines& file, const graph& links) {
  const per_node<int> hops = distances(links, 0);
  for (int node = 0; node < links.nodes(); ++node) {
    if (hops[node] == unreachable) {
      file.refuse("a connected graph", node_name(node) + " that cannot be reached from node 0");
    }
  }
}

per_node<int> read_ids(lines& file, int nodes) {
  per_node<int> ids;
  std::set<int> used;
  for (int node = 0; node < nodes; ++node) {
    ids.push_back(file.integer("the id of " + node_name(node), 0, largest_id));
    if (!used.insert(ids[node]).second) {
      file.refuse("an id that no other node has", std::to_string(ids[node]) + " again");
    }
  }
  return ids;
}

std::vector<int> read_weights(lines& file, const graph& links) {
  std::vector<int> weights;
  for (int from = 0; from < links.nodes(); ++from) {
    for (int to = 0; to < links.nodes(); ++to) {
      const int weight = file.integer("a weight", 0, std::numeric_limits<int>::max());
      if (!links.linked(from, to)) continue;
      weights.push_back(weight);
      if (to > from) continue;
      const auto theirs = links.neighbours(to);
      const auto back = std::ranges::lower_bound(theirs, from) - theirs.begin();
      const int said = weights[links.first_edge(to) + static_cast<std::size_t>(back)];
      if (said != weight) {
        file.refuse(std::to_string(said) + ", the weight of the edge between " + node_name(to) +
                        " and " + node_name(from),
                    std::to_string(weight));
      }
    }
  }
  return weights;
}

std::vector<int> read_traitors(lines& file, int nodes) {
  std::vector<int> traitors;
  for (int i = 0; i < traitors_among(nodes); ++i) {
    const int traitor = file.integer("a traitor", 0, nodes - 1);
    if (std::ranges::find(traitors, traitor) != traitors.end()) {
      file.refuse("another traitor", std::to_string(traitor) + " again");
    }
    traitors.push_back(traitor);
  }
  return traitors;
}

per_node<int> read_parents(lines& file, const input& in) {
  if (in.links.edges() + 1 != static_cast<std::size_t>(in.nodes)) {
    file.refuse("a tree of " + std::to_string(in.nodes - 1) + " edges",
                std::to_string(in.links.edges()) + " edges");
  }
  const per_node<int> hops = distances(in.links, in.root);
  per_node<int> parents;
  for (int node = 0; node < in.nodes; ++node) {
    const int parent = file.integer("the parent of " + node_name(node), 0, in.nodes - 1);
    const bool right = node == in.root
                           ? parent == node
                           : in.links.linked(node, parent) && hops[parent] == hops[node] - 1;
    if (!right) {
      file.refuse("the neighbour of " + node_name(node) + " towards the root, or the root itself",
                  std::to_string(parent));
    }
    parents.push_back(parent);
  }
  return parents;
}

void read_section(lines& file, section s, input& in) {
  switch (s) {
    case section::end:
      return;
    case section::root:
      in.root = file.integer("the root", 0, in.nodes - 1);
      return;
    case section::committee_size:
      in.committee_size = file.integer("the size of a committee", 1, in.nodes);
      return;
    case section::links:
      in.links = read_links(file, in.nodes);
      return;
    case section::connected_links:
      in.links = read_links(file, in.nodes);
      return demand_connected(file, in.links);
    case section::separator:
      return file.separator();
    case section::ids:
      in.ids = read_ids(file, in.nodes);
      return;
    case section::weights:
      in.weights = read_weights(file, in.links);
      return;
    case section::votes:
      for (const char vote : file.bits("the votes", in.nodes)) in.votes.push_back(vote - '0');
      return;
    case section::traitors:
      in.traitors = read_traitors(file, in.nodes);
      return;
    case section::parents:
      in.parents = read_parents(file, in);
      return;
  }
}

}  // namespace

input read_input(const std::string& path, const layout& sections, int most_nodes) {
  lines file(path);
  input in;
  in.nodes = file.integer("the number of nodes", 1, most_nodes);
  for (const section s : sections) read_section(file, s, in);
  file.end();
  return in;
}

}  // namespace imsuite
