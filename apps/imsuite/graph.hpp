// SPDX-License-Identifier: Apache-2.0
#pragma once

// Networks, and their distances as computed without a distributed algorithm.

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace imsuite {

// One T per node, indexed by the node. Not for bool, since neighbouring nodes are written
// concurrently.
template <class T>
class per_node {
 public:
  per_node() = default;
  explicit per_node(int nodes, const T& value = T())
      : values_(static_cast<std::size_t>(nodes), value) {}

  T& operator[](int node) { return values_[static_cast<std::size_t>(node)]; }
  const T& operator[](int node) const { return values_[static_cast<std::size_t>(node)]; }
  void push_back(const T& value) { values_.push_back(value); }
  [[nodiscard]] int size() const { return static_cast<int>(values_.size()); }
  auto begin() { return values_.begin(); }
  auto end() { return values_.end(); }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }

  bool operator==(const per_node&) const = default;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(values_);
  }

 private:
  std::vector<T> values_;
};

// An undirected network as adjacency lists. Each edge is stored twice, once at each end. Values
// that belong to edges are stored separately, in the order of the lists.
class graph {
 public:
  // Adds the neighbours of the next node, in ascending order. All lists together must be symmetric.
  void append_row(std::span<const int> neighbours) {
    ends_.insert(ends_.end(), neighbours.begin(), neighbours.end());
    first_.push_back(ends_.size());
  }

  [[nodiscard]] int nodes() const { return static_cast<int>(first_.size()) - 1; }
  [[nodiscard]] std::size_t edges() const { return ends_.size() / 2; }
  [[nodiscard]] std::size_t first_edge(int node) const {
    return first_[static_cast<std::size_t>(node)];
  }
  [[nodiscard]] std::span<const int> neighbours(int node) const {
    return std::span(ends_).subspan(first_edge(node), first_edge(node + 1) - first_edge(node));
  }
  [[nodiscard]] bool linked(int a, int b) const {
    return std::ranges::binary_search(neighbours(a), b);
  }

  bool operator==(const graph&) const = default;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(first_, ends_);
  }

 private:
  std::vector<std::size_t> first_ = {0};
  std::vector<int> ends_;
};

inline constexpr int unreachable = -1;

// The number of hops from `from` to each node.
per_node<int> distances(const graph& g, int from);

// The largest distance from `from`. Requires: the network is connected.
int eccentricity(const graph& g, int from);

// The largest distance between any two nodes.
int diameter(const graph& g);

}  // namespace imsuite
