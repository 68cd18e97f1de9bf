// SPDX-License-Identifier: Apache-2.0
#include <apgas/places/team_collectives.hpp>

#include <cstring>
#include <functional>
#include <utility>

#include <apgas/places/remote_teams.hpp>
#include <apgas/places/team_schedule.hpp>

#include "board_collectives.hpp"
#include "collectives_by_hosts.hpp"
#include "message_steps.hpp"

namespace apgas::inline v0::remote {
namespace {

// From this size on, blocks are sent directly to and from the root; along a tree they would be
// copied at each level. An alltoall over several hosts sends blocks directly if all blocks of a run
// for one member together exceed this size, since the head of the run would copy them.
constexpr std::size_t direct_bytes = std::size_t{4} << 10;

// Added to the step numbers when members agree on their boards, before all others.
constexpr std::uint16_t agree_step = 1000;

// Whether each member reads the boards of all others.
bool all_have_boards(const team_member& m) noexcept {
  return m.has_board() && m.hosts().count() == 1;
}

}  // namespace

void agree_on_boards(team_member& m, collective what) {
  if (what == collective::destroy) return;
  if (!m.may_use_boards()) return m.decide_boards(-1);
  remote_teams& teams = teams_of(*scheduler::current_fiber());
  const bool needs_board = m.run().size() > 1;  // otherwise this member agrees to any board
  const std::uint64_t offered = needs_board ? teams.offer_boards() : 0;
  std::uint64_t agreed = needs_board ? offered : ~std::uint64_t{0};
  const reduction both{[](void*, std::byte* mine, const std::byte* theirs, std::size_t, bool) {
                         for (std::size_t i = 0; i < sizeof agreed; ++i) mine[i] &= theirs[i];
                       },
                       nullptr, sizeof agreed};
  try {
    allreduce_schedule steps(m.hosts(), m.index(), 1, false);
    while (auto e = steps.next()) {
      e->step += agree_step;
      combine_step(m, *e, std::as_writable_bytes(std::span(&agreed, 1)), both);
    }
  } catch (...) {
    static_cast<void>(teams.take_board(offered, 0));
    throw;
  }
  const int found = agreed == 0 ? -1 : 0;
  m.decide_boards(needs_board ? teams.take_board(offered, agreed) : found);
}

void run_barrier(team_member& m) {
  if (!m.uses_boards()) return run_barrier_by_messages(m);
  all_have_boards(m) ? board_barrier(m) : barrier_by_hosts(m);
  m.forget_one_sided();
}

void run_barrier_by_messages(team_member& m) {
  barrier_steps(m, barrier_schedule(m.hosts(), m.index()));
  m.forget_one_sided();
}

// ---- broadcast ----------------------------------------------------------------------------------

void run_broadcast(team_member& m, std::size_t root, std::span<std::byte> data) {
  if (all_have_boards(m)) return board_broadcast(m, root, data);
  if (m.uses_boards()) return broadcast_by_hosts(m, root, data);
  broadcast_steps(m, down_schedule(member_tree(m.hosts(), m.index(), root)), data);
}

broadcast_message run_broadcast_message(team_member& m, std::size_t root,
                                        std::span<const std::byte> data) {
  if (all_have_boards(m)) return broadcast_message(board_broadcast_message(m, root, data));
  if (m.uses_boards()) return broadcast_message_by_hosts(m, root, data);
  const down_schedule steps(member_tree(m.hosts(), m.index(), root));
  return broadcast_message(message_steps(m, steps, data));
}

// ---- reductions ---------------------------------------------------------------------------------

namespace {

bool overlap(std::span<const std::byte> a, std::span<const std::byte> b) noexcept {
  const std::less<> before;
  return before(a.data(), b.data() + b.size()) && before(b.data(), a.data() + a.size());
}

bool reduces_on_boards(const team_member& m, const reduction& op) noexcept {
  return m.uses_boards() && op.element_bytes <= team_member::post_bytes;
}

}  // namespace

bool combines_in_reduce(const team_member& m, std::size_t root, const reduction& op) noexcept {
  return m.index() == root || !all_have_boards(m) || !reduces_on_boards(m, op);
}

void run_reduce(team_member& m, std::size_t root, std::span<const std::byte> mine,
                std::span<std::byte> data, const reduction& op) {
  const bool on_boards = reduces_on_boards(m, op);
  if (on_boards && all_have_boards(m) && !overlap(mine, data)) {
    return board_reduce(m, root, mine, data, op);
  }
  if (!data.empty()) std::memmove(data.data(), mine.data(), data.size());
  if (on_boards) {
    return all_have_boards(m) ? board_reduce(m, root, data, data, op)
                              : reduce_by_hosts(m, root, data, op);
  }
  combine_steps(m,
                up_schedule(member_tree(m.hosts(), m.index(), root),
                            span_of{0, data.size() / op.element_bytes}),
                data, op);
}

void run_allreduce(team_member& m, std::span<std::byte> data, const reduction& op) {
  if (reduces_on_boards(m, op)) {
    return all_have_boards(m) ? board_allreduce(m, data, op) : allreduce_by_hosts(m, data, op);
  }
  combine_steps(m,
                allreduce_schedule(m.hosts(), m.index(), data.size() / op.element_bytes,
                                   data.size() >= long_bytes),
                data, op);
}

// ---- scatter, gather ----------------------------------------------------------------------------

namespace {

// The blocks of s within `blocks`, which are those of `part`.
template <class Byte>
std::span<Byte> blocks_of(std::span<Byte> blocks, const span_of& part, const span_of& s,
                          std::size_t each) {
  return blocks.subspan((s.first - part.first) * each, s.size() * each);
}

}  // namespace

void run_scatter(team_member& m, std::size_t root, std::span<const std::byte> all,
                 std::span<std::byte> mine) {
  if (all_have_boards(m)) return board_scatter(m, root, all, mine);
  const std::size_t me = m.index();
  const std::size_t each = mine.size();
  if (each >= direct_bytes) {
    if (me != root) return receive_all(m, root, mine);
    copy_message(mine, all.subspan(me * each, each));
    for (std::size_t to = 0; to < m.size(); ++to) {
      if (to != me) send_all(m, to, all.subspan(to * each, each));
    }
    return;
  }
  const member_tree tree(m.hosts(), me, root);
  const span_of& part = tree.part();
  std::vector<std::byte> came(me == root ? 0 : part.size() * each);
  if (me != root) all = came;
  down_schedule steps(tree);
  while (const auto e = steps.next()) {
    if (e->from != nobody) receive_all(m, e->from, came);
    if (e->to != nobody) send_all(m, e->to, blocks_of(all, part, e->out, each));
  }
  copy_message(mine, blocks_of(all, part, {me, me + 1}, each));
}

void run_gather(team_member& m, std::size_t root, std::span<const std::byte> mine,
                std::span<std::byte> all) {
  if (all_have_boards(m)) return board_gather(m, root, mine, all);
  const std::size_t me = m.index();
  const std::size_t each = mine.size();
  if (each >= direct_bytes) {
    if (me != root) return send_all(m, root, mine);
    copy_message(all.subspan(me * each, each), mine);
    for (std::size_t from = 0; from < m.size(); ++from) {
      if (from != me) receive_all(m, from, all.subspan(from * each, each));
    }
    return;
  }
  const member_tree tree(m.hosts(), me, root);
  const span_of& part = tree.part();
  std::vector<std::byte> gathered(me == root ? 0 : part.size() * each);
  if (me != root) all = gathered;
  copy_message(blocks_of(all, part, {me, me + 1}, each), mine);
  up_schedule steps(tree);
  while (const auto e = steps.next()) {
    if (e->from != nobody) receive_all(m, e->from, blocks_of(all, part, e->in, each));
    if (e->to != nobody) send_all(m, e->to, all);
  }
}

std::vector<std::vector<std::byte>> run_gather_messages(team_member& m, std::size_t root,
                                                        std::span<const std::byte> mine) {
  if (all_have_boards(m)) return board_gather_messages(m, root, mine);
  if (m.index() != root) {
    // Sends the size first, because only this member knows it.
    const std::uint64_t bytes = mine.size();
    m.send(root, 1, 0, std::as_bytes(std::span(&bytes, 1)));
    send_all(m, root, mine);
    return {};
  }
  std::vector<std::vector<std::byte>> all(m.size());
  all[root].assign(mine.begin(), mine.end());
  for (std::size_t from = 0; from < m.size(); ++from) {
    if (from == root) continue;
    std::uint64_t bytes = 0;
    copy_message(std::as_writable_bytes(std::span(&bytes, 1)), m.receive(from, 1, 0).data());
    all[from].resize(bytes);
    receive_all(m, from, all[from]);
  }
  return all;
}

// ---- alltoall -----------------------------------------------------------------------------------

void run_alltoall(team_member& m, std::span<const std::byte> out, std::span<std::byte> in) {
  if (all_have_boards(m)) return board_alltoall(m, out, in);
  const std::size_t each = out.size() / m.size();
  if (m.uses_boards() && each * m.hosts().longest_run() <= direct_bytes) {
    return alltoall_by_hosts(m, out, in);
  }
  const std::size_t me = m.index();
  copy_message(in.subspan(me * each, each), out.subspan(me * each, each));
  alltoall_schedule steps(m.size(), me);
  while (const auto e = steps.next()) {
    send_all(m, e->to, out.subspan(e->out.first * each, each));
    receive_all(m, e->from, in.subspan(e->in.first * each, each));
  }
}

}  // namespace apgas::inline v0::remote
