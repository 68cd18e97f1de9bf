// SPDX-License-Identifier: Apache-2.0
#include <apgas/sync/phase_action.hpp>

#include <apgas/exceptions.hpp>
#include <apgas/scheduler/scheduler.hpp>
#include <apgas/sync/place_state.hpp>

#include "wire_exceptions.hpp"

namespace apgas::inline v0::sync {

phase_value pack_error(const std::exception_ptr& error) {
  comm::out_archive to;
  save_exceptions(to, {task_exception(error, place_of(*scheduler::current_fiber()).here, {})});
  return {phase_value::kind::error, {to.bytes().begin(), to.bytes().end()}};
}

std::exception_ptr unpack_error(const phase_value& v) {
  comm::in_archive from(v.bytes);
  std::vector<task_exception> one;
  load_exceptions(from, one);
  return one.at(0).exception();
}

}  // namespace apgas::inline v0::sync
