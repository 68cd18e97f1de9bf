// SPDX-License-Identifier: Apache-2.0
#include <apgas/comm/zero_copy.hpp>

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

namespace apgas::test {
namespace {

using namespace comm;

// A process that lends; it ends with this object.
class other_process {
 public:
  explicit other_process(const std::vector<std::uint32_t>& content) : words_(content) {
    self_.sign[0] = 0x1234;
    self_.sign[1] = 0x5678;
    child_ = fork();
    if (child_ == 0) {
      while (true) pause();
    }
    self_.process = static_cast<std::uint64_t>(child_);
    self_.sign_at = reinterpret_cast<std::uintptr_t>(&self_.sign);  // the same in the child
  }
  other_process(const other_process&) = delete;
  other_process& operator=(const other_process&) = delete;
  ~other_process() { end(); }

  const cma_process& who() const { return self_; }
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

TEST(lent_memory, of_another_process) {
  const auto words = some_words(3'000'000);
  other_process other(words);
  other.forget_here();
  ASSERT_TRUE(can_read(other.who()));
  std::vector<std::uint32_t> got(words.size());
  read_remote_process(other.who(), other.address(), std::as_writable_bytes(std::span(got)));
  EXPECT_EQ(got, words);
}

TEST(lent_memory, archive_reads_it_in_pieces) {
  const auto words = some_words(1'000'003);
  other_process other(words);
  out_archive out;
  out.zero_copy_from(zero_copy_min_bytes);
  out(std::uint8_t{1});
  other.forget_here();
  // What the other process would write.
  const std::uint64_t range[] = {words.size() | std::uint64_t{1} << 63, other.address()};
  out.append(std::as_bytes(std::span(range)));
  in_archive in(out.bytes(), &other.who());
  EXPECT_EQ(in.read<std::uint8_t>(), 1);
  EXPECT_EQ(in.read<std::vector<std::uint32_t>>(), words);
  in.expect_end();
}

TEST(lent_memory, only_of_the_process_that_is_meant) {
  other_process other(some_words(1));
  cma_process wrong = other.who();
  wrong.sign[1] ^= 1;
  EXPECT_FALSE(can_read(wrong));
  wrong = other.who();
  wrong.sign_at = 16;
  EXPECT_FALSE(can_read(wrong));
  EXPECT_FALSE(can_read(cma_process{}));
  cma_peer known;
  EXPECT_FALSE(known.readable());
  cma_peer good;
  good.is(other.who());
  EXPECT_TRUE(good.readable());
  other.end();
  EXPECT_FALSE(can_read(other.who()));
  EXPECT_TRUE(good.readable());  // as it was found
}

TEST(lent_memory, that_cannot_be_read) {
  other_process other(some_words(10));
  EXPECT_EQ(error_of(other.who(), other.address()), "");
  const std::string name = std::to_string(other.who().process);
  EXPECT_NE(error_of(other.who(), 4096).find("40 bytes that another place of this node lent"),
            std::string::npos);
  other.end();
  const std::string error = error_of(other.who(), other.address());
  EXPECT_NE(error.find("its process " + name + " (No such process)"), std::string::npos) << error;
  EXPECT_NE(error.find("APGAS_ONE_SIDED=messages"), std::string::npos);
}

TEST(lent_memory, archive_lends_long_ranges_only) {
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

TEST(lent_memory, is_refused_where_nobody_lends) {
  const std::vector<std::uint32_t> large(zero_copy_min_bytes, 4);
  out_archive out;
  out.zero_copy_from(zero_copy_min_bytes);
  out(large);
  in_archive in(out.bytes());
  EXPECT_THROW(in.read<std::vector<std::uint32_t>>(), serialization_error);
}

TEST(lent_memory, of_a_length_that_cannot_be) {
  const std::uint64_t range[] = {~std::uint64_t{0} / 8, 4096};
  in_archive in(std::as_bytes(std::span(range)), &this_cma_process());
  EXPECT_THROW(in.read<std::vector<std::uint32_t>>(), serialization_error);
  const std::uint64_t lent[] = {~std::uint64_t{0}, 4096};
  in_archive again(std::as_bytes(std::span(lent)), &this_cma_process());
  EXPECT_THROW(again.read<std::vector<std::uint32_t>>(), serialization_error);
}

}  // namespace
}  // namespace apgas::test
