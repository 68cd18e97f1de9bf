// SPDX-License-Identifier: Apache-2.0

// Endpoints over the local transport: when frames are sent, in which order, in how many messages,
// and how they are counted.

#include <apgas/comm/endpoint.hpp>

#include <chrono>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/errors.hpp>

#include "support/two_places.hpp"

namespace {

using namespace apgas_test;
using namespace std::chrono_literals;

using comm::flush_reason;

std::uint64_t flushes(comm::endpoint& from, comm::rank to, flush_reason reason) {
  return from.traffic_with(to).flushes[static_cast<std::size_t>(reason)];
}

// Options with which no batch is sent because of its age during a test.
comm::endpoint_options patient() {
  comm::endpoint_options options;
  options.max_delay = 1h;
  return options;
}

class endpoint : public two_places {};

TEST_F(endpoint, a_frame_arrives_as_it_was_sent) {
  start();
  comm::frame_header header;
  header.kind = comm::frame_kind::reply;
  header.flags = 0xa5;
  header.handler = 0x1122334455667788;
  header.finish = ~std::uint64_t{0};
  header.credit = 77;
  at(0).send(1, header, bytes_of("hello"));
  deliver_all();
  ASSERT_EQ(sink(1).frames.size(), 1u);
  const recorded& got = sink(1).frames[0];
  EXPECT_EQ(got.source, 0);
  EXPECT_EQ(got.payload, "hello");
  EXPECT_EQ(got.header.kind, header.kind);
  EXPECT_EQ(got.header.flags, header.flags);
  EXPECT_EQ(got.header.handler, header.handler);
  EXPECT_EQ(got.header.finish, header.finish);
  EXPECT_EQ(got.header.credit, header.credit);
  EXPECT_EQ(got.header.length, 5u);
  EXPECT_TRUE(sink(0).frames.empty());
}

TEST_F(endpoint, a_single_frame_is_sent_at_once) {
  start(patient());
  send(0, 1, "one");
  EXPECT_GT(at(0).queued_bytes(1), 0u);
  EXPECT_FALSE(at(0).has_batch());
  at(1).progress();  // the sender did not have to poll
  ASSERT_EQ(sink(1).frames.size(), 1u);
  EXPECT_EQ(at(0).queued_bytes(1), 0u);
  send(0, 1, "two");
  at(1).progress();
  EXPECT_EQ(sink(1).frames.size(), 2u);
  EXPECT_EQ(flushes(at(0), 1, flush_reason::at_once), 2u);
}

TEST_F(endpoint, frames_are_batched_while_one_is_in_flight) {
  start(patient());
  for (std::uint64_t i = 0; i < 10; ++i) send(0, 1, "frame", i);
  EXPECT_EQ(at(0).traffic_with(1).messages_sent, 1u);
  EXPECT_TRUE(at(0).has_batch());
  EXPECT_FALSE(at(0).progress());  // the message is still in flight
  EXPECT_EQ(at(0).traffic_with(1).messages_sent, 1u);
  at(1).progress();
  EXPECT_EQ(sink(1).frames.size(), 1u);
  EXPECT_TRUE(at(0).progress());  // notices the completion
  EXPECT_FALSE(at(0).has_batch());
  EXPECT_EQ(at(0).traffic_with(1).messages_sent, 2u);
  EXPECT_EQ(flushes(at(0), 1, flush_reason::completed), 1u);
  at(1).progress();
  ASSERT_EQ(sink(1).frames.size(), 10u);
  for (std::uint64_t i = 0; i < 10; ++i) EXPECT_EQ(sink(1).frames[i].header.finish, i);
}

TEST_F(endpoint, a_frame_to_another_rank_does_not_wait) {
  start(patient(), 3);
  send(0, 1, "a");
  send(0, 1, "b");
  send(0, 2, "c");
  at(2).progress();
  EXPECT_EQ(sink(2).frames.size(), 1u);
  EXPECT_TRUE(at(0).has_batch());
}

TEST_F(endpoint, flush_sends_a_batch) {
  start(patient());
  send(0, 1, "a");
  send(0, 1, "b");
  at(0).flush();
  EXPECT_FALSE(at(0).has_batch());
  EXPECT_EQ(flushes(at(0), 1, flush_reason::idle), 1u);
  at(1).progress();
  EXPECT_EQ(sink(1).frames.size(), 2u);
}

TEST_F(endpoint, a_full_message_is_sent) {
  comm::endpoint_options options = patient();
  options.batch_bytes = 4096;
  start(options);
  const std::string payload(100, 'x');  // 136 bytes a frame, 30 in a message
  for (std::uint64_t i = 0; i < 1 + 30 + 30 + 1; ++i) send(0, 1, payload, i);
  EXPECT_EQ(flushes(at(0), 1, flush_reason::full), 2u);
  EXPECT_TRUE(at(0).has_batch());
  deliver_all();
  ASSERT_EQ(sink(1).frames.size(), 62u);
  for (std::uint64_t i = 0; i < 62; ++i) {
    EXPECT_EQ(sink(1).frames[i].header.finish, i);
    EXPECT_EQ(sink(1).frames[i].payload, payload);
  }
}

TEST_F(endpoint, a_frame_waits_a_bounded_time) {
  comm::endpoint_options options;
  options.max_delay = 800ms;
  start(options);
  send(0, 1, "a");
  send(0, 1, "b");
  EXPECT_TRUE(at(0).has_batch());
  at(0).progress();
  EXPECT_TRUE(at(0).has_batch());
  std::this_thread::sleep_for(850ms);
  EXPECT_TRUE(at(0).progress());
  EXPECT_FALSE(at(0).has_batch());
  EXPECT_EQ(flushes(at(0), 1, flush_reason::delayed), 1u);
}

TEST_F(endpoint, without_polling_a_frame_is_sent_after_a_bounded_time) {
  comm::endpoint_options options;
  options.max_delay = 800ms;
  start(options);
  send(0, 1, "a");
  std::this_thread::sleep_for(200ms);  // over an eighth of max_delay: taken for arrived
  send(0, 1, "b");
  EXPECT_FALSE(at(0).has_batch());
  EXPECT_EQ(flushes(at(0), 1, flush_reason::delayed), 1u);
  send(0, 1, "c");
  std::this_thread::sleep_for(850ms);
  for (int i = 0; i < 8; ++i) send(0, 1, "d");  // one of these sends reads the clock
  EXPECT_EQ(flushes(at(0), 1, flush_reason::delayed), 2u);
}

TEST_F(endpoint, frames_of_all_sizes_keep_their_order) {
  start(patient());
  std::vector<std::size_t> sizes;
  for (std::size_t size = 0; size < 200'000; size += size / 3 + 1) sizes.push_back(size);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    send(0, 1, std::string(sizes[i], static_cast<char>('a' + i % 26)), i);
    if (i % 3 == 0) send(0, 1, "small", 1000);
  }
  deliver_all();
  std::size_t next = 0;
  for (const recorded& frame : sink(1).frames) {
    if (frame.header.finish == 1000) continue;
    ASSERT_EQ(frame.header.finish, next);
    ASSERT_EQ(frame.payload, std::string(sizes[next], static_cast<char>('a' + next % 26)));
    ++next;
  }
  EXPECT_EQ(next, sizes.size());
}

TEST_F(endpoint, a_long_archive_is_handed_over_not_copied) {
  start(patient());
  send(0, 1, "first");
  send(0, 1, "gathers");
  comm::out_archive out;
  out(std::string(100'000, 'x'));
  const std::byte* written = out.bytes().data();
  at(0).send(1, control_header(3), std::move(out));
  EXPECT_EQ(out.size(), 0u);
  EXPECT_EQ(flushes(at(0), 1, flush_reason::unbatched), 1u);
  EXPECT_FALSE(at(0).has_batch());  // the earlier frames were sent before
  deliver_all();
  ASSERT_EQ(sink(1).frames.size(), 3u);
  EXPECT_EQ(sink(1).frames[2].payload.size(), 100'008u);
  EXPECT_EQ(sink(1).last_payload, written);  // within a process the bytes are not copied
}

TEST_F(endpoint, archives_of_every_size_arrive) {
  start();
  for (const std::size_t size : {0, 1, 200, 255, 256, 257, 3000, 4000, 5000, 70'000}) {
    const std::string text(size, 'y');
    comm::out_archive out;
    out(text);
    at(0).send(1, control_header(size), std::move(out));
    deliver_all();
    const recorded& got = sink(1).frames.back();
    comm::in_archive in(bytes_of(got.payload));
    EXPECT_EQ(in.read<std::string>(), text);
    in.expect_end();
  }
}

TEST_F(endpoint, a_rank_sends_to_itself) {
  start({}, 1);
  send(0, 0, "me");
  send(0, 0, std::string(50'000, 'z'));
  deliver_all();
  ASSERT_EQ(sink(0).frames.size(), 2u);
  EXPECT_EQ(sink(0).frames[0].payload, "me");
  EXPECT_EQ(sink(0).frames[1].payload.size(), 50'000u);
}

std::size_t messages_of(const std::vector<comm::inbound_frame>& frames) {
  std::set<const comm::inbound_buffer*> owners;
  for (const comm::inbound_frame& frame : frames) owners.insert(frame.owner);
  return owners.size();
}

// A retained payload stays valid while other messages are sent and received.
TEST_F(endpoint, payloads_live_as_long_as_they_are_retained) {
  struct keeping_sink final : comm::frame_sink {
    std::vector<comm::inbound_frame> kept;
    void on_frame(const comm::inbound_frame& frame) noexcept override {
      frame.keep();
      kept.push_back(frame);
    }
  } keeper;
  comm::local_fabric own(1);
  {
    comm::endpoint self(own.at(0), keeper);
    self.wait_ready();
    for (std::uint64_t i = 0; i < 300; ++i) {
      self.send(0, control_header(i), bytes_of(std::string(i, 'k')));
      if (i % 7 == 0) self.progress();
    }
    self.begin_end();
    while (!self.end_done()) self.progress();
  }
  EXPECT_GT(own.pool().outstanding(), 0u);
  ASSERT_EQ(keeper.kept.size(), 300u);
  for (std::uint64_t i = 0; i < 300; ++i) {
    const comm::inbound_frame& frame = keeper.kept[i];
    EXPECT_EQ(frame.header->finish, i);
    EXPECT_EQ(
        std::string(reinterpret_cast<const char*>(frame.payload.data()), frame.payload.size()),
        std::string(i, 'k'));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(frame.payload.data()) % 8, 0u);
  }
  for (const comm::inbound_frame& frame : keeper.kept) frame.owner->release();
  EXPECT_EQ(own.pool().outstanding(), 0u);
}

// Of a message with several frames any number may be kept, in any order of release.
TEST_F(endpoint, some_frames_of_a_message_are_kept) {
  struct choosy_sink final : comm::frame_sink {
    std::vector<comm::inbound_frame> kept;
    void on_frame(const comm::inbound_frame& frame) noexcept override {
      if (frame.header->finish % 3 == 0) return;
      frame.keep(static_cast<std::uint32_t>(frame.header->finish % 3));
      kept.push_back(frame);
    }
  } keeper;
  comm::local_fabric own(1);
  {
    comm::endpoint self(own.at(0), keeper);
    self.wait_ready();
    for (std::uint64_t i = 0; i < 100; ++i) self.send(0, control_header(i), bytes_of("text"));
    self.begin_end();
    while (!self.end_done()) self.progress();
  }
  EXPECT_LT(messages_of(keeper.kept), keeper.kept.size()) << "messages have several frames";
  for (const comm::inbound_frame& frame : keeper.kept) {
    frame.owner->release(static_cast<std::uint32_t>(frame.header->finish % 3));
  }
  EXPECT_EQ(own.pool().outstanding(), 0u);
}

TEST_F(endpoint, counters_agree_at_both_ends) {
  start();
  for (int i = 0; i < 500; ++i) {
    send(0, 1, std::string(static_cast<std::size_t>(i % 90), 'c'));
    if (i % 50 == 0) deliver_all();
  }
  deliver_all();
  const comm::traffic sent = at(0).traffic_with(1);
  const comm::traffic received = at(1).traffic_with(0);
  EXPECT_EQ(sent.frames_sent, 500u);
  EXPECT_EQ(received.frames_received, 500u);
  EXPECT_EQ(sent.messages_sent, received.messages_received);
  EXPECT_EQ(sent.bytes_sent, received.bytes_received);
  EXPECT_LT(sent.messages_sent, 100u);
  std::uint64_t reasons = 0;
  for (const std::uint64_t each : sent.flushes) reasons += each;
  EXPECT_EQ(reasons, sent.messages_sent);
  EXPECT_EQ(at(0).total_traffic().frames_sent, 500u);
  EXPECT_EQ(at(0).traffic_with(0).frames_sent, 0u);
}

TEST_F(endpoint, congestion_is_reported_and_ends) {
  comm::endpoint_options options;
  options.queue_bytes = 100'000;
  start(options);
  EXPECT_FALSE(at(0).congested(1));
  for (int i = 0; i < 3; ++i) send(0, 1, std::string(40'000, 'q'));
  EXPECT_TRUE(at(0).congested(1));
  EXPECT_FALSE(at(0).congested(0));
  EXPECT_GE(at(0).queued_bytes(1), 120'000u);
  deliver_all();
  EXPECT_FALSE(at(0).congested(1));
  EXPECT_EQ(at(0).queued_bytes(1), 0u);
}

TEST_F(endpoint, payloads_beyond_the_limit_are_refused) {
  start();
  const std::byte* nowhere = nullptr;
  try {
    at(0).send(1, control_header(), {nowhere, comm::max_payload_bytes + 1});
    FAIL();
  } catch (const apgas::serialization_error& e) {
    EXPECT_NE(std::string(e.what()).find("1073741825 bytes"), std::string::npos) << e.what();
  }
}

TEST_F(endpoint, a_batch_size_that_is_too_small_is_corrected) {
  comm::endpoint_options options;
  options.batch_bytes = 1;
  start(options);
  for (std::uint64_t i = 0; i < 50; ++i) send(0, 1, std::string(i, 't'), i);
  deliver_all();
  ASSERT_EQ(sink(1).frames.size(), 50u);
  for (std::uint64_t i = 0; i < 50; ++i) EXPECT_EQ(sink(1).frames[i].payload.size(), i);
}

TEST_F(endpoint, frames_sent_last_arrive_before_the_end) {
  start({}, 4);
  for (std::size_t from = 0; from < 4; ++from) {
    for (comm::rank to = 0; to < 4; ++to) {
      for (int i = 0; i < 100; ++i) send(from, to, "last");
    }
  }
  end_run();
  for (std::size_t place = 0; place < 4; ++place) EXPECT_EQ(sink(place).frames.size(), 400u);
}

TEST_F(endpoint, runs_follow_each_other_without_leaks) {
  comm::local_fabric again(2);
  for (int run = 0; run < 20; ++run) {
    recording_sink here;
    recording_sink there;
    comm::endpoint a(again.at(0), here);
    comm::endpoint b(again.at(1), there);
    while (!a.ready() || !b.ready()) {
    }
    const std::string text = "run " + std::to_string(run);
    for (int i = 0; i < 30; ++i) a.send(1, control_header(), bytes_of(text));
    a.begin_end();
    b.begin_end();
    for (bool done = false; !done;) {
      a.progress();
      b.progress();
      const bool a_done = a.end_done();
      done = b.end_done() && a_done;
    }
    EXPECT_FALSE(b.progress());
    ASSERT_EQ(there.frames.size(), 30u);
    for (const recorded& frame : there.frames) EXPECT_EQ(frame.payload, text);
  }
  EXPECT_EQ(again.pool().outstanding(), 0u);
}

TEST_F(endpoint, flush_reasons_have_names) {
  EXPECT_STREQ(to_string(flush_reason::at_once), "at once");
  EXPECT_STREQ(to_string(flush_reason::unbatched), "unbatched");
}

}  // namespace
