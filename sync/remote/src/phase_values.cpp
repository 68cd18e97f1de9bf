// SPDX-License-Identifier: Apache-2.0
#include <apgas/sync/accumulator_core.hpp>
#include <apgas/sync/critical_section.hpp>
#include <apgas/sync/place_state.hpp>
#include <apgas/sync/remote_phases.hpp>

#include "phase_wire.hpp"

// The values of accumulators that places send each other: partial results to the home, results to
// the other places, and requests for results that have not come.
namespace apgas::inline v0::sync {

void remote_phases::send_value(comm::rank dest, std::uint64_t operation, const phase_core& core,
                               std::uint32_t action, std::int64_t p,
                               const phase_value& v) noexcept {
  std::uint64_t flags = 0;
  if (v.is == phase_value::kind::error) flags = flag_error;
  if (v.is == phase_value::kind::nothing) flags = flag_nothing;
  count_one(operation == operation_part ? parts_ : results_);
  send(dest, operation | flags | std::uint64_t{action} << action_shift, core.number(), p, v.bytes);
}

void remote_phases::ask(phase_core& core, std::uint32_t action, std::int64_t p) noexcept {
  count_one(asked_);
  send(phase_core::home_of(core.number()), operation_ask | std::uint64_t{action} << action_shift,
       core.number(), p);
}

void remote_phases::take_value(phase_core& core, const message& m) noexcept {
  const auto index = static_cast<std::uint32_t>(m.what >> action_shift);
  phase_value v{phase_value::kind::value, m.payload};
  if ((m.what & flag_error) != 0) v.is = phase_value::kind::error;
  if ((m.what & flag_nothing) != 0) v.is = phase_value::kind::nothing;
  const section_guard no_suspension(*scheduler::current_fiber());
  switch (m.what & 0xff) {
    case operation_part:
      return core.action(index).add_part(m.phase, v);
    case operation_ask:
      return send_value(m.source, operation_result, core, index, m.phase,
                        core.action(index).result_of(m.phase));
    default:
      core.set_result(index, m.phase, v);
  }
}

void ask_for_result(const registration& r, std::uint32_t index, std::int64_t p) {
  place_of(*scheduler::current_fiber()).phases->ask(r.node->core(), index, p);
}

}  // namespace apgas::inline v0::sync
