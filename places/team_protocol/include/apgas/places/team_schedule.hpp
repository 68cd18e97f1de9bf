// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>

#include <apgas/base/assert.hpp>
#include <apgas/places/team_tree.hpp>

// Schedules: the steps of a member in each collective that has no root. Those with a root use the
// trees of team_tree.hpp. A schedule depends only on the hosts of the members, the index of its
// member, and sizes. Pure: it sends nothing and does not wait.
//
// A member executes its steps in order. In each step it first sends and then waits for the message
// it receives. The runtime (team_collectives.cpp) and the simulation (tests/sim) execute the same
// schedules.
//
// Invariants, which tests/sim checks:
//   S1  For each send of a member there is exactly one receive at the other member, with the same
//       step number and the same range, and vice versa. A member that has executed all its steps
//       has received all its messages.
//   S2  Values are combined in the order of the members, so an operation need not be commutative.
//   S3  In an allreduce, each element is combined by the same tree of operations at all members, so
//       all get bitwise the same result.
namespace apgas::inline v0::remote {

// A collective in three phases, for members on several hosts: up to the first member of each run,
// then `Among` these leaders, then down again within the runs. If all members are on one host, or
// with `alone`, it is only `Among` all members, since going up and down would double the number of
// steps.
template <class Among>
class by_hosts {
 public:
  // `data` is the range that each member contributes and receives. `Among` is constructed with the
  // number of leaders, the index of this one, and args.
  template <class... Args>
  by_hosts(const host_runs& hosts, std::size_t me, bool alone, const span_of& data, Args... args)
      : hosts_(&hosts),
        alone_(alone || hosts.count() == 1),
        tree_(hosts, group(me), me, group(me).first),
        up_(tree_, data),
        among_(alone_ ? hosts.members() : hosts.count(), alone_ ? me : hosts.index_of_run(me),
               args...),
        down_(tree_, data) {}

  std::optional<exchange> next() noexcept {
    if (now_ == phase::up) {
      if (auto e = up_.next()) return e;
      now_ = tree_.parent() == nobody ? phase::among : phase::down;
    }
    if (now_ == phase::among) {
      if (auto e = among_.next()) {
        e->to = member(e->to);
        e->from = member(e->from);
        e->step += among_step;
        return e;
      }
      now_ = phase::down;
    }
    auto e = down_.next();
    if (e) e->step = down_step;
    return e;
  }

 private:
  enum class phase : std::uint8_t { up, among, down };
  static constexpr std::uint16_t among_step = 1;
  static constexpr std::uint16_t down_step = 290;

  span_of group(std::size_t me) const noexcept {
    return alone_ ? span_of{me, me + 1} : hosts_->run(hosts_->index_of_run(me));
  }
  std::size_t member(std::size_t leader) const noexcept {
    return leader == nobody || alone_ ? leader : hosts_->run(leader).first;
  }

  const host_runs* hosts_;
  bool alone_;
  member_tree tree_;  // over the members of this run
  phase now_ = phase::up;
  up_schedule up_;
  Among among_;
  down_schedule down_;
};

// Dissemination barrier: in step k, member i sends to member i + 2^k. After ceil(log2 n) steps a
// member has heard, directly or through others, from all.
class dissemination {
 public:
  dissemination(std::size_t members, std::size_t me) noexcept : n_(members), me_(me) {}

  std::optional<exchange> next() noexcept {
    const std::size_t distance = std::size_t{1} << step_;
    if (distance >= n_) return std::nullopt;
    return exchange{
        .to = (me_ + distance) % n_, .from = (me_ + n_ - distance) % n_, .step = step_++};
  }

 private:
  std::size_t n_;
  std::size_t me_;
  std::uint16_t step_ = 0;
};

// A barrier.
class barrier_schedule : public by_hosts<dissemination> {
 public:
  barrier_schedule(const host_runs& hosts, std::size_t me) noexcept
      : by_hosts(hosts, me, false, span_of{}) {}
};

// Reduces the number of participants to a power of two. Of n = 2^k + r members the first 2r form
// pairs, and the first member of each pair participates for both. The participants are numbered in
// the order of the members.
class member_pairs {
 public:
  member_pairs(std::size_t members, std::size_t me) noexcept
      : power_(std::bit_floor(members)), paired_(2 * (members - power_)), me_(me) {}

  std::size_t power() const noexcept { return power_; }
  bool in_pair() const noexcept { return me_ < paired_; }
  bool keeper() const noexcept { return !in_pair() || me_ % 2 == 0; }
  std::size_t other() const noexcept { return me_ ^ 1; }
  // The number of this member or of its pair among the participants.
  std::size_t number() const noexcept { return in_pair() ? me_ / 2 : me_ - paired_ / 2; }
  // The member that participates as number v.
  std::size_t member(std::size_t v) const noexcept {
    return v < paired_ / 2 ? 2 * v : v + paired_ / 2;
  }

 private:
  std::size_t power_;
  std::size_t paired_;
  std::size_t me_;
};

// An allreduce.
//   short  recursive doubling: all elements in each of log2 n steps
//   long   Rabenseifner's algorithm: neighbours halve the elements between them and combine
//          (reduce-scatter), then exchange the halves back (allgather): 2 log2 n steps, in which
//          each element is sent less than twice
class doubling_or_halving {
 public:
  doubling_or_halving(std::size_t members, std::size_t me, std::size_t elements,
                      bool is_long) noexcept
      : pairs_(members, me), me_(me), long_(is_long), parts_{span_of{0, elements}} {}

  std::optional<exchange> next() noexcept {
    for (;;) {
      switch (now_) {
        case phase::fold:
          now_ = pairs_.keeper() ? phase::combine : phase::unfold;
          if (!pairs_.in_pair()) break;
          if (!pairs_.keeper()) return exchange{.to = pairs_.other(), .out = parts_[0]};
          return exchange{
              .from = pairs_.other(), .in = parts_[0], .how = in_order(pairs_.other(), me_)};
        case phase::combine:
          if (distance() < pairs_.power()) return combine();
          now_ = long_ ? phase::collect : phase::unfold;
          break;
        case phase::collect:
          if (level_ != 0) return collect();
          now_ = phase::unfold;
          break;
        case phase::unfold:
          now_ = phase::over;
          if (!pairs_.in_pair()) break;
          if (pairs_.keeper()) {
            return exchange{.to = pairs_.other(), .out = parts_[0], .step = unfold_step};
          }
          return exchange{.from = pairs_.other(), .in = parts_[0], .step = unfold_step};
        case phase::over:
          return std::nullopt;
      }
    }
  }

 private:
  enum class phase : std::uint8_t { fold, combine, collect, unfold, over };
  static constexpr std::uint16_t collect_step = 100;
  static constexpr std::uint16_t unfold_step = 200;

  std::size_t distance() const noexcept { return std::size_t{1} << level_; }
  std::size_t other() const noexcept { return pairs_.member(pairs_.number() ^ distance()); }
  // Divides the range that this member has at this level: into the half that it keeps, and the half
  // of the other member.
  std::pair<span_of, span_of> halves() const noexcept {
    const span_of all = parts_[level_];
    const std::size_t middle = all.first + all.size() / 2;
    const span_of low{all.first, middle};
    const span_of high{middle, all.last};
    return (pairs_.number() & distance()) != 0 ? std::pair{high, low} : std::pair{low, high};
  }

  exchange combine() noexcept {
    const std::size_t with = other();
    exchange e{.to = with,
               .out = parts_[0],
               .from = with,
               .in = parts_[0],
               .how = in_order(with, me_),
               .step = static_cast<std::uint16_t>(level_ + 1)};
    if (long_) {
      APGAS_ASSERT(level_ + 1 < parts_.size());
      std::tie(e.in, e.out) = halves();
      parts_[level_ + 1] = e.in;
    }
    ++level_;
    return e;
  }
  exchange collect() noexcept {
    --level_;
    const auto [mine, theirs] = halves();
    const std::size_t with = other();
    return {.to = with,
            .out = mine,
            .from = with,
            .in = theirs,
            .step = static_cast<std::uint16_t>(collect_step + level_)};
  }

  member_pairs pairs_;
  std::size_t me_;
  bool long_;
  phase now_ = phase::fold;
  unsigned level_ = 0;
  std::array<span_of, 33> parts_;  // ranges of elements, by level
};

// An allreduce by hosts. A long one is not divided by hosts: in Rabenseifner's algorithm
// neighbours, which share a host, exchange the most, and steps between hosts have the fewest
// elements.
class allreduce_schedule : public by_hosts<doubling_or_halving> {
 public:
  allreduce_schedule(const host_runs& hosts, std::size_t me, std::size_t elements,
                     bool is_long) noexcept
      : by_hosts(hosts, me, is_long, span_of{0, elements}, elements, is_long) {}
};

// The same, but also a long one goes up, among the first members of the runs, and down again.
// Members use it if boards do the first and the last part (between_runs.hpp).
class heads_allreduce_schedule : public by_hosts<doubling_or_halving> {
 public:
  heads_allreduce_schedule(const host_runs& hosts, std::size_t me, std::size_t elements,
                           bool is_long) noexcept
      : by_hosts(hosts, me, false, span_of{0, elements}, elements, is_long) {}
};

// An alltoall: in step k, member i sends to member i + k. So at any time each member receives from
// one other.
class alltoall_schedule {
 public:
  alltoall_schedule(std::size_t members, std::size_t me) noexcept : n_(members), me_(me) {}

  std::optional<exchange> next() noexcept {
    if (++k_ >= n_) return std::nullopt;
    const std::size_t to = (me_ + k_) % n_;
    const std::size_t from = (me_ + n_ - k_) % n_;
    return exchange{.to = to, .out = {to, to + 1}, .from = from, .in = {from, from + 1}};
  }

 private:
  std::size_t n_;
  std::size_t me_;
  std::size_t k_ = 0;
};

}  // namespace apgas::inline v0::remote
