// SPDX-License-Identifier: Apache-2.0
// Linux places a page in the NUMA domain of the thread that touches it first. So nobody may touch
// the slots of a deque before its owner pushes there, or a stack before a worker takes it
// (docs/scaling.md). On a machine with one domain a test sees whether a page was touched, and not
// where it lies.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <apgas/async.hpp>
#include <apgas/finish.hpp>

#include "implementation.hpp"
#include "stack_pool.hpp"
#include "support/scheduler_fixture.hpp"

namespace apgas::test {
namespace {

// How many of the pages in which the `bytes` from `begin` lie were touched.
std::size_t touched_pages(const void* begin, std::size_t bytes) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(begin) / page * page;
  const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(begin) + bytes;
  std::vector<unsigned char> resident((end - first + page - 1) / page);
  EXPECT_EQ(mincore(reinterpret_cast<void*>(first), end - first, resident.data()), 0);
  return static_cast<std::size_t>(
      std::ranges::count_if(resident, [](unsigned char each) { return (each & 1U) != 0; }));
}

constexpr std::size_t some_slots = 1000 * sizeof(scheduler::slot);

TEST(FirstTouch, SlotsAreTouchedByTheWorkerThatPushesThere) {
  task_place place(2);
  std::vector<const void*> slots;
  for (const auto& w : place.tasks().internals().workers) {
    slots.push_back(w->tasks.head());
    EXPECT_EQ(touched_pages(slots.back(), some_slots), 0U) << "worker " << w->id;
  }
  place.run([&] {
    const int mine = scheduler::current_fiber()->on->id;
    finish([] {
      for (int i = 0; i < 1000; ++i) async([] {});
    });
    EXPECT_GT(touched_pages(slots[static_cast<std::size_t>(mine)], some_slots), 0U);
  });
}

TEST(FirstTouch, AStackIsTouchedWhenAWorkerTakesIt) {
  run_tasks(1, [] {
    const std::size_t made = scheduler::stacks_made();
    const scheduler::fiber& next = scheduler::fiber_of_stack(made);
    const std::size_t bytes = scheduler::fiber_record_bytes + 16384;
    const auto* const low = reinterpret_cast<const std::byte*>(&next + 1) - bytes;
    EXPECT_EQ(touched_pages(low, bytes), 0U) << "stack " << made << " was never taken";
  });
}

}  // namespace
}  // namespace apgas::test
