// SPDX-License-Identifier: Apache-2.0
// The collectives of teams in the simulator of tests/sim, with sizes instead of data.
#include <algorithm>
#include <bit>

#include "scale.hpp"
#include "sim_team.hpp"

namespace bench {
namespace {

namespace remote = apgas::remote;

constexpr std::size_t envelope_bytes = 40;  // of each message, in addition to the frame header

// What docs/protocols/team.md claims.
struct expected {
  std::int64_t frames;
  std::int64_t depth;  // at most
};

// Runs the schedules and adds their frames to `seen`.
template <class Make>
sim::team_result run_schedules(int places, std::size_t element_bytes, Make make,
                               sim::traffic& seen) {
  sim::team_sizes sizes;
  sim::random_choice chooser(1);
  sim::team_world world(sim::schedules_of(static_cast<std::size_t>(places), make), sizes, &seen,
                        element_bytes, envelope_bytes);
  return world.run(chooser);
}

scale_result result_of(const sim::traffic& seen, std::int64_t depth, const std::string& wrong,
                       const expected& claim) {
  scale_result r;
  r.frames = seen.frames();
  r.to_home = seen.received_by(0);
  r.to_other = seen.most_received_but_by(0);
  r.bytes = seen.most_bytes();
  r.depth = depth;
  r.wrong = wrong;
  if (r.wrong.empty() && r.frames != claim.frames)
    r.wrong = "the number of messages is not the claimed one";
  if (r.wrong.empty() && r.depth > claim.depth) r.wrong = "the chain of messages is too long";
  return r;
}

template <class Make>
scale_result simulate(int places, std::size_t element_bytes, const expected& claim, Make make) {
  sim::traffic seen(places);
  const sim::team_result run = run_schedules(places, element_bytes, make, seen);
  return result_of(seen, run.depth, run.wrong, claim);
}

remote::host_runs one_host(int n) { return remote::host_runs(static_cast<std::size_t>(n)); }

// log2, rounded up; and rounded down.
std::int64_t rounds(int n) { return std::bit_width(static_cast<unsigned>(n - 1)); }
std::int64_t levels(int n) { return std::bit_width(static_cast<unsigned>(n)) - 1; }

scale_result barrier(int n) {
  const remote::host_runs hosts = one_host(n);
  return simulate(n, 0, {n * rounds(n), rounds(n)},
                  [&](std::size_t i) { return remote::barrier_schedule(hosts, i); });
}

// The places are started host by host, 48 on each host.
scale_result barrier_over_hosts(int n) {
  constexpr std::size_t of_a_host = 48;
  const remote::host_runs hosts(static_cast<std::size_t>(n), [](std::size_t a, std::size_t b) {
    return a / of_a_host == b / of_a_host;
  });
  const auto leaders = static_cast<int>(hosts.count());
  const std::int64_t up_and_down = 2 * rounds(std::min(n, static_cast<int>(of_a_host)));
  const expected claim = leaders == 1 ? expected{n * rounds(n), rounds(n)}
                                      : expected{2 * (n - leaders) + leaders * rounds(leaders),
                                                 up_and_down + rounds(leaders)};
  return simulate(n, 0, claim, [&](std::size_t i) { return remote::barrier_schedule(hosts, i); });
}

scale_result broadcast(int n) {
  const remote::host_runs hosts = one_host(n);
  return simulate(n, 8, {n - 1, rounds(n)}, [&](std::size_t i) {
    return remote::down_schedule(remote::member_tree(hosts, i, 0), remote::span_of{0, 1});
  });
}

scale_result gather(int n) {
  const remote::host_runs hosts = one_host(n);
  return simulate(n, 8, {n - 1, rounds(n)}, [&](std::size_t i) {
    return remote::up_schedule(remote::member_tree(hosts, i, 0));
  });
}

scale_result scatter(int n) {
  const remote::host_runs hosts = one_host(n);
  return simulate(n, 8, {n - 1, rounds(n)}, [&](std::size_t i) {
    return remote::down_schedule(remote::member_tree(hosts, i, 0));
  });
}

// First the choices of all members go to member 0, and then all of them to each member. A message
// in several parts counts as one.
scale_result split(int n) {
  constexpr std::size_t choice_bytes = 24;
  const remote::host_runs hosts = one_host(n);
  const remote::span_of all{0, hosts.members()};
  const auto tree = [&](std::size_t i) { return remote::member_tree(hosts, i, 0); };
  sim::traffic seen(n);
  const sim::team_result up = run_schedules(
      n, choice_bytes, [&](std::size_t i) { return remote::up_schedule(tree(i)); }, seen);
  const sim::team_result down = run_schedules(
      n, choice_bytes, [&](std::size_t i) { return remote::down_schedule(tree(i), all); }, seen);
  return result_of(seen, up.depth + down.depth, up.wrong + down.wrong,
                   {2 * (std::int64_t{n} - 1), 2 * rounds(n)});
}

scale_result reduce(int n) {
  const remote::host_runs hosts = one_host(n);
  return simulate(n, 8, {n - 1, rounds(n)}, [&](std::size_t i) {
    return remote::up_schedule(remote::member_tree(hosts, i, 0), remote::span_of{0, 1});
  });
}

scale_result allreduce(int n, std::size_t elements, bool is_long) {
  const remote::host_runs hosts = one_host(n);
  const std::int64_t power = std::bit_floor(static_cast<unsigned>(n));
  const std::int64_t times = is_long ? 2 : 1;
  return simulate(
      n, 8, {times * power * levels(n) + 2 * (n - power), times * levels(n) + 2},
      [&](std::size_t i) { return remote::allreduce_schedule(hosts, i, elements, is_long); });
}

scale_result alltoall(int n) {
  const auto members = static_cast<std::size_t>(n);
  return simulate(n, 8, {std::int64_t{n} * (n - 1), n},
                  [members](std::size_t i) { return remote::alltoall_schedule(members, i); });
}

}  // namespace

std::vector<workload> team_workloads() {
  constexpr std::size_t mebibyte = (std::size_t{1} << 20) / 8;
  return {
      {"team", "barrier", 100'000, barrier},
      {"team", "barrier, 48 places per host", 100'000, barrier_over_hosts},
      {"team", "broadcast of 8 B", 100'000, broadcast},
      {"team", "reduce of 8 B", 100'000, reduce},
      {"team", "allreduce of 8 B", 100'000, [](int n) { return allreduce(n, 1, false); }},
      {"team", "allreduce of 1 MiB", 100'000, [](int n) { return allreduce(n, mebibyte, true); }},
      {"team", "scatter of 8 B", 100'000, scatter},
      {"team", "gather of 8 B", 100'000, gather},
      {"team", "split", 100'000, split},
      // An alltoall has n (n - 1) messages, which is ten billion at 100,000 places.
      {"team", "alltoall of 8 B", 1'000, alltoall}};
}

}  // namespace bench
