// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <apgas/base/log.hpp>

#include "cores_watch.hpp"
#include "implementation.hpp"
#include "topology.hpp"

namespace apgas::inline v0::scheduler {

cores_watch::change cores_watch::look(time now, const std::vector<int>& cores) {
  next_.store((now + between_looks).time_since_epoch().count(), base::relaxed);
  if (cores == cores_) return {};
  std::vector<int> before = std::exchange(cores_, cores);
  if (before.empty()) return {};  // the first look
  return {.any = true, .first = !std::exchange(changed_, true), .before = std::move(before)};
}

namespace {

// Formats ascending numbers as ranges, such as "0-3,8".
std::string ranges_of(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    if (i != 0) text += ',';
    text += std::to_string(numbers[i]);
    if (end != i + 1) text += fmt::format("-{}", numbers[end - 1]);
    i = end;
  }
  return text;
}

}  // namespace

void scheduler::implementation::look_at_cores(cores_watch::time now) noexcept {
  const std::unique_lock alone(cores.looking, std::try_to_lock);
  if (!alone.owns_lock() || !cores.is_due(now)) return;
  try {
    std::vector<int> all;
    for (const auto& thread : thread_ids) {
      const pid_t id = thread.load(base::acquire);  // P3 of scheduler.cpp
      if (id == 0) return;                          // not all workers run yet
      std::ranges::copy(processors_of_thread(id), std::back_inserter(all));
    }
    if (stopping.load(base::acquire)) return;  // P1 of scheduler.cpp; threads may have ended
    std::ranges::sort(all);
    const auto repeated = std::ranges::unique(all);
    all.erase(repeated.begin(), repeated.end());
    const auto change = cores.look(now, all);
    if (!change.any) return;
    const bool too_few = all.size() < workers.size();
    oversubscribed.store(settings.oversubscribed || schedule != nullptr || too_few, base::relaxed);
    update_waits_in_place();
    if (!change.first) return;
    base::warn(fmt::format("the cores of place {} changed from {} to {}{}", settings.place,
                           ranges_of(change.before), ranges_of(all),
                           too_few ? fmt::format("; its {} workers now share them, so give the job "
                                                 "its cores back or start it with fewer workers",
                                                 workers.size())
                                   : ""));
  } catch (const std::bad_alloc&) {
    return;  // the next look may succeed
  }
}

}  // namespace apgas::inline v0::scheduler
