// SPDX-License-Identifier: Apache-2.0
#pragma once

// Exchanges in which every place has data of any length for every other place. Used by the apps
// that distribute their input.
//
// A member copies its data into global memory, an alltoall tells all members where they are, and
// each reads its own by one-sided copies. The memory is used again by later exchanges: two
// allocations take turns, and a member that has completed the alltoall of an exchange knows that
// all members have read the data of the one before.

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <apgas/apgas.hpp>

namespace apps {

template <class T>
struct arrivals {
  std::vector<T> values;            // those of member 0, then those of member 1, ...
  std::vector<std::size_t> bounds;  // those of member i are [bounds[i], bounds[i + 1])
};

// Exchanges of a team, one after the other. T must be trivially copyable, and so must be Note, a
// value that each member tells to all others with its data.
// Context of all: task; may suspend, and may resume on another worker.
template <class T, class Note = char>
class exchanger {
 public:
  explicit exchanger(const apgas::team& team)
      : team_(team), announced_(team.size()), heard_(team.size()) {}

  // Sends outgoing[i] to member i of the team, and receives into `in` what the members had for this
  // one. Returns the notes of all members. A collective: called at all members.
  std::vector<Note> exchange(const std::vector<std::vector<T>>& outgoing, const Note& note,
                             arrivals<T>& in) {
    announce(outgoing, note);
    team_.alltoall(std::span(announced_), std::span(heard_));
    in.bounds.assign(1, 0);
    for (const letter& l : heard_) in.bounds.push_back(in.bounds.back() + l.count);
    in.values.resize(in.bounds.back());
    std::vector<Note> notes;
    for (std::size_t i = 0; i < heard_.size(); ++i) {
      notes.push_back(heard_[i].note);
      if (heard_[i].count == 0) continue;
      apgas::copy(heard_[i].data, std::span(in.values).subspan(in.bounds[i], heard_[i].count));
    }
    return notes;
  }

  // Allocates memory for so many values in each exchange, and lets all members map it. More will be
  // allocated when needed. A collective.
  void reserve(std::size_t values) {
    for (area& each : areas_) grow(each, values);
    const std::vector<std::vector<T>> one_for_each(team_.size(), std::vector<T>(1));
    arrivals<T> in;
    for (std::size_t i = 0; i < areas_.size(); ++i) exchange(one_for_each, {}, in);
  }

  // Frees the memory, when all members have called it. A collective.
  void release() {
    team_.barrier();
    for (area& each : areas_) apgas::deallocate(std::exchange(each, {}).data);
  }

 private:
  struct letter {
    apgas::global_ptr<T> data;
    std::size_t count;
    Note note;
  };
  struct area {
    apgas::global_ptr<T> data;
    std::size_t size = 0;
  };

  static void grow(area& a, std::size_t size) {
    apgas::deallocate(std::exchange(a, {}).data);
    a = {apgas::allocate<T>(apgas::here(), size), size};
  }

  // Copies the data to where the others will read them.
  void announce(const std::vector<std::vector<T>>& outgoing, const Note& note) {
    std::size_t total = 0;
    for (const auto& each : outgoing) total += each.size();
    std::swap(areas_[0], areas_[1]);
    area& mine = areas_[0];
    if (mine.size < total) grow(mine, std::max(total, 2 * mine.size));
    std::ptrdiff_t at = 0;
    for (std::size_t i = 0; i < outgoing.size(); ++i) {
      announced_[i] = {mine.data + at, outgoing[i].size(), note};
      if (outgoing[i].empty()) continue;
      apgas::copy(std::span<const T>(outgoing[i]), mine.data + at);
      at += std::ssize(outgoing[i]);
    }
  }

  const apgas::team& team_;
  std::array<area, 2> areas_;      // the one that is used now, and the one of the exchange before
  std::vector<letter> announced_;  // by member
  std::vector<letter> heard_;
};

// What a team of one member exchanges.
template <class T>
arrivals<T> alone(std::vector<T> values) {
  const std::size_t n = values.size();
  return {std::move(values), {0, n}};
}

// How many times the data of a place are in its memory during an exchange: those that it sends, the
// copies that the others read, and those that it receives.
constexpr int copies_in_exchange(int places) { return places > 1 ? 3 : 1; }

// A single exchange: sends outgoing[i] to member i of the team, and returns what the members had
// for this one. T must be trivially copyable. A collective: called at all members. Context: task;
// may suspend, and may resume on another worker.
template <class T>
arrivals<T> exchange(const apgas::team& team, std::vector<std::vector<T>> outgoing) {
  if (team.size() == 1) return alone(std::move(outgoing.front()));
  exchanger<T> once(team);
  arrivals<T> in;
  once.exchange(outgoing, {}, in);
  once.release();
  return in;
}

}  // namespace apps
