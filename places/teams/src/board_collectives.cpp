// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>

#include <apgas/base/assert.hpp>
#include <apgas/places/board_schedule.hpp>

#include "board_collectives.hpp"
#include "team_board.hpp"

namespace apgas::inline v0::remote {
namespace {

static_assert(2 * board_long_allreduce::batch <= team_board::slots);
static_assert(board_alltoall_schedule::ahead <= team_board::slots);

// The longest post.
constexpr std::size_t most_bytes = team_board::slot_bytes;

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

void combine(std::span<std::byte> mine, std::span<const std::byte> theirs, taking how,
             const reduction* op) {
  if (how == taking::store) {
    std::ranges::copy(theirs, mine.begin());
  } else if (!mine.empty()) {
    op->combine(op->operation, mine.data(), theirs.data(), mine.size() / op->element_bytes,
                how == taking::theirs_first);
  }
}

template <class Schedule>
void run_steps(team_member& m, Schedule steps, const member_data& data) {
  const auto bytes_of = [&](std::size_t first, std::size_t size, auto all) {
    return all.subspan(first * data.each, size * data.each);
  };
  m.enter_boards();
  while (const auto step = steps.next()) {
    const span_of& post = step->post;
    if (step->publishes) {
      const auto content = bytes_of(post.first, post.size(), data.out);
      step->member == nobody ? m.publish(content) : m.publish_for(step->member, content);
      continue;
    }
    const auto content = m.read(step->member, step->number, post.size() * data.each);
    const span_of& range = step->range;
    combine(bytes_of(step->into, range.size(), data.in),
            bytes_of(range.first - post.first, range.size(), content), step->how, data.op);
    if (step->takes) m.take(step->member, step->number);
  }
  m.leave_boards();
}

}  // namespace

void board_barrier(team_member& m) {
  run_steps(m, board_barrier_schedule(members(m), index_of(m)), {});
  m.note_all_entered();
}

void board_broadcast(team_member& m, std::size_t root, std::span<std::byte> data) {
  run_steps(m, board_broadcast_schedule(index_of(m), root, data.size(), most_bytes), {data, data});
}

std::vector<std::byte> board_broadcast_message(team_member& m, std::size_t root,
                                               std::span<const std::byte> data) {
  std::uint64_t size = data.size();
  board_broadcast(m, root, std::as_writable_bytes(std::span(&size, 1)));
  m.check_size(root, size);
  std::vector<std::byte> came(index_of(m) == root ? 0 : size);
  run_steps(m, board_broadcast_schedule(index_of(m), root, size, most_bytes), {data, came});
  return came;
}

void board_reduce(team_member& m, std::size_t root, std::span<std::byte> data,
                  const reduction& op) {
  const std::size_t each = op.element_bytes;
  run_steps(
      m,
      board_up_schedule(members(m), index_of(m), root, data.size() / each, most_bytes / each, true),
      {data, data, each, &op});
}

void board_allreduce(team_member& m, std::span<std::byte> data, const reduction& op) {
  const std::size_t each = op.element_bytes;
  const std::size_t n = data.size() / each;
  const member_data of_member{data, data, each, &op};
  if (data.size() <= short_board_bytes) {
    run_steps(m, board_short_allreduce(members(m), index_of(m), n), of_member);
  } else {
    run_steps(m, board_long_allreduce(members(m), index_of(m), n, most_bytes / each), of_member);
  }
  m.note_all_entered();
}

void board_arrive(team_member& m, std::span<std::byte> data, const reduction& op) {
  const std::size_t each = op.element_bytes;
  const std::size_t n = data.size() / each;
  const member_data of_member{data, data, each, &op};
  if (data.size() <= short_board_bytes) {
    run_steps(m, board_up_schedule(members(m), index_of(m), 0, n, most_bytes / each, true),
              of_member);
  } else {
    run_steps(m, board_long_allreduce(members(m), index_of(m), n, most_bytes / each, 0), of_member);
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
  run_steps(m, board_scatter_schedule(members(m), index_of(m), root, each, most_bytes),
            {all, mine});
}

void board_gather(team_member& m, std::size_t root, std::span<const std::byte> mine,
                  std::span<std::byte> all) {
  const std::size_t each = mine.size();
  if (index_of(m) == root) std::ranges::copy(mine, all.subspan(root * each, each).begin());
  run_steps(m, board_up_schedule(members(m), index_of(m), root, each, most_bytes, false),
            {mine, all});
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
      combine(to.subspan(part.first, part.size()), m.read(from, i + 1, part.size()), taking::store,
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
  run_steps(m, board_alltoall_schedule(members(m), index_of(m), each, most_bytes), {out, in});
}

}  // namespace apgas::inline v0::remote
