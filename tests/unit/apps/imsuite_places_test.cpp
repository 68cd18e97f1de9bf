// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>

#include <gtest/gtest.h>

#include "imsuite/graph.hpp"
#include "imsuite/letters.hpp"
#include "imsuite/office.hpp"
#include "support/random_seed.hpp"

// What the kernels need to run over several places, without places. APGAS_TEST_SEED=n repeats the
// random test.
namespace {

TEST(imsuite_blocks, have_each_node_once_and_are_even) {
  for (const int places : {1, 2, 3, 4, 7, 64}) {
    for (const int nodes : {1, 2, 3, 5, 63, 64, 65, 1000, 32768}) {
      const imsuite::blocks whose(nodes, places);
      EXPECT_EQ(whose.first(0), 0);
      EXPECT_EQ(whose.end(places - 1), nodes);
      for (int p = 0; p < places; ++p) {
        EXPECT_EQ(whose.end(p), whose.first(p + 1));
        EXPECT_LE(whose.end(p) - whose.first(p), nodes / places + 1);
        for (int node = whose.first(p); node < whose.end(p); ++node) {
          ASSERT_EQ(whose.place_of(node), p) << nodes << " nodes, " << places << " places";
        }
      }
    }
  }
}

// Stands for a kernel: what letters are written to is not its first member.
struct kernel {
  char before = 'b';
  int sum = 0;
  std::string said;
};

template <class T, class F, class... Args>
void write(imsuite::letters& to, std::size_t where, F, const Args&... args) {
  imsuite::write_letter<F, T>(to, static_cast<std::ptrdiff_t>(where), args...);
}

TEST(imsuite_letters, are_carried_out_in_order_with_values_and_lists_of_any_length) {
  const std::uint32_t seed = apgas::test::random_seed();
  SCOPED_TRACE(apgas::test::how_to_repeat(seed));
  std::mt19937 random(seed);
  kernel receiver;
  imsuite::letters all;
  int sum = 0;
  std::string said;
  for (int i = 0; i < 1000; ++i) {
    const int number = static_cast<int>(random() % 1000);
    const std::string word(random() % 20, static_cast<char>('a' + i % 26));
    sum = 2 * (sum % 1000) + number;
    said += word + std::to_string(number);
    const auto add = [](int& s, int n) { s = 2 * (s % 1000) + n; };
    write<int>(all, offsetof(kernel, sum), add, number);
    const auto say = [](std::string& s, std::span<const char> w, int n) {
      s.append(w.begin(), w.end());
      s += std::to_string(n);
    };
    write<std::string>(all, offsetof(kernel, said), say, std::span<const char>(word), number);
  }
  imsuite::carry_out_all(all, reinterpret_cast<std::byte*>(&receiver));
  EXPECT_EQ(receiver.sum, sum);
  EXPECT_EQ(receiver.said, said);
  EXPECT_EQ(receiver.before, 'b');
}

TEST(imsuite_letters, of_nobody_do_nothing) {
  kernel receiver;
  imsuite::carry_out_all({}, reinterpret_cast<std::byte*>(&receiver));
  EXPECT_EQ(receiver.sum, 0);
}

}  // namespace
