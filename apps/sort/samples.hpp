// SPDX-License-Identifier: Apache-2.0
#pragma once

// The input of a sample sort, its samples, and the summary that checks its result. Does not use the
// library, so that the program in plain MPI (apps/peers) does the same.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/memory.hpp"
#include "support/random_word.hpp"

namespace sorting {

using key = std::uint64_t;
using keys = std::vector<key>;

inline constexpr std::int64_t most_keys = 1'000'000'000'000;
inline constexpr std::size_t samples_for_each_place = 32;

// Defines the keys. Sent to all places.
struct plan {
  std::int64_t keys;
  std::int64_t distinct;  // 0: any word
  std::int64_t seed;
  bool ascending;  // the input is in order already

  // The memory that the places of the host of place 0 need together, in bytes: for the sorted keys
  // of their portions and an exchange of them, of which a place has `copies` meanwhile; or for the
  // check, for which place 0 makes all keys again.
  [[nodiscard]] double bytes(const apps::placement& all, int copies) const {
    const double part = all.part_on_host();
    return sizeof(key) * static_cast<double>(keys) * std::max((1 + copies) * part, part + 1);
  }

  [[nodiscard]] key key_at(std::int64_t i) const {
    if (ascending) return static_cast<key>(distinct == 0 ? i : i / (keys / distinct + 1));
    const key word = apps::random_word(static_cast<std::uint64_t>(seed), static_cast<key>(i));
    return distinct == 0 ? word : word % static_cast<key>(distinct);
  }
};

inline keys input_of(const plan& p, std::int64_t place, std::int64_t places) {
  keys mine;
  const std::int64_t first = p.keys * place / places;
  const std::int64_t last = p.keys * (place + 1) / places;
  mine.reserve(static_cast<std::size_t>(last - first));
  for (std::int64_t i = first; i < last; ++i) mine.push_back(p.key_at(i));
  return mine;
}

// A key and its position. In the order of these, no two are equal.
struct sample {
  key value;
  std::uint64_t member;
  std::uint64_t index;

  auto operator<=>(const sample&) const = default;
};

// Some of a member's sorted keys, at equal distances.
inline std::vector<sample> samples(const keys& mine, std::size_t member, std::size_t members) {
  const std::size_t wanted = std::min(mine.size(), samples_for_each_place * members);
  std::vector<sample> some;
  for (std::size_t i = 0; i < wanted; ++i) {
    const std::size_t at = (2 * i + 1) * mine.size() / (2 * wanted);
    some.push_back({mine[at], member, at});
  }
  return some;
}

// The first key of the range of each member except the first, from the samples of all members.
inline std::vector<sample> choose_splitters(std::vector<sample> all, std::size_t members) {
  std::ranges::sort(all);
  std::vector<sample> chosen;
  for (std::size_t i = 1; i < members; ++i) chosen.push_back(all[i * all.size() / members]);
  return chosen;
}

// How many of a member's sorted keys precede s.
inline std::size_t keys_before(const sample& s, const keys& mine, std::size_t member) {
  if (member == s.member) return s.index;
  const auto at = member < s.member ? std::ranges::upper_bound(mine, s.value)
                                    : std::ranges::lower_bound(mine, s.value);
  return static_cast<std::size_t>(at - mine.begin());
}

// A member's sorted keys, divided into those of the range of each member.
inline std::vector<keys> divide(const keys& mine, const std::vector<sample>& splitters,
                                std::size_t member) {
  std::vector<keys> outgoing;
  auto from = mine.begin();
  for (const sample& s : splitters) {
    const auto to = mine.begin() + static_cast<std::ptrdiff_t>(keys_before(s, mine, member));
    outgoing.emplace_back(from, to);
    from = to;
  }
  outgoing.emplace_back(from, mine.end());
  return outgoing;
}

// A summary of keys that shows whether they are the expected keys, in order.
struct summary {
  std::uint64_t count = 0;
  std::uint64_t checksum = 0;  // does not depend on the order
  key first = 0;
  key last = 0;
  bool ordered = true;

  explicit summary(const keys& all)
      : count(all.size()),
        first(all.empty() ? 0 : all.front()),
        last(all.empty() ? 0 : all.back()),
        ordered(std::ranges::is_sorted(all)) {
    for (const key k : all) checksum += apps::random_word(k);
  }
};

// The summaries of all members, in order.
class total {
 public:
  void add(const summary& there) {
    ordered_ = ordered_ && there.ordered && (there.count == 0 || last_ <= there.first);
    if (there.count != 0) last_ = there.last;
    count_ += there.count;
    checksum_ += there.checksum;
    most_ = std::max(most_, there.count);
  }
  // Whether the keys are in order and are those of the plan, which are regenerated here alone.
  [[nodiscard]] bool matches(const plan& p) const {
    const summary wanted(input_of(p, 0, 1));
    return ordered_ && count_ == wanted.count && checksum_ == wanted.checksum;
  }
  // The largest number of keys of a member, in units of an equal share.
  [[nodiscard]] double largest_share(const plan& p, int members) const {
    return static_cast<double>(most_) * members / static_cast<double>(p.keys);
  }

 private:
  std::uint64_t count_ = 0;
  std::uint64_t checksum_ = 0;
  std::uint64_t most_ = 0;
  key last_ = 0;
  bool ordered_ = true;
};

}  // namespace sorting
