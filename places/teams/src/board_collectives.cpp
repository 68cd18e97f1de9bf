// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <utility>

#include <apgas/base/assert.hpp>
#include <apgas/places/board_schedule.hpp>

#include "board_collectives.hpp"
#include "board_posts.hpp"
#include "team_board.hpp"

namespace apgas::inline v0::remote {
namespace {

static_assert(2 * board_long_allreduce::batch <= team_board::slots);
static_assert(board_alltoall_schedule::ahead <= team_board::slots);

// The longest post.
constexpr std::size_t most_bytes = team_board::slot_bytes;

// The longest zero-copy post.
constexpr std::size_t zero_copy_most_bytes = std::size_t{1} << 20;

// From these sizes on, posts are zero-copy posts. Copying from another process takes a system call,
// and the writer has to wait for its readers; data on a board are often still in a cache. Decision
// 0022 has the measurements.
constexpr std::size_t zero_copy_pair_bytes = std::size_t{64} << 10;  // between two members
constexpr std::size_t zero_copy_allreduce_bytes = std::size_t{512} << 10;
constexpr std::size_t zero_copy_alltoall_bytes = std::size_t{64} << 10;
constexpr std::size_t zero_copy_scatter_bytes = std::size_t{64} << 10;
constexpr std::size_t zero_copy_gather_bytes = std::size_t{256} << 10;

// Up to this size, an allreduce has one step; beyond it, each element is combined once.
constexpr std::size_t short_board_bytes = std::size_t{4} << 10;

// The collectives are those of a run, whose members are numbered from 0.
std::size_t members(const team_member& m) noexcept { return m.run().size(); }
std::size_t index_of(const team_member& m) noexcept { return m.index() - m.run().first; }

// The data of a member in a collective, which may be the same memory.
struct member_data {
  std::span<const std::byte> out;  // from which it publishes
  std::span<std::byte> in;         // into which it reads
  std::size_t each = 1;            // bytes of an element
  const reduction* op = nullptr;
};

template <class Posts, class Schedule>
void run_steps(team_member& m, Schedule steps, const member_data& data) {
  m.enter_boards();
  Posts posts(m, data.op);
  while (const auto step = steps.next()) {
    const std::size_t bytes = step->post.size() * data.each;
    if (step->publishes) {
      posts.publish(step->member, data.out.subspan(step->post.first * data.each, bytes));
      continue;
    }
    const span_of& range = step->range;
    const auto part_of = [&](auto elements) {
      return elements.subspan(step->into * data.each, range.size() * data.each);
    };
    const bool brings_own = step->begins && data.out.data() != data.in.data();
    posts.read(*step, bytes, (range.first - step->post.first) * data.each, part_of(data.in),
               brings_own ? part_of(data.out) : std::span<const std::byte>());
    if (step->takes) m.take(step->member, step->number);
  }
  posts.end();
  m.leave_boards();
}

template <class Schedule>
void run_copied(team_member& m, Schedule steps, const member_data& data) {
  run_steps<copied_posts>(m, std::move(steps), data);
}

// Executes the schedule that make() returns for posts of so many bytes: with zero-copy posts if
// `is_long` and all members can read them, otherwise with posts that are copied.
template <class Make>
void run_long(team_member& m, bool is_long, Make make, const member_data& data) {
  if (is_long && m.uses_zero_copy()) {
    run_steps<zero_copy_posts>(m, make(zero_copy_most_bytes), data);
  } else {
    run_copied(m, make(most_bytes), data);
  }
}

// Whether data that a single member reads, of another one, are long.
bool is_long_for_pair(const team_member& m, std::size_t bytes) noexcept {
  return members(m) == 2 && bytes >= zero_copy_pair_bytes;
}

void broadcast_long(team_member& m, std::size_t root, std::span<const std::byte> out,
                    std::span<std::byte> in) {
  const std::size_t bytes = index_of(m) == root ? out.size() : in.size();
  const auto steps = [&](std::size_t most) {
    return board_broadcast_schedule(index_of(m), root, bytes, most);
  };
  run_long(m, is_long_for_pair(m, bytes), steps, {out, in});
}

void allreduce_long(team_member& m, const member_data& data, std::size_t elements,
                    std::size_t collector) {
  const auto steps = [&](std::size_t most) {
    return board_long_allreduce(members(m), index_of(m), elements, most / data.each, collector);
  };
  run_long(m, data.in.size() >= zero_copy_allreduce_bytes, steps, data);
}

}  // namespace

void board_barrier(team_member& m) {
  run_copied(m, board_barrier_schedule(members(m), index_of(m)), {});
  m.note_all_entered();
}

void board_broadcast(team_member& m, std::size_t root, std::span<std::byte> data) {
  broadcast_long(m, root, data, data);
}

std::vector<std::byte> board_broadcast_message(team_member& m, std::size_t root,
                                               std::span<const std::byte> data) {
  std::uint64_t size = data.size();
  board_broadcast(m, root, std::as_writable_bytes(std::span(&size, 1)));
  m.check_size(root, size);
  std::vector<std::byte> came(index_of(m) == root ? 0 : size);
  broadcast_long(m, root, data, came);
  return came;
}

void board_reduce(team_member& m, std::size_t root, std::span<const std::byte> mine,
                  std::span<std::byte> result, const reduction& op) {
  const std::size_t each = op.element_bytes;
  const auto steps = [&](std::size_t most) {
    return board_up_schedule(members(m), index_of(m), root, mine.size() / each, most / each, true);
  };
  run_long(m, is_long_for_pair(m, mine.size()), steps, {mine, result, each, &op});
}

void board_allreduce(team_member& m, std::span<std::byte> data, const reduction& op) {
  const std::size_t each = op.element_bytes;
  const std::size_t n = data.size() / each;
  const member_data of_member{data, data, each, &op};
  if (data.size() <= short_board_bytes) {
    run_copied(m, board_short_allreduce(members(m), index_of(m), n), of_member);
  } else {
    allreduce_long(m, of_member, n, nobody);
  }
  m.note_all_entered();
}

void board_arrive(team_member& m, std::span<std::byte> data, const reduction& op) {
  const std::size_t each = op.element_bytes;
  const std::size_t n = data.size() / each;
  const member_data of_member{data, data, each, &op};
  if (data.size() <= short_board_bytes) {
    run_copied(m, board_up_schedule(members(m), index_of(m), 0, n, most_bytes / each, true),
               of_member);
  } else {
    allreduce_long(m, of_member, n, 0);
  }
  if (index_of(m) == 0) m.note_all_entered();
}

// The first member has read a post of each other one in board_arrive, the collective before.
void board_release(team_member& m, std::span<std::byte> data) {
  board_broadcast(m, 0, data);
  if (index_of(m) != 0) m.note_all_entered(1);
}

void board_scatter(team_member& m, std::size_t root, std::span<const std::byte> all,
                   std::span<std::byte> mine) {
  const std::size_t each = mine.size();
  if (index_of(m) == root) std::ranges::copy(all.subspan(root * each, each), mine.begin());
  const auto steps = [&](std::size_t most) {
    return board_scatter_schedule(members(m), index_of(m), root, each, most);
  };
  run_long(m, each >= zero_copy_scatter_bytes, steps, {all, mine});
}

void board_gather(team_member& m, std::size_t root, std::span<const std::byte> mine,
                  std::span<std::byte> all) {
  const std::size_t each = mine.size();
  const auto steps = [&](std::size_t most) {
    return board_up_schedule(members(m), index_of(m), root, each, most, false);
  };
  const bool is_long = is_long_for_pair(m, each) || each >= zero_copy_gather_bytes;
  run_long(m, is_long, steps, {mine, all});
  // Only now, since a writer of zero-copy posts waits until they are read.
  if (index_of(m) == root) std::ranges::copy(mine, all.subspan(root * each, each).begin());
}

// First the sizes, because only each member knows its own, and then the values, one after the
// other.
std::vector<std::vector<std::byte>> board_gather_messages(team_member& m, std::size_t root,
                                                          std::span<const std::byte> mine) {
  const std::uint64_t size = mine.size();
  const bool is_root = index_of(m) == root;
  std::vector<std::uint64_t> sizes(is_root ? members(m) : 0);
  board_gather(m, root, std::as_bytes(std::span(&size, 1)),
               std::as_writable_bytes(std::span(sizes)));
  m.enter_boards();
  std::vector<std::vector<std::byte>> all(sizes.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    m.check_size(i, sizes[i]);
    all[i].resize(sizes[i]);
  }
  if (is_root) std::ranges::copy(mine, all[root].begin());
  const auto parts = [](std::size_t bytes) { return board_parts(bytes, most_bytes); };
  for (std::uint32_t i = 0; !is_root && i < parts(size).count(); ++i) {
    const span_of part = parts(size).of(i);
    m.publish_for(root, mine.subspan(part.first, part.size()));
  }
  for (std::size_t from = 0; from < all.size(); ++from) {
    for (std::uint32_t i = 0; from != root && i < parts(sizes[from]).count(); ++i) {
      const span_of part = parts(sizes[from]).of(i);
      const auto to = std::as_writable_bytes(std::span(all[from]));
      take_in(to.subspan(part.first, part.size()), m.read(from, i + 1, part.size()), taking::store,
              nullptr);
      m.take(from, i + 1);
    }
  }
  m.leave_boards();
  return all;
}

void board_alltoall(team_member& m, std::span<const std::byte> out, std::span<std::byte> in) {
  const std::size_t each = out.size() / members(m);
  const std::size_t own = index_of(m) * each;
  std::ranges::copy(out.subspan(own, each), in.subspan(own, each).begin());
  const auto steps = [&](std::size_t most) {
    return board_alltoall_schedule(members(m), index_of(m), each, most);
  };
  run_long(m, each >= zero_copy_alltoall_bytes, steps, {out, in});
}

}  // namespace apgas::inline v0::remote
