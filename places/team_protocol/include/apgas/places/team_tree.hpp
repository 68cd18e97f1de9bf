// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>

#include <apgas/places/host_runs.hpp>

// The tree along which members of a team send down from a root, or up to it. Pure.
namespace apgas::inline v0::remote {

inline constexpr std::size_t nobody = static_cast<std::size_t>(-1);

enum class taking : std::uint8_t {
  store,         // instead of what is there
  theirs_first,  // op(theirs, mine)
  mine_first,    // op(mine, theirs)
};

// How a member takes the values of `other`, in the order of the members.
constexpr taking in_order(std::size_t other, std::size_t me) noexcept {
  return other < me ? taking::theirs_first : taking::mine_first;
}

// One step of a member in a collective.
struct exchange {
  std::size_t to = nobody;
  span_of out{};
  std::size_t from = nobody;
  span_of in{};
  taking how = taking::store;
  std::uint16_t step = 0;  // the same at both ends
};

// All members, divided again and again by hosts, then in the middle: the root is the head of all;
// the head of a part stays that of its half, and has the first of the other half below it. So what
// is below a member and itself are a part that follow each other, each run of a host is entered by
// one message, and of n members on one host no more than ceil(log2 n) messages follow each other.
class member_tree {
 public:
  member_tree(const host_runs& hosts, std::size_t me, std::size_t root) noexcept
      : member_tree(hosts, {0, hosts.members()}, me, root) {}
  // Of these members only. Requires: me and root are in it; `hosts` outlives the tree.
  member_tree(const host_runs& hosts, const span_of& all, std::size_t me, std::size_t root) noexcept
      : hosts_(&hosts), me_(me), part_(all) {
    for (std::size_t head = root; head != me;) {
      const auto [near, far] = hosts.divide(part_, head);
      const bool below = far.contains(me);
      part_ = below ? far : near;
      if (below) parent_ = std::exchange(head, far.first);
    }
  }

  // The member above; of the root: nobody.
  std::size_t parent() const noexcept { return parent_; }
  // This member and all below. Begins with it, but at the root.
  const span_of& part() const noexcept { return part_; }
  // A part of which this member is the head: what stays with it, and what goes to the first of it.
  std::pair<span_of, span_of> divide(const span_of& part) const noexcept {
    return hosts_->divide(part, me_);
  }
  std::size_t children() const noexcept {
    std::size_t n = 0;
    for (span_of part = part_; part.size() > 1; part = divide(part).first) ++n;
    return n;
  }
  std::size_t me() const noexcept { return me_; }

 private:
  const host_runs* hosts_;
  std::size_t me_;
  std::size_t parent_ = nobody;
  span_of part_;
};

// From the root down, the longest way first: each gets the blocks of its part (scatter), or all the
// same data (broadcast).
class down_schedule {
 public:
  explicit down_schedule(const member_tree& tree, std::optional<span_of> same = {}) noexcept
      : tree_(tree), same_(same), rest_(tree.part()), receives_(tree.parent() != nobody) {}

  std::optional<exchange> next() noexcept {
    if (std::exchange(receives_, false)) {
      return exchange{.from = tree_.parent(), .in = same_.value_or(rest_)};
    }
    if (rest_.size() == 1) return std::nullopt;
    const auto [mine, theirs] = tree_.divide(rest_);
    rest_ = mine;
    return exchange{.to = theirs.first, .out = same_.value_or(theirs)};
  }

 private:
  member_tree tree_;
  std::optional<span_of> same_;
  span_of rest_;
  bool receives_;
};

// Up to the root, the shortest way first: each gives the blocks of its part (gather), or all give
// the same elements, which are combined in the order of the members (reduce).
class up_schedule {
 public:
  explicit up_schedule(const member_tree& tree, std::optional<span_of> same = {}) noexcept
      : tree_(tree), same_(same), left_(tree.children()), sends_(tree.parent() != nobody) {}

  std::optional<exchange> next() noexcept {
    if (left_ != 0) {
      --left_;
      auto [mine, theirs] = tree_.divide(tree_.part());
      for (std::size_t i = 0; i < left_; ++i) std::tie(mine, theirs) = tree_.divide(mine);
      return exchange{.from = theirs.first,
                      .in = same_.value_or(theirs),
                      .how = same_ ? in_order(theirs.first, tree_.me()) : taking::store};
    }
    if (!std::exchange(sends_, false)) return std::nullopt;
    return exchange{.to = tree_.parent(), .out = same_.value_or(tree_.part())};
  }

 private:
  member_tree tree_;
  std::optional<span_of> same_;
  std::size_t left_;  // children to hear
  bool sends_;
};

}  // namespace apgas::inline v0::remote
