// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <vector>

#include <apgas/places/between_runs.hpp>
#include <apgas/places/heads_alltoall.hpp>
#include <apgas/places/team_schedule.hpp>

#include "board_collectives.hpp"
#include "collectives_by_hosts.hpp"
#include "message_steps.hpp"

namespace apgas::inline v0::remote {
namespace {

// Long data of a broadcast or reduce go in blocks of so many parts of messages, each of which is a
// collective on the boards. So boards and messages work at the same time.
constexpr std::uint32_t parts_of_block = 8;

// Calls body(block, number of its first part) for each block. Empty data are one block.
template <class Body>
void by_blocks(std::span<std::byte> data, std::size_t element_bytes, Body body) {
  const parts_of parts(data.size(), element_bytes);
  for (std::uint32_t i = 0; i < parts.count(); i += parts_of_block) {
    body(parts.of(data, i, parts_of_block), i);
  }
}

// The steps of a schedule of this member that lead to other runs.
template <class Schedule>
between_runs<Schedule> between(const team_member& m, Schedule schedule) {
  return {m.run(), std::move(schedule)};
}

member_tree tree_of(const team_member& m, std::size_t root) noexcept {
  return {m.hosts(), m.index(), root};
}

// The head of the run of this member in a collective with that root, numbered within the run.
std::size_t head_in_run(const team_member& m, std::size_t root) noexcept {
  return head_of(m.run(), root) - m.run().first;
}

}  // namespace

void barrier_by_hosts(team_member& m) {
  constexpr reduction nothing{nullptr, nullptr, 1};
  if (m.has_board()) board_arrive(m, {}, nothing);
  barrier_steps(m, between(m, barrier_schedule(m.hosts(), m.index())));
  if (m.has_board()) board_release(m, {});
}

void broadcast_by_hosts(team_member& m, std::size_t root, std::span<std::byte> data) {
  const auto steps = between(m, down_schedule(tree_of(m, root)));
  by_blocks(data, 1, [&](std::span<std::byte> block, std::uint32_t first_part) {
    broadcast_steps(m, steps, block, first_part);
    if (m.has_board()) board_broadcast(m, head_in_run(m, root), block);
  });
}

broadcast_message broadcast_message_by_hosts(team_member& m, std::size_t root,
                                             std::span<const std::byte> data) {
  team_arrival came = message_steps(m, between(m, down_schedule(tree_of(m, root))), data);
  if (m.index() == head_of(m.run(), root)) {
    if (m.has_board()) board_broadcast_message(m, head_in_run(m, root), data);
    return broadcast_message(std::move(came));
  }
  return broadcast_message(board_broadcast_message(m, head_in_run(m, root), {}));
}

void reduce_by_hosts(team_member& m, std::size_t root, std::span<std::byte> data,
                     const reduction& op) {
  by_blocks(data, op.element_bytes, [&](std::span<std::byte> block, std::uint32_t first_part) {
    if (m.has_board()) board_reduce(m, head_in_run(m, root), block, block, op);
    const span_of all{0, block.size() / op.element_bytes};
    combine_steps(m, between(m, up_schedule(tree_of(m, root), all)), block, op, first_part);
  });
}

void allreduce_by_hosts(team_member& m, std::span<std::byte> data, const reduction& op) {
  if (m.has_board()) board_arrive(m, data, op);
  const std::size_t n = data.size() / op.element_bytes;
  combine_steps(
      m, between(m, heads_allreduce_schedule(m.hosts(), m.index(), n, data.size() >= long_bytes)),
      data, op);
  if (m.has_board()) board_release(m, data);
}

namespace {

// The head of a run, its first member, gathers blocks from the others, or deals blocks out to them.
// A run of one member has only its own.
void gather_in_run(team_member& m, std::span<const std::byte> mine, std::span<std::byte> all) {
  m.has_board() ? board_gather(m, 0, mine, all) : copy_message(all, mine);
}
void scatter_in_run(team_member& m, std::span<const std::byte> all, std::span<std::byte> mine) {
  m.has_board() ? board_scatter(m, 0, all, mine) : copy_message(mine, all);
}

}  // namespace

void alltoall_by_hosts(team_member& m, std::span<const std::byte> out, std::span<std::byte> in) {
  if (m.index() != m.run().first) {
    gather_in_run(m, out, {});
    return scatter_in_run(m, {}, in);
  }
  const std::size_t each = out.size() / m.size();
  const std::size_t own = m.run().size();
  std::vector<std::byte> first(own * out.size());
  std::vector<std::byte> second(first.size());
  const auto blocks = [each](std::vector<std::byte>& of, std::size_t begin, std::size_t count = 1) {
    return std::span(of).subspan(begin * each, count * each);
  };
  gather_in_run(m, out, first);
  sort_by_receiver(m.size(), own, [&](std::size_t to, std::size_t from) {
    copy_message(blocks(second, to), blocks(first, from));
  });
  const span_of within = blocks_between(m.run(), own);
  copy_message(blocks(first, within.first, within.size()),
               blocks(second, within.first, within.size()));
  heads_alltoall_schedule steps(m.hosts(), m.index());
  while (const auto e = steps.next()) {
    send_all(m, e->to, blocks(second, e->out.first, e->out.size()));
    receive_all(m, e->from, blocks(first, e->in.first, e->in.size()));
  }
  deal_out(m.hosts(), own, [&](std::size_t to, std::size_t from, std::size_t count) {
    copy_message(blocks(second, to, count), blocks(first, from, count));
  });
  scatter_in_run(m, second, in);
}

}  // namespace apgas::inline v0::remote
