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

// Who exchanges what with whom, step by step, in the collectives of a team: beside the trees of
// team_tree.hpp. Pure: a schedule knows the hosts of the members, its member's index and the root,
// and nothing arrives, waits or is sent here.
//
// A member takes its steps in order: of each, it sends first and then waits for what it receives.
// The same code runs in the runtime (team_collectives.cpp) and in tests/sim.
//
// Invariants, which tests/sim checks
//   S1  For each send of a member there is one receive of the other, with the same step and the
//       same range, and the other way round: whoever has done its steps has got all its messages.
//   S2  Values are combined in the order of the members, so that an operation need not commute.
//   S3  All members of an allreduce apply the operation alike: all get the same bits.
namespace apgas::inline v0::remote {

// Members of several hosts do something together: those of a run go up to its first one, these do
// it `Among` themselves, and it goes down again. On one host, or `alone`, all members do it among
// themselves: going up and down would take twice the steps.
template <class Among>
class by_hosts {
 public:
  // `data`: what each has, and sends up and gets. Among(leaders, index of this one, args...).
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
  member_tree tree_;  // of those that go up together
  phase now_ = phase::up;
  up_schedule up_;
  Among among_;
  down_schedule down_;
};

// By dissemination: in step k to the member 2^k further on. Whoever has done its ceil(log2 n) steps
// has heard, directly or not, of all.
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

class barrier_schedule : public by_hosts<dissemination> {
 public:
  barrier_schedule(const host_runs& hosts, std::size_t me) noexcept
      : by_hosts(hosts, me, false, span_of{}) {}
};

// Pairs of members, until a power of two is left: the first 2 r of them, where n = 2^k + r. The
// first of each pair takes part for both. What is left is numbered in the order of the members.
class member_pairs {
 public:
  member_pairs(std::size_t members, std::size_t me) noexcept
      : power_(std::bit_floor(members)), paired_(2 * (members - power_)), me_(me) {}

  std::size_t power() const noexcept { return power_; }
  bool in_pair() const noexcept { return me_ < paired_; }
  bool keeper() const noexcept { return !in_pair() || me_ % 2 == 0; }
  std::size_t other() const noexcept { return me_ ^ 1; }
  // Of this member, or of its pair.
  std::size_t number() const noexcept { return in_pair() ? me_ / 2 : me_ - paired_ / 2; }
  std::size_t member(std::size_t v) const noexcept {
    return v < paired_ / 2 ? 2 * v : v + paired_ / 2;
  }

 private:
  std::size_t power_;
  std::size_t paired_;
  std::size_t me_;
};

// A reduction that all members get.
//   short  recursive doubling: all elements in each of log2 n steps
//   long   Rabenseifner: neighbours halve the elements between them and combine, then the halves
//          come back the same way: 2 log2 n steps, and each element travels less than twice
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
  // The halves of what this member has at this level: that it keeps, and that of the other.
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
  std::array<span_of, 33> parts_;  // of the elements, by level
};

// A long one is not by hosts: the last steps, which are between hosts, have the fewest elements.
class allreduce_schedule : public by_hosts<doubling_or_halving> {
 public:
  allreduce_schedule(const host_runs& hosts, std::size_t me, std::size_t elements,
                     bool is_long) noexcept
      : by_hosts(hosts, me, is_long, span_of{0, elements}, elements, is_long) {}
};

// Every member to every other, at any time one message to each: in step k to the k-th further on.
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
