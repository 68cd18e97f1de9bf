// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <vector>

#include <apgas/apgas.hpp>

#include "scheduled_cases.hpp"

namespace apgas::test {
namespace {

using namespace std::chrono_literals;

long fib(long n) {
  if (n < 2) return n;
  const auto [a, b] = fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

int tasks() {
  long sum = 0;
  mutex guard;
  const auto c = clock::make();
  channel<int> numbers(2);
  semaphore tokens(0);
  long of_clock = 0;
  finish([&] {
    for (int i = 0; i < 4; ++i) {
      async(clocked(c), [&, c] {
        for (int p = 0; p < 3; ++p) {
          {
            const std::lock_guard hold(guard);
            ++of_clock;
          }
          c.advance();
        }
      });
    }
    c.drop();
    async([&] {
      for (int i = 0; i < 10; ++i) numbers.send(i);
      numbers.close();
    });
    async([&] {
      while (const auto n = numbers.receive()) {
        const std::lock_guard hold(guard);
        sum += *n;
      }
    });
    async([&] {
      sleep_for(2s);
      tokens.release();
    });
    async([&] {
      while (!tokens.try_acquire_for(300ms)) yield();
    });
    async([&] {
      const long f = fib(9);
      const std::lock_guard hold(guard);
      sum += f;
    });
  });
  const auto later = async_future([] { return blocking([] { return 7; }); });
  std::vector<int> many(500, 1);
  sum += parallel::reduce(many, 0, std::plus<>());
  sum += later.get();
  return sum == 45 + 34 + 500 + 7 && of_clock == 12 ? 0 : 1;
}

int messages() {
  long sum = 0;
  finish([&] {
    for (const place p : places()) {
      async([&sum, p] {
        const long got = at(p, [] {
          const place next((here().id() + 1) % num_places());
          return at(next, [](int from) { return 10L * from + here().id(); }, here().id());
        });
        atomic([&sum, got] { sum += got; });
      });
    }
    for (const place p : places()) {
      async_at(p, [] {
        for (int i = 0; i < 3; ++i) {
          async_at(place((here().id() + i) % num_places()), [] { sleep_for(10ms); });
        }
      });
    }
  });
  const team all = team::world();
  finish([&] {
    for (const place p : places()) {
      async_at(p, [all] {
        all.barrier();
        if (all.allreduce(1, std::plus<>()) != num_places())
          throw std::runtime_error("a sum is wrong");
      });
    }
  });
  const long n = num_places();
  return sum == 11 * n * (n - 1) / 2 ? 0 : 1;
}

// Waits for something that nobody does.
int hangs() {
  promise<int> never;
  static_cast<void>(never.get_future().get());
  return 0;
}

// The same at the last place.
int hangs_elsewhere() {
  at(place(num_places() - 1), [] { semaphore(0).acquire(); });
  return 0;
}

// Waits with std::mutex, which blocks the thread that another task needs to go on.
int blocks_thread() {
  std::mutex plain;
  int entered = 0;
  finish([&] {
    for (int i = 0; i < 4; ++i) {
      async([&] {
        const std::lock_guard hold(plain);
        async([] {});
        ++entered;
      });
    }
  });
  return entered == 4 ? 0 : 1;
}

int fails() { return 5; }

}  // namespace

std::vector<scheduled_case> programs() {
  return {{"tasks", tasks},
          {"messages", messages},
          {"hangs", hangs},
          {"hangs_elsewhere", hangs_elsewhere},
          {"blocks_thread", blocks_thread},
          {"fails", fails}};
}

}  // namespace apgas::test
