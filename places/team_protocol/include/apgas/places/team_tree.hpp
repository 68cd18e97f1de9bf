// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>

#include <apgas/places/host_runs.hpp>

// The trees of rooted collectives (broadcast, scatter, reduce, gather): down from the root, or up
// to it. Pure.
namespace apgas::inline v0::remote {

inline constexpr std::size_t nobody = static_cast<std::size_t>(-1);

// How a member combines received values with its own.
enum class taking : std::uint8_t {
  store,         // replace mine by theirs
  theirs_first,  // op(theirs, mine)
  mine_first,    // op(mine, theirs)
};

// How to combine the values of member `other` so that the order of the members is kept.
constexpr taking in_order(std::size_t other, std::size_t me) noexcept {
  return other < me ? taking::theirs_first : taking::mine_first;
}

// One step of a member in a collective: it sends the range `out` to member `to`, and then receives
// the range `in` from member `from`. Either may be missing.
struct exchange {
  std::size_t to = nobody;
  span_of out{};
  std::size_t from = nobody;
  span_of in{};
  taking how = taking::store;
  std::uint16_t step = 0;  // the same number at sender and receiver
};

// A tree over all members, seen from one of them. The root is the head of the range of all members.
// A range is divided in two by hosts (host_runs::divide); its head stays the head of its own half,
// and the first member of the other half becomes its child. So each subtree is a range of
// consecutive members, each run of a host is entered by one message, and n members on one host make
// at most ceil(log2 n) levels.
class member_tree {
 public:
  member_tree(const host_runs& hosts, std::size_t me, std::size_t root) noexcept
      : member_tree(hosts, {0, hosts.members()}, me, root) {}
  // The same over the members in `all` only.
  // Requires: me and root are in it; `hosts` outlives the tree.
  member_tree(const host_runs& hosts, const span_of& all, std::size_t me, std::size_t root) noexcept
      : hosts_(&hosts), me_(me), part_(all) {
    for (std::size_t head = root; head != me;) {
      const auto [near, far] = hosts.divide(part_, head);
      const bool below = far.contains(me);
      part_ = below ? far : near;
      if (below) parent_ = std::exchange(head, far.first);
    }
  }

  // The parent of this member, or `nobody` for the root.
  std::size_t parent() const noexcept { return parent_; }
  // The subtree below this member, with itself: a range that begins with it, except at the root.
  const span_of& part() const noexcept { return part_; }
  // Divides a range whose head is this member: into the half that stays with it, and the half of
  // the child, whose first member is the child.
  std::pair<span_of, span_of> divide(const span_of& part) const noexcept {
    return hosts_->divide(part, me_);
  }
  // How many children this member has.
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

// The steps of a member in a broadcast or scatter: receive from the parent, then send to the
// children, largest subtree first. With `same`, everybody receives this same range (broadcast);
// otherwise a member receives the blocks of its subtree (scatter).
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

// The steps of a member in a reduce or gather: receive from the children, smallest subtree first,
// then send to the parent. With `same`, everybody sends this same range, and values are combined in
// the order of the members (reduce); otherwise a member sends the blocks of its subtree (gather).
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
  std::size_t left_;  // children that have not sent yet
  bool sends_;
};

}  // namespace apgas::inline v0::remote
