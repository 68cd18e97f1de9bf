// SPDX-License-Identifier: Apache-2.0
#pragma once

// Executes the schedules of teams (places/team_schedule.hpp) for all members in one thread, in any
// order.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <apgas/places/team_schedule.hpp>

#include "sim_choice.hpp"
#include "sim_traffic.hpp"

namespace sim {

using apgas::remote::exchange;
using apgas::remote::nobody;
using apgas::remote::span_of;
using apgas::remote::taking;

struct team_result {
  std::string wrong;       // "": no error
  std::int64_t depth = 0;  // length of the longest chain of messages
};

// Data of members: elements are words, and the operation concatenates them. So the result of a
// reduction shows which members were combined and in which order.
class team_words {
 public:
  using content = std::vector<std::string>;

  team_words(std::size_t members, const content& of_each) : of_(members, of_each) {}
  content& operator[](std::size_t member) { return of_[member]; }

  content sent(std::size_t member, const span_of& s) const {
    const auto begin = of_[member].begin();
    return {begin + static_cast<std::ptrdiff_t>(s.first),
            begin + static_cast<std::ptrdiff_t>(s.last)};
  }
  void received(std::size_t member, const exchange& e, const content& theirs) {
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      std::string& mine = of_[member][e.in.first + i];
      switch (e.how) {
        case taking::store:
          mine = theirs[i];
          break;
        case taking::theirs_first:
          mine = theirs[i] + mine;
          break;
        case taking::mine_first:
          mine += theirs[i];
          break;
      }
    }
  }

 private:
  std::vector<content> of_;
};

// Data without contents, for counting with many members.
struct team_sizes {
  struct content {};
  content sent(std::size_t, const span_of&) const { return {}; }
  void received(std::size_t, const exchange&, const content&) {}
};

// The members of one collective, and the messages between them.
template <class Schedule, class Data>
class team_world {
 public:
  // `bytes` is the size of an element, `head` the size of a message without data.
  team_world(std::vector<Schedule> schedules, Data& data, traffic* seen = nullptr,
             std::size_t bytes = 0, std::size_t head = 0)
      : data_(data), seen_(seen), bytes_(bytes), head_(head) {
    for (Schedule& s : schedules) members_.push_back({std::move(s), {}, {}});
    for (std::size_t i = 0; i < members_.size(); ++i) ready_.push_back(i);
  }

  // Runs until no member can continue. With `all_must_have_entered`, no member may finish before
  // all have begun, as in a barrier.
  team_result run(choice& chooser, bool all_must_have_entered = false) {
    while (!ready_.empty()) {
      const auto at = chooser.below(static_cast<std::uint32_t>(ready_.size()));
      std::swap(ready_[at], ready_.back());
      const std::size_t m = ready_.back();
      ready_.pop_back();
      if (!go_on(m)) ready_.push_back(m);
      if (members_[m].done && all_must_have_entered && entered_ != members_.size()) {
        return {"member " + std::to_string(m) + " left before all had entered", depth_};
      }
    }
    for (std::size_t m = 0; m < members_.size(); ++m) {
      const std::string name = "member " + std::to_string(m);
      if (!members_[m].done) return {name + " waits forever", depth_};
      if (!members_[m].inbox.empty()) return {name + " has not received all its messages", depth_};
    }
    return {wrong_, depth_};
  }

 private:
  struct received_message {
    std::size_t from;
    std::uint16_t step;
    std::size_t size;
    std::int64_t depth;
    typename Data::content data;
  };
  struct member {
    Schedule schedule;
    std::vector<received_message> inbox;
    exchange now;
    bool begun = false;
    bool waits = false;
    bool done = false;
    std::int64_t depth = 0;  // of the messages that it has received
  };

  // Executes a step, or completes one. Returns true if the member waits or is done.
  bool go_on(std::size_t index) {
    member& m = members_[index];
    if (!std::exchange(m.begun, true)) ++entered_;
    if (!m.waits) {
      const auto e = m.schedule.next();
      if (!e) return m.done = true;
      m.now = *e;
      if (e->to != nobody) send(index, *e);
      if (e->from == nobody) return false;
      m.waits = true;
    }
    const auto at = std::ranges::find_if(m.inbox, [&](const received_message& r) {
      return r.from == m.now.from && r.step == m.now.step;
    });
    if (at == m.inbox.end()) return true;
    if (at->size != m.now.in.size())
      wrong_ = "a message has another size than its receiver expects";
    data_.received(index, m.now, at->data);
    m.depth = std::max(m.depth, at->depth);
    depth_ = std::max(depth_, m.depth);
    m.inbox.erase(at);
    m.waits = false;
    return false;
  }

  void send(std::size_t index, const exchange& e) {
    member& to = members_[e.to];
    if (seen_ != nullptr) {
      seen_->add(static_cast<int>(index), static_cast<int>(e.to), head_ + e.out.size() * bytes_);
    }
    to.inbox.push_back(
        {index, e.step, e.out.size(), members_[index].depth + 1, data_.sent(index, e.out)});
    if (to.waits && to.now.from == index && to.now.step == e.step) ready_.push_back(e.to);
  }

  Data& data_;
  traffic* seen_;
  std::size_t bytes_;
  std::size_t head_;
  std::vector<member> members_;
  std::vector<std::size_t> ready_;
  std::size_t entered_ = 0;
  std::int64_t depth_ = 0;
  std::string wrong_;
};

// The schedules of n members, each made by make(index).
template <class Make>
auto schedules_of(std::size_t n, Make make) {
  std::vector<decltype(make(std::size_t{}))> all;
  all.reserve(n);
  for (std::size_t i = 0; i < n; ++i) all.push_back(make(i));
  return all;
}

}  // namespace sim
