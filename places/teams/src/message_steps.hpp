// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include <apgas/places/team_collectives.hpp>
#include <apgas/places/team_member.hpp>
#include <apgas/places/team_tree.hpp>

// Execute the steps of a schedule of messages, for collectives that use only messages
// (team_collectives.cpp) and for those that use bulletin boards as well (collectives_by_hosts.cpp).
namespace apgas::inline v0::remote {

// A part with its headers just fits into a segment of UCX's shared memory transport. Larger ones
// use its rendezvous protocol, and 1 MiB takes twice the time.
inline constexpr std::size_t part_bytes = 7992;

// From this size on, an allreduce minimises how often each element is sent; below, the number of
// steps.
inline constexpr std::size_t long_bytes = std::size_t{8} << 10;

// Added to the step numbers of a barrier, since one may precede the steps of another collective.
inline constexpr std::uint16_t barrier_step = 300;

// Divides `bytes` into parts of whole elements. An empty message has one part.
class parts_of {
 public:
  parts_of(std::size_t bytes, std::size_t element_bytes) noexcept
      : bytes_(bytes),
        part_(std::max(part_bytes / element_bytes, std::size_t{1}) * element_bytes) {}

  std::uint32_t count() const noexcept {
    return static_cast<std::uint32_t>(std::max<std::size_t>((bytes_ + part_ - 1) / part_, 1));
  }
  // `parts` parts from part i on, or all that are left.
  template <class Byte>
  std::span<Byte> of(std::span<Byte> data, std::uint32_t i,
                     std::uint32_t parts = 1) const noexcept {
    const std::size_t at = i * part_;
    return data.subspan(at, std::min(parts * part_, bytes_ - at));
  }

 private:
  std::size_t bytes_;
  std::size_t part_;
};

// Copies a message whose size its receiver knows.
void copy_message(std::span<std::byte> to, std::span<const std::byte> from);

// Send and receive data of any size, in parts.
void send_all(team_member& m, std::size_t to, std::span<const std::byte> data);
void receive_all(team_member& m, std::size_t from, std::span<std::byte> data);

// Executes one step of a reduction, with parts in both directions. Parts are numbered from
// `first_part`.
void combine_step(team_member& m, const exchange& e, std::span<std::byte> data, const reduction& op,
                  std::uint32_t first_part = 0);

template <class Schedule>
void combine_steps(team_member& m, Schedule steps, std::span<std::byte> data, const reduction& op,
                   std::uint32_t first_part = 0) {
  while (const auto e = steps.next()) combine_step(m, *e, data, op, first_part);
}

template <class Schedule>
void barrier_steps(team_member& m, Schedule steps) {
  while (const auto e = steps.next()) {
    const auto step = static_cast<std::uint16_t>(barrier_step + e->step);
    if (e->to != nobody) m.send(e->to, step, 0, {});
    if (e->from != nobody) static_cast<void>(m.receive(e->from, step, 0));
  }
}

// Sends data down a tree, whose steps are `steps` for each part. Parts are numbered from
// `first_part`.
template <class Schedule>
void broadcast_steps(team_member& m, const Schedule& steps, std::span<std::byte> data,
                     std::uint32_t first_part = 0) {
  const parts_of parts(data.size(), 1);
  for (std::uint32_t i = 0; i < parts.count(); ++i) {
    const std::span<std::byte> part = parts.of(data, i);
    Schedule of_part = steps;
    while (const auto e = of_part.next()) {
      if (e->from != nobody) copy_message(part, m.receive(e->from, 0, first_part + i).data());
      if (e->to != nobody) m.send(e->to, 0, first_part + i, part);
    }
  }
}

// Sends `data`, whose size only the root knows, down a tree in one part. Afterwards `data` is what
// this member has; it lies in the arrival if it was received.
template <class Schedule>
team_arrival message_steps(team_member& m, Schedule steps, std::span<const std::byte>& data) {
  team_arrival came;
  while (const auto e = steps.next()) {
    if (e->from != nobody) {
      came = m.receive(e->from, 0, 0);
      data = came.data();
    }
    if (e->to != nobody) m.send(e->to, 0, 0, data);
  }
  return came;
}

}  // namespace apgas::inline v0::remote
