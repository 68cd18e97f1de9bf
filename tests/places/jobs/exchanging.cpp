// SPDX-License-Identifier: Apache-2.0
// A program whose places send each other messages of several sizes until it is ended: exchanging
// <seconds>. Each place prints its process id. The messages travel around all places, and nothing
// that a place does depends on their contents. See killed_inside_test.py and garbage_test.py.
#include <chrono>
#include <cstdio>
#include <cstdlib>
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
  apgas::finish([&] {
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
