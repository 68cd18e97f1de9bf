// SPDX-License-Identifier: Apache-2.0

// Fibers of Boost.Fiber at its barrier, which is a mutex and a condition variable. Boost.Fiber has
// no reduction: each fiber adds to a cell of its thread before the barrier and sums the cells after
// it.

#include <array>
#include <atomic>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <boost/fiber/all.hpp>
#include <malloc.h>

#include "sync_peers.hpp"

namespace bench {
namespace {

namespace fibers = boost::fibers;

// Stacks come from malloc, which on_fibers() configures to keep freed memory; otherwise every new
// stack would be new pages. Small adjacent stacks are best for the caches.
constexpr std::size_t stack_bytes = 16 * 1024;
constexpr std::size_t most_threads = 2;

template <class F>
fibers::fiber launch(F f) {
  return {fibers::launch::post, std::allocator_arg, fibers::fixedsize_stack(stack_bytes), f};
}

// Runs body() in a fiber, with `threads` threads for the fibers that it launches.
template <class Body>
void on_fibers(fiber_schedule how, int threads, Body body) {
  const auto take_part = [how, threads] {
    if (how == fiber_schedule::shared_work) {
      fibers::use_scheduling_algorithm<fibers::algo::shared_work>();
    } else if (how == fiber_schedule::work_stealing) {
      fibers::use_scheduling_algorithm<fibers::algo::work_stealing>(
          static_cast<std::uint32_t>(threads));
    }
  };
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  fibers::mutex lock;
  fibers::condition_variable changed;
  bool done = false;
  std::vector<std::jthread> others;
  for (int i = 1; i < threads; ++i) {
    others.emplace_back([&] {
      take_part();
      std::unique_lock hold(lock);
      changed.wait(hold, [&done] { return done; });
    });
  }
  take_part();
  launch(body).join();
  {
    const std::lock_guard hold(lock);
    done = true;
  }
  changed.notify_all();
}

template <class MakeStep>
sample fiber_phases(const plan& p, fiber_schedule how, int threads, MakeStep make_step) {
  lock_step all(p);
  on_fibers(how, threads, [&] {
    std::vector<fibers::fiber> members;
    members.reserve(static_cast<std::size_t>(p.members));
    for (int member = 0; member < p.members; ++member) {
      members.push_back(launch([&, member] { all.run(member, make_step(member)); }));
    }
    for (fibers::fiber& each : members) each.join();
  });
  return all.result();
}

// Two totals, used in turn, so that one is not added to while it is still being read; they are
// never reset.
struct alignas(64) cell {
  std::array<std::atomic<long>, 2> totals{};
};
std::array<cell, most_threads> cells;
std::atomic<std::size_t> threads_seen{0};

// A fiber may be on another thread after each wait. The function is not inlined, so that the
// thread's cell is looked up anew.
[[gnu::noinline]] cell& cell_of_this_thread() {
  thread_local const std::size_t mine = threads_seen++ % most_threads;
  return cells[mine];
}

}  // namespace

sample fiber_barrier(const plan& p, fiber_schedule how, int threads) {
  fibers::barrier barrier(static_cast<std::size_t>(p.members));
  return fiber_phases(p, how, threads, [&barrier](int) {
    return [&barrier](long) {
      barrier.wait();
      return true;
    };
  });
}

sample fiber_reduction(const plan& p, fiber_schedule how, int threads) {
  fibers::barrier barrier(static_cast<std::size_t>(p.members));
  return fiber_phases(p, how, threads, [&](int member) {
    return [&, member, before = std::array<long, 2>{}](long phase) mutable {
      const std::size_t turn = static_cast<std::size_t>(phase) % 2;
      cell_of_this_thread().totals[turn].fetch_add(contribution(member, phase),
                                                   std::memory_order_relaxed);
      barrier.wait();
      long now = 0;
      for (const cell& each : cells) now += each.totals[turn].load(std::memory_order_relaxed);
      const long sum = now - before[turn];
      before[turn] = now;
      return sum == reduction(p.members, phase);
    };
  });
}

// A barrier of Boost.Fiber cannot grow, so there is one for each round, made in advance.
sample fiber_growing(const plan& p, fiber_schedule how, int threads) {
  const auto grow = [&p] {
    std::vector<std::unique_ptr<fibers::barrier>> rounds;
    for (int n = 2; n <= p.members; ++n) {
      rounds.push_back(std::make_unique<fibers::barrier>(static_cast<std::size_t>(n)));
    }
    std::atomic<long> sum{0};
    std::vector<fibers::fiber> children;
    for (std::size_t first = 0; first < rounds.size(); ++first) {
      children.push_back(launch([&rounds, &sum, first] {
        for (std::size_t i = first; i < rounds.size(); ++i) rounds[i]->wait();
        sum += static_cast<long>(rounds.size() - first);
      }));
      rounds[first]->wait();
      ++sum;
    }
    for (fibers::fiber& each : children) each.join();
    return sum.load();
  };
  sample s;
  on_fibers(how, threads, [&] { s = repeated(p, grow, growing_phases(p.members)); });
  return s;
}

sample fiber_spawning(const plan& p, fiber_schedule how, int threads) {
  const auto round = [&p] {
    fibers::barrier barrier(static_cast<std::size_t>(p.members));
    std::atomic<long> sum{0};
    std::vector<fibers::fiber> tasks;
    tasks.reserve(static_cast<std::size_t>(p.members));
    for (int i = 0; i < p.members; ++i) {
      tasks.push_back(launch([&barrier, &sum] {
        barrier.wait();
        sum.fetch_add(1, std::memory_order_relaxed);
      }));
    }
    for (fibers::fiber& each : tasks) each.join();
    return sum.load();
  };
  sample s;
  on_fibers(how, threads, [&] { s = repeated(p, round, long{p.members}); });
  return s;
}

}  // namespace bench
