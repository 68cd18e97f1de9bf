// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>

#include <apgas/base/api.hpp>
#include <apgas/sync/critical_section.hpp>

// What watched cells of all types have in common: the sections that wait for a write.
namespace apgas::inline v0::sync {

class watched_cell {
 public:
  // `of` is the monitor that guards the cell; null means that of the critical sections of the
  // place.
  explicit watched_cell(monitor_core* of) noexcept : of_(of) {}

  // Called before the cell is written: its conditions are tested when the section ends.
  // Throws: illegal_operation outside a critical section of the cell's monitor. Context: task.
  APGAS_API void begin_write(const char* operation);

  // Returns the queue for a section of this monitor, which is null for those of the place.
  // Throws: illegal_operation if the cell belongs to another monitor.
  APGAS_API section_queue* queue_in(const monitor_core* of, const char* operation);

 private:
  monitor_core* of_;
  section_queue waiting_;
};

// The cells that a condition reads (apgas::watching).
template <std::size_t N>
struct watched_cells {
  std::array<watched_cell*, N> cells;

  section_queues<N> queues_in(const monitor_core* of, const char* operation) const {
    section_queues<N> queues;
    for (std::size_t i = 0; i < N; ++i) queues[i] = cells[i]->queue_in(of, operation);
    return queues;
  }
};

}  // namespace apgas::inline v0::sync
