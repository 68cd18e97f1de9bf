// SPDX-License-Identifier: Apache-2.0

// The check of apps/life: it accepts the boards and logs of the serial variant, and refuses each
// kind of wrong board, observation and insertion.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "life/in_rounds.hpp"
#include "life/outcome.hpp"
#include "life/plan.hpp"
#include "life/replay.hpp"
#include "life/server.hpp"

namespace {

constexpr life::plan small_game{.size = 24, .generations = 30, .clients = 20, .seed = 2};

const life::served& right_game() {
  static const life::served once = life::serve_in_rounds(small_game, life::serially());
  return once;
}

bool game_accepted(const life::served& s) { return life::check(small_game, s).verified; }
bool game_accepted_after(const std::function<void(life::served&)>& spoil) {
  life::served s = right_game();
  spoil(s);
  return game_accepted(s);
}

// The first phase in which something is put in.
std::vector<life::insertion>& some_insertions(life::served& s) {
  return *std::ranges::find_if(s.log.put_in, [](const auto& all) { return !all.empty(); });
}

TEST(LifeCheck, AcceptsTheGameInRounds) {
  EXPECT_TRUE(game_accepted(right_game()));
  life::served s = right_game();
  EXPECT_GT(s.log.seen.size(), 20U);
  EXPECT_FALSE(some_insertions(s).empty());
}

TEST(LifeCheck, AcceptsClientsThatLeaveInAnotherOrder) {
  EXPECT_TRUE(game_accepted_after([](life::served& s) {
    std::ranges::stable_sort(s.log.seen, std::ranges::greater(), &life::observation::client);
    for (auto& each : s.log.put_in) std::ranges::reverse(each);
  }));
}

TEST(LifeCheck, RefusesOneWrongCell) {
  for (const std::size_t k : {std::size_t{0}, std::size_t{300}, std::size_t{575}}) {
    EXPECT_FALSE(game_accepted_after([k](life::served& s) { s.board[k] ^= 1; }));
  }
  EXPECT_FALSE(game_accepted_after([](life::served& s) { s.board[5] = 2; }));
  EXPECT_FALSE(game_accepted_after([](life::served& s) { s.board.pop_back(); }));
  EXPECT_FALSE(game_accepted_after([](life::served& s) { s.board.push_back(0); }));
  EXPECT_FALSE(game_accepted_after([](life::served& s) { s.board.clear(); }));
}

TEST(LifeCheck, RefusesTheBoardOfAGenerationBefore) {
  life::plan shorter = small_game;
  --shorter.generations;
  EXPECT_FALSE(game_accepted_after(
      [&](life::served& s) { s.board = life::serve_in_rounds(shorter, life::serially()).board; }));
}

TEST(LifeCheck, RefusesAnObservationThatIsMissingRepeatedOrWrong) {
  EXPECT_FALSE(game_accepted_after([](life::served& s) { s.log.seen.pop_back(); }));
  EXPECT_FALSE(game_accepted_after([](life::served& s) { s.log.seen.erase(s.log.seen.begin()); }));
  EXPECT_FALSE(game_accepted_after([](life::served& s) { s.log.seen.clear(); }));
  EXPECT_FALSE(
      game_accepted_after([](life::served& s) { s.log.seen.push_back(s.log.seen.back()); }));
  EXPECT_FALSE(game_accepted_after([](life::served& s) { s.log.seen[3].hash ^= 1; }));
  EXPECT_FALSE(game_accepted_after([](life::served& s) { ++s.log.seen[3].generation; }));
  EXPECT_FALSE(game_accepted_after([](life::served& s) { --s.log.seen[3].generation; }));
  EXPECT_FALSE(game_accepted_after([](life::served& s) { ++s.log.seen[3].phase; }));
  EXPECT_FALSE(game_accepted_after([](life::served& s) { s.log.seen[3].client = 20; }));
  EXPECT_FALSE(game_accepted_after([](life::served& s) { s.log.seen[3].client = -1; }));
}

TEST(LifeCheck, RefusesObservationsOfAClientInAnotherOrder) {
  EXPECT_FALSE(game_accepted_after([](life::served& s) {
    const auto pair = std::ranges::adjacent_find(s.log.seen, {}, &life::observation::client);
    ASSERT_NE(pair, s.log.seen.end());
    std::iter_swap(pair, pair + 1);
  }));
}

// Two generations have the same hash if nothing moves in the window; these do not.
TEST(LifeCheck, RefusesTheWindowOfAnotherGeneration) {
  EXPECT_FALSE(game_accepted_after([](life::served& s) {
    const auto pair = std::ranges::adjacent_find(
        s.log.seen, [](const life::observation& a, const life::observation& b) {
          return a.client == b.client && a.hash != b.hash;
        });
    ASSERT_NE(pair, s.log.seen.end());
    std::swap(pair->hash, (pair + 1)->hash);
  }));
}

TEST(LifeCheck, RefusesAnInsertionThatIsMissingOrRepeated) {
  EXPECT_FALSE(game_accepted_after([](life::served& s) { some_insertions(s).pop_back(); }));
  EXPECT_FALSE(game_accepted_after(
      [](life::served& s) { some_insertions(s).push_back(some_insertions(s).front()); }));
  // One is lost, and another is there twice: their number is right.
  EXPECT_FALSE(game_accepted_after([](life::served& s) {
    const auto two =
        std::ranges::find_if(s.log.put_in, [](const auto& all) { return all.size() > 1; });
    ASSERT_NE(two, s.log.put_in.end());
    two->at(0) = two->at(1);
  }));
}

TEST(LifeCheck, RefusesAnInsertionThatIsNotThatOfThePlan) {
  EXPECT_FALSE(game_accepted_after([](life::served& s) {
    life::insertion& one = some_insertions(s).front();
    one.pattern = (one.pattern + 1) % life::patterns;
  }));
  EXPECT_FALSE(game_accepted_after([](life::served& s) { ++some_insertions(s).front().row; }));
  EXPECT_FALSE(game_accepted_after([](life::served& s) { --some_insertions(s).front().column; }));
  EXPECT_FALSE(game_accepted_after([](life::served& s) { ++some_insertions(s).front().client; }));
}

// A server that garbles what a client puts in plays a game that agrees with its own log.
TEST(LifeCheck, RefusesAGameWithAGarbledInsertionThatTheServerPlays) {
  EXPECT_FALSE(game_accepted_after([](life::served& s) {
    life::insertion& one = some_insertions(s).front();
    one.row = one.row == 0 ? 1 : one.row - 1;
    const auto size = static_cast<std::size_t>(small_game.size);
    life::fill(s.board, small_game.seed);
    std::vector<life::cell> next(s.board.size());
    for (std::size_t g = 0; g < s.log.put_in.size(); ++g) {
      for (std::size_t row = 0; row < size; ++row) life::advance_row(s.board, next, size, row);
      if (g > 0) {
        for (const life::insertion& each : s.log.put_in[g - 1]) life::put(next, size, each);
      }
      std::swap(s.board, next);
    }
  }));
}

}  // namespace
