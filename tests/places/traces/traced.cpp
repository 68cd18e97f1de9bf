// SPDX-License-Identifier: Apache-2.0
// A program whose traces the tests examine. The first argument says how it ends.
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <apgas/apgas.hpp>

namespace {

using namespace apgas;

int fib(int n) {
  if (n < 2) return n;
  int left = 0;
  int right = 0;
  finish([&] {
    async([&left, n] { left = fib(n - 1); });  // "fib by async"
    right = fib(n - 2);
  });
  return left + right;
}

int fib_forked(int n) {
  if (n < 2) return n;
  const auto [left, right] =
      fork_join([n] { return fib_forked(n - 1); }, [n] { return fib_forked(n - 2); });
  return left + right;
}

void phases(int tasks, int rounds) {
  clocked_finish([&] {
    for (int i = 0; i < tasks; ++i) {
      clocked_async([rounds] {
        for (int k = 0; k < rounds; ++k) clock::advance_all();
      });
    }
  });
}

constexpr int short_calls = 200;           // of trace_test.py
constexpr std::size_t late_bytes = 8'000;  // the same

void all_constructs() {
  finish([] {
    for (place p : places()) {
      async_at(p, [](int n) { return fib(n); }, 12);
    }
  });
  for (place p : places()) {
    if (at(p, [](int n) { return fib_forked(n); }, 12) != 144) std::abort();
    // Many replies come while the caller has not been suspended yet.
    for (int i = 0; i < short_calls; ++i) at(p, [] {});
  }
  phases(3, 5);
  finish([] {
    promise<int> value;
    future<int> later = value.get_future();
    std::atomic<bool> begun = false;
    async(name("waits for \"three\""), [later, &begun]() mutable {
      begun = true;
      if (later.get() != 3) std::abort();
    });
    yield();
    // If there is one worker, the task waits afterwards.
    while (!begun) sleep_for(std::chrono::microseconds(100));
    value.set_value(3);
  });
  forall(0, 1000, [](int) {});
  sleep_for(std::chrono::milliseconds(1));  // a worker at least is idle
}

// With APGAS_TEST_DELAY, some of these calls are in flight for milliseconds. The counters are
// sampled when a task begins.
void late_calls() {
  const std::string text(late_bytes, 'x');
  for (int i = 0; i < 20; ++i) {
    const auto call = async_future_at(place(num_places() - 1), [](const std::string&) {}, text);
    while (!call.ready()) {
      finish([] { async([] {}); });
      sleep_for(std::chrono::microseconds(200));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv, [](int count, char** arguments) {
    const std::string_view how = count > 1 ? arguments[1] : "end";
    const int n = count > 2 ? std::atoi(arguments[2]) : 20;
    if (how == "fib") return fib(n) == 0 ? 1 : 0;
    if (how == "late") {
      late_calls();
      return 0;
    }
    all_constructs();
    if (how == "blocked") {  // there is a folder where the trace is to be written
      const char* const path = std::getenv("APGAS_TRACE");  // NOLINT(concurrency-mt-unsafe)
      std::filesystem::remove(path);
      std::filesystem::create_directory(path);
    }
    if (how == "latin1") finish([] { async(name("caf\xe9"), [] {}); });
    if (how == "fork") {
      const pid_t child = fork();
      if (child == 0) std::exit(0);  // NOLINT(concurrency-mt-unsafe): this is tested
      waitpid(child, nullptr, 0);
    }
    if (how == "throw") throw std::runtime_error("thrown on purpose");
    if (how == "exit") std::exit(5);  // NOLINT(concurrency-mt-unsafe): this is tested
    if (how == "abort") at(place(num_places() - 1), [] { std::abort(); });
    if (how == "kill") at(place(num_places() - 1), [] { std::raise(SIGSEGV); });
    if (how == "killed") at(place(num_places() - 1), [] { std::raise(SIGKILL); });
    if (how == "deadlock") {
      const promise<int> never;
      static_cast<void>(never.get_future().get());
    }
    return 0;
  });
}
