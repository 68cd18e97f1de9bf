// SPDX-License-Identifier: Apache-2.0

// The transport through shared memory, between places of this process: sizes, order, overflow,
// waking, the end of a run, and contents that no correct place writes. transport_test also runs
// over it.

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <apgas/comm/transports.hpp>

#include "host_segment.hpp"
#include "ring_receiver.hpp"
#include "ring_sender.hpp"
#include "shm_transport.hpp"
#include "support/shared_ranks.hpp"

namespace {

using namespace apgas::comm;
using namespace apgas_test;

TEST(ShmTransport, DescribesItself) {
  shared_ranks ranks(3);
  for (rank r = 0; r < 3; ++r) {
    EXPECT_EQ(ranks[r].here(), r);
    EXPECT_EQ(ranks[r].size(), 3);
    EXPECT_EQ(ranks[r].name(), "shm");
    EXPECT_GE(ranks[r].descriptor(), 0);
    for (rank to = 0; to < 3; ++to) EXPECT_TRUE(ranks[r].writes_frames(to));
  }
}

// Polls in which a ring delivers something leave out the transport between hosts, but not for ever.
TEST(ShmTransport, MessagesOfOtherHostsComeWhileTheRingsAreBusy) {
  setenv("APGAS_TEST_HOSTS", "2", 1);
  shared_ranks ranks(4);
  unsetenv("APGAS_TEST_HOSTS");
  ASSERT_EQ(ranks[0].name(), "shm+local");
  messages_sink sink(4);
  ranks[2].send(0, made(ranks[2].pool(), 0, 8));
  std::size_t polls = 0;
  while (sink.next[2] == 0) {
    ranks[1].send(0, made(ranks[1].pool(), polls, 8));
    ranks[0].progress(sink);
    ASSERT_EQ(sink.next[1], ++polls);
    ASSERT_LE(polls, 100U);
  }
  EXPECT_EQ(polls, 16U);
  ranks[2].send(0, made(ranks[2].pool(), 1, 8));
  ranks[0].progress(sink);
  EXPECT_EQ(sink.next[2], 2U) << "no ring has delivered anything";
  EXPECT_TRUE(sink.right);
}

TEST(ShmTransport, MessagesOfAllSizesArriveInOrder) {
  shared_ranks ranks(2);
  const std::vector<std::size_t> sizes = {
      0,       1,       8, longest_content - 1, longest_content, longest_content + 1, 40'000,
      300'000, 1 << 20, 3};
  messages_sink sink(2);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    ranks[0].send(1, made(ranks[0].pool(), i, sizes[i]));
  }
  EXPECT_GT(ranks[0].queued_bytes(1), 0U) << "more than fits into a ring";
  while (sink.sizes.size() < sizes.size()) {
    ranks[0].progress(sink);
    ranks[1].progress(sink);
  }
  EXPECT_EQ(sink.sizes, sizes);
  EXPECT_TRUE(sink.right);
  EXPECT_EQ(ranks[0].unsent_bytes(), 0U);
}

// Frames that were written while the ring was full, and after it had room again.
TEST(ShmTransport, FramesStayInOrderWhenARingWasFull) {
  struct numbers_sink final : message_sink {
    void on_message(rank, buffer message) noexcept override {
      for (std::size_t at = 0; at < message.size();) {
        frame_header header;
        std::memcpy(&header, message.data() + at, sizeof header);
        in_order &= header.credit == next++;
        at += frame_bytes(header.length);
      }
    }
    std::uint64_t next = 0;
    bool in_order = true;
  } sink;
  shared_ranks ranks(2);
  messages_sink none(2);
  const std::vector<std::byte> payload(4000);
  constexpr std::uint64_t frames = 1000;
  for (std::uint64_t i = 0; i < frames; ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(1));  // so that they are no burst
    ranks[0].write(1, {.kind = frame_kind::control, .credit = i}, payload);
    if (i >= 100 && i % 3 == 0) ranks[1].progress(sink);  // the ring has been full before
  }
  while (sink.next < frames) {
    ranks[0].progress(none);
    ranks[1].progress(sink);
  }
  EXPECT_TRUE(sink.in_order);
}

TEST(ShmTransport, ThreadsSendWhileTheReceiverTakes) {
  constexpr std::size_t messages = 20'000;
  constexpr int senders = 3;
  shared_ranks ranks(senders + 1);
  messages_sink sink(senders + 1);
  {
    std::vector<std::jthread> threads;
    for (rank r = 1; r <= senders; ++r) {
      threads.emplace_back([&ranks, r] {
        messages_sink none(senders + 1);
        for (std::size_t i = 0; i < messages; ++i) {
          ranks[r].send(0, made(ranks[r].pool(), i, i % 100));
        }
        while (ranks[r].unsent_bytes() != 0) ranks[r].progress(none);
      });
    }
    while (sink.sizes.size() < senders * messages) {
      if (!ranks[0].progress(sink)) std::this_thread::yield();
    }
  }
  EXPECT_TRUE(sink.right);
}

bool is_readable(int descriptor) {
  pollfd waits{descriptor, POLLIN, 0};
  return poll(&waits, 1, 0) == 1;
}

TEST(ShmTransport, ASenderWakesAReceiverThatSleeps) {
  shared_ranks ranks(2);
  messages_sink sink(2);
  ranks[0].send(1, made(ranks[0].pool(), 0, 8));
  EXPECT_FALSE(is_readable(ranks[1].descriptor())) << "it has not announced that it sleeps";
  EXPECT_FALSE(ranks[1].arm()) << "something has arrived";
  EXPECT_TRUE(ranks[1].progress(sink));
  EXPECT_TRUE(ranks[1].arm());
  EXPECT_FALSE(is_readable(ranks[1].descriptor()));
  ranks[0].send(1, made(ranks[0].pool(), 1, 0));
  EXPECT_TRUE(is_readable(ranks[1].descriptor()));
  EXPECT_TRUE(ranks[1].progress(sink));
  EXPECT_TRUE(ranks[1].arm());
  EXPECT_FALSE(is_readable(ranks[1].descriptor()));
}

TEST(ShmTransport, ARunEndsWhenAllHasBeenTaken) {
  shared_ranks ranks(2);
  messages_sink sink(2);
  ranks[0].send(1, made(ranks[0].pool(), 0, 600'000));
  for (rank r : {0, 1}) ranks[r].begin_barrier();
  bool over[2] = {};
  while (!over[0] || !over[1]) {
    for (rank r : {0, 1}) {
      ranks[r].progress(sink);
      over[r] = over[r] || ranks[r].barrier_done();
      EXPECT_EQ(over[r] ? sink.sizes.size() : 1U, 1U);
    }
  }
}

TEST(ShmTransport, ARecordOfTheNextRunWaits) {
  shared_ranks ranks(2);
  messages_sink sink(2);
  ranks[1].begin_barrier();
  ranks[0].detach();
  EXPECT_EQ(ranks[0].attach(), 2U);
  ranks[0].send(1, made(ranks[0].pool(), 0, 8));
  EXPECT_FALSE(ranks[1].progress(sink));
  ranks[1].detach();
  EXPECT_EQ(ranks[1].attach(), 2U);
  EXPECT_TRUE(ranks[1].progress(sink));
  EXPECT_TRUE(sink.right);
}

// The header is in memory that another process may overwrite.
TEST(ShmTransport, ReceivesFromAKnownSenderWithoutItsBitInTheHeader) {
  local_fabric fabric(1);
  std::string why_not;
  shm_peers peers;
  peers.of_host = {0};
  peers.all_by_rings = true;
  auto segment = std::make_unique<own_segment>(1, why_not);
  segment_header& header = segment->memory().header();
  peers.segments.push_back(map_segment(segment->offer(), 1, why_not));
  shm_transport place(fabric.at(0), std::move(segment), std::move(peers));
  messages_sink sink(1);
  place.send(0, made(place.pool(), 0, 8));
  EXPECT_TRUE(place.progress(sink));
  header.senders[0] = 0;
  place.send(0, made(place.pool(), 1, 8));
  EXPECT_TRUE(place.progress(sink));
  EXPECT_TRUE(sink.right);
}

TEST(HostSegment, OfManyPlacesStaysSmall) {
  for (const std::size_t places : {1, 2, 64, 65, 128, 256, 512, 1000, 4096}) {
    const std::size_t capacity = ring_capacity(places);
    EXPECT_GE(capacity, 2 * longest_record);
    EXPECT_EQ(capacity & (capacity - 1), 0U);
    // The formula of docs/clusters.md.
    const std::size_t without_end = (std::size_t{4} << 20) + places * (capacity + (16 << 10) + 256);
    EXPECT_GE(segment_bytes(places), without_end);
    EXPECT_LE(segment_bytes(places), without_end + (8 << 10));
    if (places <= 64) {
      EXPECT_EQ(capacity, std::size_t{256} << 10);
      EXPECT_LT(segment_bytes(places), std::size_t{22} << 20);
    }
    if (places <= 1000) {
      EXPECT_LT(segment_bytes(places), std::size_t{64} << 20);
    }
  }
}

TEST(HostSegment, HasTheSizeThatItSays) {
  for (const std::size_t places : {1, 64}) {
    std::string why_not;
    const own_segment segment(places, why_not);
    ASSERT_EQ(why_not, "");
    const auto file = fmt::format("/proc/self/fd/{}", segment.offer().memory);
    EXPECT_EQ(std::filesystem::file_size(file), segment_bytes(places));
  }
}

TEST(HostSegment, RefusesAnotherProcessAndAnotherFile) {
  std::string why_not;
  own_segment segment(2, why_not);
  ASSERT_EQ(why_not, "");
  EXPECT_TRUE(map_segment(segment.offer(), 2, why_not));
  segment_offer offer = segment.offer();
  offer.nonce[0] ^= 1;
  EXPECT_FALSE(map_segment(offer, 2, why_not));
  EXPECT_NE(why_not.find("is another one here"), std::string::npos) << why_not;
  EXPECT_FALSE(map_segment(segment.offer(), 3, why_not)) << "made for another number of places";
  offer = segment.offer();
  offer.memory = 0;  // no memfd
  EXPECT_FALSE(map_segment(offer, 2, why_not));
  offer.process = 0x7fff'ffff;
  EXPECT_FALSE(map_segment(offer, 2, why_not));
  EXPECT_NE(why_not.find("cannot be accessed"), std::string::npos) << why_not;
}

// ThreadSanitizer orders the places of a process by the addresses of what they share.
TEST(HostSegment, PlacesOfOneProcessUseTheMappingOfTheOwner) {
  std::string why_not;
  std::optional<own_segment> segment(std::in_place, 2, why_not);
  const std::byte* const ring = segment->memory().ring(1);
  const mapped_segment mapped = map_segment(segment->offer(), 2, why_not);
  EXPECT_EQ(mapped.ring(1), ring);
  segment.reset();
  mapped.ring(1)[0] = std::byte{1};  // the mapping remains until its last user has gone
}

TEST(HostSegment, NoProcessCanChangeItsSize) {
  std::string why_not;
  own_segment segment(2, why_not);
  const int file = static_cast<int>(segment.offer().memory);
  for (const off_t size : {0, 4096, 1 << 30}) {
    EXPECT_EQ(ftruncate(file, size), -1);
    EXPECT_EQ(errno, EPERM);
  }
}

TEST(HostSegment, ALimitOnFilesIsAReason) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{4096, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  std::string why_not;
  own_segment segment(2, why_not);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(segment.offer().process, 0U);
  EXPECT_NE(why_not.find("ulimit -f"), std::string::npos) << why_not;
}

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
