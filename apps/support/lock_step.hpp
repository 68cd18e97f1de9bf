// SPDX-License-Identifier: Apache-2.0
#pragma once

// Programs whose members run the same function in lock-step, with one implementation of the kernel
// for all variants: tasks on a phaser, flat or as a tree, with an accumulator for sums; threads of
// OpenMP with its barrier; or a single member. The kernel is a template over the member, which
// knows its number, waits for the others and adds up values.

#include <cstddef>
#include <string>
#include <vector>

#if defined(_OPENMP)
#include <omp.h>
#endif

#include <apgas/apgas.hpp>

#include "support/command_line.hpp"
#include "support/peer_thread.hpp"
#include "support/peers.hpp"
#include "support/phaser_tree.hpp"
#include "support/share.hpp"

namespace apps {

// The serial program.
class lone_member {
 public:
  static constexpr int id() { return 0; }
  static constexpr int members() { return 1; }
  static void wait() {}
  static double sum(double x) { return x; }
};

class phaser_member {
 public:
  phaser_member(const apgas::phaser& ph, const apgas::accumulator<double>& total, int id,
                int members)
      : ph_(ph), total_(total), id_(id), members_(members) {}
  [[nodiscard]] int id() const { return id_; }
  [[nodiscard]] int members() const { return members_; }
  void wait() const { ph_.next(); }
  // The sum of the values of all members. Also waits for them, as wait().
  [[nodiscard]] double sum(double x) const {
    total_.send(x);
    ph_.next();
    return total_.result();
  }

 private:
  apgas::phaser ph_;
  apgas::accumulator<double> total_;
  int id_;
  int members_;
};

#if defined(_OPENMP)
// Sum k is added up in totals[k % 3], and the next one is cleared meanwhile. Nobody reads the next
// one any more: all members have arrived at the barrier of sum k - 1, after they had read k - 2.
struct openmp_totals {
  struct alignas(64) total {
    double value = 0;
  };
  total of[3];
};

class openmp_member {
 public:
  explicit openmp_member(openmp_totals& totals) : totals_(totals) {}
  [[nodiscard]] int id() const { return id_; }
  [[nodiscard]] int members() const { return members_; }
  static void wait() {
#pragma omp barrier
  }
  [[nodiscard]] double sum(double x) {
    double& total = totals_.of[next_ % 3].value;
    ++next_;
#pragma omp atomic
    total += x;
    if (id_ == 0) totals_.of[next_ % 3].value = 0;
    wait();
    return total;
  }

 private:
  openmp_totals& totals_;
  int id_ = omp_get_thread_num();
  int members_ = omp_get_num_threads();
  unsigned next_ = 0;
};
#endif

struct lock_step {
  std::string variant = "phaser";
  int tasks = 0;
  phaser_tree tree;

  void declare(command_line& line) {
    // oneTBB has no barrier.
    declare_variant_beside_openmp(line, variant, {"phaser", "tree", "serial"},
                                  "how the tasks keep in lock-step");
    line.option("--tasks", tasks, 0, 4096, "tasks, or threads of OpenMP; 0: one for each worker");
    tree.declare(line);
  }
  // Context: task.
  [[nodiscard]] int members() const {
    if (variant == "serial") return 1;
    return tasks == 0 ? apgas::num_workers() : tasks;
  }
};

// Calls f(member) for each member, all at the same time, and waits for all of them. f must not
// throw. Context: task; may suspend.
template <class F>
void run_in_lock_step(const lock_step& how, [[maybe_unused]] peer_thread& peer, F f) {
  if (how.variant == "serial") {
    lone_member alone;
    return f(alone);
  }
  const int members = how.members();
#if defined(_OPENMP)
  if (how.variant == "openmp") {
    return peer.run([&] {
      openmp_totals totals;
#pragma omp parallel num_threads(members)
      {
        openmp_member self(totals);
        f(self);
      }
    });
  }
#endif
  constexpr auto mode = apgas::phaser_mode::signal_wait;
  apgas::finish([&] {
    const auto ph = how.variant == "tree" ? how.tree.make(mode) : apgas::phaser(mode, 1);
    const apgas::accumulator<double> total(ph);
    for (int i = 0; i < members; ++i) {
      apgas::async(apgas::phased(ph, mode), [&f, ph, total, i, members] {
        phaser_member self(ph, total, i, members);
        f(self);
      });
    }
  });
}

}  // namespace apps
