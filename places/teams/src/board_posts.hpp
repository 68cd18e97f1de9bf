// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>

#include <apgas/places/board_schedule.hpp>
#include <apgas/places/team_collectives.hpp>
#include <apgas/places/team_member.hpp>

// The two kinds of posts by which a member of a run gives data to others (bulletin_board.hpp).
namespace apgas::inline v0::remote {

inline void take_in(std::span<std::byte> mine, std::span<const std::byte> theirs, taking how,
                    const reduction* op) {
  if (how == taking::store) {
    std::ranges::copy(theirs, mine.begin());
  } else if (!mine.empty()) {
    op->combine(op->operation, mine.data(), theirs.data(), mine.size() / op->element_bytes,
                how == taking::theirs_first);
  }
}

inline taking swapped(taking how) noexcept {
  return how == taking::mine_first ? taking::theirs_first : taking::mine_first;
}

// Copied to the board.
class copied_posts {
 public:
  copied_posts(team_member& m, const reduction* op) noexcept : m_(m), op_(op) {}

  void publish(std::size_t reader, std::span<const std::byte> content) {
    reader == nobody ? m_.publish(content) : m_.publish_for(reader, content);
  }
  // Takes the part of a post of `bytes` bytes that begins at `first` and is as long as `into`. If
  // `own` is not empty, `into` gets these elements first.
  void read(const board_step& step, std::size_t bytes, std::size_t first, std::span<std::byte> into,
            std::span<const std::byte> own) {
    const auto content = m_.read(step.member, step.number, bytes);
    std::ranges::copy(own, into.begin());
    take_in(into, content.subspan(first, into.size()), step.how, op_);
  }
  void end() noexcept {}

 private:
  team_member& m_;
  const reduction* op_;
};

// Zero-copy posts. Unless end() has returned, they are withdrawn.
class zero_copy_posts {
 public:
  zero_copy_posts(team_member& m, const reduction* op) noexcept
      : m_(m),
        op_(op),
        chunk_(op == nullptr ? 0 : chunk_bytes / op->element_bytes * op->element_bytes) {}
  zero_copy_posts(const zero_copy_posts&) = delete;
  zero_copy_posts& operator=(const zero_copy_posts&) = delete;
  ~zero_copy_posts() {
    if (!returned_) m_.withdraw();
  }

  void publish(std::size_t reader, std::span<const std::byte> content) {
    m_.publish_address(reader, content);
  }
  void read(const board_step& step, std::size_t bytes, std::size_t first, std::span<std::byte> into,
            std::span<const std::byte> own) {
    if (step.how == taking::store)
      return m_.copy_from(step.member, step.number, bytes, first, into);
    if (!own.empty()) {
      m_.copy_from(step.member, step.number, bytes, first, into);
      return take_in(into, own, swapped(step.how), op_);
    }
    if (!copy_) copy_ = std::make_unique_for_overwrite<std::byte[]>(chunk_);
    do {  // also if there is nothing to combine, since the post must be there
      const std::span<std::byte> part = into.first(std::min(chunk_, into.size()));
      const std::span<std::byte> theirs(copy_.get(), part.size());
      m_.copy_from(step.member, step.number, bytes, first, theirs);
      take_in(part, theirs, step.how, op_);
      first += part.size();
      into = into.subspan(part.size());
    } while (!into.empty());
  }
  void end() {
    m_.wait_until_copied();
    returned_ = true;
  }

 private:
  // So much is copied at a time to be combined. Each copy is a system call.
  static constexpr std::size_t chunk_bytes = std::size_t{512} << 10;

  team_member& m_;
  const reduction* op_;
  std::size_t chunk_;
  std::unique_ptr<std::byte[]> copy_;
  bool returned_ = false;
};

}  // namespace apgas::inline v0::remote
