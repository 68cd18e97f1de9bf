// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

// The groups of elements with equal keys that collect_reduce and group_by have found in one block.
namespace apgas::inline v0::sync {

// A hash table with open addressing that keeps its groups in the order in which they were added.
// What is read for every element, which is a slot and a pair of a key and a value, lies close
// together: with 1000 groups of integers, all of it fits into the first cache.
template <class Key, class Value>
class group_table {
 public:
  struct origin {
    std::size_t first;  // the position of the first element of the group
    std::uint64_t hash;
  };

  // Spreads the hash, because std::hash of an integer is the integer (Fibonacci hashing). The
  // highest bits choose the slot, so that consecutive integers hardly ever meet in one.
  static std::uint64_t hash_of(const Key& key) {
    const std::uint64_t h = std::hash<Key>{}(key);
    return (h ^ (h >> 32)) * 0x9e3779b97f4a7c15U;
  }
  // One of 64 shards, by other bits than those of the slot.
  static std::size_t shard_of(std::uint64_t hash) { return (hash >> 26) & 63; }

  std::vector<std::pair<Key, Value>>& groups() { return groups_; }
  const std::vector<origin>& origins() const { return origins_; }  // in the same order

  // Adds to the group of the key by add(value), or makes the group with the value make().
  template <class Make, class Add>
  void put(std::size_t first, std::uint64_t hash, Key&& key, Make&& make, Add&& add) {
    for (std::size_t slot = hash >> shift_; slots_[slot] != 0; slot = next(slot)) {
      const std::size_t number = slots_[slot] - 1;
      if (may_be(number, hash) && groups_[number].first == key) return add(groups_[number].second);
    }
    groups_.emplace_back(std::move(key), make());
    origins_.push_back({first, hash});
    if (2 * groups_.size() > slots_.size()) {
      grow();
    } else {
      enter(groups_.size());
    }
  }

 private:
  // Whether a group may have a key with that hash. To compare integers takes less time than this.
  [[nodiscard]] bool may_be(std::size_t number, std::uint64_t hash) const {
    if constexpr (std::integral<Key>) return true;
    return origins_[number].hash == hash;
  }

  [[nodiscard]] std::size_t next(std::size_t slot) const {
    return (slot + 1) & (slots_.size() - 1);
  }

  // Enters the group of that number, counted from 1.
  void enter(std::size_t number) {
    std::size_t slot = origins_[number - 1].hash >> shift_;
    while (slots_[slot] != 0) slot = next(slot);
    slots_[slot] = static_cast<std::uint32_t>(number);
  }

  [[gnu::noinline]] void grow() {
    if (2 * slots_.size() > std::numeric_limits<std::uint32_t>::max()) {
      throw std::length_error("apgas: more than 2^31 groups of elements with equal keys");
    }
    slots_.assign(4 * slots_.size(), 0);
    shift_ -= 2;
    for (std::size_t number = 1; number <= groups_.size(); ++number) enter(number);
  }

  std::vector<std::pair<Key, Value>> groups_;
  std::vector<origin> origins_;
  std::vector<std::uint32_t> slots_ = std::vector<std::uint32_t>(64);  // numbers of groups; 0: free
  unsigned shift_ = 58;                                                // 64 - log2(slots)
};

}  // namespace apgas::inline v0::sync
