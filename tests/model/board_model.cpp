// SPDX-License-Identifier: Apache-2.0
// Bulletin boards of teams. The scenarios are an owner with two readers and a ring of two slots,
// the same in a second collective, two members that publish while a third goes to sleep, and an
// owner that withdraws a post. Checked properties: a reader finds each post complete and in order,
// the owner overwrites none that a reader still needs, a member that sleeps is found by the member
// for which it waits, and a reader that still finds a zero-copy post after it has copied the data
// has copied the right data. See docs/protocols/team.md.

// clang-format off: model.hpp comes before every header of the product
#include "model.hpp"
#include <apgas/places/bulletin_board.hpp>
#include "board_mutants.hpp"
#include "board_zero_copy_mutants.hpp"
#include "board_sleep_mutants.hpp"
// clang-format on

namespace apgas::model {

// Thread 0 owns the board, threads 1 and 2 read it. Scenario 0 has one collective; in scenario 1
// the readers have taken two posts of an earlier collective, and two slots hold these.
template <class Published, class Key, bool (*FreeFor)(const Key&, const Key&, std::uint32_t)>
struct board_suite : rl::test_suite<board_suite<Published, Key, FreeFor>, 3> {
  static inline int scenario = 0;
  static constexpr std::uint32_t slots = 2;
  static constexpr std::uint32_t posts = 4;

  Published keys[slots];
  Published taken[2];
  rl::var<int> data[slots];
  std::uint32_t collective = 1;
  std::uint32_t written = 0;
  std::uint32_t read[2] = {};

  void before() {
    if (scenario == 0) return;
    collective = 2;
    for (auto& each : taken) each.publish({1, 3});
  }
  void thread(unsigned index) {
    for (std::uint32_t i = 0; i < posts; ++i) index == 0 ? write() : consume(index - 1);
  }
  void after() {
    for (const std::uint32_t each : read) RL_ASSERT(each <= written);
  }
  void write() {
    const Key next{collective, written + 1};
    for (auto& each : taken) {
      if (!FreeFor(next, each.look(), slots)) return;
    }
    ++written;
    data[written % slots]($) = static_cast<int>(written);
    keys[written % slots].publish(next);
  }
  void consume(unsigned reader) {
    const Key wanted{collective, read[reader] + 1};
    if (wanted.number > posts || !(keys[wanted.number % slots].look() == wanted)) return;
    ++read[reader];
    RL_ASSERT(data[wanted.number % slots]($) == static_cast<int>(wanted.number));
    taken[reader].publish(wanted);
  }
};

// Threads 0 and 1 publish, thread 2 waits for thread 0.
template <class Published, class Key, class Mark>
struct board_sleep_suite : rl::test_suite<board_sleep_suite<Published, Key, Mark>, 3> {
  static inline int scenario = 0;

  Published keys[2];
  Mark mark;
  bool sleeps = false;
  bool wakes[2] = {};

  void thread(unsigned index) {
    if (index < 2) {
      keys[index].publish({1, 1});
      Mark::fence_before_look();
      wakes[index] = mark.waits_for(index) != 0;
      return;
    }
    mark.announce(0, 1);
    sleeps = !(keys[0].look() == Key{1, 1});
    if (!sleeps) mark.clear();
  }
  void after() {
    RL_ASSERT(!wakes[1]);
    RL_ASSERT(!sleeps || wakes[0]);
  }
};

// Thread 0 has a zero-copy post, withdraws it and changes the data; thread 1 copies them.
template <class Published, class Key>
struct board_zero_copy_suite : rl::test_suite<board_zero_copy_suite<Published, Key>, 2> {
  static inline int scenario = 0;

  Published key;
  base::atomic<int> data{0};

  void thread(unsigned index) {
    const Key post{1, 1};
    if (index == 0) {
      data.store(1, base::relaxed);
      key.publish(post);
      key.withdraw();
      data.store(2, base::relaxed);
    } else if (key.look() == post) {
      const int copied = data.load(base::relaxed);
      RL_ASSERT(!key.remains(post) || copied == 1);
    }
  }
};

}  // namespace apgas::model

int main() {
  using namespace apgas::model;
  namespace product = apgas::remote;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  using board = board_suite<product::published_key, product::post_key, product::free_for>;
  bool right = holds<board>("an owner and two readers", 0, 3);
  right &= holds<board>("a second collective", 1, 3);
  right &= holds<board_sleep_suite<product::published_key, product::post_key, product::sleep_mark>>(
      "a member that goes to sleep", 0, 3);
  right &= holds<board_zero_copy_suite<product::published_key, product::post_key>>(
      "a post that is withdrawn", 0, 3);
#define REFUTE(name)                                                                  \
  right &= refuted<board_suite<product::name::published_key, product::name::post_key, \
                               product::name::free_for>>(#name, 2, 3);
  BOARD_MUTANTS(REFUTE)
#define REFUTE_SLEEP(name)                                                                  \
  right &= refuted<board_sleep_suite<product::name::published_key, product::name::post_key, \
                                     product::name::sleep_mark>>(#name, 1, 3);
  BOARD_SLEEP_MUTANTS(REFUTE_SLEEP)
#define REFUTE_ZERO_COPY(name)                                                                    \
  right &= refuted<board_zero_copy_suite<product::name::published_key, product::name::post_key>>( \
      #name, 1, 3);
  BOARD_ZERO_COPY_MUTANTS(REFUTE_ZERO_COPY)
  return right ? 0 : 1;
}
