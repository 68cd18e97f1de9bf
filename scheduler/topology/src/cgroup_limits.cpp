// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>

#include <sys/stat.h>

#include "cgroup_limits.hpp"

namespace apgas::inline v0::scheduler {
namespace {

constexpr double most_cores = 1e6;  // larger limits have no effect

// Returns how many cores a quota allows: the microseconds of CPU time in each period. There is no
// limit if the quota is not a number ("max") or not positive.
std::optional<double> cores_of(const std::string& quota, double period) {
  std::int64_t time = 0;
  const auto [end, error] = std::from_chars(quota.data(), quota.data() + quota.size(), time);
  if (error != std::errc() || time <= 0 || period <= 0) return std::nullopt;
  return std::min(static_cast<double>(time) / period, most_cores);
}

// The file has one line, such as "max 100000" or "200000 100000".
std::optional<double> limit_v2(const std::string& folder) {
  std::ifstream in(folder + "/cpu.max");
  std::string quota;
  double period = 0;
  if (!(in >> quota >> period)) return std::nullopt;
  return cores_of(quota, period);
}

std::optional<double> limit_v1(const std::string& folder) {
  std::string quota;
  double period = 0;
  std::ifstream(folder + "/cpu.cfs_quota_us") >> quota;
  std::ifstream(folder + "/cpu.cfs_period_us") >> period;
  return cores_of(quota, period);
}

// Returns the inode of the folder of a cgroup, which identifies it: the inode is the same in all
// namespaces and mounts, while paths differ (inside a container the path of its cgroup is /).
std::uint64_t identity_of(const std::string& folder) {
  struct stat found = {};
  return stat(folder.c_str(), &found) == 0 ? found.st_ino : 0;
}

// Whether a list of controllers, such as "cpu,cpuacct", contains cpu.
bool has_cpu(const std::string& controllers) {
  std::istringstream all(controllers);
  for (std::string each; std::getline(all, each, ',');) {
    if (each == "cpu") return true;
  }
  return false;
}

// A line of /proc/self/cgroup is "4:cpu,cpuacct:/path" for version 1 and "0::/path" for version 2.
struct membership {
  bool version_2 = false;
  std::string path;
};

std::optional<membership> parse(const std::string& line) {
  std::istringstream fields(line);
  std::string id, controllers, path;
  std::getline(fields, id, ':');
  std::getline(fields, controllers, ':');
  std::getline(fields, path);
  if (!controllers.empty() && !has_cpu(controllers)) return std::nullopt;
  return membership{.version_2 = controllers.empty(), .path = path == "/" ? "" : path};
}

}  // namespace

std::vector<base::cpu_limit> cgroup_limits(const std::string& root) {
  std::vector<base::cpu_limit> limits;
  std::ifstream in(root + "/proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const std::optional<membership> member = parse(line);
    if (!member) continue;
    const std::string mount = root + (member->version_2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/cpu");
    for (std::string path = member->path;; path = path.substr(0, path.rfind('/'))) {
      const std::string folder = mount + path;
      const auto cores = member->version_2 ? limit_v2(folder) : limit_v1(folder);
      if (cores) {
        limits.push_back({.cgroup = identity_of(folder),
                          .millicores = static_cast<std::uint32_t>(std::lround(*cores * 1000))});
      }
      if (path.empty()) break;
    }
  }
  std::ranges::stable_sort(limits, {}, &base::cpu_limit::millicores);
  return limits;
}

}  // namespace apgas::inline v0::scheduler
