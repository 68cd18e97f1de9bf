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

// Who exchanges what with whom, step by step, in the collectives of a team. Pure: a schedule knows
// the size of the team, its member's index and the root, and nothing arrives, waits or is sent
// here.
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

inline constexpr std::size_t nobody = static_cast<std::size_t>(-1);

// Elements or blocks, numbered by the schedule: first to last - 1.
struct span_of {
  std::size_t first = 0;
  std::size_t last = 0;

  std::size_t size() const noexcept { return last - first; }
  bool operator==(const span_of&) const = default;
};

enum class taking : std::uint8_t {
  store,         // instead of what is there
  theirs_first,  // op(theirs, mine)
  mine_first,    // op(mine, theirs)
};

struct exchange {
  std::size_t to = nobody;
  span_of out{};
  std::size_t from = nobody;
  span_of in{};
  taking how = taking::store;
  std::uint16_t step = 0;  // the same at both ends
};

// A barrier by dissemination: in step k to the member 2^k further on. Whoever has done its
// ceil(log2 n) steps has heard, directly or not, of all.
class barrier_schedule {
 public:
  barrier_schedule(std::size_t members, std::size_t me) noexcept : n_(members), me_(me) {}

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

// The binomial tree of broadcast, scatter and gather. Members are numbered from the root on; the
// subtree of number v is v and those that follow it, so that it is one range of blocks.
class member_tree {
 public:
  member_tree(std::size_t members, std::size_t me, std::size_t root) noexcept
      : n_(members), root_(root), v_((me + members - root) % members) {}

  std::size_t number() const noexcept { return v_; }
  std::size_t member(std::size_t v) const noexcept { return (v + root_) % n_; }
  // The member above; of the root: nobody.
  std::size_t parent() const noexcept { return v_ == 0 ? nobody : member(v_ & (v_ - 1)); }
  // The blocks of this member and all below, by number.
  span_of subtree() const noexcept { return {v_, v_ == 0 ? n_ : least(v_ + (v_ & (~v_ + 1)))}; }

  // The k-th child, which has 2^k members below it and itself, or fewer at the end.
  struct child {
    std::size_t member = nobody;
    span_of subtree{};
  };
  std::optional<child> child_at(unsigned k) const noexcept {
    const std::size_t distance = std::size_t{1} << k;
    if ((v_ != 0 && (v_ & (~v_ + 1)) <= distance) || v_ + distance >= n_) return std::nullopt;
    return child{member(v_ + distance), {v_ + distance, least(v_ + 2 * distance)}};
  }
  unsigned children() const noexcept {
    unsigned k = 0;
    while (child_at(k)) ++k;
    return k;
  }

 private:
  std::size_t least(std::size_t v) const noexcept { return v < n_ ? v : n_; }

  std::size_t n_;
  std::size_t root_;
  std::size_t v_;
};

// From the root down: broadcast and scatter. The ranges are those of the subtrees; the longest way
// is served first.
class down_schedule {
 public:
  explicit down_schedule(const member_tree& tree) noexcept
      : tree_(tree), children_(tree.children()), receives_(tree.parent() != nobody) {}

  std::optional<exchange> next() noexcept {
    if (std::exchange(receives_, false)) {
      return exchange{.from = tree_.parent(), .in = tree_.subtree()};
    }
    if (children_ == 0) return std::nullopt;
    const auto child = tree_.child_at(--children_);
    return exchange{.to = child->member, .out = child->subtree};
  }

 private:
  member_tree tree_;
  unsigned children_;
  bool receives_;
};

// Up to the root: gather.
class up_schedule {
 public:
  explicit up_schedule(const member_tree& tree) noexcept
      : tree_(tree), sends_(tree.parent() != nobody) {}

  std::optional<exchange> next() noexcept {
    if (const auto child = tree_.child_at(next_)) {
      ++next_;
      return exchange{.from = child->member, .in = child->subtree};
    }
    if (!std::exchange(sends_, false)) return std::nullopt;
    return exchange{.to = tree_.parent(), .out = tree_.subtree()};
  }

 private:
  member_tree tree_;
  unsigned next_ = 0;
  bool sends_;
};

// Pairs of members, until a power of two is left: the first 2 r of them, where n = 2^k + r. One of
// each pair, the keeper, takes part for both. What is left is numbered in the order of the members.
class member_pairs {
 public:
  // `root`: a keeper if it is in a pair.
  member_pairs(std::size_t members, std::size_t me, std::size_t root) noexcept
      : power_(std::bit_floor(members)), paired_(2 * (members - power_)), me_(me), root_(root) {}

  std::size_t power() const noexcept { return power_; }
  bool in_pair() const noexcept { return me_ < paired_; }
  bool keeper() const noexcept { return !in_pair() || member(number(me_)) == me_; }
  std::size_t other() const noexcept { return me_ ^ 1; }
  std::size_t number(std::size_t m) const noexcept { return m < paired_ ? m / 2 : m - paired_ / 2; }
  std::size_t member(std::size_t v) const noexcept {
    if (v >= paired_ / 2) return v + paired_ / 2;
    return 2 * v + (root_ == 2 * v + 1 ? 1U : 0U);
  }

 private:
  std::size_t power_;
  std::size_t paired_;
  std::size_t me_;
  std::size_t root_;
};

// How a member takes the values of `other`, in the order of the members.
constexpr taking in_order(std::size_t other, std::size_t me) noexcept {
  return other < me ? taking::theirs_first : taking::mine_first;
}

// A reduction to the root. In step k neighbouring blocks of 2^(k-1) members become one, at the
// member that is in it what the root is in its block: so the last one is the root.
class reduce_schedule {
 public:
  reduce_schedule(std::size_t members, std::size_t me, std::size_t root,
                  std::size_t elements) noexcept
      : pairs_(members, me, root), me_(me), all_{0, elements}, root_(pairs_.number(root)) {}

  std::optional<exchange> next() noexcept {
    if (over_) return std::nullopt;
    const std::uint16_t step = step_++;
    if (step == 0) {
      if (!pairs_.in_pair()) return next();
      return pairs_.keeper() ? take(pairs_.other(), step) : give(pairs_.other(), step);
    }
    const std::size_t distance = std::size_t{1} << (step - 1);
    if (distance >= pairs_.power()) {
      over_ = true;
      return std::nullopt;
    }
    const std::size_t v = pairs_.number(me_);
    const std::size_t other = pairs_.member(v ^ distance);
    return (v & distance) == (root_ & distance) ? take(other, step) : give(other, step);
  }

 private:
  exchange give(std::size_t to, std::uint16_t step) noexcept {
    over_ = true;
    return {.to = to, .out = all_, .step = step};
  }
  exchange take(std::size_t from, std::uint16_t step) const noexcept {
    return {.from = from, .in = all_, .how = in_order(from, me_), .step = step};
  }

  member_pairs pairs_;
  std::size_t me_;
  span_of all_;
  std::size_t root_;
  std::uint16_t step_ = 0;
  bool over_ = false;
};

// A reduction that all members get.
//   short  recursive doubling: all elements in each of log2 n steps
//   long   Rabenseifner: neighbours halve the elements between them and combine, then the halves
//          come back the same way: 2 log2 n steps, and each element travels less than twice
class allreduce_schedule {
 public:
  allreduce_schedule(std::size_t members, std::size_t me, std::size_t elements,
                     bool is_long) noexcept
      : pairs_(members, me, 0), me_(me), long_(is_long), parts_{span_of{0, elements}} {}

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
  std::size_t other() const noexcept { return pairs_.member(pairs_.number(me_) ^ distance()); }
  // The halves of what this member has at this level: that it keeps, and that of the other.
  std::pair<span_of, span_of> halves() const noexcept {
    const span_of all = parts_[level_];
    const std::size_t middle = all.first + all.size() / 2;
    const span_of low{all.first, middle};
    const span_of high{middle, all.last};
    return (pairs_.number(me_) & distance()) != 0 ? std::pair{high, low} : std::pair{low, high};
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
