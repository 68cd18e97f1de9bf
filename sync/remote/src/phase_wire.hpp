// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

#include <apgas/base/atomic.hpp>

// The operations and flags in the frames of the phase protocol (remote_phases.hpp), and helpers
// that its files share.
namespace apgas::inline v0::sync {

enum phase_operation : std::uint64_t {
  operation_position = 1,  // replica to home: the first phase not signalled
  operation_gone,          // replica to home: the replica is removed
  operation_phase,         // home to replica: all earlier phases are over
  operation_arrived,       // to the sender of registrations in transit
  operation_part,          // replica to home: a partial result of a phase
  operation_result,        // home to replica: the result of a phase
  operation_ask,           // replica to home: asks for a result
  operation_elected,       // replica to home: elected for a next_single
  operation_run_single,    // home to replica: run the closure
  operation_single_done,   // replica to home: the closure has returned
};

constexpr std::uint64_t flag_acknowledge = 1U << 8;  // position: requested; phase: given
constexpr std::uint64_t flag_open = 1U << 9;         // phase: no signaller is left
constexpr std::uint64_t flag_signals = 1U << 10;     // arrived: the registrations are of signallers
constexpr std::uint64_t flag_error = 1U << 11;       // partial result, result: an exception
constexpr std::uint64_t flag_nothing = 1U << 12;     // result: there is none
constexpr std::int64_t every_phase = std::numeric_limits<std::int64_t>::max();
constexpr int leaf_shift = 16;
constexpr int action_shift = 16;
constexpr int number_shift = 32;

inline void count_one(base::atomic<std::uint64_t>& n) noexcept { n.fetch_add(1, base::relaxed); }

}  // namespace apgas::inline v0::sync
