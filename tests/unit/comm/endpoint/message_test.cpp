// SPDX-License-Identifier: Apache-2.0

// Malformed messages are refused, the error names their sender, and nothing of them is executed.

#include <apgas/comm/message.hpp>

#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <apgas/base/random.hpp>
#include <apgas/comm/handler.hpp>

#include "support/two_places.hpp"

namespace {

using namespace apgas_test;

int task(int x) { return x + 1; }

comm::frame_header task_header() {
  comm::frame_header header;
  header.kind = comm::frame_kind::task;
  header.handler = comm::id_of<&task>();
  header.finish = 0x0123456789abcdef;
  header.credit = 1000;
  return header;
}

// Posts messages of one frame directly to the transport.
class message : public two_places {
 protected:
  void SetUp() override { start(); }

  static std::vector<std::byte> frame(const comm::frame_header& header, std::size_t payload) {
    std::vector<std::byte> bytes(comm::frame_bytes(payload));
    comm::write_header(bytes.data(), header, payload);
    return bytes;
  }
  void post(const std::vector<std::byte>& bytes) {
    comm::buffer block = fabric->pool().get(bytes.size());
    std::memcpy(block.data(), bytes.data(), bytes.size());
    block.resize(bytes.size());
    at(0).network().send(1, std::move(block));
    deliver_all();
  }
  // Expects exactly one error, which names rank 0 and contains `text`.
  void expect_refused(const std::string& text) {
    EXPECT_TRUE(sink(1).frames.empty());
    ASSERT_EQ(sink(1).bad.size(), 1u);
    EXPECT_NE(sink(1).bad[0].find(text), std::string::npos) << sink(1).bad[0];
    EXPECT_EQ(sink(1).bad[0].find("rank 0: "), 0u);
    sink(1).bad.clear();
  }
};

TEST_F(message, a_valid_frame_arrives_with_its_handler) {
  post(frame(task_header(), 16));
  EXPECT_TRUE(sink(1).bad.empty());
  ASSERT_EQ(sink(1).frames.size(), 1u);
  EXPECT_EQ(comm::lookup<int(int)>(sink(1).frames[0].header.handler), &task);
}

TEST_F(message, the_fields_written_are_the_fields_read) {
  comm::frame_header header = task_header();
  header.flags = 0x5a;
  std::byte bytes[sizeof(header)];
  comm::write_header(bytes, header, 1234);
  comm::frame_header read;
  std::memcpy(&read, bytes, sizeof(read));
  EXPECT_EQ(read.length, 1234u);
  EXPECT_EQ(read.kind, header.kind);
  EXPECT_EQ(read.flags, header.flags);
  EXPECT_EQ(read.handler, header.handler);
  EXPECT_EQ(read.finish, header.finish);
  EXPECT_EQ(read.credit, header.credit);
  EXPECT_EQ(read.check, comm::header_check(read));
}

// All 255 changes of each of the 32 bytes.
TEST_F(message, every_change_of_a_byte_is_refused) {
  const std::vector<std::byte> good = frame(task_header(), 8);
  for (std::size_t at = 0; at < sizeof(comm::frame_header); ++at) {
    for (int change = 1; change < 256; ++change) {
      std::vector<std::byte> bytes = good;
      bytes[at] ^= static_cast<std::byte>(change);
      post(bytes);
      expect_refused("checksum");
    }
  }
}

// Headers with a valid checksum and invalid contents.
TEST_F(message, an_unknown_kind_is_refused) {
  for (const int kind : {0, 6, 255}) {
    comm::frame_header header = task_header();
    header.kind = static_cast<comm::frame_kind>(kind);
    post(frame(header, 0));
    expect_refused("unknown kind " + std::to_string(kind));
  }
}

TEST_F(message, an_unknown_handler_is_refused) {
  apgas::base::random_engine random(5);
  for (int i = 0; i < 1000; ++i) {
    comm::frame_header header = task_header();
    header.handler = i == 0 ? 0 : random();
    post(frame(header, 8));
    expect_refused("no handler");
  }
}

TEST_F(message, a_frame_of_several_tasks_without_a_list_of_them_is_refused) {
  comm::frame_header header = task_header();
  header.kind = comm::frame_kind::tasks;
  for (const std::size_t payload : {0, 7, 8, 16, 24}) {
    post(frame(header, payload));
    expect_refused("a payload of " + std::to_string(payload) + " bytes that is no list of tasks");
  }
  header.handler = 1234;
  post(frame(header, 24));
  expect_refused("no handler");
}

TEST_F(message, a_payload_longer_than_the_message_is_refused) {
  for (const std::uint32_t length : {9u, 17u, 1000u, 0x7fff'ffffu, 0xffff'ffffu, 0xffff'fff9u}) {
    std::vector<std::byte> bytes(comm::frame_bytes(8));
    comm::write_header(bytes.data(), task_header(), length);
    post(bytes);
    expect_refused("where 8 are left");
  }
}

TEST_F(message, a_message_that_ends_within_a_header_is_refused) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{8}, std::size_t{31}}) {
    std::vector<std::byte> bytes = frame(task_header(), 0);
    bytes.resize(size);
    post(bytes);
    expect_refused("where a header should be");
  }
}

TEST_F(message, only_frames_before_a_malformed_one_arrive) {
  std::vector<std::byte> bytes;
  for (int i = 0; i < 5; ++i) {
    const std::vector<std::byte> one = frame(task_header(), 8);
    bytes.insert(bytes.end(), one.begin(), one.end());
  }
  bytes[2 * comm::frame_bytes(8) + 20] ^= std::byte{1};
  post(bytes);
  EXPECT_EQ(sink(1).frames.size(), 2u);
  EXPECT_EQ(sink(1).bad.size(), 1u);
}

TEST_F(message, random_bytes_are_refused) {
  apgas::base::random_engine random(11);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::byte> bytes(random.below(300) + 1);
    for (std::byte& b : bytes) b = static_cast<std::byte>(random.below(256));
    post(bytes);
    expect_refused("");
  }
}

TEST(message_death, by_default_the_job_ends_and_the_sender_is_named) {
  struct plain_sink final : comm::frame_sink {
    void on_frame(const comm::inbound_frame&) noexcept override {}
  };
  EXPECT_DEATH(plain_sink{}.on_bad_message(3, "is wrong"), "rank 3 is malformed: is wrong");
}

}  // namespace
