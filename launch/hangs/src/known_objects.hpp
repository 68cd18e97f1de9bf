// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>

#include <apgas/scheduler/object_names.hpp>
#include <apgas/sync/place_state.hpp>

// Names what tasks of several places wait for: finishes and calls with tasks at other places,
// clocks, phasers and teams.
namespace apgas::inline v0::launch {

class known_objects final : public scheduler::object_names {
 public:
  // Reads the tables of calls and finishes. Throws: std::bad_alloc. Context: any thread.
  explicit known_objects(const sync::place_state& place);

  scheduler::object_name of(const scheduler::wait_record& waits) const override;
  scheduler::object_name of(const scheduler::waited_object& object) const override;
  scheduler::object_name of_finish(const scheduler::task_counter& finish) const override;
  served served_by(const scheduler::fiber& f) const override;

 private:
  const sync::place_state& place_;
  std::unordered_map<const void*, std::uint64_t> calls_;  // by what tasks wait for
  std::unordered_map<const scheduler::task_counter*, std::uint64_t> finishes_;
};

}  // namespace apgas::inline v0::launch
