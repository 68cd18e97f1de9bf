// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

// The cost model of a host with many cores: what the transfer of a cache line, a membarrier and the
// wake-up of a thread cost. All times are in cycles of 2.45 GHz. docs/scaling.md says which numbers
// were measured and which are assumed.
namespace apgas::test::scaling {

using cycles = std::uint64_t;
constexpr double cycles_per_ns = 2.45;

struct machine {
  // Worker w runs on core w. Eight cores share a last-level cache (a core complex), and 128 cores
  // a socket.
  int cores_of_complex = 8;
  int cores_of_socket = 128;

  // How long a core waits for a line that another one has written, by distance: its own, one in
  // the same complex, in the same socket, in another socket.
  cycles transfer[4] = {3, 60, 250, 500};
  // A line can be passed on again only after this part of the transfer.
  cycles occupied_part = 2;
  // Independent loads and stores overlap: a series of them costs this part of their transfers.
  cycles overlap = 4;

  cycles locked_update = 20;  // an atomic read-modify-write, in addition to the transfer
  cycles switch_fiber = 25;

  // A worker that goes from one task of a batch to the next, and all else that a phase costs for
  // the task: the more tasks the worker has, the fewer of their stacks are in its caches.
  struct switch_cost {
    double log2_tasks;
    double cost;
  };
  switch_cost switch_task[3] = {{9, 34}, {12, 64}, {16, 257}};
  // The lines of a task that has moved to another core.
  cycles lines_of_task = 8;
  // A thread that waits for a lock reads its line again when the lock is released. This is how long
  // that keeps the line from the next holder.
  cycles spinning_read = 25;

  // membarrier: its fixed part, the part for each core that it interrupts, and what an interrupted
  // core loses. The calls of all threads exclude each other in the kernel.
  cycles barrier = 2'400;
  cycles barrier_for_each = 120;
  cycles interrupt = 1'500;

  cycles futex_wake = 3'000;     // of the thread that wakes another
  cycles wake_latency = 12'000;  // until that other one runs

  int distance(int a, int b) const {
    if (a == b) return 0;
    if (a / cores_of_complex == b / cores_of_complex) return 1;
    return a / cores_of_socket == b / cores_of_socket ? 2 : 3;
  }

  cycles switch_among(std::size_t tasks) const {
    const double n = std::log2(static_cast<double>(std::max<std::size_t>(tasks, 1)));
    const auto& [few, some, many] = switch_task;
    const auto& [from, to] = n < some.log2_tasks ? std::pair(few, some) : std::pair(some, many);
    const double part = (n - from.log2_tasks) / (to.log2_tasks - from.log2_tasks);
    return static_cast<cycles>(from.cost + std::clamp(part, 0.0, 1.0) * (to.cost - from.cost));
  }
};

// A host whose cores all are equally far from each other, 82 ns, as those of a large Xeon are.
inline machine flat_machine() { return {.cores_of_complex = 1, .transfer = {3, 60, 200, 500}}; }

// The cache lines that workers share. A core that has read a line keeps it until another core
// writes it; a core that writes it waits until the copies of all others are gone.
class shared_lines {
 public:
  shared_lines(const machine& m, int workers, std::size_t lines)
      : machine_(m), lines_(lines), seen_(static_cast<std::size_t>(workers) * lines) {}

  // Core `core` accesses the line in an event of the time `now`, after it has spent a while on
  // other things in that event. Returns how long the access takes.
  cycles read(int core, std::size_t line, cycles now, cycles spent) {
    state& l = lines_[line];
    std::uint32_t& seen = seen_[static_cast<std::size_t>(core) * lines_.size() + line];
    if (l.writer == core || seen == l.version) return machine_.transfer[0];
    const int distance = l.writer < 0 ? 0 : machine_.distance(core, l.writer);
    seen = l.version;
    l.farthest = std::max(l.farthest, distance);
    return transfer(l, distance, now, spent);
  }
  cycles write(int core, std::size_t line, cycles now, cycles spent) {
    state& l = lines_[line];
    const int distance = l.writer == core ? l.farthest
                         : l.writer < 0   ? 0
                                          : std::max(l.farthest, machine_.distance(core, l.writer));
    l.writer = core;
    l.farthest = 0;
    ++l.version;
    return transfer(l, distance, now, spent);
  }

 private:
  struct state {
    int writer = -1;
    int farthest = 0;  // distance from the writer to the reader that is farthest away
    std::uint32_t version = 1;
    cycles busy_until = 0;
  };

  // The transfers of a line follow each other. The queue is counted from the times of the events,
  // which never decrease, so that an event that takes long does not hold up earlier accesses.
  cycles transfer(state& l, int distance, cycles now, cycles spent) const {
    const cycles cost = machine_.transfer[distance];
    if (distance == 0) return cost;
    const cycles free_at = std::max(l.busy_until, now);
    l.busy_until = free_at + cost / machine_.occupied_part;
    return cost + (free_at > now + spent ? free_at - now - spent : 0);
  }

  const machine& machine_;
  std::vector<state> lines_;
  std::vector<std::uint32_t> seen_;  // for each core, the version of each line in its cache
};

}  // namespace apgas::test::scaling
