// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <apgas/base/atomic.hpp>
#include <apgas/base/spin_lock.hpp>
#include <apgas/scheduler/owner_count.hpp>

// How often tasks were suspended in each construct. A worker counts by the address of the text of a
// wait_record, in a small hash table of its own, so that a suspension costs a few instructions for
// it and no cache line is shared. The text is read once for each address, while it is certainly
// there: a library that holds it may be unloaded later.
//
//   key        written once by the owner of the table, after the name; read by any thread
//   name_of_   written once by the owner; read by threads that have seen the key
//   count      written by the owner, read by any thread
// Pairs
//   P1  A thread that reads another key than no_key sees the name that belongs to it.
namespace apgas::inline v0::scheduler {

// How often tasks were suspended in a construct, as wait_record::construct names it.
struct construct_waits {
  std::string construct;
  std::uint64_t suspensions = 0;
};

// The names of the constructs that the tasks of a scheduler have waited in.
class construct_names {
 public:
  // Returns the number of a name, which is new or has been passed before; 0, which names nothing,
  // if there are too many or there is no memory.
  // Context: any thread.
  std::uint8_t number_of(const char* name) noexcept;
  // All names, by number. Throws: std::bad_alloc. Context: any thread.
  std::vector<std::string> all() const;

 private:
  mutable base::spin_lock lock_;
  std::vector<std::string> names_{"other"};
};

class wait_counts {
 public:
  // Counts a suspension. Context: the owner.
  void add(const char* construct, construct_names& names) noexcept {
    const auto key = reinterpret_cast<std::uintptr_t>(construct);
    entry& e = entries_[first_index(key)];
    if (e.key.load(base::relaxed) != key) [[unlikely]]
      return add_elsewhere(construct, names);
    ++e.count;
  }

  // Adds the counts of this worker to `to`, which has an element for each name. Context: any
  // thread.
  void add_to(std::vector<construct_waits>& to) const noexcept;

 private:
  static constexpr std::uintptr_t no_key = 1;  // of a free entry; null stands for no construct
  struct entry {
    base::atomic<std::uintptr_t> key{no_key};
    owner_count count;
  };
  static constexpr std::size_t index_bits = 7;
  static constexpr std::size_t size = std::size_t{1} << index_bits;

  static std::size_t first_index(std::uintptr_t key) noexcept {
    constexpr std::uint32_t golden_ratio = 0x9e37'79b1;
    return static_cast<std::uint32_t>(key) * golden_ratio >> (32 - index_bits);
  }
  void add_elsewhere(const char* construct, construct_names& names) noexcept;

  entry entries_[size];
  std::uint8_t name_of_[size] = {};  // of each entry
  owner_count no_room_;
};

}  // namespace apgas::inline v0::scheduler
