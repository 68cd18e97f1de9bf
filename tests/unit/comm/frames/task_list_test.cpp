// SPDX-License-Identifier: Apache-2.0

// Frames of several tasks: what is added to them, what is refused, and that the elements are read
// as they were written.

#include <apgas/comm/task_list.hpp>

#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using namespace apgas::comm;

constexpr frame_header spawn{.kind = frame_kind::task, .flags = 2, .handler = 1234, .finish = 77};

// The payload of a task: the common prefix, and what is its own.
std::vector<std::byte> payload_of(std::uint64_t prefix, const std::string& element) {
  std::vector<std::byte> bytes(task_list_prefix + element.size());
  std::memcpy(bytes.data(), &prefix, sizeof prefix);
  if (!element.empty()) std::memcpy(bytes.data() + sizeof prefix, element.data(), element.size());
  return bytes;
}

// A batch that has room for that many bytes.
struct batch {
  explicit batch(std::size_t capacity = 4096) : bytes(capacity, std::byte{0xee}) {}

  void write(const frame_header& header, const std::vector<std::byte>& payload) {
    last.end();
    write_frame(bytes.data() + size, header, payload);
    last.begin(bytes.data() + size, header, payload.size());
    size += frame_bytes(payload.size());
  }
  bool add(const frame_header& header, const std::vector<std::byte>& payload) {
    const std::size_t grown = last.add(header, payload, bytes.size() - size);
    size += grown;
    return grown != 0;
  }
  bool add(const std::string& element) { return add(spawn, payload_of(5, element)); }

  std::vector<std::byte> bytes;
  std::size_t size = 0;
  growing_frame last;
};

struct parsed {
  frame_header header;
  std::vector<std::string> elements;
};

// Reads the frames of a batch, each of which must be valid.
std::vector<parsed> parse(const batch& all) {
  std::vector<parsed> frames;
  for (std::size_t at = 0; at < all.size;) {
    parsed next;
    std::memcpy(&next.header, all.bytes.data() + at, sizeof next.header);
    EXPECT_EQ(next.header.check, header_check(next.header));
    const std::span payload(all.bytes.data() + at + sizeof next.header, next.header.length);
    if (next.header.kind == frame_kind::tasks) {
      EXPECT_TRUE(is_task_list(payload));
    }
    const frame_tasks tasks(next.header.kind, payload);
    for (std::size_t i = 0; i < tasks.count(); ++i) {
      const auto element = tasks.element(i);
      next.elements.emplace_back(reinterpret_cast<const char*>(element.data()), element.size());
    }
    at += frame_bytes(next.header.length);
    frames.push_back(std::move(next));
  }
  return frames;
}

TEST(TaskList, TasksThatAreAlikeShareAFrame) {
  for (const std::size_t length : {0, 1, 7, 8, 9, 32, 255, 256}) {
    batch all(1 << 16);
    std::vector<std::string> elements;
    for (char c = 'a'; c <= 'z'; ++c) elements.emplace_back(length, c);
    all.write(spawn, payload_of(5, elements[0]));
    for (std::size_t i = 1; i < elements.size(); ++i) EXPECT_TRUE(all.add(elements[i]));
    all.last.end();
    const std::vector<parsed> frames = parse(all);
    ASSERT_EQ(frames.size(), 1U);
    EXPECT_EQ(frames[0].header.kind, frame_kind::tasks);
    EXPECT_EQ(frames[0].header.handler, spawn.handler);
    EXPECT_EQ(frames[0].header.finish, spawn.finish);
    EXPECT_EQ(frames[0].elements, elements) << length;
  }
}

TEST(TaskList, AddsEightBytesForATaskOfEight) {
  batch all;
  all.write(spawn, payload_of(5, "12345678"));
  ASSERT_TRUE(all.add("abcdefgh"));
  const std::size_t two = all.size;
  ASSERT_TRUE(all.add("ABCDEFGH"));
  EXPECT_EQ(all.size, two + 8);
}

TEST(TaskList, ASingleTaskKeepsItsForm) {
  batch all;
  all.write(spawn, payload_of(5, "one"));
  all.write(spawn, payload_of(5, "two"));
  all.last.end();
  const std::vector<parsed> frames = parse(all);
  ASSERT_EQ(frames.size(), 2U);
  for (const parsed& each : frames) EXPECT_EQ(each.header.kind, frame_kind::task);
}

TEST(TaskList, OtherTasksAreNotAdded) {
  batch all;
  EXPECT_FALSE(all.add("one"));  // there is no frame
  all.write(spawn, payload_of(5, "one"));
  frame_header other = spawn;
  other.handler = 1235;
  EXPECT_FALSE(all.add(other, payload_of(5, "two")));
  other = spawn;
  other.finish = 78;
  EXPECT_FALSE(all.add(other, payload_of(5, "two")));
  other = spawn;
  other.flags = 3;
  EXPECT_FALSE(all.add(other, payload_of(5, "two")));
  EXPECT_FALSE(all.add(spawn, payload_of(6, "two")));   // another prefix
  EXPECT_FALSE(all.add(spawn, payload_of(5, "four")));  // another length
  other = spawn;
  other.flags |= 0x28;  // not about the payload
  EXPECT_TRUE(all.add(other, payload_of(5, "two")));
  all.last.end();
  EXPECT_FALSE(all.add("one"));
  ASSERT_EQ(parse(all).size(), 1U);
  EXPECT_EQ(parse(all)[0].elements, (std::vector<std::string>{"one", "two"}));
}

TEST(TaskList, FramesThatMustNotGrow) {
  batch all;
  frame_header reply = spawn;
  reply.kind = frame_kind::reply;
  all.write(reply, payload_of(5, "one"));
  EXPECT_FALSE(all.add(reply, payload_of(5, "one")));
  const std::string too_long(growing_frame::element_bytes_max + 1, 'x');
  all.write(spawn, payload_of(5, too_long));
  EXPECT_FALSE(all.add(too_long));
  all.write(spawn, std::vector<std::byte>(task_list_prefix - 1));
  EXPECT_FALSE(all.add(spawn, std::vector<std::byte>(task_list_prefix - 1)));
}

// Whatever the room is, a frame does not grow beyond it.
TEST(TaskList, StaysWithinTheRoom) {
  for (std::size_t capacity = 40; capacity < 200; capacity += 8) {
    for (const std::size_t length : {0, 8, 9}) {
      const std::vector<std::byte> payload = payload_of(5, std::string(length, 'x'));
      if (frame_bytes(payload.size()) > capacity) continue;
      batch all(capacity);
      all.write(spawn, payload);
      std::size_t tasks = 1;
      while (all.add(spawn, payload)) ++tasks;
      EXPECT_LE(all.size, capacity);
      all.last.end();
      ASSERT_EQ(parse(all).size(), 1U);
      EXPECT_EQ(parse(all)[0].elements.size(), tasks);
    }
  }
}

TEST(TaskList, PayloadsThatAreNoListAreDetected) {
  const auto with = [](std::size_t bytes, std::uint32_t count, std::uint32_t each) {
    std::vector<std::byte> payload(bytes);
    const task_list list{count, each};
    if (bytes >= sizeof list) std::memcpy(payload.data() + bytes - sizeof list, &list, sizeof list);
    return is_task_list(payload);
  };
  EXPECT_TRUE(with(32, 2, 8));
  EXPECT_TRUE(with(32, 2, 1));
  EXPECT_TRUE(with(24, 1, 0));
  EXPECT_FALSE(with(0, 0, 0));
  EXPECT_FALSE(with(7, 0, 0));
  EXPECT_FALSE(with(16, 0, 8));
  EXPECT_FALSE(with(32, 3, 8));
  EXPECT_FALSE(with(32, 2, 9));
  EXPECT_FALSE(with(32, 1, 24));
  EXPECT_FALSE(with(32, 0xffff'ffff, 0xffff'ffff));
  EXPECT_FALSE(with(33, 2, 8));
}

}  // namespace
