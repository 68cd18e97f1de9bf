// SPDX-License-Identifier: Apache-2.0

// One sample of one peer of sync_bench, which starts this program:
//   sync_peers WORK KIND WORKERS MEMBERS PHASES BUDGET CHECK_ALL
// Prints the seconds for all phases, and 1 if the result is right.

#include <cstdio>
#include <functional>
#include <map>
#include <string>

#include "sync_peers.hpp"

namespace {

using work = std::function<bench::sample(const bench::plan&)>;

std::map<std::string, work> works(int workers) {
  std::map<std::string, work> all = {
      {"barrier std", bench::std_barrier},
      {"reduction std", bench::std_reduction},
      {"growing std", bench::std_growing},
      {"barrier pthread", bench::pthread_phases},
  };
#if defined(BENCH_PEER_OPENMP)
  all["barrier openmp"] = bench::openmp_barrier;
  all["reduction openmp"] = bench::openmp_reduction;
  all["growing openmp"] = bench::openmp_growing;
#endif
#if defined(BENCH_PEER_FIBER)
  using enum bench::fiber_schedule;
  for (const auto& [name, how] :
       {std::pair{" fiber-round-robin", round_robin}, std::pair{" fiber-shared-work", shared_work},
        std::pair{" fiber-work-stealing", work_stealing}}) {
    const auto add = [&all, name, how, workers](const char* what, auto run) {
      all[std::string(what) + name] = [=](const bench::plan& p) { return run(p, how, workers); };
    };
    add("barrier", bench::fiber_barrier);
    add("reduction", bench::fiber_reduction);
    add("growing", bench::fiber_growing);
    add("spawning", bench::fiber_spawning);
  }
#endif
  (void)workers;
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 8) {
    std::fprintf(stderr, "sync_peers: to be started by sync_bench, with seven arguments\n");
    return 2;
  }
  const bench::plan p{std::stoi(argv[4]), std::stol(argv[5]), std::stod(argv[6]),
                      std::stoi(argv[7]) != 0};
  const auto all = works(std::stoi(argv[3]));
  const auto found = all.find(std::string(argv[1]) + " " + argv[2]);
  if (found == all.end()) {
    std::fprintf(stderr, "sync_peers: there is no %s by %s\n", argv[1], argv[2]);
    return 2;
  }
  const bench::sample s = found->second(p);
  std::printf("%.9f %d\n", s.seconds, s.correct ? 1 : 0);
  return 0;
}
