// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <apgas/comm/endpoint.hpp>
#include <apgas/comm/remote_memory.hpp>
#include <apgas/places/allocation.hpp>
#include <apgas/places/memory_heap.hpp>
#include <apgas/places/slot_table.hpp>
#include <apgas/scheduler/fiber.hpp>
#include <apgas/sync/place_state.hpp>

// One-sided data as a place sees it: its own heap, the regions of others that it reaches, and what
// others ask of it by messages where they do not reach its memory.
//
// Wire: docs/protocols/wire.md, "Memory of other places".
namespace apgas::inline v0::remote {

// A region, of whichever place, as this place reaches it.
struct segment_view {
  std::byte* memory = nullptr;  // null: by messages
  std::uint64_t bytes = 0;
  std::unique_ptr<comm::attached_segment> attached{};  // of another place
};

class place_memory final : public sync::frame_extension {
 public:
  // `direct` false: by messages also where there is a better way.
  place_memory(sync::place_state& place, comm::transport& network, bool direct);

  memory_heap& heap() noexcept { return heap_; }

  // How that region is reached; null where that is not known, then look_up() says it.
  // Context: any thread. Cost: four dependent loads.
  const segment_view* find(const allocation_name& allocation) const noexcept {
    const auto home = static_cast<std::size_t>(allocation.home);
    if (home >= homes_.size()) return nullptr;
    const auto* const list = homes_[home].load(base::acquire);  // P1
    return list == nullptr ? nullptr : list->find(allocation.segment);
  }
  // Asks the home for it, once for each region. Context: task. May suspend.
  // Throws: illegal_operation for a pointer that cannot be one.
  const segment_view& look_up(scheduler::fiber& self, const char* operation,
                             const allocation_range& what);

  // Throws illegal_operation where the home of the block cannot be. Context: task.
  void require_home(const char* operation, const allocation_range& what) const;

  // Accesses that finishes count and that are not over: callers wait while there are too many.
  base::atomic<int> unfinished{0};

  void on_frame(const comm::inbound_frame& frame) override;

 private:
  using segment_list = slot_table<segment_view>;

  segment_view& keep(const allocation_name& allocation, std::unique_ptr<segment_view> view);
  void serve_key(const comm::inbound_frame& frame, const allocation_name& allocation);

  // P1  A list is made for who sees it.
  sync::place_state& place_;
  comm::remote_memory* const shared_;  // null: messages only
  memory_heap heap_;
  std::vector<base::atomic<segment_list*>> homes_;
  std::vector<std::unique_ptr<segment_list>> lists_;  // what homes_ points to
  base::spin_lock lock_;                             // of lists_
  const segment_view by_messages_;
};

inline place_memory& place_memory_of(const scheduler::fiber& self) noexcept {
  return *static_cast<place_memory*>(sync::place_of(self).memory);
}

// The bytes themselves, where this place reaches them; null: by messages.
// Throws: illegal_operation when they are not there. Context: task. May suspend at the first access
// to a region of another place. Cost: about 3 ns.
[[gnu::always_inline]] inline std::byte* direct_address(scheduler::fiber& self, const char* operation,
                                               const allocation_range& what) {
  place_memory& memory = place_memory_of(self);
  const segment_view* view = memory.find(what.allocation);
  if (view == nullptr) [[unlikely]]
    view = &memory.look_up(self, operation, what);
  if (view->memory == nullptr) return nullptr;
  if (auto failure = check_access(view->memory, view->bytes, what)) [[unlikely]]
    throw_access_failure(operation, what, failure);
  return view->memory + std::uint64_t{what.allocation.allocation} * allocation_unit + what.offset;
}

}  // namespace apgas::inline v0::remote
