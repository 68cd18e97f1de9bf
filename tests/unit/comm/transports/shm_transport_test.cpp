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

// Polls that wait and in which a ring delivers something leave out the transport between hosts, but
// not for ever.
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
    ranks[0].progress_watching(sink, 1);
    ASSERT_EQ(sink.next[1], ++polls);
    ASSERT_LE(polls, 100U);
  }
  EXPECT_EQ(polls, 16U);
  ranks[2].send(0, made(ranks[2].pool(), 1, 8));
  ranks[0].progress_watching(sink, 1);
  EXPECT_EQ(sink.next[2], 2U) << "no ring has delivered anything";
  ranks[1].send(0, made(ranks[1].pool(), polls, 8));
  ranks[2].send(0, made(ranks[2].pool(), 2, 8));
  ranks[0].progress(sink);
  EXPECT_EQ(sink.next[2], 3U) << "nobody waits in a poll of a busy worker";
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

// Sends something in the next run, which its receiver has not begun, and returns the sizes of the
// messages that come of it.
template <class F>
std::vector<std::size_t> received_in_the_next_run(F send) {
  shared_ranks ranks(2);
  messages_sink sink(2);
  ranks[1].begin_barrier();
  ranks[0].detach();
  EXPECT_EQ(ranks[0].attach(), 2U);
  send(ranks[0]);
  EXPECT_FALSE(ranks[1].progress(sink));
  ranks[1].detach();
  EXPECT_EQ(ranks[1].attach(), 2U);
  EXPECT_TRUE(ranks[1].progress(sink));
  return sink.sizes;
}

TEST(ShmTransport, WhatIsOfTheNextRunWaits) {
  EXPECT_EQ(
      received_in_the_next_run([](transport& from) { from.send(1, made(from.pool(), 0, 8)); }),
      std::vector<std::size_t>{8});
  EXPECT_EQ(received_in_the_next_run(
                [](transport& from) { from.write(1, {.kind = frame_kind::reply}, {}); }),
            std::vector{frame_bytes(0)});
}

struct keeping_sink final : message_sink {
  void on_message(rank, buffer message) noexcept override { kept.push_back(std::move(message)); }
  std::vector<buffer> kept;
};

// Each comes alone. While the receiver's buffer for such frames is in use, they come in others.
TEST(ShmTransport, ShortFramesOfAllLengthsArrive) {
  shared_ranks ranks(2);
  for (const bool in_use : {false, true}) {
    keeping_sink sink;
    for (std::size_t length = 0; length <= 2 * longest_copy; ++length) {
      const std::vector payload(length, static_cast<std::byte>(length + 1));
      ranks[0].write(1, {.kind = frame_kind::reply, .handler = length}, payload);
      const std::size_t expected = in_use ? length + 1 : 1;
      while (sink.kept.size() < expected) {
        ranks[1].progress(sink);
        ranks[0].progress(sink);  // writes frames that were taken for a burst
      }
      const buffer& message = sink.kept.back();
      ASSERT_EQ(message.size(), frame_bytes(length));
      frame_header header;
      std::memcpy(&header, message.data(), sizeof header);
      EXPECT_EQ(header.length, length);
      EXPECT_EQ(header.handler, length);
      EXPECT_TRUE(std::ranges::equal(std::span(message.data() + sizeof header, length), payload));
      if (!in_use) sink.kept.clear();
    }
  }
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

}  // namespace
