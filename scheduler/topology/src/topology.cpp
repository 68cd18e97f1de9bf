// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <hwloc.h>
#include <sched.h>

#include <apgas/scheduler/scheduler.hpp>

#include "topology.hpp"

namespace apgas::inline v0::scheduler {
namespace {

std::vector<int> affinity_mask() {
  std::vector<int> processors;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    for (int i = 0; i < CPU_SETSIZE; ++i) {
      if (CPU_ISSET(i, &set)) processors.push_back(i);
    }
  }
  if (processors.empty()) processors.push_back(0);
  return processors;
}

// Reads a quota of cgroup v2, such as "max 100000" or "200000 100000", and returns it in cores; -1
// if there is none.
double quota_v2(const std::string& file) {
  std::ifstream in(file);
  std::string quota;
  double period = 0;
  if (!(in >> quota >> period) || quota == "max" || period <= 0) return -1;
  return std::stod(quota) / period;
}

double quota_v1(const std::string& folder) {
  double quota = -1;
  double period = 0;
  std::ifstream(fmt::format("{}/cpu.cfs_quota_us", folder)) >> quota;
  std::ifstream(fmt::format("{}/cpu.cfs_period_us", folder)) >> period;
  return quota > 0 && period > 0 ? quota / period : -1;
}

// Returns the smallest quota of the control group of this process and the groups above it, in
// cores; -1 if there is none.
double smallest_quota() {
  double smallest = -1;
  auto consider = [&](double q) {
    if (q > 0 && (smallest < 0 || q < smallest)) smallest = q;
  };
  std::ifstream in("/proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    std::string id, controllers, path;
    std::getline(fields, id, ':');
    std::getline(fields, controllers, ':');
    std::getline(fields, path);
    const bool v2 = controllers.empty();
    if (!v2 && controllers.find("cpu") == std::string::npos) continue;
    for (std::string at = path;; at = at.substr(0, at.rfind('/'))) {
      if (at == "/") at.clear();
      consider(v2 ? quota_v2(fmt::format("/sys/fs/cgroup{}/cpu.max", at))
                  : quota_v1(fmt::format("/sys/fs/cgroup/cpu{}", at)));
      if (at.empty()) break;
    }
  }
  return smallest;
}

}  // namespace

topology::topology() : processors_(affinity_mask()) {
  const std::size_t n = processors_.size();
  nearness_.assign(n, std::vector<int>(n, 0));
  hwloc_topology_t hw = nullptr;
  if (hwloc_topology_init(&hw) != 0) return;
  if (hwloc_topology_load(hw) == 0) {
    std::vector<hwloc_obj_t> units;
    units.reserve(n);
    for (int p : processors_) {
      units.push_back(hwloc_get_pu_obj_by_os_index(hw, static_cast<unsigned>(p)));
    }
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = 0; b < n; ++b) {
        if (units[a] == nullptr || units[b] == nullptr) continue;
        nearness_[a][b] = hwloc_get_common_ancestor_obj(hw, units[a], units[b])->depth;
      }
    }
    description_ = fmt::format("{} of {} processors usable, {} cores, {} packages, {} NUMA nodes",
                               n, hwloc_get_nbobjs_by_type(hw, HWLOC_OBJ_PU),
                               hwloc_get_nbobjs_by_type(hw, HWLOC_OBJ_CORE),
                               hwloc_get_nbobjs_by_type(hw, HWLOC_OBJ_PACKAGE),
                               hwloc_get_nbobjs_by_type(hw, HWLOC_OBJ_NUMANODE));
  }
  hwloc_topology_destroy(hw);
}

int topology::nearness(int processor_a, int processor_b) const {
  auto index = [&](int p) {
    return static_cast<std::size_t>(std::ranges::find(processors_, p) - processors_.begin());
  };
  const std::size_t a = index(processor_a);
  const std::size_t b = index(processor_b);
  return a < nearness_.size() && b < nearness_.size() ? nearness_[a][b] : 0;
}

int cgroup_quota_cores() {
  const double quota = smallest_quota();
  return quota < 0 ? 0 : std::max(1, static_cast<int>(quota));
}

void bind_thread(int processor) noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(processor), &set);
  sched_setaffinity(0, sizeof set, &set);
}

int usable_cores() {
  const int in_mask = static_cast<int>(affinity_mask().size());
  const int quota = cgroup_quota_cores();
  return quota == 0 ? in_mask : std::min(in_mask, quota);
}

std::string topology_description() { return topology().description(); }

}  // namespace apgas::inline v0::scheduler
