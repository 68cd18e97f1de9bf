// SPDX-License-Identifier: Apache-2.0
#include "imsuite/solve_over_places.hpp"

namespace imsuite {
namespace {

// The solution for this place's own nodes.
outcome part_here(offices all) {
  const office& mine = *all;
  const int here = apgas::here().id();
  outcome part = {
      {}, mine.result.seconds, mine.result.rounds, mine.result.phases, mine.result.messages};
  for (int node = mine.whose.first(here); node < mine.whose.end(here); ++node) {
    part.found.of_node.push_back(mine.result.found.of_node[node]);
    if (mine.result.found.children.size() > 0) {
      part.found.children.push_back(mine.result.found.children[node]);
    }
  }
  return part;
}

}  // namespace

outcome solve_at_all(const input& in, void (*start)(offices)) {
  const offices all =
      offices::make(apgas::places(), [](input& copy) { return office(std::move(copy)); }, in);
  start(all);
  outcome whole;
  for (const apgas::place p : apgas::places()) {
    const outcome part = apgas::at(p, [](offices there) { return part_here(there); }, all);
    for (const int number : part.found.of_node) whole.found.of_node.push_back(number);
    for (const auto& nodes : part.found.children) whole.found.children.push_back(nodes);
    if (p == apgas::here()) whole.seconds = part.seconds;
    whole.rounds = part.rounds;  // the same at all places
    whole.phases += part.phases;
    whole.messages += part.messages;
  }
  all.destroy();
  return whole;
}

}  // namespace imsuite
