// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <vector>

#include <apgas/base/api.hpp>

// An action that runs between two phases, when all signallers have signalled. Accumulators are the
// actions of a phaser.
namespace apgas::inline v0::sync {

class phase_core;

// What a place sends about one reduction: a value, the exception that replaces it, or nothing.
struct phase_value {
  enum class kind : std::uint8_t { value, error, nothing };
  kind is = kind::nothing;
  std::vector<std::byte> bytes;
};
APGAS_API phase_value pack_error(const std::exception_ptr& error);
APGAS_API std::exception_ptr unpack_error(const phase_value& v);

// An action of a phaser. If the phaser spans places, each place where the action is used has an
// object of its own. The replicas send their partial results to the home of the phaser, and the
// home sends the results back.
// Context: worker. The fiber is marked as being inside a critical section, so that user code called
// by the action can neither spawn nor wait.
class phase_action {
 public:
  phase_action() = default;
  phase_action(const phase_action&) = delete;
  phase_action& operator=(const phase_action&) = delete;
  virtual ~phase_action() = default;

  // At the home: phase p is over. No task that waits will return to a phase before `oldest`, so
  // older results may be discarded.
  virtual void phase_ended(std::int64_t p, std::int64_t oldest) noexcept = 0;
  // At the home, when no signaller is left: phase p and all later phases that signal-only tasks
  // have run ahead to are over.
  virtual void last_phases_ended(std::int64_t p, std::int64_t oldest) noexcept = 0;
  // At the home: a replica's partial result for phase p, which is not over.
  virtual void add_part(std::int64_t p, const phase_value& part) noexcept = 0;
  virtual phase_value result_of(std::int64_t p) noexcept = 0;

  // At a replica, whose core is in phase `now`: removes and returns the partial result of one phase
  // before `first`, in which no task here can send any more. The caller repeats this until the
  // result is empty.
  struct part {
    std::int64_t phase;
    phase_value value;
  };
  virtual std::optional<part> take_part(std::int64_t now, std::int64_t first) noexcept = 0;
  // At a replica: the home has sent the result of phase p. `oldest` is as in phase_ended().
  virtual void set_result(std::int64_t p, std::int64_t oldest, const phase_value& v) noexcept = 0;

  std::uint32_t index() const noexcept { return index_; }  // from 0 in each phaser

 private:
  friend class phase_core;
  phase_action* next_ = nullptr;
  std::uint32_t index_ = 0;
};

}  // namespace apgas::inline v0::sync
