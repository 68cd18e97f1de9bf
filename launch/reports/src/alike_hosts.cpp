// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>

#include <fmt/format.h>

#include <apgas/comm/rank_ranges.hpp>

#include "alike_hosts.hpp"

namespace apgas::inline v0::launch {
namespace {

constexpr std::size_t most_names = 3;

// Builds a text that is equal for hosts that are alike. Cgroups are numbered in the order in which
// they occur, because their inodes differ between hosts.
class signature {
 public:
  void add(const base::place_cores& place) {
    text_ += fmt::format("{:x} {} {} {}", place.hardware, place.workers, place.binds,
                         comm::rank_ranges(place.processors));
    for (const base::cpu_limit& limit : place.limits) {
      const std::size_t number = cgroups_.try_emplace(limit.cgroup, cgroups_.size()).first->second;
      text_ += fmt::format(" {}:{}", number, limit.millicores);
    }
    text_ += '\n';
  }
  const std::string& text() const { return text_; }

 private:
  std::map<std::uint64_t, std::size_t> cgroups_;
  std::string text_;
};

}  // namespace

std::vector<std::vector<std::string>> alike_hosts(const comm::cores_by_rank& cores,
                                                  const std::vector<std::string>& host_of_rank) {
  std::vector<std::string> hosts;
  std::map<std::string, signature> signatures;
  for (std::size_t r = 0; r < host_of_rank.size(); ++r) {
    const auto [found, is_new] = signatures.try_emplace(host_of_rank[r]);
    if (is_new) hosts.push_back(host_of_rank[r]);
    found->second.add(*cores[r]);
  }
  std::map<std::string, std::size_t> group_with;
  std::vector<std::vector<std::string>> groups;
  for (const std::string& host : hosts) {
    const auto [found, is_new] = group_with.try_emplace(signatures.at(host).text(), groups.size());
    if (is_new) groups.emplace_back();
    groups[found->second].push_back(host);
  }
  return groups;
}

std::string others_alike(const std::vector<std::string>& group) {
  const std::size_t others = group.size() - 1;
  std::string text = fmt::format("the same on {} more host{}: ", others, others == 1 ? "" : "s");
  for (std::size_t i = 1; i <= std::min(others, most_names); ++i) {
    text += fmt::format("{}{}", i == 1 ? "" : ", ", group[i]);
  }
  if (others > most_names) text += fmt::format(" and {} more", others - most_names);
  return text;
}

}  // namespace apgas::inline v0::launch
