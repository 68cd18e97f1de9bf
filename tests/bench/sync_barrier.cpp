// SPDX-License-Identifier: Apache-2.0

// Tasks that live long and meet at a barrier, phase after phase with nothing between: what waiting
// for each other costs, and what a sum over all of them costs on top.

#include <algorithm>
#include <string>

#include <apgas/apgas.hpp>

#include "sync_benchmarks.hpp"
#include "sync_peer_process.hpp"

namespace bench {
namespace {

template <auto Advance>
sample clock_phases(const plan& p) {
  lock_step all(p);
  std::atomic<bool> counted{true};
  apgas::finish([&] {
    const auto c = apgas::clock::make();
    for (int member = 0; member < p.members; ++member) {
      apgas::async(apgas::clocked(c), [&all, &counted, c, member] {
        all.run(member, [&c](long) {
          (c.*Advance)();
          return true;
        });
        if (c.phase() != all.phases()) counted = false;
      });
    }
    c.drop();
  });
  sample s = all.result();
  s.correct = s.correct && counted;
  return s;
}

// make_step(phaser) is called before the children are there, and each has a copy of what it gives.
template <class MakeStep>
sample phaser_phases(const plan& p, int tiers, MakeStep make_step) {
  lock_step all(p);
  std::atomic<bool> counted{true};
  apgas::finish([&] {
    const apgas::phaser ph(apgas::phaser_mode::signal_wait, tiers);
    const auto step = make_step(ph);
    for (int member = 0; member < p.members; ++member) {
      apgas::async(apgas::phased(ph, apgas::phaser_mode::signal_wait),
                   [&all, &counted, &p, ph, step, member] {
                     all.run(member, [&](long phase) { return step(p.members, member, phase); });
                     if (ph.phase() != all.phases()) counted = false;
                   });
    }
    ph.drop();
  });
  sample s = all.result();
  s.correct = s.correct && counted;
  return s;
}

sample phaser_barrier(const plan& p, int tiers) {
  return phaser_phases(p, tiers, [](const apgas::phaser& ph) {
    return [ph](int, int, long) {
      ph.next();
      return true;
    };
  });
}

sample accumulated(const plan& p, int tiers) {
  return phaser_phases(p, tiers, [](const apgas::phaser& ph) {
    const apgas::accumulator<long> sum(ph);
    return [ph, sum](int members, int member, long phase) {
      sum.send(contribution(member, phase));
      ph.next();
      return sum.result() == reduction(members, phase);
    };
  });
}

plan plan_of(const sync_sizes& s, int members) {
  const auto phases = static_cast<long>(s.operations / members);
  return {members, std::max(8L, phases), s.budget, s.check_all};
}

benchmark empty(const std::string& what, const plan& p) {
  return {what + ", N = " + std::to_string(p.members),
          "task and phase",
          static_cast<double>(p.members) * static_cast<double>(p.phases),
          0,
          {}};
}

template <class Run>
void add(benchmark& to, const std::string& name, const plan& p, Run run) {
  for (const int workers : {1, 2}) {
    to.variants.push_back({name, role::ours, workers, [run, p] { return run(p); }});
  }
}

}  // namespace

std::vector<benchmark> barriers(const sync_sizes& s) {
  std::vector<benchmark> all;
  for (const int members : s.members) {
    const plan p = plan_of(s, members);
    benchmark b = empty("barrier", p);
    add(b, "apgas clock, lazy", p, clock_phases<&apgas::clock::advance_lazy>);
    add(b, "apgas clock, eager", p, clock_phases<&apgas::clock::advance_eager>);
    add(b, "apgas phaser, flat", p, [](const plan& q) { return phaser_barrier(q, 1); });
    add(b, "apgas phaser, 2 tiers", p, [](const plan& q) { return phaser_barrier(q, 2); });
    add_peer_processes(b, peer_work::barrier, p);
    all.push_back(std::move(b));
  }
  return all;
}

std::vector<benchmark> reductions(const sync_sizes& s) {
  std::vector<benchmark> all;
  for (const int members : s.members) {
    const plan p = plan_of(s, members);
    benchmark b = empty("reduction", p);
    add(b, "apgas accumulator, flat", p, [](const plan& q) { return accumulated(q, 1); });
    add(b, "apgas accumulator, 2 tiers", p, [](const plan& q) { return accumulated(q, 2); });
    add_peer_processes(b, peer_work::reduction, p);
    all.push_back(std::move(b));
  }
  return all;
}

}  // namespace bench
