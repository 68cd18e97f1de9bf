// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include <apgas/comm/rank_ranges.hpp>

#include "core_lines.hpp"

namespace apgas::inline v0::launch {
namespace {

constexpr std::size_t most_lines = 8;
constexpr unsigned millicores = 1000;

// Returns a count with its noun, such as "1 core" or "3 cores".
std::string count_of(std::size_t n, const std::string& singular) {
  return fmt::format("{} {}{}", n, singular, n == 1 ? "" : "s");
}

// Names places, as in "place 2", "places 0 and 2" or "places 0-3,7".
std::string names_of(const std::vector<comm::rank>& places) {
  if (places.size() == 1) return fmt::format("place {}", places[0]);
  if (places.size() == 2) return fmt::format("places {} and {}", places[0], places[1]);
  return fmt::format("places {}", comm::rank_ranges(places));
}

bool overlap(const base::place_cores& a, const base::place_cores& b) {
  if (&a == &b) return true;
  auto i = a.processors.begin();
  auto j = b.processors.begin();
  while (i != a.processors.end() && j != b.processors.end()) {
    if (*i == *j) return true;
    if (*i < *j) {
      ++i;
    } else {
      ++j;
    }
  }
  return false;
}

bool in_group(const base::place_cores& place, std::uint64_t cgroup) {
  return std::ranges::any_of(place.limits,
                             [cgroup](const auto& limit) { return limit.cgroup == cgroup; });
}

// The facts about a place, apart from its name.
struct about_place {
  std::vector<int> mask;
  int workers = 0;
  std::vector<int> bound_to;                   // only where it is not the whole mask
  std::vector<comm::rank> sharing = {};        // others with processors of its mask
  std::vector<comm::rank> on_same_cores = {};  // others with hardware threads of its cores
  std::uint32_t limit = 0;                     // in millicores; 0: it has none that matters
  std::vector<comm::rank> sharing_limit = {};
  bool oversubscribed = false;
};

class writer {
 public:
  writer(const host_places& all, const std::vector<scheduler::logical_processor>& hardware)
      : all_(all) {
    std::set<int> cores;
    for (const auto& each : hardware) {
      core_of_[each.number] = each.core;
      cores.insert(each.core);
    }
    if (cores.size() < hardware.size()) noun_ = "hardware thread";
  }

  std::vector<std::string> lines() const {
    std::vector<about_place> about;
    about.reserve(all_.places.size());
    for (std::size_t i = 0; i < all_.places.size(); ++i) about.push_back(look_at(i));
    if (about.size() <= most_lines) return a_line_each(about);
    std::vector<std::string> lines;
    std::vector<bool> said(about.size(), false);
    for (std::size_t i = 0; i < about.size(); ++i) {
      if (said[i]) continue;
      const std::vector<std::size_t> group = alike(about, i);
      const auto left = static_cast<std::size_t>(std::ranges::count(said, false));
      if (lines.size() + 1 == most_lines && left > group.size()) {
        lines.push_back(
            fmt::format("{} more place{} on {}", left, left == 1 ? "" : "s", all_.host));
        break;
      }
      for (const std::size_t each : group) said[each] = true;
      lines.push_back(line(about, group));
    }
    return lines;
  }

 private:
  about_place look_at(std::size_t i) const {
    const base::place_cores& mine = *all_.cores[i];
    const scheduler::core_share& share = all_.shares[i];
    about_place about{.mask = mine.processors,
                      .workers = share.workers,
                      .bound_to = share.bound_to,
                      .oversubscribed = share.oversubscribed};
    std::ranges::sort(about.bound_to);
    if (about.bound_to == about.mask) about.bound_to.clear();
    if (!mine.limits.empty() && mine.limits[0].millicores < millicores * mine.processors.size()) {
      about.limit = mine.limits[0].millicores;
    }
    const std::set<int> cores = cores_of(mine);
    for (std::size_t j = 0; j < all_.places.size(); ++j) {
      if (j == i) continue;
      const base::place_cores& other = *all_.cores[j];
      if (overlap(mine, other)) {
        about.sharing.push_back(all_.places[j]);
      } else if (std::ranges::any_of(other.processors,
                                     [&](int p) { return cores.contains(core_of(p)); })) {
        about.on_same_cores.push_back(all_.places[j]);
      }
      if (about.limit != 0 && in_group(other, mine.limits[0].cgroup)) {
        about.sharing_limit.push_back(all_.places[j]);
      }
    }
    return about;
  }

  // Unknown processors are cores of their own, as in the division.
  int core_of(int processor) const {
    const auto found = core_of_.find(processor);
    return found == core_of_.end() ? -1 - processor : found->second;
  }
  std::set<int> cores_of(const base::place_cores& place) const {
    std::set<int> cores;
    for (const int p : place.processors) cores.insert(core_of(p));
    return cores;
  }

  // The places, from `first` on, that one line can describe.
  static std::vector<std::size_t> alike(const std::vector<about_place>& about, std::size_t first) {
    const about_place& a = about[first];
    const bool alone = a.sharing.empty() && a.on_same_cores.empty() && a.sharing_limit.empty();
    std::vector<std::size_t> group;
    for (std::size_t i = first; i < about.size(); ++i) {
      const about_place& b = about[i];
      const bool same_numbers = a.workers == b.workers && a.oversubscribed == b.oversubscribed &&
                                a.limit == b.limit && a.mask.size() == b.mask.size();
      const bool same_way =
          alone ? b.sharing.empty() && b.on_same_cores.empty() && b.sharing_limit.empty()
                : a.mask == b.mask && a.sharing.size() == b.sharing.size() &&
                      a.sharing_limit.size() == b.sharing_limit.size();
      if (i == first || (same_numbers && same_way)) group.push_back(i);
    }
    return group;
  }

  std::vector<std::string> a_line_each(const std::vector<about_place>& about) const {
    std::vector<std::string> lines;
    lines.reserve(about.size());
    for (std::size_t i = 0; i < about.size(); ++i) lines.push_back(line(about, {i}));
    return lines;
  }

  std::string line(const std::vector<about_place>& about,
                   const std::vector<std::size_t>& group) const {
    const about_place& first = about[group[0]];
    std::vector<comm::rank> names;
    std::set<int> masks;
    for (const std::size_t i : group) {
      names.push_back(all_.places[i]);
      masks.insert(about[i].mask.begin(), about[i].mask.end());
    }
    const bool several = group.size() > 1;
    const std::string numbers = comm::rank_ranges({masks.begin(), masks.end()});
    std::string text = fmt::format("{} on {}: ", names_of(names), all_.host);
    if (masks.size() == first.mask.size()) {
      text += fmt::format("{}{} {}", noun_, masks.size() == 1 ? "" : "s", numbers);
    } else {
      text += fmt::format("{} each of {}", count_of(first.mask.size(), noun_), numbers);
    }
    text += fmt::format(", {}{}", count_of(static_cast<std::size_t>(first.workers), "worker"),
                        several ? " each" : "");
    if (!several && !first.bound_to.empty()) {
      text += fmt::format(" on {}", comm::rank_ranges(first.bound_to));
    }
    text += fmt::format(", shared {}", sharing(first.sharing, names));
    if (!first.on_same_cores.empty()) {
      text += fmt::format("; {} {} other hardware threads of the same cores",
                          names_of(first.on_same_cores),
                          first.on_same_cores.size() == 1 ? "has" : "have");
    }
    if (first.limit != 0) {
      text += fmt::format(
          "; CPU limit of {:g} core{}, shared {}", static_cast<double>(first.limit) / millicores,
          first.limit == millicores ? "" : "s", sharing(first.sharing_limit, names));
    }
    if (first.oversubscribed) text += "; there are more workers than cores";
    return text;
  }

  // `others`: the places that share with the first place of `group`.
  static std::string sharing(const std::vector<comm::rank>& others,
                             const std::vector<comm::rank>& group) {
    std::vector<comm::rank> outside;
    std::ranges::set_difference(others, group, std::back_inserter(outside));
    const bool among = group.size() > 1 && !others.empty();
    if (outside.empty()) return among ? "among them" : "with no other place";
    return fmt::format("{}with {}", among ? "among them and " : "", names_of(outside));
  }

  const host_places& all_;
  std::map<int, int> core_of_;
  std::string noun_ = "core";
};

}  // namespace

std::vector<std::string> core_lines(const host_places& all,
                                    const std::vector<scheduler::logical_processor>& hardware) {
  return writer(all, hardware).lines();
}

}  // namespace apgas::inline v0::launch
