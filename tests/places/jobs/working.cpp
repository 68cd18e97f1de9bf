// SPDX-License-Identifier: Apache-2.0
// A program that works until it is ended: working <seconds> [<how> <place>]. Each place prints its
// process id. Then a message travels around all places, and each place computes in tasks. After
// half a second the given place fails in the given way; with `late-kill` and `late-stop` it fails
// after MPI has ended. A SIGUSR1 at place 0 ends the work before the time is over. See
// failures_test.py.
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>

#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <apgas/apgas.hpp>

namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

int late_signal = 0;
std::atomic<bool> ended = false;

int deep(int depth) {
  volatile char frame[1024] = {};
  frame[depth % 1024] = 1;
  return deep(depth + 1) + frame[(depth + 1) % 1024];
}

// As a wrong address in a call of munmap does: the place loses the memory that it shares with
// others.
void unmap_shared_memory() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    if (line.find("/memfd:apgas") == std::string::npos) continue;
    std::sscanf(line.c_str(), "%lx-%lx", &begin, &end);
    munmap(reinterpret_cast<void*>(begin), end - begin);
  }
}

void fail(const std::string& how) {
  if (how == "overflow") std::exit(deep(0));  // NOLINT(concurrency-mt-unsafe): not reached
  if (how == "segv") *reinterpret_cast<volatile int*>(how.size()) = 1;  // an address without memory
  if (how == "abort") std::abort();
  if (how == "throw") std::thread([] { throw std::runtime_error("nobody catches it"); }).join();
  if (how == "unmap") unmap_shared_memory();
  if (how == "own") {  // a signal handler of the program, which ends the process itself
    std::signal(SIGSEGV, [](int) { _exit(7); });
    std::raise(SIGSEGV);
  }
  if (how == "late-kill") late_signal = SIGKILL;
  if (how == "late-stop") late_signal = SIGSTOP;
}

// Continues at the next place until the time is over.
void go_round(int from, long long until_ns) {
  if (ended || clock_type::now().time_since_epoch().count() > until_ns) return;
  const apgas::place next((from + 1) % apgas::num_places());
  apgas::async_at(
      next, [](int here, long long until) { go_round(here, until); }, next.id(), until_ns);
}

void compute(clock_type::time_point until) {
  volatile double sum = 0;
  while (!ended && clock_type::now() < until) {
    apgas::finish([&] {
      for (int i = 0; i < 100; ++i) {
        apgas::async([&sum] { sum = sum + 1; });
      }
    });
    apgas::sleep_for(1ms);
  }
}

int work(int argc, char** argv) {
  std::signal(SIGUSR1, [](int) { ended = true; });
  const int seconds = argc > 1 ? std::atoi(argv[1]) : 1;
  const std::string how = argc > 3 ? argv[2] : "";
  const int victim = argc > 3 ? std::atoi(argv[3]) : 0;
  apgas::finish([&] {
    for (apgas::place p : apgas::places()) {
      apgas::at(p, [] {
        std::printf("place %d process %d launcher %d\n", apgas::here().id(), getpid(), getppid());
        std::fflush(stdout);
      });
    }
  });
  std::printf("working\n");
  std::fflush(stdout);
  apgas::finish([&] {
    for (apgas::place p : apgas::places()) {
      apgas::async_at(
          p,
          [](int s, const std::string& in_this_way) {
            const auto until = clock_type::now() + std::chrono::seconds(s);
            go_round(apgas::here().id(), until.time_since_epoch().count());
            compute(clock_type::now() + std::chrono::milliseconds(500));
            fail(in_this_way);
            compute(until);
            if (apgas::here().id() == 0) {
              apgas::async_at(apgas::places(), [] { ended = true; });
            }
          },
          seconds, p.id() == victim ? how : std::string());
    }
  });
  std::printf("done\n");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int code = apgas::run(argc, argv, work);
  if (late_signal != 0) {
    MPI_Finalize();
    std::raise(late_signal);
  }
  return code;
}
