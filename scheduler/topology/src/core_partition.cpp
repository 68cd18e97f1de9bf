// SPDX-License-Identifier: Apache-2.0
#include <apgas/scheduler/core_partition.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include <apgas/base/assert.hpp>

#include "even_division.hpp"

namespace apgas::inline v0::scheduler {
namespace {

using places_of_host = std::span<const base::place_cores* const>;

constexpr int most_workers = 1024;  // the limit of APGAS_WORKERS

// Returns all processors of the masks, in the order of the hardware.
std::vector<logical_processor> processors_in_use(const std::vector<logical_processor>& host,
                                                 places_of_host places) {
  std::set<int> left;
  for (const base::place_cores* place : places) {
    left.insert(place->processors.begin(), place->processors.end());
  }
  std::vector<logical_processor> used;
  int cores = 0;
  const bool same_view = std::ranges::all_of(
      places, [&](const auto* place) { return place->hardware == places[0]->hardware; });
  for (const logical_processor& each : host) {
    cores = std::max(cores, each.core + 1);
    if (same_view && left.erase(each.number) != 0) used.push_back(each);
  }
  for (const int number : left) used.push_back({.number = number, .core = cores++});
  return used;
}

// A cgroup with a limit, and the indices of the places in it.
struct limited_group {
  std::uint32_t millicores = 0;
  std::vector<int> places;

  int cores() const { return static_cast<int>(millicores / 1000); }
};

std::vector<limited_group> limited_groups(places_of_host places) {
  std::map<std::uint64_t, limited_group> groups;
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (const base::cpu_limit& limit : places[i]->limits) {
      limited_group& group = groups[limit.cgroup];
      const bool first = group.places.empty();
      group.millicores = first ? limit.millicores : std::min(group.millicores, limit.millicores);
      group.places.push_back(static_cast<int>(i));
    }
  }
  std::vector<limited_group> all;
  all.reserve(groups.size());
  for (auto& [cgroup, group] : groups) all.push_back(std::move(group));
  return all;
}

// Returns how many processors each place can keep busy within its limits (R3).
std::vector<int> allowed_by(const std::vector<limited_group>& groups, std::size_t places) {
  std::vector<int> allowed(places, unlimited);
  for (const limited_group& group : groups) {
    const int members = static_cast<int>(group.places.size());
    for (int i = 0; i < members; ++i) {
      const int share = group.cores() / members + (i < group.cores() % members ? 1 : 0);
      int& here = allowed[at(group.places[at(i)])];
      here = std::min(here, std::max(1, share));
    }
  }
  return allowed;
}

// Groups the processors that are in the masks of the same places. Pools with the fewest places come
// first: if these are handed out first, even_division has little to move later.
std::vector<pool> pools_of(const std::vector<logical_processor>& processors,
                           places_of_host places) {
  std::map<int, std::vector<int>> places_with;  // by the number of the processor
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (const int number : places[i]->processors) {
      places_with[number].push_back(static_cast<int>(i));
    }
  }
  std::map<std::vector<int>, std::size_t> known;
  std::vector<pool> pools;
  for (std::size_t i = 0; i < processors.size(); ++i) {
    std::vector<int>& users = places_with[processors[i].number];
    const auto [found, is_new] = known.try_emplace(users, pools.size());
    if (is_new) pools.emplace_back();
    pool& of = pools[found->second];
    if (is_new) {
      of.places = users;
      of.given.resize(users.size(), 0);
    }
    of.processors.push_back(static_cast<int>(i));
    ++of.left;
  }
  std::ranges::stable_sort(pools, {}, [](const pool& each) { return each.places.size(); });
  return pools;
}

// Returns the processors of each place, as indices in the order of the hardware.
std::vector<std::vector<int>> assign(const std::vector<pool>& pools, std::size_t places) {
  std::vector<std::vector<int>> owned(places);
  for (const pool& each : pools) {
    auto next = each.processors.begin();
    for (std::size_t i = 0; i < each.places.size(); ++i) {
      std::vector<int>& mine = owned[at(each.places[i])];
      mine.insert(mine.end(), next, next + each.given[i]);
      next += each.given[i];
    }
  }
  for (std::vector<int>& each : owned) std::ranges::sort(each);
  return owned;
}

// Orders processors so that the first hardware threads of all cores come first, then the second
// ones, and so on.
std::vector<int> spread_over_cores(const std::vector<logical_processor>& processors,
                                   const std::vector<int>& owned) {
  std::map<int, int> threads;  // of each core so far
  std::vector<std::pair<int, int>> order;
  order.reserve(owned.size());
  for (const int i : owned) order.emplace_back(threads[processors[at(i)].core]++, i);
  std::ranges::sort(order);
  std::vector<int> numbers;
  numbers.reserve(order.size());
  for (const auto& [thread, i] : order) numbers.push_back(processors[at(i)].number);
  return numbers;
}

// Applies R6. The workers of an oversubscribed place are not bound and may run on all its
// processors, so a place that uses one of these is oversubscribed as well.
void find_oversubscribed(std::vector<core_share>& shares, places_of_host places,
                         const std::vector<limited_group>& groups) {
  std::set<int> crowded;  // processors
  std::vector<bool> counted(shares.size(), false);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      core_share& share = shares[i];
      if (counted[i]) continue;
      const auto is_crowded = [&](int number) { return crowded.contains(number); };
      const std::vector<int>& uses =
          share.bound_to.empty() ? places[i]->processors : share.bound_to;
      if (std::cmp_less_equal(share.workers, share.processors.size()) &&
          std::ranges::none_of(uses, is_crowded)) {
        continue;
      }
      counted[i] = changed = share.oversubscribed = true;
      share.bound_to.clear();
      crowded.insert(places[i]->processors.begin(), places[i]->processors.end());
    }
  }
  for (const limited_group& group : groups) {
    int workers = 0;
    for (const int place : group.places) workers += shares[at(place)].workers;
    if (workers <= std::max(1, group.cores())) continue;
    for (const int place : group.places) shares[at(place)].oversubscribed = true;
  }
}

}  // namespace

std::vector<core_share> divide_cores(const std::vector<logical_processor>& host,
                                     places_of_host places) {
  const std::vector<logical_processor> processors = processors_in_use(host, places);
  const std::vector<limited_group> groups = limited_groups(places);
  const std::vector<int> allowed = allowed_by(groups, places.size());
  std::vector<int> wanted = allowed;
  for (std::size_t i = 0; i < places.size(); ++i) {
    APGAS_ASSERT(!places[i]->processors.empty(), "a place runs on some processor");
    if (places[i]->workers != 0) wanted[i] = places[i]->workers;
  }
  const even_division division(pools_of(processors, places), std::move(wanted));
  const std::vector<std::vector<int>> owned = assign(division.pools(), places.size());
  std::vector<core_share> shares(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    core_share& share = shares[i];
    const int own = static_cast<int>(owned[i].size());
    for (const int each : owned[i]) share.processors.push_back(processors[at(each)].number);
    share.workers = places[i]->workers;
    if (share.workers == 0) share.workers = std::clamp(std::min(own, allowed[i]), 1, most_workers);
    if (!places[i]->binds || share.workers > own || allowed[i] < own) continue;
    share.bound_to = spread_over_cores(processors, owned[i]);
    share.bound_to.resize(at(share.workers));
  }
  find_oversubscribed(shares, places, groups);
  return shares;
}

}  // namespace apgas::inline v0::scheduler
