// SPDX-License-Identifier: Apache-2.0
#include <string_view>

#include <apgas/places/team_member.hpp>
#include <apgas/sync/phase_core.hpp>
#include <apgas/sync/remote_call.hpp>
#include <apgas/sync/remote_finish.hpp>
#include <apgas/sync/remote_task.hpp>

#include "known_objects.hpp"

namespace apgas::inline v0::launch {
namespace {

using scheduler::object_name;

object_name name_of_call(comm::rank caller, std::uint64_t number) {
  return {.kind = object_name::call, .first = static_cast<std::uint64_t>(caller), .second = number};
}

object_name name_of_phases(const void* core) {
  return {.kind = 'c', .first = static_cast<const sync::phase_core*>(core)->number()};
}

}  // namespace

known_objects::known_objects(const sync::place_state& place)
    : place_(place), finishes_(place.finishes->names()) {
  place.calls->for_each([this](std::uint64_t number, const sync::pending_call& call) {
    if (const void* const object = call.awaited()) calls_.emplace(object, number);
  });
}

// The constructs are the texts of the wait records.
object_name known_objects::of(const scheduler::wait_record& waits) const {
  const std::string_view construct = waits.construct;
  if (construct == "finish") {
    return of_finish(*static_cast<const scheduler::task_counter*>(waits.object));
  }
  if (construct == "a phase of a clock" || construct == "a phase of a phaser") {
    return name_of_phases(waits.object);
  }
  if (construct == "a collective of a team") {
    return static_cast<const remote::team_member*>(waits.object)->name_for_report();
  }
  const auto call = calls_.find(waits.object);
  return call == calls_.end() ? object_name{} : name_of_call(place_.here, call->second);
}

object_name known_objects::of(const scheduler::waited_object& object) const {
  const std::string_view kind = object.kind;
  if (kind == "clock" || kind == "phaser") return name_of_phases(object.address);
  return {};
}

object_name known_objects::of_finish(const scheduler::task_counter& finish) const {
  const auto at = finishes_.find(&finish);
  return at == finishes_.end() ? object_name{} : object_name{.kind = 'f', .first = at->second};
}

scheduler::object_names::served known_objects::served_by(const scheduler::fiber& f) const {
  if (f.outermost != nullptr) return {};  // the fiber runs a task that was spawned here
  const sync::remote_task* const task = sync::arrived_mark::of(f);
  if (task == nullptr || !finishes_.contains(task->finish)) return {};
  const std::uint64_t call = task->call & ~sync::call_of_at;
  return {call != 0 ? name_of_call(task->frame.source, call) : object_name{}, task->finish};
}

}  // namespace apgas::inline v0::launch
