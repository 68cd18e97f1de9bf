// SPDX-License-Identifier: Apache-2.0
#include <apgas/base/assert.hpp>

#include "message_steps.hpp"

namespace apgas::inline v0::remote {
namespace {

// How many parts are sent ahead of the one that is waited for.
constexpr std::uint32_t parts_ahead = 8;

void take(std::span<std::byte> mine, const team_arrival& theirs, taking how, const reduction& op) {
  if (how == taking::store) return copy_message(mine, theirs.data());
  APGAS_ASSERT(mine.size() == theirs.data().size());
  op.combine(op.operation, mine.data(), theirs.data().data(), mine.size() / op.element_bytes,
             how == taking::theirs_first);
}

}  // namespace

void copy_message(std::span<std::byte> to, std::span<const std::byte> from) {
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
    copy_message(parts.of(data, i), m.receive(from, 0, i).data());
  }
}

void combine_step(team_member& m, const exchange& e, std::span<std::byte> data, const reduction& op,
                  std::uint32_t first_part) {
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
    for (; sent < std::min(end, sends); ++sent) {
      m.send(e.to, e.step, first_part + sent, outs.of(out, sent));
    }
  };
  for (std::uint32_t i = 0; i < receives; ++i) {
    send_until(i + parts_ahead);
    take(ins.of(in, i), m.receive(e.from, e.step, first_part + i), e.how, op);
  }
  send_until(sends);
}

}  // namespace apgas::inline v0::remote
