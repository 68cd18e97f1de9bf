// SPDX-License-Identifier: Apache-2.0

// The constructs with clocks, with flat phasers, with phasers that are trees, and with
// accumulators.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <apgas/apgas.hpp>

#include "epcc/constructs.hpp"
#include "support/stopwatch.hpp"

namespace epcc {
namespace {

using apgas::phaser_mode;

class on_clock {
 public:
  explicit on_clock(const plan&) : clock_(apgas::clock::make()) {}
  [[nodiscard]] auto clause() const { return apgas::clocked(clock_); }
  void wait() const { clock_.advance(); }

 private:
  apgas::clock clock_;
};

class on_phaser {
 public:
  explicit on_phaser(const plan&) : on_phaser(apgas::phaser(mode, 1)) {}
  [[nodiscard]] auto clause() const { return apgas::phased(phaser_, mode); }
  void wait() const { phaser_.next(); }
  [[nodiscard]] const apgas::phaser& get() const { return phaser_; }

 protected:
  static constexpr phaser_mode mode = phaser_mode::signal_wait_next;
  explicit on_phaser(const apgas::phaser& ph) : phaser_(ph) {}

 private:
  apgas::phaser phaser_;
};

class on_tree : public on_phaser {
 public:
  explicit on_tree(const plan& p) : on_phaser(p.tree.make(mode)) {}
};

// step(on) is one round of a member, at the barrier `on`. extend(on) makes what step() needs
// besides.
template <class On, class Extend>
sample in_rounds(const plan& p, Extend extend) {
  checked_rounds all(p);
  apgas::finish([&] {
    const On on(p);
    const auto step = extend(on);
    for (int i = 0; i < p.members; ++i) {
      apgas::async(on.clause(), [&all, &p, on, step, i] {
        all.run(i, [&p, &on, &step] {
          p.work();
          return step(on);
        });
      });
    }
  });
  return all.result();
}

template <class On>
sample barrier(const plan& p) {
  return in_rounds<On>(p, [](const On&) {
    return [](const On& on) {
      on.wait();
      return true;
    };
  });
}

template <class On>
sample reduction(const plan& p) {
  return in_rounds<On>(p, [&p](const On& made) {
    return [total = apgas::accumulator<int>(made.get()), members = p.members](const On& on) {
      total.send(1);
      on.wait();
      return total.result() == members;
    };
  });
}

// The delay is inside the construct here, and done by one member.
template <class On>
sample single(const plan& p) {
  checked_rounds all(p);
  int singles = 0;
  apgas::finish([&] {
    const On on(p);
    for (int i = 0; i < p.members; ++i) {
      apgas::async(on.clause(), [&, on, i] {
        all.run(i, [&] {
          on.get().next_single([&] {
            p.work();
            ++singles;
          });
          return true;
        });
      });
    }
  });
  sample s = all.result();
  s.correct = s.correct && singles == all.rounds();
  return s;
}

// Rounds of `spawn_all(counts)`, each of which runs every member once.
template <class Round>
sample fork_and_join(const plan& p, Round round) {
  std::vector<int> counts(static_cast<std::size_t>(p.members));
  const apps::stopwatch watch;
  for (int r = 0; r < p.rounds; ++r) round(counts);
  const double seconds = watch.seconds();
  return {seconds, std::ranges::all_of(counts, [&p](int n) { return n == p.rounds; })};
}

sample parallel_by_finish(const plan& p) {
  return fork_and_join(p, [&p](std::vector<int>& counts) {
    apgas::finish([&] {
      for (int& count : counts) {
        apgas::async([&p, &count] {
          p.work();
          ++count;
        });
      }
    });
  });
}

// With members that could also wait for each other, as those of a parallel region can.
template <class On>
sample parallel(const plan& p) {
  return fork_and_join(p, [&p](std::vector<int>& counts) {
    apgas::finish([&] {
      const On on(p);
      for (int& count : counts) {
        apgas::async(on.clause(), [&p, &count] {
          p.work();
          ++count;
        });
      }
    });
  });
}

// A member joins in every round and stays to the end, as in Figure 16 of the paper.
template <class On>
sample growing(const plan& p) {
  std::atomic<std::int64_t> passed = 0;
  const apps::stopwatch watch;
  for (int r = 0; r < p.rounds; ++r) {
    apgas::finish([&] {
      const On on(p);
      for (int child = 1; child < p.members; ++child) {
        apgas::async(on.clause(), [&, on, rounds = p.members - child] {
          for (int i = 0; i < rounds; ++i) {
            p.work();
            on.wait();
          }
          passed.fetch_add(rounds, std::memory_order_relaxed);
        });
        p.work();
        on.wait();
      }
    });
  }
  const std::int64_t n = p.members;
  return {watch.seconds(), passed == n * (n - 1) / 2 * p.rounds};
}

// In every round a member joins, and the oldest one drops its registration and ends.
template <class On>
sample changing(const plan& p) {
  std::atomic<std::int64_t> passed = 0;
  double seconds = 0;
  const int stays = p.members - 1;  // the rounds of a child; the spawner is a member, too
  apgas::finish([&] {
    const On on(p);
    const auto round = [&](int first_rounds) {
      apgas::async(on.clause(), [&, on, first_rounds] {
        for (int i = 0; i < first_rounds; ++i) {
          p.work();
          on.wait();
        }
        passed.fetch_add(first_rounds, std::memory_order_relaxed);
      });
    };
    for (int i = 1; i < stays; ++i) round(i);  // the members of the beginning
    const apps::stopwatch watch;
    for (int r = 0; r < p.rounds; ++r) {
      round(stays);
      p.work();
      on.wait();
    }
    seconds = watch.seconds();
  });
  const std::int64_t s = stays;
  return {seconds, passed == s * (s - 1) / 2 + s * p.rounds};
}

}  // namespace

std::vector<implementation> by_tasks() {
  return {{"barrier", "clock", barrier<on_clock>},   {"barrier", "phaser", barrier<on_phaser>},
          {"barrier", "tree", barrier<on_tree>},     {"reduction", "phaser", reduction<on_phaser>},
          {"reduction", "tree", reduction<on_tree>}, {"parallel", "finish", parallel_by_finish},
          {"parallel", "clock", parallel<on_clock>}, {"parallel", "phaser", parallel<on_phaser>},
          {"parallel", "tree", parallel<on_tree>},   {"single", "phaser", single<on_phaser>},
          {"single", "tree", single<on_tree>},       {"growing", "clock", growing<on_clock>},
          {"growing", "phaser", growing<on_phaser>}, {"growing", "tree", growing<on_tree>},
          {"changing", "clock", changing<on_clock>}, {"changing", "phaser", changing<on_phaser>},
          {"changing", "tree", changing<on_tree>}};
}

}  // namespace epcc
