// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

#include <apgas/places/team_schedule.hpp>

// An alltoall of short blocks between members on several hosts. The first member of each run
// (host_runs.hpp), its head, gathers the blocks that its run sends, exchanges one message with each
// other head, and deals out the blocks that its run receives. Of n members in h runs, h (h - 1)
// messages lead from one run to another instead of up to n (n - 1). Pure.
//
// With a run of m members, a head has n * m blocks in one of these orders:
//
//   gathered   by the member of the run that sends, then by the member of the team that receives
//   leaving    by the member of the team that receives, then by the member of the run that sends
//   arrived    by the run that sends; of one run, by the member of this run that receives, then by
//              the member of that run that sends
//   dealt out  by the member of this run that receives, then by the member of the team that sends
//
// In the second and third order, the blocks that go to or came from another run are a range.
namespace apgas::inline v0::remote {

// The range of the blocks that a head with a run of m members sends to the run `other`, or receives
// from it.
inline span_of blocks_between(const span_of& other, std::size_t m) noexcept {
  return {other.first * m, other.last * m};
}

// The messages of a head to the others.
class heads_alltoall_schedule {
 public:
  // Requires: `me` is the first member of its run; `hosts` outlives the schedule.
  heads_alltoall_schedule(const host_runs& hosts, std::size_t me) noexcept
      : hosts_(&hosts),
        own_(hosts.run(hosts.index_of_run(me)).size()),
        among_(hosts.count(), hosts.index_of_run(me)) {}

  std::optional<exchange> next() noexcept {
    auto e = among_.next();
    if (!e) return e;
    const span_of to = hosts_->run(e->to);
    const span_of from = hosts_->run(e->from);
    return exchange{.to = to.first,
                    .out = blocks_between(to, own_),
                    .from = from.first,
                    .in = blocks_between(from, own_)};
  }

 private:
  const host_runs* hosts_;
  std::size_t own_;  // members of this run
  alltoall_schedule among_;
};

// Brings `gathered` blocks of a run of m members into the order `leaving`: calls copy(to, from)
// with the numbers of each block.
template <class Copy>
void sort_by_receiver(std::size_t members, std::size_t m, Copy copy) {
  for (std::size_t s = 0; s < m; ++s) {
    for (std::size_t t = 0; t < members; ++t) copy(t * m + s, s * members + t);
  }
}

// Brings `arrived` blocks of a run of m members into the order `dealt out`: calls
// copy(to, from, count) for each sequence of blocks.
template <class Copy>
void deal_out(const host_runs& hosts, std::size_t m, Copy copy) {
  for (std::size_t r = 0; r < hosts.count(); ++r) {
    const span_of from = hosts.run(r);
    for (std::size_t t = 0; t < m; ++t) {
      copy(t * hosts.members() + from.first, from.first * m + t * from.size(), from.size());
    }
  }
}

}  // namespace apgas::inline v0::remote
