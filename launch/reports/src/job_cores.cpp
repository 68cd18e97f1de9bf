// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include <apgas/scheduler/cores.hpp>

#include "alike_hosts.hpp"
#include "job_cores.hpp"

namespace apgas::inline v0::launch {
namespace {

constexpr std::size_t most_groups = 8;

// Whether these are hardware threads of one core. A processor that the topology lacks counts as a
// core of its own.
bool is_one_core(const std::vector<int>& processors) {
  std::set<int> cores;
  for (const int number : processors) {
    const auto& all = scheduler::processors_of_host();
    const auto found = std::ranges::find(all, number, &scheduler::logical_processor::number);
    cores.insert(found == all.end() ? -1 - number : found->core);
  }
  return cores.size() == 1;
}

}  // namespace

job_cores::job_cores(comm::endpoint& network) : cores_(network.take_cores()) {
  mine_.host = network.host(network.here());
  for (comm::rank r = 0; r < network.size(); ++r) {
    host_of_rank_.push_back(network.host(r));
    if (host_of_rank_.back() != mine_.host) continue;
    if (r == network.here()) index_ = mine_.places.size();
    mine_.places.push_back(r);
    mine_.cores.push_back(cores_[static_cast<std::size_t>(r)].get());
  }
  mine_.shares = scheduler::divide_cores(scheduler::processors_of_host(), mine_.cores);
}

std::optional<std::string> job_cores::idle_cores() const {
  if (index_ != 0) return std::nullopt;
  std::set<int> used;
  for (const base::place_cores* place : mine_.cores) {
    if (place->workers != 0 || !is_one_core(place->processors)) return std::nullopt;
    used.insert(place->processors.begin(), place->processors.end());
  }
  if (scheduler::allowed_processors() <= static_cast<int>(used.size())) return std::nullopt;
  if (mine_.places.size() == 1) {
    const int workers = mine().workers;
    return fmt::format(
        "the launcher bound this place to one core, so it has {} worker{}; mpirun --bind-to none "
        "gives it the others",
        workers == 1 ? "one" : fmt::to_string(workers), workers == 1 ? "" : "s");
  }
  return fmt::format(
      "the launcher bound each of the {} places on {} to one core, and other cores of the host are "
      "idle; mpirun --bind-to none lets the places divide all cores",
      mine_.places.size(), mine_.host);
}

std::vector<std::string> job_cores::description() const {
  if (index_ != 0) return {};
  const auto groups = alike_hosts(cores_, host_of_rank_);
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < std::min(groups.size(), most_groups); ++i) {
    if (groups[i][0] != mine_.host) continue;
    lines = core_lines(mine_, scheduler::processors_of_host());
    if (groups[i].size() > 1) lines.push_back(others_alike(groups[i]));
  }
  if (mine_.places[0] == 0 && groups.size() > most_groups) {
    lines.push_back(fmt::format("{} more groups of hosts divide other cores, or in other ways",
                                groups.size() - most_groups));
  }
  return lines;
}

}  // namespace apgas::inline v0::launch
