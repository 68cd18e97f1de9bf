// SPDX-License-Identifier: Apache-2.0
#pragma once

// Executes the schedules of collectives through bulletin boards (places/board_schedule.hpp) for all
// members in one thread, in any order. Boards have few slots, as in the product. Posts are copied
// when they are published, or are zero-copy posts: then they are read where they were, and a member
// ends when all of them have been taken.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <apgas/places/board_schedule.hpp>

#include "sim_choice.hpp"
#include "sim_team.hpp"

namespace sim {

using apgas::remote::board_step;

enum class posts { copied, zero_copy, zero_copy_without_waiting };  // the last one is a mistake

// `in` and `out` of the members may be the same object. Elements are words, as in team_words.
template <class Schedule>
class board_world {
 public:
  static constexpr std::size_t slots = 8;

  board_world(std::vector<Schedule> schedules, team_words& out, team_words& in,
              posts kind = posts::copied)
      : out_(out), in_(in), kind_(kind) {
    for (Schedule& s : schedules) members_.push_back({.schedule = std::move(s)});
    for (member& m : members_) m.taken.resize(members_.size());
  }

  // Returns "" or an error.
  std::string run(choice& chooser, bool all_must_have_entered = false) {
    std::vector<std::size_t> active(members_.size());
    for (std::size_t i = 0; i < active.size(); ++i) active[i] = i;
    while (!active.empty()) {
      std::size_t at = chooser.below(static_cast<std::uint32_t>(active.size()));
      std::size_t tried = 0;
      while (wrong_.empty() && !go_on(active[at])) {
        if (++tried == active.size()) return "a member waits forever";
        at = (at + 1) % active.size();
      }
      if (!wrong_.empty()) return wrong_;
      if (!members_[active[at]].done) continue;
      active.erase(active.begin() + static_cast<std::ptrdiff_t>(at));
      const auto entered = [](const member& each) { return each.begun; };
      if (all_must_have_entered && !std::ranges::all_of(members_, entered)) {
        return "a member left before all had entered";
      }
    }
    return unread();
  }

 private:
  struct post {
    board_step step;
    team_words::content data;
    std::vector<bool> read;  // by member
  };
  struct member {
    Schedule schedule;
    board_step now{};
    bool begun = false;
    bool waits = false;
    bool ended = false;  // its schedule has
    bool done = false;
    std::vector<post> posts{};
    std::vector<std::uint32_t> taken{};  // posts of each other member
  };

  // Returns false if the member must wait.
  bool go_on(std::size_t index) {
    member& m = members_[index];
    m.begun = true;
    if (!m.waits) {
      const auto step = m.ended ? std::nullopt : m.schedule.next();
      if (!step) {
        m.ended = true;
        return m.done = kind_ != posts::zero_copy || all_taken(index);
      }
      m.now = *step;
    }
    m.waits = !(m.now.publishes ? publish(index) : read(index));
    return !m.waits;
  }

  // Whether member i has taken a post, or does not read it.
  bool has_taken(std::size_t i, std::size_t owner, const post& p) const {
    const bool reads = i != owner && (p.step.member == nobody || p.step.member == i);
    return !reads || members_[i].taken[owner] >= p.step.number;
  }
  bool all_taken(std::size_t owner) const {
    return std::ranges::all_of(members_[owner].posts, [&](const post& p) {
      for (std::size_t i = 0; i < members_.size(); ++i) {
        if (!has_taken(i, owner, p)) return false;
      }
      return true;
    });
  }

  bool publish(std::size_t index) {
    member& m = members_[index];
    if (m.now.number != m.posts.size() + 1) wrong_ = "a post has the wrong number";
    if (m.posts.size() >= slots) {
      const post& old = m.posts[m.posts.size() - slots];
      for (std::size_t i = 0; i < members_.size(); ++i) {
        if (!has_taken(i, index, old)) return false;
      }
    }
    m.posts.push_back({m.now, out_.sent(index, m.now.post), std::vector<bool>(members_.size())});
    return true;
  }

  bool read(std::size_t index) {
    member& m = members_[index];
    const board_step& now = m.now;
    member& from = members_[now.member];
    if (from.posts.size() < now.number) return false;
    post& p = from.posts[now.number - 1];
    if (!(p.step.post == now.post)) wrong_ = "a post has another range than its reader expects";
    if (p.step.member != nobody && p.step.member != index) wrong_ = "a post is for another member";
    if (now.number <= m.taken[now.member]) wrong_ = "a post is read after it was taken";
    if (kind_ != posts::copied) {
      if (from.done) wrong_ = "the data of a zero-copy post are read after its owner has ended";
      p.data = out_.sent(now.member, p.step.post);
    }
    if (!wrong_.empty()) return true;
    p.read[index] = true;
    const auto begin =
        p.data.begin() + static_cast<std::ptrdiff_t>(now.range.first - now.post.first);
    const team_words::content part(begin, begin + static_cast<std::ptrdiff_t>(now.range.size()));
    in_.received(index, {.in = {now.into, now.into + part.size()}, .how = now.how}, part);
    if (now.takes) m.taken[now.member] = now.number;
    return true;
  }

  std::string unread() const {
    for (std::size_t w = 0; w < members_.size(); ++w) {
      for (const post& p : members_[w].posts) {
        for (std::size_t i = 0; i < members_.size(); ++i) {
          const bool reads = i != w && (p.step.member == nobody || p.step.member == i);
          if (reads && !p.read[i]) return "a post is not read by all its readers";
        }
      }
    }
    return "";
  }

  team_words& out_;
  team_words& in_;
  posts kind_;
  std::vector<member> members_;
  std::string wrong_;
};

}  // namespace sim
