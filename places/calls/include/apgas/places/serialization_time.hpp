// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include <apgas/base/cycles.hpp>
#include <apgas/comm/sendable.hpp>
#include <apgas/scheduler/worker.hpp>

namespace apgas::inline v0::remote {

// Whether values are sent as their bytes. No part of them can be a zero-copy range.
template <class... Ts>
inline constexpr bool is_bytes = (comm::detail::as_bytes<std::decay_t<Ts>> && ...);

// Adds the time from its construction to its destruction to what a worker has spent on
// serialisation, if that is measured (scheduler::config::detailed_statistics). Values that are sent
// as their bytes take no time worth measuring.
// Context: task; a serialize function of the user may suspend it in between.
template <bool IsBytes>
class serialization_time {
 public:
  serialization_time() noexcept {
    if (scheduler::fiber_of_this_stack()->on->times_serialization) [[unlikely]]
      begun_ = base::cycles();
  }
  serialization_time(const serialization_time&) = delete;
  serialization_time& operator=(const serialization_time&) = delete;
  ~serialization_time() {
    if (begun_ != 0) [[unlikely]]
      scheduler::fiber_of_this_stack()->on->count.serialization_cycles += base::cycles() - begun_;
  }

 private:
  std::uint64_t begun_ = 0;
};
template <>
class serialization_time<true> {
 public:
  serialization_time() noexcept {}  // NOLINT(modernize-use-equals-default): no unused variable
};

}  // namespace apgas::inline v0::remote
