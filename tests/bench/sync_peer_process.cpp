// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <sched.h>

#include "sync_peer_process.hpp"

namespace bench {
namespace {

// With more operating-system threads a phase takes up to seconds.
constexpr int most_threads = 512;
constexpr int most_fibers = 1 << 20;
constexpr int most_parties = 65535;  // the limit of java.util.concurrent.Phaser

// The works that a peer supports, one bit for each.
constexpr unsigned bit(peer_work w) { return 1U << static_cast<unsigned>(w); }
constexpr unsigned barriers = bit(peer_work::barrier);
constexpr unsigned reduces = bit(peer_work::reduction);
constexpr unsigned grows = bit(peer_work::growing);
constexpr unsigned spawns = bit(peer_work::spawning);

struct kind {
  const char* name;
  const char* argument;  // of the peer's program
  unsigned works;
  int workers;  // 0: both 1 and 2
  int most_members;
  // Uses operating-system threads, which are bound to as many cores as there are workers.
  bool threads = false;
  bool only_one_each = false;    // only with as many members as workers
  const char* environment = "";  // of the peer's program
  bool java = false;
};

const std::vector<kind> kinds = {
    {"std::barrier", "std", barriers | reduces | grows, 0, most_threads, true},
    {"pthread_barrier", "pthread", barriers, 0, most_threads, true},
#if defined(BENCH_PEER_OPENMP)
    {"OpenMP, active", "openmp", barriers | reduces, 2, most_threads, true, true,
     "OMP_WAIT_POLICY=active"},
    {"OpenMP, passive", "openmp", barriers | reduces | grows, 0, most_threads, true, false,
     "OMP_WAIT_POLICY=passive"},
    {"OpenMP, default waiting", "openmp", grows, 0, most_threads, true},
#endif
#if defined(BENCH_PEER_FIBER)
    {"Boost.Fiber round_robin", "fiber-round-robin", barriers | reduces | grows | spawns, 1,
     most_fibers},
    {"Boost.Fiber shared_work", "fiber-shared-work", barriers | reduces | grows | spawns, 2,
     most_fibers},
    {"Boost.Fiber work_stealing", "fiber-work-stealing", barriers | reduces | grows | spawns, 2,
     most_fibers},
#endif
#if defined(BENCH_PEER_JAVA)
    {"Java Phaser, platform threads", "platform", barriers | reduces | grows, 2, most_threads, true,
     false, "", true},
#endif
#if defined(BENCH_PEER_JAVA_VIRTUAL)
    {"Java Phaser, virtual threads", "virtual", barriers | reduces | grows, 0, most_parties, false,
     false, "", true},
#endif
};

const char* word(peer_work w) {
  switch (w) {
    case peer_work::barrier:
      return "barrier";
    case peer_work::reduction:
      return "reduction";
    case peer_work::growing:
      return "growing";
    case peer_work::spawning:
      return "spawning";
  }
  return "";
}

// While this object exists, new threads and processes of this thread stay on `cores` cores,
// including the current one.
class kept_on_cores {
 public:
  explicit kept_on_cores(int cores) {
    if (cores == 0 || sched_getaffinity(0, sizeof before_, &before_) != 0) return;
    cpu_set_t some;
    CPU_ZERO(&some);
    CPU_SET(sched_getcpu(), &some);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&some) < cores; ++cpu) {
      if (CPU_ISSET(cpu, &before_)) CPU_SET(cpu, &some);
    }
    changed_ = sched_setaffinity(0, sizeof some, &some) == 0;
  }
  ~kept_on_cores() {
    if (changed_) sched_setaffinity(0, sizeof before_, &before_);
  }
  kept_on_cores(const kept_on_cores&) = delete;
  kept_on_cores& operator=(const kept_on_cores&) = delete;

 private:
  cpu_set_t before_{};
  bool changed_ = false;
};

// Runs a command whose last line is "<seconds> <1 if correct>".
sample run_process(const std::string& command, int cores) {
  const kept_on_cores here(cores);
  sample s;
  int correct = 0;
  std::FILE* output = popen(command.c_str(), "r");  // the program and its arguments are trusted
  if (output == nullptr) return {};
  const int read = std::fscanf(output, "%lf %d", &s.seconds, &correct);
  const int status = pclose(output);
  s.correct = read == 2 && correct == 1 && status == 0;
  if (!s.correct) fmt::print(stderr, "status {}: {}\n", status, command);
  return s;
}

std::string program_of(const kind& k, int workers) {
#if defined(BENCH_PEER_JAVA)
  if (k.java) {
    return fmt::format(BENCH_PEER_JAVA
                       " -XX:+UseSerialGC -Djdk.virtualThreadScheduler.parallelism={0}"
                       " -Djdk.virtualThreadScheduler.maxPoolSize={0} -cp " BENCH_PEER_JAVA_CLASSES
                       " SyncPeer",
                       workers);
  }
#endif
  (void)k, (void)workers;
  return BENCH_SYNC_PEERS;
}

void add(benchmark& to, const kind& k, peer_work work, const plan& p) {
  if ((k.works & bit(work)) == 0 || p.members > k.most_members) return;
  for (const int workers : worker_counts()) {
    if (k.workers != 0 && k.workers != workers) continue;
    if (k.only_one_each && p.members != workers) continue;
    const std::string command = fmt::format("{} timeout 300 {} {} {} {} {} {} {} {}", k.environment,
                                            program_of(k, workers), word(work), k.argument, workers,
                                            p.members, p.phases, p.budget, p.check_all ? 1 : 0);
    const int cores = k.threads ? workers : 0;
    to.variants.push_back(
        {k.name, role::peer, workers, [command, cores] { return run_process(command, cores); }});
  }
}

}  // namespace

void add_peer_processes(benchmark& to, peer_work work, const plan& p) {
  for (const kind& k : kinds) add(to, k, work, p);
}

std::vector<std::string> missing_peers() {
  std::vector<std::string> all;
  [[maybe_unused]] const auto not_built = [&all](const char* peer, const char* package) {
    all.push_back(
        fmt::format("{} is left out, because it is not built in: apt install {}, then "
                    "configure and build again",
                    peer, package));
  };
#if !defined(BENCH_PEER_OPENMP)
  not_built("OpenMP", "libgomp1, or libomp-dev for clang");
#endif
#if !defined(BENCH_PEER_FIBER)
  not_built("Boost.Fiber", "libboost-fiber-dev");
#endif
#if !defined(BENCH_PEER_JAVA)
  not_built("Java's Phaser", "default-jdk-headless");
#elif !defined(BENCH_PEER_JAVA_VIRTUAL)
  all.emplace_back(
      "Java's Phaser on virtual threads is left out, because it needs Java 21: apt install "
      "openjdk-21-jdk-headless, where the distribution has it, then configure and build again");
#endif
  all.emplace_back(
      "Argobots is left out, because Debian does not package it; on another machine of 2 cores of "
      "this kind, its barrier of 512 tasks took 63 ns for each task and phase on 1 execution "
      "stream");
  return all;
}

}  // namespace bench
