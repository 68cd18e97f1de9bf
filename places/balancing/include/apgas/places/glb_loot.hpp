// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <apgas/base/api.hpp>
#include <apgas/places/glb_bag.hpp>

// Loot: half of a bag on its way to another place, with the number of tasks that it had when it
// left. A serialize that loses or duplicates tasks is detected where the loot arrives.
namespace apgas::inline v0::remote {

// Throws illegal_operation.
APGAS_API [[noreturn]] void throw_sending_lost(std::size_t sent, std::size_t arrived);

template <class Bag>
struct glb_loot {
  Bag bag{};
  std::uint64_t tasks = 0;  // 0 if the bag has no size()

  // The bag, at the receiving place.
  // Throws: illegal_operation if it arrived with another number of tasks.
  Bag&& arrived() && {
    if constexpr (sized_bag<Bag>) {
      const auto now = static_cast<std::size_t>(bag.size());
      if (now != tasks) throw_sending_lost(tasks, now);
    }
    return std::move(bag);
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(bag, tasks);
  }
};

template <class Bag>
glb_loot<Bag> make_loot(Bag bag) {
  std::uint64_t tasks = 0;
  if constexpr (sized_bag<Bag>) tasks = bag.size();
  return {std::move(bag), tasks};
}

}  // namespace apgas::inline v0::remote
