// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include <apgas/apgas.hpp>

#include "scheduled_cases.hpp"

namespace apgas::test {
namespace {

int wrong(const char* what) {
  std::printf("%s\n", what);
  return 3;
}

// Two tasks look for a table that the first of them makes. While it is made, which spawns a task,
// the other one may look, too.
int made_twice() {
  static int made;
  made = 0;
  bool has_table = false;
  const auto look = [&] {
    if (has_table) return;
    finish([] { async([] {}); });  // makes the table
    ++made;
    has_table = true;
  };
  finish([&] {
    async(look);
    look();
  });
  return made == 1 ? 0 : wrong("the table was made twice");
}

// A balance is read before a task is spawned that prints it, and written afterwards.
int lost_update() {
  int balance = 0;
  const auto deposit = [&balance] {
    const int before = balance;
    finish([before] { async([before] { static_cast<void>(before); }); });
    balance = before + 1;
  };
  finish([&] {
    async(deposit);
    async(deposit);
  });
  return balance == 2 ? 0 : wrong("a deposit was lost");
}

int value_here = 0;  // of the last place

// Place 0 sends a value to the last place, and then asks place 1 to read it there. The two
// messages take different ways, so the first one may come later.
int two_ways() {
  const place last(num_places() - 1);
  int read = 0;
  at(last, [] { value_here = 0; });
  finish([&] {
    async_at(last, [] { value_here = 42; });
    read = at(
        place(1 % num_places()), [](place of) { return at(of, [] { return value_here; }); }, last);
  });
  return read == 42 ? 0 : wrong("the value was read before it was written");
}

// Two mutexes are locked in different orders, while a task is spawned in between. If both tasks
// have one, they wait for ever.
int two_mutexes() {
  mutex one;
  mutex two;
  const auto both = [](mutex& first, mutex& second) {
    first.lock();
    finish([] { async([] {}); });
    second.lock();
    second.unlock();
    first.unlock();
  };
  finish([&] {
    async([&] { both(one, two); });
    async([&] { both(two, one); });
  });
  return 0;
}

// A wait with a time limit, after which the task believes that its request was not granted.
int granted_too_late() {
  semaphore grant(0);
  bool granted = false;
  bool given_up = false;
  finish([&] {
    async([&] {
      granted = true;
      finish([] { async([] {}); });
      grant.release();
    });
    if (!grant.try_acquire_for(std::chrono::seconds(5)) && granted) given_up = true;
  });
  return given_up ? wrong("the time limit expired although the request was granted") : 0;
}

}  // namespace

std::vector<scheduled_case> planted_races() {
  return {{"made_twice", made_twice},
          {"lost_update", lost_update},
          {"two_ways", two_ways},
          {"two_mutexes", two_mutexes},
          {"granted_too_late", granted_too_late}};
}

}  // namespace apgas::test
