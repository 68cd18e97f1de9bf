// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <apgas/base/api.hpp>
#include <apgas/comm/endpoint.hpp>
#include <apgas/comm/remote_memory.hpp>
#include <apgas/places/allocation.hpp>
#include <apgas/places/memory_heap.hpp>
#include <apgas/places/slot_table.hpp>
#include <apgas/scheduler/fiber.hpp>
#include <apgas/sync/place_state.hpp>

// The memory of a program as one place sees it: its own heap, the segments of other places that it
// has mapped, and the requests that it serves for places which have not mapped its memory.
//
// Wire: docs/protocols/wire.md, "Memory of other places".
namespace apgas::inline v0::remote {

// A segment of any place, as this place accesses it.
struct segment_view {
  std::byte* memory = nullptr;  // null: access by messages
  std::uint64_t bytes = 0;
  std::unique_ptr<comm::attached_segment> attached{};  // holds the mapping, if another place's
};

// Each place has one.
class place_memory final : public sync::frame_extension {
 public:
  // `direct` false: access by messages even where memory could be mapped
  // (APGAS_ONE_SIDED=messages).
  place_memory(sync::place_state& place, comm::transport& network, bool direct);

  memory_heap& heap() noexcept { return heap_; }

  // How this place accesses the segment of the allocation; null if it has not asked the home yet.
  // Context: any thread.
  // Cost: four dependent loads.
  const segment_view* find(const allocation_name& allocation) const noexcept {
    const auto home = static_cast<std::size_t>(allocation.home);
    if (home >= homes_.size()) return nullptr;
    const auto* const list = homes_[home].load(base::acquire);  // P1
    return list == nullptr ? nullptr : list->find(allocation.segment);
  }
  // The same, asking the home the first time that this place uses the segment. `operation` is the
  // public function that was called.
  // Context: task; may suspend.
  // Throws: illegal_operation if the pointer cannot be valid.
  APGAS_API const segment_view& look_up(scheduler::fiber& self, const char* operation,
                                        const allocation_range& what);

  // Throws illegal_operation if the allocation has no home in this program.
  // Context: task.
  APGAS_API void require_home(const char* operation, const allocation_range& what) const;

  // Counted accesses that are incomplete. While there are too many, callers wait (admit_access).
  base::atomic<int> unfinished{0};

  // Serves a request of another place: copies, or executes an atomic operation, and replies.
  // Context: handler.
  void on_frame(const comm::inbound_frame& frame) override;

 private:
  using segment_list = slot_table<segment_view>;

  segment_view& keep(const allocation_name& allocation, std::unique_ptr<segment_view> view);
  void serve_key(const comm::inbound_frame& frame, const allocation_name& allocation);

  // P1  A thread that reads a non-null pointer from homes_ sees the complete list.
  sync::place_state& place_;
  comm::remote_memory* const shared_;  // null: access by messages only
  memory_heap heap_;
  std::vector<base::atomic<segment_list*>> homes_;
  std::vector<std::unique_ptr<segment_list>> lists_;  // owns the lists that homes_ points to
  base::spin_lock lock_;                              // protects lists_
  const segment_view by_messages_;
};

inline place_memory& place_memory_of(const scheduler::fiber& self) noexcept {
  return *static_cast<place_memory*>(sync::place_of(self).memory);
}

// The address of the bytes if they are directly accessible, else null.
// Throws: illegal_operation if they are not in a live allocation.
// Context: task; may suspend at the first access to a segment of another place.
// Cost: about 3 ns.
[[gnu::always_inline]] inline std::byte* direct_address(scheduler::fiber& self,
                                                        const char* operation,
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
