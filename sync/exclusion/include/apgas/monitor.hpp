// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <type_traits>

#include <apgas/sync/critical_section.hpp>

namespace apgas::inline v0 {

// atomic and when with a lock of its own: sections of unrelated monitors do not exclude each other,
// and a section tests only the conditions that wait for its own monitor. Belongs to a place.
// Requires at its end: nobody waits for it or is inside.
class monitor {
 public:
  // As apgas::atomic. A section of another monitor may be entered inside it; tasks that enter two
  // monitors in different orders can deadlock.
  template <std::invocable F>
  auto atomic(F f) -> std::invoke_result_t<F&> {
    return sync::run_atomic(core_, sync::task_fiber("monitor::atomic"), f);
  }

  // As apgas::when.
  template <std::predicate C, std::invocable F>
  auto when(C c, F f) -> std::invoke_result_t<F&> {
    return sync::run_when(core_, sync::suspendable_fiber("monitor::when"), c, f);
  }

 private:
  sync::monitor_core core_;
};

}  // namespace apgas::inline v0
