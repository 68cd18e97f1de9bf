// SPDX-License-Identifier: Apache-2.0
// The bulletin boards of a team: what a member finds on them, room for posts, members that sleep,
// and contents that no correct member writes.
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "team_board.hpp"

namespace {

using namespace apgas::remote;

constexpr std::size_t first_header =
    4096;  // in a board, of the first post of collective 0, 64, ...

struct team_of_boards {
  explicit team_of_boards(std::uint32_t members, std::uint64_t before = 0) {
    for (std::uint32_t i = 0; i < members; ++i) {
      memory.emplace_back(static_cast<std::byte*>(operator new(board_bytes, align)));
      std::memset(memory.back(), 0, board_bytes);
    }
    for (std::uint32_t i = 0; i < members; ++i) {
      boards.push_back(std::make_unique<team_board>(memory, i, before));
    }
  }
  ~team_of_boards() {
    boards.clear();
    for (std::byte* each : memory) operator delete(each, align);
  }
  team_board& operator[](std::uint32_t i) { return *boards[i]; }
  void enter() {
    for (auto& each : boards) each->enter({.what = 1, .bytes = 8}, 7, 99);
  }
  void leave() {
    for (auto& each : boards) each->leave();
  }
  // Overwrites the key of post `number` of the given collective.
  void overwrite_key(std::uint32_t member, std::uint32_t collective, std::uint32_t number,
                     std::uint64_t value) {
    const std::size_t slot = (number - 1) % team_board::slots * team_board::collectives +
                             collective % team_board::collectives;
    std::byte* const header = memory[member] + first_header + slot * sizeof(team_board::header);
    std::memcpy(header, &value, sizeof value);
  }

  static constexpr std::align_val_t align{4096};
  std::vector<std::byte*> memory;
  std::vector<std::unique_ptr<team_board>> boards;
};

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}
std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(TeamBoard, APostIsFoundWithItsCallAndItsData) {
  team_of_boards team(2);
  team.enter();
  EXPECT_EQ(team[1].look(team[1].post_of(0, 1)), board_look::nothing);
  const std::string texts[] = {"", "sixteen bytes..!", std::string(team_board::slot_bytes, 'x')};
  for (std::uint32_t i = 0; i < 3; ++i) {
    ASSERT_FALSE(team[0].before_next(texts[i].size()));
    team[0].publish(bytes_of(texts[i]), team_board::everybody);
    EXPECT_EQ(team[1].look(team[1].post_of(0, i + 1)), board_look::found);
    const team_board::header& post = team[1].post(0, i + 1);
    EXPECT_EQ(post.sequence, 7U);
    EXPECT_EQ(post.history, 99U);
    EXPECT_EQ(post.signature.bytes, 8U);
    EXPECT_EQ(text_of(team[1].data_of(0, i + 1, post.bytes)), texts[i]);
  }
}

TEST(TeamBoard, AFullRingHasRoomWhenAllReadersHaveTakenAPost) {
  team_of_boards team(3);
  team.enter();
  for (std::uint32_t i = 0; i < team_board::slots; ++i) {
    ASSERT_FALSE(team[0].before_next(0));
    team[0].publish({}, team_board::everybody);
  }
  const auto first = team[0].before_next(0);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->member, 1U);
  team[1].take(0, 1);
  EXPECT_EQ(team[0].look(*first), board_look::found);
  const auto second = team[0].before_next(0);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->member, 2U);
  team[2].take(0, 3);
  EXPECT_FALSE(team[0].before_next(0));
}

TEST(TeamBoard, APostForOneReaderWaitsOnlyForIt) {
  team_of_boards team(3);
  team.enter();
  for (std::uint32_t i = 0; i < team_board::slots; ++i) team[0].publish({}, 2);
  ASSERT_TRUE(team[0].before_next(0));
  team[2].take(0, 1);
  EXPECT_FALSE(team[0].before_next(0));
}

TEST(TeamBoard, AZeroCopyPostHasTheAddressOfItsData) {
  team_of_boards team(2);
  team.enter();
  const std::string text(100'000, 'x');
  team[0].publish_address(bytes_of(text), 1);
  EXPECT_EQ(team[1].look(team[1].post_of(0, 1)), board_look::found);
  EXPECT_EQ(team[1].post(0, 1).bytes, text.size());
  EXPECT_EQ(team[1].address_of(0, 1), reinterpret_cast<std::uintptr_t>(text.data()));
  EXPECT_TRUE(team[1].remains(0, 1));
}

TEST(TeamBoard, MemoryMayBeUsedAgainWhenAllZeroCopyPostsAreTaken) {
  team_of_boards team(4);
  team.enter();
  EXPECT_FALSE(team[0].before_reuse());
  team[0].publish_address({}, team_board::everybody);
  team[0].publish_address({}, 2);
  team[0].publish({}, 3);  // its data are copied
  const auto waits_for = [&](std::uint32_t member, std::uint32_t number) {
    const auto wait = team[0].before_reuse();
    ASSERT_TRUE(wait);
    EXPECT_EQ(wait->member, member);
    EXPECT_EQ(wait->key.number, number);
    EXPECT_EQ(team[0].look(*wait), board_look::nothing);
    team[member].take(0, number);
    EXPECT_EQ(team[0].look(*wait), board_look::found);
  };
  waits_for(1, 1);
  team[2].take(0, 1);
  waits_for(2, 2);
  waits_for(3, 1);
  EXPECT_FALSE(team[0].before_reuse());
  team.leave();
  team.enter();
  EXPECT_FALSE(team[0].before_reuse());
  team[0].publish_address({}, 1);
  EXPECT_TRUE(team[0].before_reuse()) << "the post before was taken, not this one";
}

TEST(TeamBoard, APostThatIsWithdrawnIsNotThereAnyMore) {
  team_of_boards team(2);
  team.enter();
  for (std::uint32_t i = 0; i < team_board::slots + 2; ++i) {
    team[0].publish_address({}, 1);
    if (i < 2) team[1].take(0, i + 1);
  }
  const std::uint32_t last = team_board::slots + 2;
  ASSERT_TRUE(team[1].remains(0, last));
  team[0].withdraw();
  for (std::uint32_t number = 3; number <= last; ++number) {
    EXPECT_FALSE(team[1].remains(0, number));
    EXPECT_EQ(team[1].look(team[1].post_of(0, number)), board_look::nothing);
  }
  EXPECT_TRUE(team[0].intact());
}

// Publishes a post in each collective, until there is room for `collectives` - 1 of them only.
void run_ahead(const std::string& text, std::uint32_t collectives) {
  team_of_boards team(2);
  const auto publish = [&](std::uint32_t collective) {
    team[0].enter({}, collective, 0);
    const std::string numbered = text + std::to_string(collective % 10);
    if (const auto wait = team[0].before_next(numbered.size())) return wait;
    team[0].publish(bytes_of(numbered), team_board::everybody);
    team[0].leave();
    return std::optional<board_wait>();
  };
  for (std::uint32_t i = 1; i < collectives; ++i) ASSERT_FALSE(publish(i)) << i;
  const auto wait = publish(collectives);
  ASSERT_TRUE(wait);
  EXPECT_EQ(wait->kind, board_wait::what::left);
  team[1].enter({}, 1, 0);
  EXPECT_EQ(team[1].look(team[1].post_of(0, 1)), board_look::found);
  EXPECT_EQ(text_of(team[1].data_of(0, 1, text.size() + 1)), text + "1");
  team[1].leave();
  EXPECT_FALSE(team[0].before_next(text.size() + 1));
}

TEST(TeamBoard, AMemberRunsAheadUntilItsPostsHaveNoRoom) {
  run_ahead("", team_board::collectives);
  run_ahead(std::string(team_board::few_bytes - 1, 'x'), team_board::collectives);
  run_ahead(std::string(team_board::few_bytes, 'x'), team_board::data_collectives);
}

TEST(TeamBoard, LongPostsHaveRoomAfterManyShortOnes) {
  team_of_boards team(2);
  for (std::uint32_t i = 1; i < team_board::collectives / 2; ++i) {
    team[0].enter({}, i, 0);
    team[0].publish({}, team_board::everybody);
    team[0].leave();
  }
  team[0].enter({}, team_board::collectives / 2, 0);
  EXPECT_FALSE(team[0].before_next(0));
  const auto wait = team[0].before_next(team_board::few_bytes + 1);
  ASSERT_TRUE(wait);
  EXPECT_EQ(wait->key.collective, team_board::collectives / 2 + 1 - team_board::data_collectives);
  for (std::uint32_t i = 1; i <= wait->key.collective; ++i) {
    EXPECT_TRUE(team[0].before_next(team_board::few_bytes + 1)) << i;
    team[1].enter({}, i, 0);
    EXPECT_EQ(team[1].look(team[1].post_of(0, 1)), board_look::found);
    team[1].leave();
  }
  EXPECT_FALSE(team[0].before_next(team_board::few_bytes + 1));
}

TEST(TeamBoard, AMemberRunsAheadOfTheCollectiveThatAllHaveEntered) {
  for (const std::uint32_t before : {0U, 1U}) {
    team_of_boards team(2);
    const auto begin = [&](std::uint32_t collective) { team[0].enter({}, collective, 0); };
    std::uint32_t collective = 1;
    for (; collective <= 2; ++collective) {
      begin(collective);
      team[0].leave();
    }
    team[0].note_all_entered(before);
    for (begin(collective); !team[0].before_next(0); begin(++collective)) team[0].leave();
    EXPECT_EQ(collective, team_board::collectives + 1 - before);
  }
}

TEST(TeamBoard, AMemberThatSleepsIsFoundOnceByTheOneForWhichItWaits) {
  team_of_boards team(3);
  team.enter();
  team[2].announce_sleep(0);
  EXPECT_FALSE(team[0].must_look_for_sleepers()) << "nothing was published";
  team[0].publish({}, team_board::everybody);
  EXPECT_TRUE(team[0].must_look_for_sleepers());
  EXPECT_FALSE(team[1].found_asleep(2));
  EXPECT_TRUE(team[0].found_asleep(2));
  EXPECT_FALSE(team[0].found_asleep(2));
  team[2].announce_sleep(0);
  EXPECT_TRUE(team[0].found_asleep(2));
  team[2].clear_sleep();
  EXPECT_FALSE(team[0].found_asleep(2));
}

TEST(TeamBoard, ThePostBeforeIsThatOfTheLastCollective) {
  team_of_boards team(2);
  team.enter();
  team[0].publish({}, team_board::everybody);
  team.leave();
  team.enter();
  ASSERT_NE(team[1].post_before(0), nullptr);
  EXPECT_EQ(team[1].post_before(0)->sequence, 7U);
  EXPECT_EQ(team[1].post_before(1), nullptr);
}

TEST(TeamBoard, AKeyThatCannotBeIsRefused) {
  team_of_boards team(2);
  team.enter();
  team[0].publish({}, team_board::everybody);
  team.overwrite_key(0, 1, 1, post_key{1, 2}.word());
  EXPECT_EQ(team[1].look(team[1].post_of(0, 1)), board_look::impossible);
  // Those of other collectives may be old, but their owner sees that it has not published them.
  for (const post_key key : {post_key{0, 1}, post_key{2, 1}, post_key{0x7fffffff, 0}}) {
    team.overwrite_key(0, 1, 1, key.word());
    EXPECT_EQ(team[1].look(team[1].post_of(0, 1)), board_look::nothing);
    EXPECT_FALSE(team[0].intact());
  }
}

// Slots and positions that have not been used for 2^31 collectives, and numbers that wrap around.
TEST(TeamBoard, CollectivesMayBeNumberedWithoutEnd) {
  for (const std::uint64_t last :
       {(1ULL << 31) - 2, (1ULL << 31) + 2, (1ULL << 32) - 2, 1ULL << 40}) {
    team_of_boards team(2, last - 1);
    for (int i = 0; i < 8; ++i) {
      team.enter();
      for (std::uint32_t k = 1; k <= team_board::slots; ++k) {
        EXPECT_EQ(team[1].look(team[1].post_of(0, k)), board_look::nothing);
        ASSERT_FALSE(team[0].before_next(0));
        team[0].publish({}, team_board::everybody);
        EXPECT_EQ(team[1].look(team[1].post_of(0, k)), board_look::found);
      }
      const auto wait = team[0].before_next(0);
      ASSERT_TRUE(wait);
      EXPECT_EQ(team[0].look(*wait), board_look::nothing);
      team[1].take(0, 1);
      EXPECT_EQ(team[0].look(*wait), board_look::found);
      EXPECT_FALSE(team[0].before_next(0));
      team.leave();
      EXPECT_TRUE(team[0].intact());
    }
  }
}

TEST(TeamBoard, OverwrittenMemoryIsNoticedByItsOwner) {
  team_of_boards team(2);
  EXPECT_TRUE(team[0].intact());
  team.enter();
  team[0].publish({}, team_board::everybody);
  EXPECT_TRUE(team[0].intact());
  team.overwrite_key(0, 1, 1, 0);
  EXPECT_EQ(team[1].look(team[1].post_of(0, 1)), board_look::nothing);
  EXPECT_FALSE(team[0].intact());
  team.overwrite_key(0, 1, 1, post_key{1, 1}.word());
  EXPECT_TRUE(team[0].intact());
  team[0].leave();
  EXPECT_TRUE(team[0].intact());
  std::memset(team.memory[0], 0xff, 8);
  EXPECT_FALSE(team[0].intact());
  team[1].take(0, 1);
  EXPECT_TRUE(team[1].intact());
  std::memset(team.memory[1] + 128, 0, 8);  // how many posts of member 0 it has taken
  EXPECT_FALSE(team[1].intact());
}

TEST(TeamBoard, AReaderThatHasTakenMoreThanThereIsIsRefused) {
  team_of_boards team(2);
  team.enter();
  for (std::uint32_t i = 0; i < team_board::slots; ++i) {
    team[0].publish({}, team_board::everybody);
  }
  team[1].take(0, team_board::slots + 1);
  const auto wait = team[0].before_next(0);
  ASSERT_TRUE(wait);
  EXPECT_EQ(team[0].look(*wait), board_look::impossible);
}

TEST(TeamBoard, ABoardIsEmptyAfterItsTeam) {
  team_of_boards team(2);
  team.enter();
  for (std::uint32_t i = 0; i < team_board::slots; ++i) {
    team[0].publish({}, team_board::everybody);
    team[1].take(0, i + 1);
  }
  team[1].announce_sleep(0);
  team.leave();
  team.boards.clear();
  for (std::uint32_t i = 0; i < 2; ++i) {
    team.boards.push_back(std::make_unique<team_board>(team.memory, i));
  }
  team.enter();
  EXPECT_EQ(team[1].look(team[1].post_of(0, 1)), board_look::nothing);
  team[0].publish({}, team_board::everybody);
  EXPECT_FALSE(team[0].found_asleep(1));
  EXPECT_EQ(team[1].look(team[1].post_of(0, 1)), board_look::found);
}

}  // namespace
