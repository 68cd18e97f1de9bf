// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <limits>
#include <ostream>
#include <span>

#include "imsuite/input.hpp"

namespace imsuite {
namespace {

void write_links(std::ostream& out, const graph& links) {
  for (int node = 0; node < links.nodes(); ++node) {
    std::string row(static_cast<std::size_t>(links.nodes()), '0');
    for (const int neighbour : links.neighbours(node))
      row[static_cast<std::size_t>(neighbour)] = '1';
    out << row << '\n';
  }
}

void write_weights(std::ostream& out, const input& in) {
  std::size_t next = 0;
  for (int from = 0; from < in.nodes; ++from) {
    for (int to = 0; to < in.nodes; ++to) {
      const bool linked = in.links.linked(from, to);
      out << (linked ? in.weights[next++] : std::numeric_limits<int>::max()) << '\n';
    }
  }
}

void write_each(std::ostream& out, const auto& values) {
  for (const int value : values) out << value << '\n';
}

void write_section(std::ostream& out, section s, const input& in) {
  switch (s) {
    case section::end:
      return;
    case section::root:
      out << in.root << '\n';
      return;
    case section::committee_size:
      out << in.committee_size << '\n';
      return;
    case section::links:
    case section::connected_links:
      return write_links(out, in.links);
    case section::separator:
      out << " \n";
      return;
    case section::ids:
      return write_each(out, in.ids);
    case section::weights:
      return write_weights(out, in);
    case section::votes:
      for (const int vote : in.votes) out << vote;
      out << '\n';
      return;
    case section::traitors:
      return write_each(out, in.traitors);
    case section::parents:
      return write_each(out, in.parents);
  }
}

}  // namespace

void write_input(const std::string& path, const layout& sections, const input& in) {
  std::ofstream out(path);
  out << in.nodes << '\n';
  for (const section s : sections) write_section(out, s, in);
  out.flush();
  if (!out) throw input_error(path + ": the input could not be written");
}

}  // namespace imsuite
