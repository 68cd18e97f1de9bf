// SPDX-License-Identifier: Apache-2.0
#include <apgas/places/team_collectives.hpp>

#include <algorithm>
#include <utility>

#include <apgas/base/assert.hpp>
#include <apgas/places/remote_teams.hpp>
#include <apgas/places/team_schedule.hpp>

#include "board_collectives.hpp"

namespace apgas::inline v0::remote {
namespace {

// A part with its headers just fits into a segment of UCX's shared memory transport. Larger ones
// use its rendezvous protocol, and 1 MiB takes twice the time.
constexpr std::size_t part_bytes = 7992;
// How many parts are sent ahead of the one that is waited for.
constexpr std::uint32_t parts_ahead = 8;

// From this size on, an allreduce minimises how often each element is sent; below, the number of
// steps.
constexpr std::size_t long_bytes = std::size_t{8} << 10;

// From this size on, blocks are sent directly to and from the root; along a tree they would be
// copied at each level.
constexpr std::size_t direct_bytes = std::size_t{4} << 10;

// Added to the step numbers of a barrier, since one may precede the steps of another collective.
constexpr std::uint16_t barrier_step = 300;
// Added to the step numbers when members agree on their boards, before all others.
constexpr std::uint16_t agree_step = 1000;

// Divides `bytes` into parts of whole elements. An empty message has one part.
class parts_of {
 public:
  parts_of(std::size_t bytes, std::size_t element_bytes) noexcept
      : bytes_(bytes),
        part_(std::max(part_bytes / element_bytes, std::size_t{1}) * element_bytes) {}

  std::uint32_t count() const noexcept {
    return static_cast<std::uint32_t>(std::max<std::size_t>((bytes_ + part_ - 1) / part_, 1));
  }
  template <class Byte>
  std::span<Byte> of(std::span<Byte> data, std::uint32_t i) const noexcept {
    const std::size_t at = i * part_;
    return data.subspan(at, std::min(part_, bytes_ - at));
  }

 private:
  std::size_t bytes_;
  std::size_t part_;
};

void copy(std::span<std::byte> to, std::span<const std::byte> from) {
  APGAS_ASSERT(to.size() == from.size(),
               "a team message has another size than its receiver expects");
  std::ranges::copy(from, to.begin());
}

void send_all(team_member& m, std::size_t to, std::span<const std::byte> data) {
  const parts_of parts(data.size(), 1);
  for (std::uint32_t i = 0; i < parts.count(); ++i) m.send(to, 0, i, parts.of(data, i));
}

void receive_all(team_member& m, std::size_t from, std::span<std::byte> data) {
  const parts_of parts(data.size(), 1);
  for (std::uint32_t i = 0; i < parts.count(); ++i) {
    copy(parts.of(data, i), m.receive(from, 0, i).data());
  }
}

void take(std::span<std::byte> mine, const team_arrival& theirs, taking how, const reduction& op) {
  if (how == taking::store) return copy(mine, theirs.data());
  APGAS_ASSERT(mine.size() == theirs.data().size());
  op.combine(op.operation, mine.data(), theirs.data().data(), mine.size() / op.element_bytes,
             how == taking::theirs_first);
}

// Executes one step of a reduction, with parts in both directions.
void take_step(team_member& m, const exchange& e, std::span<std::byte> data, const reduction& op) {
  const std::size_t each = op.element_bytes;
  const auto part_of = [&](const span_of& s) {
    return data.subspan(s.first * each, s.size() * each);
  };
  const std::span<std::byte> out = part_of(e.out);
  const std::span<std::byte> in = part_of(e.in);
  const parts_of outs(out.size(), each);
  const parts_of ins(in.size(), each);
  const std::uint32_t sends = e.to == nobody ? 0 : outs.count();
  const std::uint32_t receives = e.from == nobody ? 0 : ins.count();
  std::uint32_t sent = 0;
  const auto send_until = [&](std::uint32_t end) {
    for (; sent < std::min(end, sends); ++sent) m.send(e.to, e.step, sent, outs.of(out, sent));
  };
  for (std::uint32_t i = 0; i < receives; ++i) {
    send_until(i + parts_ahead);
    take(ins.of(in, i), m.receive(e.from, e.step, i), e.how, op);
  }
  send_until(sends);
}

}  // namespace

void agree_on_boards(team_member& m, collective what) {
  if (what == collective::destroy) return;
  if (!m.may_use_boards()) return m.decide_boards(-1);
  remote_teams& teams = teams_of(*scheduler::current_fiber());
  const std::uint64_t offered = teams.offer_boards();
  std::uint64_t agreed = offered;
  const reduction both{[](void*, std::byte* mine, const std::byte* theirs, std::size_t, bool) {
                         for (std::size_t i = 0; i < sizeof agreed; ++i) mine[i] &= theirs[i];
                       },
                       nullptr, sizeof agreed};
  try {
    allreduce_schedule steps(m.hosts(), m.index(), 1, false);
    while (auto e = steps.next()) {
      e->step += agree_step;
      take_step(m, *e, std::as_writable_bytes(std::span(&agreed, 1)), both);
    }
  } catch (...) {
    static_cast<void>(teams.take_board(offered, 0));
    throw;
  }
  m.decide_boards(teams.take_board(offered, agreed));
}

void run_barrier(team_member& m) {
  if (!m.has_board()) return run_barrier_by_messages(m);
  board_barrier(m);
  m.forget_one_sided();
}

void run_barrier_by_messages(team_member& m) {
  barrier_schedule steps(m.hosts(), m.index());
  while (const auto e = steps.next()) {
    const auto step = static_cast<std::uint16_t>(barrier_step + e->step);
    if (e->to != nobody) m.send(e->to, step, 0, {});
    if (e->from != nobody) static_cast<void>(m.receive(e->from, step, 0));
  }
  m.forget_one_sided();
}

// ---- broadcast ----------------------------------------------------------------------------------

void run_broadcast(team_member& m, std::size_t root, std::span<std::byte> data) {
  if (m.has_board()) return board_broadcast(m, root, data);
  const member_tree tree(m.hosts(), m.index(), root);
  const parts_of parts(data.size(), 1);
  for (std::uint32_t i = 0; i < parts.count(); ++i) {
    const std::span<std::byte> part = parts.of(data, i);
    down_schedule steps(tree);
    while (const auto e = steps.next()) {
      if (e->from != nobody) copy(part, m.receive(e->from, 0, i).data());
      if (e->to != nobody) m.send(e->to, 0, i, part);
    }
  }
}

broadcast_message run_broadcast_message(team_member& m, std::size_t root,
                                        std::span<const std::byte> data) {
  if (m.has_board()) return broadcast_message(board_broadcast_message(m, root, data));
  down_schedule steps(member_tree(m.hosts(), m.index(), root));
  team_arrival came;
  while (const auto e = steps.next()) {
    if (e->from != nobody) {
      came = m.receive(e->from, 0, 0);
      data = came.data();
    }
    if (e->to != nobody) m.send(e->to, 0, 0, data);
  }
  return broadcast_message(std::move(came));
}

// ---- reductions ---------------------------------------------------------------------------------

void run_reduce(team_member& m, std::size_t root, std::span<std::byte> data, const reduction& op) {
  if (m.has_board() && op.element_bytes <= team_member::post_bytes) {
    return board_reduce(m, root, data, op);
  }
  up_schedule steps(member_tree(m.hosts(), m.index(), root),
                    span_of{0, data.size() / op.element_bytes});
  while (const auto e = steps.next()) take_step(m, *e, data, op);
}

void run_allreduce(team_member& m, std::span<std::byte> data, const reduction& op) {
  if (m.has_board() && op.element_bytes <= team_member::post_bytes) {
    return board_allreduce(m, data, op);
  }
  allreduce_schedule steps(m.hosts(), m.index(), data.size() / op.element_bytes,
                           data.size() >= long_bytes);
  while (const auto e = steps.next()) take_step(m, *e, data, op);
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
  if (m.has_board()) return board_scatter(m, root, all, mine);
  const std::size_t me = m.index();
  const std::size_t each = mine.size();
  if (each >= direct_bytes) {
    if (me != root) return receive_all(m, root, mine);
    copy(mine, all.subspan(me * each, each));
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
  copy(mine, blocks_of(all, part, {me, me + 1}, each));
}

void run_gather(team_member& m, std::size_t root, std::span<const std::byte> mine,
                std::span<std::byte> all) {
  if (m.has_board()) return board_gather(m, root, mine, all);
  const std::size_t me = m.index();
  const std::size_t each = mine.size();
  if (each >= direct_bytes) {
    if (me != root) return send_all(m, root, mine);
    copy(all.subspan(me * each, each), mine);
    for (std::size_t from = 0; from < m.size(); ++from) {
      if (from != me) receive_all(m, from, all.subspan(from * each, each));
    }
    return;
  }
  const member_tree tree(m.hosts(), me, root);
  const span_of& part = tree.part();
  std::vector<std::byte> gathered(me == root ? 0 : part.size() * each);
  if (me != root) all = gathered;
  copy(blocks_of(all, part, {me, me + 1}, each), mine);
  up_schedule steps(tree);
  while (const auto e = steps.next()) {
    if (e->from != nobody) receive_all(m, e->from, blocks_of(all, part, e->in, each));
    if (e->to != nobody) send_all(m, e->to, all);
  }
}

std::vector<std::vector<std::byte>> run_gather_messages(team_member& m, std::size_t root,
                                                        std::span<const std::byte> mine) {
  if (m.has_board()) return board_gather_messages(m, root, mine);
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
    copy(std::as_writable_bytes(std::span(&bytes, 1)), m.receive(from, 1, 0).data());
    all[from].resize(bytes);
    receive_all(m, from, all[from]);
  }
  return all;
}

// ---- alltoall -----------------------------------------------------------------------------------

void run_alltoall(team_member& m, std::span<const std::byte> out, std::span<std::byte> in) {
  if (m.has_board()) return board_alltoall(m, out, in);
  const std::size_t each = out.size() / m.size();
  const std::size_t me = m.index();
  copy(in.subspan(me * each, each), out.subspan(me * each, each));
  alltoall_schedule steps(m.size(), me);
  while (const auto e = steps.next()) {
    send_all(m, e->to, out.subspan(e->out.first * each, each));
    receive_all(m, e->from, in.subspan(e->in.first * each, each));
  }
}

}  // namespace apgas::inline v0::remote
