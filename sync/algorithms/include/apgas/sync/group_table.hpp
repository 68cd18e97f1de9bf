// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

// The groups of elements with equal keys that collect_reduce and group_by have found in one block.
namespace apgas::inline v0::sync {

// A hash table with open addressing that keeps its groups in the order in which they were added.
// Each group has the position of its first element.
template <class Key, class Value>
class group_table {
 public:
  struct group {
    std::size_t first;
    std::uint64_t hash;
    Key key;
    Value value;
  };

  // Spreads the hash, because std::hash of an integer is the integer (Fibonacci hashing). The
  // highest bits choose the slot, so that consecutive integers hardly ever meet in one.
  static std::uint64_t hash_of(const Key& key) {
    const std::uint64_t h = std::hash<Key>{}(key);
    return (h ^ (h >> 32)) * 0x9e3779b97f4a7c15U;
  }
  // One of 64 shards, by other bits than those of the slot.
  static std::size_t shard_of(std::uint64_t hash) { return (hash >> 26) & 63; }

  std::vector<group>& groups() { return groups_; }

  // Adds to the group of the key by add(value), or makes the group with the value make().
  template <class Make, class Add>
  void put(std::size_t first, std::uint64_t hash, Key&& key, Make&& make, Add&& add) {
    for (std::size_t slot = hash >> shift_; slots_[slot] != 0; slot = next(slot)) {
      group& there = groups_[slots_[slot] - 1];
      if (there.hash == hash && there.key == key) return add(there.value);
    }
    groups_.push_back({first, hash, std::move(key), make()});
    if (2 * groups_.size() > slots_.size()) {
      grow();
    } else {
      enter(groups_.size());
    }
  }

 private:
  [[nodiscard]] std::size_t next(std::size_t slot) const {
    return (slot + 1) & (slots_.size() - 1);
  }

  // Enters the group of that number, counted from 1.
  void enter(std::size_t number) {
    std::size_t slot = groups_[number - 1].hash >> shift_;
    while (slots_[slot] != 0) slot = next(slot);
    slots_[slot] = number;
  }

  [[gnu::noinline]] void grow() {
    slots_.assign(4 * slots_.size(), 0);
    shift_ -= 2;
    for (std::size_t number = 1; number <= groups_.size(); ++number) enter(number);
  }

  std::vector<group> groups_;
  std::vector<std::size_t> slots_ = std::vector<std::size_t>(64);  // numbers of groups; 0: free
  unsigned shift_ = 58;                                            // 64 - log2(slots)
};

}  // namespace apgas::inline v0::sync
