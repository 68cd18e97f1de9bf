// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

#include <apgas/base/atomic.hpp>

// What the frames of the phase protocol say (remote_phases.hpp), and what its files share.
namespace apgas::inline v0::sync {

enum phase_operation : std::uint64_t {
  operation_position = 1,  // replica to home: the first phase that it has not signalled
  operation_gone,          // replica to home
  operation_phase,         // home to replica: phases before are over
  operation_arrived,       // to the sender of travellers
  operation_part,          // replica to home: what an accumulator has for a phase
  operation_result,        // home to replica: that of a phase that is over
  operation_ask,           // replica to home: for such a result
  operation_would_run,     // replica to home: the closure of a next_single
  operation_run_single,    // home to replica
  operation_single_done,   // replica to home
};

constexpr std::uint64_t flag_acknowledge = 1U << 8;  // position: wanted; phase: given
constexpr std::uint64_t flag_open = 1U << 9;         // phase: no signaller is left
constexpr std::uint64_t flag_signals = 1U << 10;     // arrived: of signallers
constexpr std::uint64_t flag_error = 1U << 11;       // part, result: an exception
constexpr std::uint64_t flag_nothing = 1U << 12;     // result: there is none
constexpr std::int64_t every_phase = std::numeric_limits<std::int64_t>::max();
constexpr int leaf_shift = 16;
constexpr int action_shift = 16;
constexpr int number_shift = 32;

inline void count_one(base::atomic<std::uint64_t>& n) noexcept { n.fetch_add(1, base::relaxed); }

}  // namespace apgas::inline v0::sync
