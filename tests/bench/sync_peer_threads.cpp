// SPDX-License-Identifier: Apache-2.0

// Operating-system threads at std::barrier and pthread_barrier.

#include <atomic>
#include <barrier>
#include <memory>
#include <thread>
#include <vector>

#include <pthread.h>

#include "sync_peers.hpp"

namespace bench {
namespace {

// Runs body(member) in a thread for each member.
template <class Body>
void on_threads(int members, Body body) {
  std::vector<std::jthread> all;
  all.reserve(static_cast<std::size_t>(members));
  for (int member = 0; member < members; ++member) all.emplace_back(body, member);
}

}  // namespace

sample std_barrier(const plan& p) {
  lock_step all(p);
  std::barrier<> barrier(p.members);
  on_threads(p.members, [&](int member) {
    all.run(member, [&](long) {
      barrier.arrive_and_wait();
      return true;
    });
  });
  return all.result();
}

// Each thread has a cell; the completion function adds them up.
sample std_reduction(const plan& p) {
  struct alignas(64) cell {
    long value = 0;
  };
  lock_step all(p);
  std::vector<cell> cells(static_cast<std::size_t>(p.members));
  long sum = 0;
  const auto add_up = [&]() noexcept {
    sum = 0;
    for (const cell& each : cells) sum += each.value;
  };
  std::barrier<decltype(add_up)> barrier(p.members, add_up);
  on_threads(p.members, [&](int member) {
    all.run(member, [&, member](long phase) {
      cells[static_cast<std::size_t>(member)].value = contribution(member, phase);
      barrier.arrive_and_wait();
      return sum == reduction(p.members, phase);
    });
  });
  return all.result();
}

// A std::barrier cannot grow, so there is one for each round, made in advance.
sample std_growing(const plan& p) {
  const auto grow = [&p] {
    std::vector<std::unique_ptr<std::barrier<>>> rounds;
    for (int n = 2; n <= p.members; ++n) rounds.push_back(std::make_unique<std::barrier<>>(n));
    std::atomic<long> sum{0};
    {
      std::vector<std::jthread> children;
      for (std::size_t first = 0; first < rounds.size(); ++first) {
        children.emplace_back([&rounds, &sum, first] {
          for (std::size_t i = first; i < rounds.size(); ++i) rounds[i]->arrive_and_wait();
          sum += static_cast<long>(rounds.size() - first);
        });
        rounds[first]->arrive_and_wait();
        ++sum;
      }
    }
    return sum.load();
  };
  return repeated(p, grow, growing_phases(p.members));
}

sample pthread_phases(const plan& p) {
  lock_step all(p);
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, nullptr, static_cast<unsigned>(p.members));
  on_threads(p.members, [&](int member) {
    all.run(member, [&](long) {
      const int back = pthread_barrier_wait(&barrier);
      return back == 0 || back == PTHREAD_BARRIER_SERIAL_THREAD;
    });
  });
  pthread_barrier_destroy(&barrier);
  return all.result();
}

}  // namespace bench
