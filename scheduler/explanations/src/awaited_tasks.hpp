// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "joined_graph.hpp"

// Says of each group of a report what its tasks wait for, and which tasks should make that happen.
// Works with the entries of the graph, so it takes the same time however many tasks wait.
namespace apgas::inline v0::scheduler {

class awaited_tasks {
 public:
  // Refers to the graph and to the answers that it is made of. Throws: std::bad_alloc.
  awaited_tasks(const joined_graph& graph, bool with_places);

  // Returns what a report adds to the group of these texts (place_waits::group), such as "awaits
  // the task that has locked it: main, in semaphore::acquire at solve.cpp:12"; empty if nothing is
  // known. Names at most three kinds of tasks. Throws: std::bad_alloc.
  std::string text(std::string_view construct, std::string_view task) const;

  // Needed tasks of which a report can say the same.
  struct task_description {
    std::string_view relation;
    std::string_view task;
    std::string_view construct;
    std::string_view line;
    int place;
    auto operator<=>(const task_description&) const = default;
  };
  struct needed_tasks {
    task_description what;
    std::uint64_t count;
  };

  // The objects that tasks of these entries wait for, in ascending order; the tasks that these
  // objects need, the most frequent ones first. Throw: std::bad_alloc.
  std::vector<std::uint32_t> objects_of(const std::vector<std::uint32_t>& entries) const;
  std::vector<needed_tasks> needed_by(const std::vector<std::uint32_t>& objects) const;
  // "phase 7 of the clock made at solve.cpp:4"; empty if little is known of the objects, or they
  // differ. Throws: std::bad_alloc.
  std::string object_text(const std::vector<std::uint32_t>& entries) const;
  // "the task that has locked it: main, in ..." or "4 tasks, each of which belongs to it: 3 spawned
  // at solve.cpp:9, in ...; main, in ...". Requires: not empty. Throws: std::bad_alloc.
  std::string text_of(const std::vector<needed_tasks>& needed) const;

 private:
  std::string text_of(const task_description& what) const;

  const joined_graph& graph_;
  const bool with_places_;
  std::map<std::pair<std::string, std::string_view>, std::vector<std::uint32_t>> entries_;
  std::vector<std::uint32_t> needs_;  // of the graph, sorted by their objects
};

}  // namespace apgas::inline v0::scheduler
