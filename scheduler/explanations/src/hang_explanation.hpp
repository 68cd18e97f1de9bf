// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <apgas/scheduler/fiber.hpp>

#include "wait_graph.hpp"

// Finds out why no task of a place can run: makes the wait-for graph of its suspended tasks, and
// describes a cycle in it. The graph knows these edges:
//
//   a task     waits for the object that its wait_record names
//   a finish   needs its tasks; each task knows its finish. A fork_join needs its stolen branch
//   others     what wait_record::explain and task_extension::explain report: a clock needs the
//              tasks that have not arrived, a mutex its holder, a future the task that computes it
//
// A node for a task is the fiber it waits on. Tasks that wait below it on the same stack cannot go
// on before it does, so they share the node.
//
// Requires, while an object exists: the tasks on the given fibers do not run. What they wait for
// may change nevertheless, since messages are received and other threads run: phases advance, for
// example. So the record of a task is taken once, when its fiber is added.
namespace apgas::inline v0::scheduler {

// What the task on this fiber waits for; construct is null if there is no task or it does not wait.
wait_record waits_for(const fiber& f);

class hang_explanation final : private wait_explainer {
 public:
  // Adds a fiber whose task waits as the record says. Throws: std::bad_alloc.
  void add(fiber& f, const wait_record& waits);

  // Returns a sentence for each step of a cycle, as one text; empty if there is no cycle. Requires:
  // all fibers have been added. Throws: std::bad_alloc.
  std::string cycle();

 private:
  struct object_node {
    wait_graph::node number;
    waited_object what;
  };

  struct waiting_task {
    fiber* on;
    wait_record waits;
  };

  void needs(const waited_object& object, const fiber& needed, const char* relation) override;
  void add_edges(const waiting_task& t);
  void needs_of_counter(const task_counter* counter, const waiting_task& t);
  std::string describe(const std::vector<wait_graph::edge>& cycle) const;
  std::string wait_text(const waiting_task& t) const;

  std::vector<waiting_task> tasks_;
  std::unordered_map<const void*, object_node> objects_;  // that some task waits for
  bool below_ = false;                  // add_edges() reports of a task below the one on top
  std::vector<const char*> relations_;  // a label is an index * 2, and + 1 if below_
  wait_graph graph_;
};

}  // namespace apgas::inline v0::scheduler
