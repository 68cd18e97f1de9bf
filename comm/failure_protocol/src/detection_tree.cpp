// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include <apgas/comm/rank_ranges.hpp>

#include "detection_tree.hpp"

namespace apgas::inline v0::comm {

detection_tree::detection_tree(std::vector<std::string> names, const std::vector<std::string>& keys)
    : names_(std::move(names)) {
  std::unordered_map<std::string, rank> first;
  for (const std::string& key : keys) {
    leaders_.push_back(first.try_emplace(key, static_cast<rank>(leaders_.size())).first->second);
  }
}

bool detection_tree::one_host() const noexcept {
  return std::ranges::all_of(leaders_, [](rank leader) { return leader == 0; });
}

rank detection_tree::parent(rank place) const noexcept {
  if (place == 0) return -1;
  return is_leader(place) ? 0 : leader_of(place);
}

std::vector<rank> detection_tree::children(rank place) const {
  std::vector<rank> found;
  for (rank r = 1; r < size(); ++r) {
    if (r != place && parent(r) == place) found.push_back(r);
  }
  return found;
}

std::vector<rank> detection_tree::members_of_host(rank place) const {
  std::vector<rank> found;
  for (rank r = 0; r < size(); ++r) {
    if (same_host(r, place)) found.push_back(r);
  }
  return found;
}

std::string detection_tree::name(rank place) const {
  return fmt::format("place {} on {}", place, host(place));
}

std::string detection_tree::names(const std::vector<rank>& places) const {
  if (places.size() == 1) return name(places[0]);
  constexpr std::size_t most_hosts = 8;
  std::vector<rank> leaders;
  for (const rank place : places) {
    if (std::ranges::find(leaders, leader_of(place)) == leaders.end()) {
      leaders.push_back(leader_of(place));
    }
  }
  std::string text = "places ";
  for (std::size_t i = 0; i < std::min(leaders.size(), most_hosts); ++i) {
    std::vector<rank> there;
    std::ranges::copy_if(places, std::back_inserter(there),
                         [&](rank place) { return leader_of(place) == leaders[i]; });
    const bool last = i + 1 == leaders.size();
    text += fmt::format("{}{} on {}",
                        i == 0 ? ""
                        : last ? " and "
                               : ", ",
                        rank_ranges(there), host(leaders[i]));
  }
  if (leaders.size() > most_hosts) text += fmt::format(" and {} more", leaders.size() - most_hosts);
  return text;
}

}  // namespace apgas::inline v0::comm
