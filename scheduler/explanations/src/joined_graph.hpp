// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <apgas/scheduler/place_waits.hpp>

#include "hang_explanation.hpp"

// The wait-for graphs of several places, joined where objects have the same name.
//
// A collective of a team has another kind of edge: it needs a call by some task of each absent
// member. Nobody knows which task that will be, so such a call is missing for ever only if no task
// of that place can go on. A task or object is *stuck* if
//
//   a task    waits for an object that is stuck
//   an object needs a task that is stuck, or all tasks of a member that has not made the call
//
// where the largest set with this property counts. If every task of all places is stuck, none of
// them can ever go on, and no further task can be spawned to make the call.
namespace apgas::inline v0::scheduler {

class joined_graph {
 public:
  struct joined_task {
    const place_waits::task* entry;
    int place;
    std::uint32_t object = place_waits::none;  // in objects_
  };
  // The object needs the task. `certain`: all objects of the entry do.
  struct joined_need {
    std::uint32_t object;
    std::uint32_t task;
    bool certain;
    std::string_view relation;
    std::uint64_t tasks;  // so many of the entry
    bool perhaps_another = false;
  };

  // The object needs a call by some task of this place.
  struct absent_member {
    std::uint32_t object;
    int place;
  };

  // Refers to the answers. Throws: std::bad_alloc.
  explicit joined_graph(const std::vector<place_waits>& answers);

  // These return the steps of a cycle; empty if there is none. Throws: std::bad_alloc.
  //
  // Follows only edges that all objects of an entry have, so that the cycle is certain to exist.
  // Without `with_others`, follows none of an object that perhaps another task lets go on.
  std::vector<cycle_step> certain_cycle(bool with_places, bool with_others = true) const;
  // Also leads through collectives, between tasks and objects that are stuck. Sets `all` if every
  // task is stuck, so that the cycle is certain to exist.
  std::vector<cycle_step> cycle_of_collectives(bool with_places, bool& all) const;
  // Follows all edges but those of collectives.
  std::vector<cycle_step> possible_cycle(bool with_places) const;

  const std::vector<joined_task>& tasks() const noexcept { return tasks_; }
  const std::vector<place_waits::object>& objects() const noexcept { return objects_; }
  const std::vector<joined_need>& needs() const noexcept { return needs_; }
  const std::vector<absent_member>& absent_members() const noexcept { return absent_; }

 private:
  struct task_range {
    std::size_t first;
    std::size_t last;  // the one after it
  };
  // The object needs one of these tasks.
  struct choice {
    std::uint32_t object;
    task_range tasks;
  };

  void add_objects(const place_waits& p, std::size_t first_task);
  void add_collectives(const std::vector<place_waits>& answers);
  static bool all_in(const task_range& tasks, const std::vector<bool>& set);
  std::vector<bool> stuck_tasks() const;
  std::vector<cycle_step> cycle_of(const std::vector<joined_need>& needs, bool with_places) const;

  std::vector<joined_task> tasks_;
  std::map<int, task_range> of_place_;  // of the places whose tasks are all known
  std::vector<place_waits::object> objects_;
  std::map<std::string, std::uint32_t> named_;
  std::vector<joined_need> needs_;
  std::vector<absent_member> absent_;
  std::vector<choice> choices_;  // of those at places in of_place_
  bool complete_ = true;         // no place runs tasks, and all tasks are known
};

}  // namespace apgas::inline v0::scheduler
