// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <cstddef>
#include <fstream>
#include <limits>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "imsuite/input.hpp"

namespace imsuite {
namespace {

// A line as part of a message: short, and what does not print is a '?'.
std::string quoted(std::string_view text) {
  constexpr std::size_t longest = 24;
  std::string shown = "'";
  for (const char c : text.substr(0, longest)) shown += c >= ' ' && c <= '~' ? c : '?';
  return shown + (text.size() > longest ? "...'" : "'");
}

class lines {
 public:
  explicit lines(std::string path) : path_(std::move(path)), file_(path_) {
    if (!file_) throw input_error(path_ + ": wanted an input file, but it cannot be opened");
  }

  const std::string& next(std::string_view wanted) {
    ++number_;
    if (!std::getline(file_, line_)) refuse(wanted, "the end of the file");
    return line_;
  }

  int integer(std::string_view wanted, int low, int high) {
    const std::string& text = next(wanted);
    int value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc() || end != text.data() + text.size() || value < low || value > high) {
      refuse(std::string(wanted) + " from " + std::to_string(low) + " to " + std::to_string(high),
             quoted(text));
    }
    return value;
  }

  // One of '0' and '1' per node.
  const std::string& bits(std::string_view wanted, int nodes) {
    const std::string& text = next(wanted);
    const std::string row = std::string(wanted) + ", " + std::to_string(nodes) + " of '0' and '1'";
    if (text.size() != static_cast<std::size_t>(nodes)) {
      refuse(row, std::to_string(text.size()) + " characters");
    }
    const std::size_t wrong = text.find_first_not_of("01");
    if (wrong != std::string::npos) {
      refuse(row, quoted(text.substr(wrong, 1)) + " in column " + std::to_string(wrong + 1));
    }
    return text;
  }

  void separator() {
    const std::string& text = next("a line that is one space");
    if (text != " ") refuse("a line that is one space", quoted(text));
  }

  // Empty lines may follow.
  void end() {
    while (std::getline(file_, line_)) {
      ++number_;
      if (line_.find_first_not_of(" \r") != std::string::npos) {
        refuse("the end of the file", quoted(line_));
      }
    }
  }

  [[noreturn]] void refuse(std::string_view wanted, const std::string& found) const {
    throw input_error(path_ + ":" + std::to_string(number_) + ": wanted " + std::string(wanted) +
                      ", found " + found);
  }

 private:
  std::string path_;
  std::ifstream file_;
  std::string line_;
  long number_ = 0;
};

std::string node_name(int node) { return "node " + std::to_string(node); }

graph read_links(lines& file, int nodes) {
  graph links;
  per_node<std::size_t> seen(nodes, 0);  // neighbours of each node that are before the row read now
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
