// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include <apgas/comm/rank_ranges.hpp>

#include "host_list.hpp"

namespace apgas::inline v0::launch {
namespace {

constexpr std::size_t most_hosts = 8;

}  // namespace

std::string describe_hosts(const std::vector<std::string>& host_of_place) {
  std::vector<std::pair<std::string, std::vector<comm::rank>>> hosts;
  for (std::size_t place = 0; place < host_of_place.size(); ++place) {
    const std::string& name = host_of_place[place];
    auto host = std::ranges::find(hosts, name, [](const auto& each) { return each.first; });
    if (host == hosts.end()) host = hosts.insert(hosts.end(), {name, {}});
    host->second.push_back(static_cast<comm::rank>(place));
  }
  std::string text = fmt::format("on {} host{}:", hosts.size(), hosts.size() == 1 ? "" : "s");
  for (std::size_t i = 0; i < std::min(hosts.size(), most_hosts); ++i) {
    text += fmt::format("{} {} on {}", i == 0 ? "" : ",", comm::rank_ranges(hosts[i].second),
                        hosts[i].first);
  }
  if (hosts.size() > most_hosts) text += fmt::format(", {} more", hosts.size() - most_hosts);
  return text;
}

}  // namespace apgas::inline v0::launch
