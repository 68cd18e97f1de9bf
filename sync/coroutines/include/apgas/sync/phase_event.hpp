// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apgas/base/api.hpp>
#include <apgas/clock.hpp>
#include <apgas/sync/coroutine_runner.hpp>
#include <apgas/sync/phaser_tree_node.hpp>
#include <apgas/sync/registration.hpp>

// Awaiting the next phase of a clock.
namespace apgas::inline v0::sync {

// What clock::advance_awaitable returns. The coroutine resumes the clock when it awaits this
// object, not before. NOLINTNEXTLINE(misc-multiple-inheritance): it observes the phase on behalf of
// a coroutine
class [[nodiscard]] APGAS_API phase_event final : public awaited_event, phase_observer {
 public:
  phase_event(const phase_id& id, const scheduler::call_site& where) noexcept
      : id_(id), where_(where) {}

  // Resumes the clock, and returns whether the phase is over. Throws: as clock::advance.
  bool ready();
  bool notify(coroutine_runner& waiting) noexcept override;
  scheduler::wait_record waits() const noexcept override;
  // Enters the next phase.
  void result();

 private:
  void on_phase_end() noexcept override { runner_->wake(); }

  const phase_id id_;
  const scheduler::call_site where_;
  registration* registration_ = nullptr;
  coroutine_runner* runner_ = nullptr;
};

}  // namespace apgas::inline v0::sync
