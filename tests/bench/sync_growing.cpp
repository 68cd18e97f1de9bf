// SPDX-License-Identifier: Apache-2.0

// Tasks that register on a barrier while others use it: the parent creates one more child in each
// round, and all existing tasks synchronise (Shirako and Sarkar: "Hierarchical phasers", Figure
// 16). And tasks that register, advance once and end.

#include <string>

#include <apgas/apgas.hpp>

#include "spawn_peers.hpp"
#include "sync_benchmarks.hpp"
#include "sync_peer_process.hpp"

namespace bench {
namespace {

std::uint64_t growing_phases_of(int members, int repeats) {
  return static_cast<std::uint64_t>(growing_phases(members)) * static_cast<std::uint64_t>(repeats);
}

// make() registers the caller on a barrier, spawn(it, f) also registers a child, and wait_at(it)
// waits at it.
template <class Make, class Spawn, class WaitAt>
std::uint64_t grow(int members, Make make, Spawn spawn, WaitAt wait_at) {
  apgas::finish([&] {
    const auto it = make();
    for (int child = 1; child < members; ++child) {
      spawn(it, [it, wait_at, rounds = members - child] {
        for (int i = 0; i < rounds; ++i) wait_at(it);
        arrivals::add(static_cast<std::uint64_t>(rounds));
      });
      wait_at(it);
      arrivals::add(1);
    }
  });
  return arrivals::take();
}

std::uint64_t growing_clock(int members) {
  return grow(
      members, [] { return apgas::clock::make(); },
      [](const apgas::clock& c, auto f) { apgas::async(apgas::clocked(c), f); },
      [](const apgas::clock& c) { c.advance(); });
}

std::uint64_t growing_phaser(int members, int tiers) {
  const auto mode = apgas::phaser_mode::signal_wait;
  return grow(
      members, [=] { return apgas::phaser(mode, tiers); },
      [=](const apgas::phaser& ph, auto f) { apgas::async(apgas::phased(ph, mode), f); },
      [](const apgas::phaser& ph) { ph.next(); });
}

template <class F>
void add_growing(benchmark& to, const std::string& name, const sync_sizes& s, F f) {
  const auto repeated = [f, repeats = s.growing_repeats](int members) {
    std::uint64_t sum = 0;
    for (int i = 0; i < repeats; ++i) sum += f(members);
    return sum;
  };
  add_ours(to, name, repeated, s.growing_members,
           growing_phases_of(s.growing_members, s.growing_repeats));
}

template <class Round>
std::uint64_t rounds_of(int rounds, Round round) {
  for (int i = 0; i < rounds; ++i) round();
  return arrivals::take();
}

std::uint64_t clocked(int n, int rounds) {
  return rounds_of(rounds, [n] {
    apgas::clocked_finish([n] {
      for (int i = 0; i < n; ++i) {
        apgas::clocked_async([] {
          apgas::clock::advance_all();
          arrivals::add(1);
        });
      }
    });
  });
}

std::uint64_t phased(int n, int rounds) {
  const auto mode = apgas::phaser_mode::signal_wait;
  return rounds_of(rounds, [=] {
    apgas::finish([=] {
      const apgas::phaser ph(mode);
      for (int i = 0; i < n; ++i) {
        apgas::async(apgas::phased(ph, mode), [ph] {
          ph.next();
          arrivals::add(1);
        });
      }
    });
  });
}

std::uint64_t not_clocked(int n, int rounds) {
  return rounds_of(rounds, [n] {
    apgas::finish([n] {
      for (int i = 0; i < n; ++i) apgas::async([] { arrivals::add(1); });
    });
  });
}

}  // namespace

std::vector<benchmark> growing_barriers(const sync_sizes& s) {
  const int n = s.growing_members;
  benchmark b{"barrier of 2 to " + std::to_string(n) + " members",
              "round with one more member",
              static_cast<double>(n - 1) * s.growing_repeats,
              0,
              {}};
  add_growing(b, "apgas clock", s, growing_clock);
  add_growing(b, "apgas phaser, flat", s, [](int m) { return growing_phaser(m, 1); });
  add_growing(b, "apgas phaser, 2 tiers", s, [](int m) { return growing_phaser(m, 2); });
  add_peer_processes(b, peer_work::growing, {n, s.growing_repeats, s.budget, s.check_all});
  return {b};
}

std::vector<benchmark> clocked_tasks(const sync_sizes& s) {
  std::vector<benchmark> all;
  for (const int n : s.spawned) {
    const int rounds = std::max(2, static_cast<int>(s.operations / n));
    const auto count = static_cast<std::uint64_t>(n) * static_cast<std::uint64_t>(rounds);
    benchmark b{
        "spawn, advance, end, n = " + std::to_string(n), "task", static_cast<double>(count), 0, {}};
    const auto with = [n](auto f) { return [f, n](int r) { return f(n, r); }; };
    add_ours(b, "apgas clocked_async", with(clocked), rounds, count);
    add_ours(b, "apgas async(phased)", with(phased), rounds, count);
    add_ours(b, "apgas async, no clock", with(not_clocked), rounds, count);
    add_peer_processes(b, peer_work::spawning, {n, rounds, s.budget, s.check_all});
    all.push_back(std::move(b));
  }
  return all;
}

}  // namespace bench
