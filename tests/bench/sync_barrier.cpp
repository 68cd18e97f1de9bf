// SPDX-License-Identifier: Apache-2.0

// Long-lived tasks at a barrier, phase after phase without work in between: the cost of waiting for
// each other, and the additional cost of a sum over all tasks.

#include <algorithm>
#include <string>

#include <apgas/apgas.hpp>

#include "sync_benchmarks.hpp"
#include "sync_peer_process.hpp"
#include "task_members.hpp"

namespace bench {
namespace {

template <auto Advance>
sample clock_barrier(const plan& p) {
  return clock_phases<Advance>(p, [](int) { return [] {}; });
}

template <class MemberOf>
sample phaser_phases(const plan& p, int tiers, MemberOf member_of) {
  constexpr auto mode = apgas::phaser_mode::signal_wait;
  return task_phases(
      p, [tiers] { return apgas::phaser(mode, tiers); },
      [](const apgas::phaser& ph) { return apgas::phased(ph, mode); }, member_of);
}

sample phaser_barrier(const plan& p, int tiers) {
  return phaser_phases(p, tiers, [](const apgas::phaser& ph) {
    return [ph](int) {
      return [ph](long) {
        ph.next();
        return true;
      };
    };
  });
}

sample accumulated(const plan& p, int tiers) {
  return phaser_phases(p, tiers, [members = p.members](const apgas::phaser& ph) {
    const apgas::accumulator<long> sum(ph);
    return [ph, sum, members](int member) {
      return [ph, sum, members, member](long phase) {
        sum.send(contribution(member, phase));
        ph.next();
        return sum.result() == reduction(members, phase);
      };
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
  for (const int workers : worker_counts()) {
    to.variants.push_back({name, role::ours, workers, [run, p] { return run(p); }});
  }
}

}  // namespace

std::vector<benchmark> barriers(const sync_sizes& s) {
  std::vector<benchmark> all;
  for (const int members : s.members) {
    const plan p = plan_of(s, members);
    benchmark b = empty("barrier", p);
    add(b, "apgas clock, lazy", p, clock_barrier<&apgas::clock::advance_lazy>);
    add(b, "apgas clock, eager", p, clock_barrier<&apgas::clock::advance_eager>);
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
