// SPDX-License-Identifier: Apache-2.0
// The collectives of teams in the simulator of tests/sim, with sizes in place of data.
#include <bit>

#include "scale.hpp"
#include "sim_team.hpp"

namespace bench {
namespace {

namespace remote = apgas::remote;

constexpr std::size_t envelope_bytes = 32;  // of each message, beside the frame's header

// What docs/protocols/team.md claims.
struct expected {
  std::int64_t frames;
  std::int64_t depth;  // at most
};

template <class Make>
scale_result simulate(int places, std::size_t element_bytes, const expected& claim, Make make,
                      std::size_t beside = 0) {
  sim::team_sizes sizes;
  sim::traffic seen(places);
  sim::random_choice chooser(1);
  sim::team_world world(sim::schedules_of(static_cast<std::size_t>(places), make), sizes, &seen,
                        element_bytes, envelope_bytes + beside);
  const sim::team_result run = world.run(chooser);
  scale_result r;
  r.frames = seen.frames();
  r.to_home = seen.received_by(0);
  r.to_other = seen.most_received_but_by(0);
  r.bytes = seen.most_bytes();
  r.depth = run.depth;
  r.wrong = run.wrong;
  if (r.wrong.empty() && r.frames != claim.frames) r.wrong = "another number of messages";
  if (r.wrong.empty() && r.depth > claim.depth) r.wrong = "too deep";
  return r;
}

// log2, rounded up; and down.
std::int64_t rounds(int n) { return std::bit_width(static_cast<unsigned>(n - 1)); }
std::int64_t levels(int n) { return std::bit_width(static_cast<unsigned>(n)) - 1; }

scale_result barrier(int n) {
  const auto members = static_cast<std::size_t>(n);
  return simulate(n, 0, {n * rounds(n), rounds(n)},
                  [members](std::size_t i) { return remote::barrier_schedule(members, i); });
}

scale_result broadcast(int n) {
  const auto members = static_cast<std::size_t>(n);
  // Each message has the one value, whatever the size of the subtree.
  return simulate(
      n, 0, {n - 1, rounds(n)},
      [members](std::size_t i) {
        return remote::down_schedule(remote::member_tree(members, i, 0));
      },
      8);
}

scale_result gather(int n) {
  const auto members = static_cast<std::size_t>(n);
  return simulate(n, 8, {n - 1, rounds(n)}, [members](std::size_t i) {
    return remote::up_schedule(remote::member_tree(members, i, 0));
  });
}

scale_result reduce(int n) {
  const auto members = static_cast<std::size_t>(n);
  return simulate(n, 8, {n - 1, rounds(n)},
                  [members](std::size_t i) { return remote::reduce_schedule(members, i, 0, 1); });
}

scale_result allreduce(int n, std::size_t elements, bool is_long) {
  const auto members = static_cast<std::size_t>(n);
  const std::int64_t power = std::bit_floor(static_cast<unsigned>(n));
  const std::int64_t times = is_long ? 2 : 1;
  return simulate(
      n, 8, {times * power * levels(n) + 2 * (n - power), times * levels(n) + 2},
      [=](std::size_t i) { return remote::allreduce_schedule(members, i, elements, is_long); });
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
      {"team", "broadcast of 8 B", 100'000, broadcast},
      {"team", "reduce of 8 B", 100'000, reduce},
      {"team", "allreduce of 8 B", 100'000, [](int n) { return allreduce(n, 1, false); }},
      {"team", "allreduce of 1 MiB", 100'000, [](int n) { return allreduce(n, mebibyte, true); }},
      {"team", "gather of 8 B", 100'000, gather},
      {"team", "alltoall of 8 B", 1'000, alltoall}};
}

}  // namespace bench
