// SPDX-License-Identifier: Apache-2.0
// A program that ends in the given way: behave <what> [<place>]. See launch_test.py.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <apgas/apgas.hpp>

namespace {

using namespace std::chrono_literals;

double processor_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// Each place has a task that waits that long for a future. Then it prints how much processor time
// the place used meanwhile, without the start of the program.
void idle(int seconds) {
  apgas::finish([seconds] {
    for (apgas::place p : apgas::places()) {
      apgas::async_at(
          p,
          [](int s) {
            apgas::promise<int> later;
            auto value = later.get_future();
            std::thread clock([&later, s] {
              std::this_thread::sleep_for(std::chrono::seconds(s));
              later.set_value(s);
            });
            const double before = processor_seconds();
            value.get();
            std::printf("place %d used %.3f s in %d s\n", apgas::here().id(),
                        processor_seconds() - before, s);
            std::fflush(stdout);
            clock.join();
          },
          seconds);
    }
  });
}

// Limits the place to this much address space beyond what it has now. A thread that allocates for
// the first time must not take 64 MiB of it for an arena of its own.
void limit_memory(std::size_t more) {
  mallopt(M_ARENA_MAX, 1);
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t bytes = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + more;
  const rlimit limit{.rlim_cur = bytes, .rlim_max = bytes};
  if (setrlimit(RLIMIT_AS, &limit) != 0) std::abort();
}

// A place receives a message for which it has no memory: place 1 an argument, or place 0 a result.
void starve(int place) {
  constexpr std::size_t mib = std::size_t{1} << 20;
  const apgas::place other(1);
  apgas::at(apgas::place(place), [] { limit_memory(64 * mib); });
  if (place == 0) {
    apgas::at(other, [] { return std::vector<char>(256 * mib); });
  } else {
    apgas::at(other, [](const std::vector<char>&) {}, std::vector<char>(256 * mib));
  }
}

constexpr std::size_t large_frame = std::size_t{300} << 10;

[[gnu::noinline]] void use_stack() {
  volatile char used[large_frame];
  for (std::size_t i = 0; i < sizeof used; i += 1024) used[i] = 1;
}

// Every place does what statistics_test.py finds in the statistics.
void count_here() {
  for (int i = 0; i < 10; ++i) apgas::sleep_for(1ms);
  apgas::clocked_finish([] {
    for (int i = 0; i < 3; ++i) {
      apgas::clocked_async([] {
        for (int phase = 0; phase < 5; ++phase) apgas::clock::advance_all();
      });
    }
  });
  use_stack();
  const apgas::place next((apgas::here().id() + 1) % apgas::num_places());
  std::map<int, std::string> lines;
  for (int i = 0; i < 1000; ++i) lines[i] = "line " + std::to_string(i);
  if (apgas::at(next, [](const std::map<int, std::string>& all) { return all; }, lines) != lines) {
    std::abort();
  }
}

// Every place sends a long vector to the next place, which returns it.
void send_long_here() {
  const apgas::place next((apgas::here().id() + 1) % apgas::num_places());
  const std::vector<char> sent(std::size_t{1} << 20, 'x');
  if (apgas::at(next, [](const std::vector<char>& all) { return all; }, sent) != sent) std::abort();
}

void fail(const std::string& how) {
  if (how == "abort") std::abort();
  if (how == "exit") std::exit(3);   // NOLINT(concurrency-mt-unsafe): this is tested
  if (how == "exit0") std::exit(0);  // NOLINT(concurrency-mt-unsafe)
  if (how == "kill") std::raise(SIGKILL);
  if (how == "segv") *reinterpret_cast<volatile int*>(how.size()) = 1;  // an address without memory
  if (how == "foreign") {
    std::thread([] { throw std::runtime_error("thrown by a foreign thread"); }).join();
  }
}

int behave(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "hello";
  const int number = argc > 2 ? std::atoi(argv[2]) : 0;
  if (what == "hello") {
    apgas::finish([] {
      for (apgas::place p : apgas::places()) {
        apgas::async_at(p, [] { std::printf("hello from place %d\n", apgas::here().id()); });
      }
    });
    std::printf("%d places\n", apgas::num_places());
  } else if (what == "trips") {
    for (int i = 0; i < number; ++i) apgas::at(apgas::place(apgas::num_places() - 1), [] {});
  } else if (what == "code") {
    return number;
  } else if (what == "throw") {
    apgas::async_at(apgas::place(number), [] { throw std::out_of_range("row 7"); });
  } else if (what == "starve") {
    starve(number);
  } else if (what == "wait") {
    apgas::at(apgas::place(apgas::num_places() - 1), [] {
      apgas::finish([] {
        apgas::async(apgas::name("a \"long\" pause"),
                     [] { apgas::blocking([] { std::this_thread::sleep_for(3s); }); });
      });
    });
  } else if (what == "deadlock") {
    std::thread([] {
      std::this_thread::sleep_for(30s);
      std::_Exit(7);
    }).detach();
    const auto c = apgas::clock::make();
    apgas::finish([c] {  // waits for a child that waits for this task
      apgas::async(apgas::clocked(c), [c] { c.advance(); });
    });
  } else if (what == "count") {
    apgas::finish([] {
      for (apgas::place p : apgas::places()) apgas::async_at(p, [] { count_here(); });
    });
  } else if (what == "long") {
    apgas::finish([] {
      for (apgas::place p : apgas::places()) apgas::async_at(p, [] { send_long_here(); });
    });
  } else if (what == "stuck") {
    apgas::promise<int> never;
    never.get_future().get();
  } else if (what == "late") {
    for (int i = 0; i < 2000; ++i) apgas::finish([] { apgas::async([] {}); });
    apgas::finish([] { apgas::async(apgas::name("the last"), [] { std::abort(); }); });
  } else if (what == "idle") {
    idle(number);
  } else {
    const apgas::place there(number);
    apgas::finish([&] {
      apgas::async_at(there, [](const std::string& how) { fail(how); }, what);
      apgas::sleep_for(60s);
    });
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return apgas::run(argc, argv, behave); }
