// SPDX-License-Identifier: Apache-2.0
// A program whose places send each other messages of several sizes until it is ended: exchanging
// <seconds>. Each place prints its process id. The messages travel around all places, and nothing
// that a place does depends on their contents. With `exchanging <seconds> collectives <n>`, all
// places also make n rounds of collective calls. With `exchanging <seconds> long <n>`, all places
// only make n rounds of calls whose data are read from the memory of another place. See
// killed_inside_test.py and garbage_test.py.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <span>
#include <vector>

#include <unistd.h>

#include <apgas/apgas.hpp>

namespace {

using clock_type = std::chrono::steady_clock;

clock_type::time_point until;  // of this place

// Frames that are written at once, and messages that are longer than a record of a ring. Two places
// that are next to each other send in both directions.
constexpr std::size_t sizes[] = {0, 8, 1000, 12'000, 40'000};

void pass_on(int size, int step) {
  if (clock_type::now() > until) return;
  const int places = apgas::num_places();
  const apgas::place next((apgas::here().id() + step + places) % places);
  apgas::async_at(
      next, [](int s, int d, const std::vector<unsigned char>&) { pass_on(s, d < 0 ? -1 : 1); },
      size, step,
      std::vector<unsigned char>(sizes[static_cast<unsigned>(size) % std::size(sizes)]));
}

// The number of calls is fixed: if it depended on what they move, garbage would make places differ.
void call_collectives(int rounds) {
  const apgas::team all = apgas::team::world();
  std::vector<unsigned char> data(200'000);  // more posts than a bulletin board has at a time
  for (int i = 0; i < rounds; ++i) {
    all.barrier();
    all.broadcast(std::span(data), apgas::place(i % apgas::num_places()));
    static_cast<void>(all.allreduce(1L, std::plus<>()));
  }
}

// Arguments, results and data of a collective that are long enough to be read from the memory of
// the place that has them. An exception is printed, so that the tests see which ones reach the
// program.
void call_with_long_data(int rounds) try {
  const apgas::team all = apgas::team::world();
  const apgas::place next((apgas::here().id() + 1) % apgas::num_places());
  std::vector<long> data((std::size_t{1} << 20) / sizeof(long));
  for (int i = 0; i < rounds; ++i) {
    data = apgas::at(next, [](const std::vector<long>& d) { return d; }, data);
    apgas::at_into(next, std::span(data), [n = data.size()] { return std::vector<long>(n); });
    all.allreduce(std::span(data), std::plus<>());
  }
} catch (const std::exception& e) {
  std::fprintf(stderr, "exchanging: %s\n", e.what());
  throw;
}

int exchange(int argc, char** argv) {
  const int seconds = argc > 1 ? std::atoi(argv[1]) : 1;
  apgas::finish([&] {
    for (apgas::place p : apgas::places()) {
      apgas::at(
          p,
          [](int s) {
            until = clock_type::now() + std::chrono::seconds(s);
            std::printf("place %d process %d launcher %d\n", apgas::here().id(), getpid(),
                        getppid());
            std::fflush(stdout);
          },
          seconds);
    }
  });
  std::printf("working\n");
  std::fflush(stdout);
  const auto rounds_of = [&](const char* what) {
    return argc > 3 && std::strcmp(argv[2], what) == 0 ? std::atoi(argv[3]) : 0;
  };
  // No finish waits for tasks of other places, so an exception of these calls reaches main.
  if (const int rounds = rounds_of("long"); rounds > 0) {
    for (apgas::place p : apgas::places()) {
      if (p == apgas::here()) continue;
      apgas::uncounted_async_at(p, [](int n) { call_with_long_data(n); }, rounds);
    }
    call_with_long_data(rounds);
    std::printf("done\n");
    return 0;
  }
  const int rounds = rounds_of("collectives");
  apgas::finish([&] {
    for (apgas::place p : apgas::places()) {
      if (rounds > 0) apgas::async_at(p, [](int n) { call_collectives(n); }, rounds);
    }
    for (apgas::place p : apgas::places()) {
      apgas::async_at(p, [] {
        for (int size = 0; size < static_cast<int>(std::size(sizes)); ++size) {
          pass_on(size, 1);
          pass_on(size, -1);
        }
      });
    }
  });
  std::printf("done\n");
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return apgas::run(argc, argv, exchange); }
