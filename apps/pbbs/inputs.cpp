// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <string>

#include "pbbs/inputs.hpp"
#include "support/memory.hpp"

namespace pbbs {

namespace {

// At most, while a graph of n vertices is made, with its arcs, and later with the arrays of a
// kernel. Each was counted from the types of the arrays.
constexpr double bytes_of_sequences = 50;
constexpr double bytes_of_graphs = 200;

// Vertices and edges have numbers of 32 bits.
constexpr std::int64_t most_vertices = 500'000'000;

template <class Names>
bool contains(const Names& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

bool takes_graph(const std::string& kernel) { return contains(kernels_of_graphs, kernel); }

std::string wrong_input(const std::string& kernel, const std::string& input, std::int64_t n) {
  const bool graph = takes_graph(kernel);
  if (graph && !contains(graphs, input)) {
    return "--input " + input + ": " + kernel + " needs a graph; choose rmat, grid3d or local";
  }
  if (!graph && !contains(sequences, input)) {
    return "--input " + input + ": " + kernel +
           " needs a sequence; choose random, exponential or trigrams";
  }
  if (graph && n > most_vertices) {
    return "-n " + std::to_string(n) + ": a graph has at most " + std::to_string(most_vertices) +
           " vertices; choose a smaller -n";
  }
  const double needed = static_cast<double>(n) * (graph ? bytes_of_graphs : bytes_of_sequences);
  const std::string problem = apps::beyond_memory(needed);
  return problem.empty() ? ""
                         : "-n " + std::to_string(n) + ": " + problem + "; choose a smaller -n";
}

}  // namespace pbbs
