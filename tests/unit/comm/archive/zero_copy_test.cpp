// SPDX-License-Identifier: Apache-2.0
#include <apgas/comm/zero_copy.hpp>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <apgas/comm/archive.hpp>
#include <apgas/errors.hpp>
#include <apgas/uninitialized_vector.hpp>

namespace apgas::test {
namespace {

using namespace comm;

// A process whose memory can be read; it ends with this object.
class other_process {
 public:
  explicit other_process(const std::vector<std::uint32_t>& content) : words_(content) {
    self_.nonce[0] = 0x1234;
    self_.nonce[1] = 0x5678;
    child_ = fork();
    if (child_ == 0) {
      while (true) pause();
    }
    self_.process = static_cast<std::uint32_t>(child_);
    self_.user_namespace = this_cma_process().user_namespace;
    // The address is the same in the child.
    self_.nonce_address = reinterpret_cast<std::uintptr_t>(&self_.nonce);
  }
  other_process(const other_process&) = delete;
  other_process& operator=(const other_process&) = delete;
  ~other_process() { end(); }

  const cma_process& process() const { return self_; }
  std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(words_.data()); }
  void forget_here() { words_.assign(words_.size(), 0); }
  void end() {
    if (child_ <= 0) return;
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    child_ = 0;
  }

 private:
  std::vector<std::uint32_t> words_;
  cma_process self_;
  pid_t child_ = 0;
};

std::vector<std::uint32_t> some_words(std::size_t n) {
  std::vector<std::uint32_t> words(n);
  for (std::size_t i = 0; i < n; ++i) words[i] = static_cast<std::uint32_t>(i * 7);
  return words;
}

std::string error_of(const cma_process& from, std::uint64_t address) {
  std::vector<std::uint32_t> got(10);
  try {
    read_remote_process(from, address, std::as_writable_bytes(std::span(got)));
  } catch (const serialization_error& e) {
    return e.what();
  }
  return "";
}

TEST(zero_copy, reads_another_process) {
  const auto words = some_words(3'000'000);
  other_process other(words);
  other.forget_here();
  ASSERT_TRUE(can_read(other.process()));
  std::vector<std::uint32_t> got(words.size());
  read_remote_process(other.process(), other.address(), std::as_writable_bytes(std::span(got)));
  EXPECT_EQ(got, words);
}

TEST(zero_copy, archive_reads_a_range_in_chunks) {
  const auto words = some_words(1'000'003);
  other_process other(words);
  out_archive out;
  out.zero_copy_from(zero_copy_min_bytes);
  out(std::uint8_t{1});
  other.forget_here();
  // The encoding that the other process would write.
  const std::uint64_t range[] = {words.size() | std::uint64_t{1} << 63, other.address()};
  out.append(std::as_bytes(std::span(range)));
  in_archive in(out.bytes(), &other.process());
  EXPECT_EQ(in.read<std::uint8_t>(), 1);
  EXPECT_EQ(in.read<std::vector<std::uint32_t>>(), words);
  in.expect_end();
}

// The encoding of a zero-copy range that the other process would write.
std::array<std::uint64_t, 2> address_of(const other_process& other, std::size_t count) {
  return {count | std::uint64_t{1} << 63, other.address()};
}

TEST(zero_copy, archive_reads_a_range_into_an_uninitialized_vector) {
  const auto words = some_words(1'000'003);
  other_process other(words);
  other.forget_here();
  const auto range = address_of(other, words.size());
  const auto sent = std::as_bytes(std::span(range));
  in_archive in(sent, &other.process());
  uninitialized_vector<std::uint32_t> got(17, 5);
  in(got);
  EXPECT_TRUE(std::ranges::equal(got, words));
  in.expect_end();
}

TEST(zero_copy, archive_reads_a_range_into_memory_of_the_caller) {
  const auto words = some_words(1'000'003);
  other_process other(words);
  other.forget_here();
  const auto range = address_of(other, words.size());
  const auto sent = std::as_bytes(std::span(range));
  std::vector<std::uint32_t> got(words.size() + 2, 1);
  in_archive in(sent, &other.process());
  EXPECT_EQ(in.read_range_into(std::span(got).subspan(1, words.size())), words.size());
  in.expect_end();
  EXPECT_TRUE(std::ranges::equal(std::span(got).subspan(1, words.size()), words));
  EXPECT_EQ(got.front() + got.back(), 2U);
  in_archive again(sent, &other.process());
  EXPECT_EQ(again.read_range_into(std::span(got)), words.size());  // of another size: not read
  EXPECT_EQ(got.front() + got.back(), 2U);
  other.end();
  in_archive late(sent, &other.process());
  EXPECT_THROW(late.read_range_into(std::span(got).first(words.size())), serialization_error);
}

TEST(zero_copy, archive_reads_a_copied_range_into_memory_of_the_caller) {
  const auto words = some_words(1'003);
  out_archive out;
  out(std::uint8_t{1});  // so that the elements are not aligned
  out.append_range(std::span<const std::uint32_t>(words));
  std::vector<std::uint32_t> got(words.size());
  in_archive in(out.bytes());
  EXPECT_EQ(in.read<std::uint8_t>(), 1);
  EXPECT_EQ(in.read_range_into(std::span(got)), words.size());
  in.expect_end();
  EXPECT_EQ(got, words);
  uninitialized_vector<std::uint32_t> vector(3, 9);
  in_archive again(out.bytes());
  EXPECT_EQ(again.read<std::uint8_t>(), 1);
  again(vector);
  EXPECT_TRUE(std::ranges::equal(vector, words));
  std::vector<std::uint32_t> one{77};
  in_archive longer(out.bytes().subspan(1));
  EXPECT_EQ(longer.read_range_into(std::span(one)), words.size());
  EXPECT_EQ(one[0], 77U);
  in_archive cut(out.bytes().subspan(1, 100));
  EXPECT_THROW(cut.read_range_into(std::span(got)), serialization_error);
}

TEST(zero_copy, archive_checks_elements_for_memory_of_the_caller) {
  const std::vector<std::uint8_t> bytes(zero_copy_min_bytes, 2);
  out_archive out;
  out.append_range(std::span<const std::uint8_t>(bytes));
  std::vector<std::array<bool, 1>> flags(bytes.size(), {true});
  in_archive in(out.bytes());
  EXPECT_THROW(in.read_range_into(std::span(flags)), serialization_error);
  EXPECT_TRUE(flags[0][0]);
  out_archive by_address;
  by_address.zero_copy_from(zero_copy_min_bytes);
  by_address.append_range(std::span<const std::array<bool, 1>>(flags));
  EXPECT_FALSE(by_address.has_zero_copy());
}

TEST(zero_copy, a_nonce_identifies_the_process) {
  other_process other(some_words(1));
  cma_process wrong = other.process();
  wrong.nonce[1] ^= 1;
  EXPECT_FALSE(can_read(wrong));
  wrong = other.process();
  wrong.nonce_address = 16;
  EXPECT_FALSE(can_read(wrong));
  wrong = other.process();
  wrong.user_namespace ^= 1;  // it might be unable to read this one
  EXPECT_FALSE(can_read(wrong));
  EXPECT_FALSE(can_read(cma_process{}));
  cma_peer known;
  EXPECT_FALSE(known.readable());
  cma_peer good;
  good.set_process(other.process());
  EXPECT_TRUE(good.readable());
  other.end();
  EXPECT_FALSE(can_read(other.process()));
  EXPECT_TRUE(good.readable());  // the result of the first call
}

TEST(zero_copy, unreadable_memory_is_reported) {
  other_process other(some_words(10));
  EXPECT_EQ(error_of(other.process(), other.address()), "");
  const std::string name = std::to_string(other.process().process);
  EXPECT_EQ(error_of(other.process(), 4096),
            "cannot read 40 bytes of the memory of process " + name +
                " on this host (Bad address). Remedy: APGAS_ONE_SIDED=messages");
  other.end();
  EXPECT_EQ(
      error_of(other.process(), other.address()),
      "process " + name +
          " on this host ended before 40 bytes of its memory were read; the message about that "
          "process says why");
}

TEST(zero_copy, archive_writes_only_long_ranges_as_addresses) {
  const std::vector<std::uint32_t> small(zero_copy_min_bytes / 4 - 1, 3);
  const std::vector<std::uint32_t> large(zero_copy_min_bytes / 4, 4);
  const std::vector<std::array<bool, 2>> checked(zero_copy_min_bytes, {true, false});
  out_archive out;
  out(large);
  EXPECT_FALSE(out.has_zero_copy());
  EXPECT_EQ(out.size(), 8 + zero_copy_min_bytes);
  out.zero_copy_from(zero_copy_min_bytes);
  out(small, checked);
  EXPECT_FALSE(out.has_zero_copy());
  const std::size_t before = out.size();
  out(large, std::string(zero_copy_min_bytes, 's'));
  EXPECT_TRUE(out.has_zero_copy());
  EXPECT_EQ(out.size(), before + 32);
}

TEST(zero_copy, a_range_without_a_process_is_refused) {
  const std::vector<std::uint32_t> large(zero_copy_min_bytes, 4);
  out_archive out;
  out.zero_copy_from(zero_copy_min_bytes);
  out(large);
  in_archive in(out.bytes());
  EXPECT_THROW(in.read<std::vector<std::uint32_t>>(), serialization_error);
}

TEST(zero_copy, impossible_lengths_are_refused) {
  const std::uint64_t range[] = {~std::uint64_t{0} / 8, 4096};
  in_archive in(std::as_bytes(std::span(range)), &this_cma_process());
  EXPECT_THROW(in.read<std::vector<std::uint32_t>>(), serialization_error);
  const std::uint64_t too_long[] = {~std::uint64_t{0}, 4096};
  in_archive again(std::as_bytes(std::span(too_long)), &this_cma_process());
  EXPECT_THROW(again.read<std::vector<std::uint32_t>>(), serialization_error);
}

}  // namespace
}  // namespace apgas::test
