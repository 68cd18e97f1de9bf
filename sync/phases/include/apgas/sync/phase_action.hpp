// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <vector>

// Something that is done between two phases, when all have signalled: a reduction.
namespace apgas::inline v0::sync {

class phase_core;

// A value of one on its way between places, an exception instead of it, or nothing.
struct phase_value {
  enum class kind : std::uint8_t { value, error, nothing };
  kind is = kind::nothing;
  std::vector<std::byte> bytes;
};
phase_value pack_error(const std::exception_ptr& error);
std::exception_ptr unpack_error(const phase_value& v);

// A phaser that spans places has one of it at each place where it is used. The parts of the others
// go to the home of the phaser, and its results to them.
// Context: worker; the fiber is marked as inside an atomic section, so that what is called can
// neither spawn nor wait.
class phase_action {
 public:
  phase_action() = default;
  phase_action(const phase_action&) = delete;
  phase_action& operator=(const phase_action&) = delete;
  virtual ~phase_action() = default;

  // At the home. Phase p is over, and no task that waits will go back before `oldest`.
  virtual void phase_ended(std::int64_t p, std::int64_t oldest) noexcept = 0;
  // The same when no signaller is left, for phase p and all after it that were run ahead.
  virtual void last_phases_ended(std::int64_t p, std::int64_t oldest) noexcept = 0;
  // What another place has for phase p, which is not over.
  virtual void add_part(std::int64_t p, const phase_value& part) noexcept = 0;
  virtual phase_value result_of(std::int64_t p) noexcept = 0;

  // At another place, which is in phase `now`: what was sent here in a phase before `first`, in
  // which nobody here can send any more. One phase at a time, until there is none.
  struct part {
    std::int64_t phase;
    phase_value value;
  };
  virtual std::optional<part> take_part(std::int64_t now, std::int64_t first) noexcept = 0;
  // The result of phase p has come; `oldest` as above.
  virtual void set_result(std::int64_t p, std::int64_t oldest, const phase_value& v) noexcept = 0;

  std::uint32_t index() const noexcept { return index_; }  // of this phaser, from 0

 private:
  friend class phase_core;
  phase_action* next_ = nullptr;
  std::uint32_t index_ = 0;
};

}  // namespace apgas::inline v0::sync
