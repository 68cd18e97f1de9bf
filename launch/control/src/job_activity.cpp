// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fstream>
#include <map>
#include <utility>

#include <sys/resource.h>
#include <unistd.h>

#include <apgas/async.hpp>
#include <apgas/at.hpp>
#include <apgas/finish.hpp>
#include <apgas/scheduler/inspection.hpp>

#include "job_activity.hpp"

namespace apgas::inline v0::launch {
namespace {

std::uint64_t resident_bytes() {
  std::uint64_t all = 0;
  std::uint64_t resident = 0;  // in pages
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

// The kernel notes the peak only now and then, so it may be less than what is resident now.
std::uint64_t peak_bytes(std::uint64_t resident) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return std::max(static_cast<std::uint64_t>(usage.ru_maxrss) << 10U, resident);  // it is in KiB
}

}  // namespace

place_activity activity_of(const sync::place_state& place) {
  using enum scheduler::worker_report::kind;
  const std::uint64_t resident = resident_bytes();
  place_activity activity{.report = remote::report_of(place),
                          .process = getpid(),
                          .memory_bytes = resident,
                          .memory_peak_bytes = peak_bytes(resident),
                          .queued = scheduler::queued_tasks(*place.task_scheduler),
                          .sites = {}};
  std::map<std::string, std::uint64_t> sites;
  for (scheduler::worker_report& worker : scheduler::what_workers_do(*place.task_scheduler)) {
    activity.asleep += worker.what == asleep ? 1 : 0;
    activity.searching += worker.what == searching ? 1 : 0;
    if (worker.what == running) ++sites[std::move(worker.spawned)];
  }
  for (auto& [site, workers] : sites) activity.sites.push_back({site, workers});
  std::ranges::stable_sort(activity.sites, std::ranges::greater{}, &busy_site::workers);
  return activity;
}

std::vector<place_activity> activity_of_all() {
  std::vector<place_activity> all(static_cast<std::size_t>(num_places()));
  finish([&all] {
    for (std::size_t i = 0; i < all.size(); ++i) {
      async([&all, i] {
        all[i] = at(place(static_cast<int>(i)), [] {
          return activity_of(sync::place_of(sync::task_fiber("the activity of a place")));
        });
      });
    }
  });
  return all;
}

}  // namespace apgas::inline v0::launch
