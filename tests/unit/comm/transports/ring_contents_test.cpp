// SPDX-License-Identifier: Apache-2.0

// What the two sides of a ring do with contents that no correct place writes, and with copies of
// records beside the position.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "host_segment.hpp"
#include "ring_receiver.hpp"
#include "ring_sender.hpp"
#include "support/shared_ranks.hpp"

namespace {

using namespace apgas::comm;
using namespace apgas_test;

// A ring whose sender, rank 7, writes what the test says.
struct garbled {
  garbled() {
    std::ranges::fill(std::span(segment.memory().ring(1), ring_capacity(2)), std::byte{0});
  }
  void write(const record_word& word, std::uint64_t written = 4096) {
    std::memcpy(segment.memory().ring(1), &word, sizeof word);
    segment.memory().positions(1).written = written;
  }
  // A frame beside the position, of which there is nothing in the ring.
  void write_copy(std::uint32_t length, std::uint64_t written) {
    std::uint64_t words[copied_words] = {};
    write_header(reinterpret_cast<std::byte*>(words), {.kind = frame_kind::reply}, length);
    ring_positions& positions = segment.memory().positions(1);
    for (std::size_t i = 0; i < copied_words; ++i) positions.copy[i] = words[i];
    positions.written = written;
  }
  void take() { receiver.receive(sink, 1, 0); }

  std::string why_not;
  own_segment segment{2, why_not};
  buffer_pool pool;
  messages_sink sink{8};
  ring_receiver receiver{segment.memory(), 7, 1, 2, pool};
};

TEST(RingReceiver, NamesTheSenderOfGarbage) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto refuses = [](const char* what, record_word word, std::uint64_t written = 4096) {
    const std::string line =
        std::string("place 7 has written ") + what + " into the memory that it shares";
    EXPECT_DEATH(
        {
          garbled ring;
          ring.write(word, written);
          ring.take();
        },
        line);
  };
  const record_word right{.length = 8, .kind = record_kind::message, .run = 1};
  refuses("an impossible position", right, UINT64_MAX);
  refuses("an impossible position", right, ring_capacity(2) + 8);
  record_word wrong = right;
  wrong.length = longest_content + 1;
  refuses("an invalid record", wrong);
  refuses("an invalid record", right, 8);
  wrong = right;
  wrong.position = 1;
  refuses("an invalid record", wrong);
  wrong = right;
  for (const std::uint8_t run : {0, 2, 3}) {  // the next run cannot begin before this one ends
    wrong.run = run;
    refuses("a record of another run", wrong);
  }
  wrong = right;
  wrong.kind = record_kind{9};
  refuses("a record of an unknown kind", wrong);
  wrong.kind = record_kind::more;
  refuses("a part of no message", wrong);
  wrong.kind = record_kind::begin;
  wrong.length = 4;
  refuses("a message within another one", wrong);
  wrong.length = 16;
  refuses("a message that is longer than announced", wrong);
}

TEST(RingReceiver, ReadsAFrameThatHasComeAloneBesideThePosition) {
  constexpr std::uint64_t of_this_run = 1U << 1U | 1U;
  for (const std::uint32_t length : {0U, 8U, 24U, 88U}) {
    garbled ring;
    ring.write_copy(length, record_bytes(frame_bytes(length)) | of_this_run);
    ring.take();
    EXPECT_EQ(ring.sink.sizes, std::vector{frame_bytes(length)});
    ring.take();
    EXPECT_EQ(ring.sink.sizes.size(), 1U);
  }
}

TEST(RingReceiver, ReadsTheRingIfTheCopyIsNotOfTheOnlyRecord) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const std::uint64_t one = record_bytes(frame_bytes(8));
  constexpr std::uint64_t of_this_run = 1U << 1U | 1U;
  constexpr std::uint64_t of_the_next_run = 2U << 1U | 1U;
  struct position {
    std::uint32_t length;  // of the copy
    std::uint64_t written;
  };
  for (const auto& [length, written] :
       {position{8, one}, position{8, one | 2U}, position{8, one | of_the_next_run},
        position{8, 2 * one | of_this_run}, position{16, one | of_this_run},
        position{96, record_bytes(frame_bytes(96)) | of_this_run},
        position{UINT32_MAX, one | of_this_run}}) {
    EXPECT_DEATH(
        {
          garbled ring;
          ring.write_copy(length, written);
          ring.take();
        },
        "place 7 has written an? .*record.* into the memory")
        << length << " bytes, position " << written;
  }
}

// A sender to rank 7, which writes the position.
struct misled {
  explicit misled(std::uint64_t read) { segment.memory().positions(1).read = read; }

  std::string why_not;
  own_segment segment{2, why_not};
  buffer_pool pool;
  apgas::base::lock_owner nobody;
  apgas::base::atomic<std::size_t> queued{0};
  apgas::base::atomic<int> unfinished{0};
  ring_sender sender{
      map_segment(segment.offer(), 2, why_not), 7, 1, 2, pool, nobody, queued, unfinished};
};

TEST(RingSender, NamesTheReceiverThatWritesAnImpossiblePosition) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const std::string line =
      "place 7 has written an impossible position into the memory that it shares with this place";
  EXPECT_DEATH(
      {
        misled ring(1'000'000);
        for (int i = 0; i < 100; ++i) ring.sender.send(made(ring.pool, 0, 10'000), 1);
      },
      line);
  EXPECT_DEATH(misled(8).sender.drained(), line);
}

}  // namespace
