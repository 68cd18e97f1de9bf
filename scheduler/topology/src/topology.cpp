// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <span>

#include <fmt/format.h>
#include <hwloc.h>
#include <sched.h>

#include "cgroup_limits.hpp"
#include "topology.hpp"

namespace apgas::inline v0::scheduler {
namespace {

// The largest number of processors that Linux has been built for is 8192.
constexpr int most_processors = 65536;

struct free_set {
  void operator()(cpu_set_t* set) const noexcept { CPU_FREE(set); }
};
using processor_set = std::unique_ptr<cpu_set_t, free_set>;

// Includes the processors that a cpuset forbids, because all places of a host must see the same
// hardware, whatever their cpusets allow. Returns null on failure.
hwloc_topology* load_topology() {
  hwloc_topology_t made = nullptr;
  if (hwloc_topology_init(&made) != 0) return nullptr;
  hwloc_topology_set_flags(made, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  if (hwloc_topology_load(made) == 0) return made;
  hwloc_topology_destroy(made);
  return nullptr;
}

// Loaded at the first call, and kept until the process ends.
hwloc_topology* host_topology() {
  static hwloc_topology* const loaded = load_topology();
  return loaded;
}

// FNV-1a, 64 bits.
std::uint64_t hash_of(const std::vector<logical_processor>& processors) {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&hash](int value) {
    hash = (hash ^ static_cast<std::uint64_t>(value)) * 0x100000001b3;
  };
  for (const logical_processor& each : processors) {
    add(each.number);
    add(each.core);
  }
  return hash;
}

// Returns nothing if the kernel does not tell. It refuses a set that is smaller than its own, so
// larger and larger sets are tried.
std::vector<int> known_processors_of(pid_t thread) {
  std::vector<int> processors;
  for (int count = CPU_SETSIZE; count <= most_processors; count *= 2) {
    const std::size_t bytes = CPU_ALLOC_SIZE(count);
    const processor_set set(CPU_ALLOC(count));
    if (set == nullptr) break;
    CPU_ZERO_S(bytes, set.get());
    if (sched_getaffinity(thread, bytes, set.get()) != 0) {
      if (errno == EINVAL) continue;
      break;
    }
    for (int i = 0; i < count; ++i) {
      if (CPU_ISSET_S(static_cast<std::size_t>(i), bytes, set.get())) processors.push_back(i);
    }
    break;
  }
  return processors;
}

}  // namespace

std::vector<int> processors_of_thread(pid_t thread) {
  std::vector<int> processors = known_processors_of(thread);
  if (processors.empty()) processors.push_back(0);
  return processors;
}

std::vector<logical_processor> processors_in(hwloc_topology* topology) {
  std::vector<logical_processor> processors;
  hwloc_obj_t each = nullptr;
  while ((each = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, each)) != nullptr) {
    const hwloc_obj* const core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, each);
    const unsigned index = core != nullptr ? core->logical_index : each->logical_index;
    processors.push_back(
        {.number = static_cast<int>(each->os_index), .core = static_cast<int>(index)});
  }
  return processors;
}

const std::vector<logical_processor>& processors_of_host() {
  static const std::vector<logical_processor> processors = host_topology() == nullptr
                                                               ? std::vector<logical_processor>{}
                                                               : processors_in(host_topology());
  return processors;
}

base::place_cores cores_of_process(const base::settings& settings) {
  return {.processors = processors_of_thread(0),
          .limits = cgroup_limits(),
          .workers = settings.workers,
          .binds = settings.bind != base::bind_choice::none,
          .hardware = hash_of(processors_of_host())};
}

nearness::nearness(const std::vector<int>& processors) : nearness(processors, host_topology()) {}

nearness::nearness(const std::vector<int>& processors, hwloc_topology* host)
    : count_(processors.size()), depths_(count_ * count_, 0) {
  if (host == nullptr) return;
  std::vector<hwloc_obj_t> objects;
  objects.reserve(count_);
  for (const int p : processors) {
    objects.push_back(hwloc_get_pu_obj_by_os_index(host, static_cast<unsigned>(p)));
  }
  for (std::size_t a = 0; a < count_; ++a) {
    for (std::size_t b = 0; b < count_; ++b) {
      if (objects[a] == nullptr || objects[b] == nullptr) continue;
      depths_[a * count_ + b] = hwloc_get_common_ancestor_obj(host, objects[a], objects[b])->depth;
    }
  }
}

bool has_numa_domains() {
  hwloc_topology* const host = host_topology();
  return host != nullptr && hwloc_get_nbobjs_by_type(host, HWLOC_OBJ_NUMANODE) > 1;
}

namespace {

void run_on(std::span<const int> processors) noexcept {
  const int count = std::ranges::max(processors) + 1;
  const processor_set set(CPU_ALLOC(count));
  if (set == nullptr) return;
  const std::size_t bytes = CPU_ALLOC_SIZE(count);
  CPU_ZERO_S(bytes, set.get());
  for (const int each : processors) CPU_SET_S(static_cast<std::size_t>(each), bytes, set.get());
  sched_setaffinity(0, bytes, set.get());
}

}  // namespace

void bind_thread(int processor) noexcept { run_on({&processor, 1}); }

stay_on::stay_on(int processor) : before_(known_processors_of(0)) {
  if (!before_.empty()) bind_thread(processor);
}

stay_on::~stay_on() {
  if (!before_.empty()) run_on(before_);
}

int allowed_processors() {
  hwloc_topology* const host = host_topology();
  const int allowed =
      host == nullptr ? 1 : hwloc_bitmap_weight(hwloc_topology_get_allowed_cpuset(host));
  return std::max(1, allowed);
}

int usable_cores() {
  const base::place_cores mine = cores_of_process({});
  const base::place_cores* const places[] = {&mine};
  return divide_cores(processors_of_host(), places)[0].workers;
}

std::string topology_description() {
  hwloc_topology* const host = host_topology();
  if (host == nullptr) return "unknown";
  const auto count = [host](hwloc_obj_type_t type) { return hwloc_get_nbobjs_by_type(host, type); };
  return fmt::format("{} of {} processors usable, {} cores, {} packages, {} NUMA nodes",
                     processors_of_thread(0).size(), count(HWLOC_OBJ_PU), count(HWLOC_OBJ_CORE),
                     count(HWLOC_OBJ_PACKAGE), count(HWLOC_OBJ_NUMANODE));
}

}  // namespace apgas::inline v0::scheduler
