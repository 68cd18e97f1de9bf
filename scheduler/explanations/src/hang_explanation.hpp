// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <queue>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <apgas/scheduler/fiber.hpp>
#include <apgas/scheduler/object_names.hpp>
#include <apgas/scheduler/place_waits.hpp>
#include <apgas/scheduler/stackless_task.hpp>

#include "wait_graph.hpp"

// Finds out why no task of a place can run: makes the wait-for graph of its suspended tasks, and
// describes a cycle in it. The graph knows these edges:
//
//   a task     waits for the object that its wait_record names
//   a finish   needs its tasks; each task knows its finish. A fork_join needs its stolen branch
//   others     what wait_record::explain and task_extension::explain report: a clock needs the
//              tasks that have not arrived, a mutex its holder, a future the task that computes it
//
// A task is known by the fiber it waits on, or by a substitute if it waits without one. Tasks that
// wait below it on the same stack cannot go on before it does, so they share the node.
//
// Tasks share a node, too, if they wait for the same object in the same way, are of one group, and
// are needed by the same objects for the same reasons: then a cycle that leads through one of them
// exists for each of them. So the memory grows with the number of objects and groups, and not with
// the number of tasks; and when there are `nodes_max` nodes, further tasks are left out. A task
// that another one reports as needed, such as the holder of a mutex, has a node of its own. Calls
// of other places are objects, too. Of their names only the lowest become part of a message, so
// that all places choose the same ones, and further calls share an object that needs no task.
//
// Requires, while an object exists: the tasks on the given fibers do not run. What they wait for
// may change nevertheless, since messages are received and other threads run: phases advance, for
// example. So the record of a task is taken once, when its fiber is added.
//
// While other tasks run (graph_scope::some_tasks), a task that is added may have become ready, and
// what it waited for may have found another task. Then the graph has only edges that are true: a
// task that waits for a limited time has none, one that waits for a phase has one only if that
// phase has not ended, and a needed task keeps the others waiting as long as it waits itself. So a
// cycle of edges with releaser::this_task means that these tasks never go on.
namespace apgas::inline v0::scheduler {

// A message has at most so many objects with an entry of their own. With the texts of an entry of
// 200 bytes, they are 1 MiB.
inline constexpr std::size_t single_objects_max = 4096;

// A graph has about so many nodes at most. With their objects and edges they take 120 MB.
inline constexpr std::size_t graph_nodes_max = std::size_t{1} << 18;

// What the task on this fiber waits for; construct is null if there is no task or it does not wait.
wait_record waits_for(const fiber& f);

// Whether all workers sleep and all waiting tasks are added, or others run.
enum class graph_scope : std::uint8_t { all_tasks, some_tasks };

struct cycle_step;

class hang_explanation final : private wait_explainer {
 public:
  // With names, edges of objects for which only tasks of other places wait are kept for condense().
  explicit hang_explanation(const object_names* names = nullptr,
                            graph_scope scope = graph_scope::all_tasks,
                            graph_purpose purpose = graph_purpose::cycle,
                            std::size_t nodes_max = graph_nodes_max) noexcept
      : names_(names), scope_(scope), purpose_(purpose), nodes_max_(nodes_max) {}
  graph_purpose purpose() const noexcept { return purpose_; }

  // For graph_scope::some_tasks: a task that waits in a batch, and has no record, is part of the
  // graph if `accepts` returns true.
  void accept_parked(std::function<bool(const fiber&)> accepts) { accepts_ = std::move(accepts); }

  // Adds a fiber whose task waits as the record says; `caller` is as for wait_groups::add().
  // Throws: std::bad_alloc.
  void add(fiber& f, const wait_record& waits, const char* caller = "");

  // The same for a task that waits without a fiber. Only the first few thousand become part of the
  // graph that do not share a node, so that it takes little memory, however many there are.
  void add(const stackless_task& t, const wait_record& waits) {
    add(t.state, t.outermost(), waits);
  }

  // The same for a task that may go on meanwhile, of which `task` is a copy. So only its finish can
  // be known to need it.
  void add(const task_state& task, const task_counter* outermost, const wait_record& waits);

  // Adds a task that runs on the fiber, with copies of its state and of fiber::outermost, unless it
  // is known to wait. Known of it is which finish it belongs to, and which objects name it.
  // Requires: no task without a fiber has been added. Throws: std::bad_alloc.
  void add_running(fiber& f, const task_state& task, const task_counter* outermost, bool main);

  // Adds the graph in condensed form: tasks of one group that wait for the same object are one
  // entry, and with more than a few thousand objects those that look alike are one entry, too.
  // While other tasks run, entries that can be on no cycle are left out. Also adds a sentence for
  // each step of a cycle, if there is one. Requires: all fibers have been added.
  // Throws: std::bad_alloc.
  void explain(place_waits& to);

 private:
  struct object_node {
    object_name name;
    waited_object what;
    std::uint32_t first_task = no_task;  // one that waits for it
  };
  static constexpr std::uint32_t no_task = ~std::uint32_t{0};
  static constexpr std::uint32_t no_object = ~std::uint32_t{0};

  struct waiting_task {
    fiber* on;
    wait_record waits;
    std::uint32_t object;   // its index in objects_, or no_object
    const char* caller;     // where the call is, if the line is unknown
    const char* mode = "";  // how the task is registered on it
    bool in_batch = false;  // it has no record
    // The phase that it waits for, if that is known.
    std::int64_t awaited = -1;
    std::uint64_t count = 1;       // so many tasks share the node
    std::uint32_t first_need = 0;  // its part of needs_
    std::uint32_t needs = 0;
  };
  // The object needs the task. The label is an index in reasons_.
  struct need {
    std::uint32_t object;
    std::uint32_t task;
    std::uint32_t label;
  };
  using own_need = std::pair<std::uint32_t, std::uint32_t>;  // its object and label
  // Why an object needs the task on a fiber, or one below it on the same stack.
  struct need_reason {
    const char* relation;
    releaser by;
    bool is_below = false;
    // Of the task below, if it is known: in which construct it waits, where, and which task it is.
    const char* construct = nullptr;
    call_site where{};
    task_state task{};
    bool main = false;
    bool operator==(const need_reason& other) const noexcept;
  };

  struct hash {
    std::size_t operator()(const object_name& n) const noexcept;
  };

  bool may_run_elsewhere(const waiting_task& t) const noexcept;
  void needs(const waited_object& object, const fiber& needed, const char* relation,
             releaser by) override;
  void describe(const waited_object& object, const char* mode,
                std::int64_t awaited) noexcept override;
  bool wants_parked(const void* node) override;
  void parked(fiber& waiting) override;
  std::uint32_t known_node(const fiber& f) const noexcept;
  bool is_added(const fiber& f) const noexcept { return known_node(f) != no_task; }
  void note_node(const fiber& f, std::uint32_t node);
  std::uint32_t node_of(fiber& f, const wait_record& waits, const char* caller, bool in_batch);
  std::uint32_t node_of_substitute(const task_state& task, const task_counter* outermost,
                                   const wait_record& waits, bool main);
  std::uint32_t leave_out(const wait_record& waits) noexcept;
  std::size_t hash_of(const waiting_task& t) const noexcept;
  bool share_a_node(const waiting_task& a, const waiting_task& b) const;
  std::uint32_t take_out_of_node(std::uint32_t shared);
  void resolve_other_needs();
  void add_parked();
  bool waits_truly(const waiting_task& t) const noexcept;
  void add_need(const object_name& name, const waited_object& object, const fiber& needed,
                const char* relation, releaser by = releaser::this_task);
  bool is_handed_over(const waiting_task& needed, const waited_object& object,
                      releaser by) const noexcept;
  std::uint32_t find_or_add(const object_name& name);
  std::uint32_t object_of(const wait_record& waits);
  bool is_among_lowest(const object_name& call);
  bool is_of_interest(const object_node& o) const noexcept;
  std::uint32_t label_of(const char* relation, const fiber& needed, releaser by);
  std::string relation_text(std::uint32_t label) const;
  void add_edges(waiting_task& t);
  void needs_of_counter(const task_counter* counter, const waiting_task& t);
  void served_calls(const waiting_task& t);
  std::vector<wait_graph::edge> find_cycle(bool with_others) const;
  void leave_out_ends();
  std::string name_text(const object_node& o) const;
  std::vector<std::uint32_t> condense_objects(place_waits& to) const;
  std::vector<std::uint32_t> condense_tasks(place_waits& to,
                                            const std::vector<std::uint32_t>& entries) const;
  void condense(place_waits& to) const;
  std::vector<cycle_step> steps_of(const std::vector<wait_graph::edge>& cycle) const;

  const object_names* const names_;
  const graph_scope scope_;
  const graph_purpose purpose_;
  const std::size_t nodes_max_;
  std::uint64_t left_out_ = 0;  // tasks that wait
  std::function<bool(const fiber&)> accepts_;
  std::vector<waiting_task> tasks_;  // one for each node
  std::unordered_multimap<std::size_t, std::uint32_t> nodes_by_hash_;
  std::vector<std::uint32_t> node_of_stack_;  // by number of stack; no_task: it is in no node
  std::deque<fiber> substitutes_;     // each has the state of a task without a fiber, or that runs
  std::vector<object_node> objects_;  // that tasks wait for, or that need some
  std::unordered_map<object_name, std::uint32_t, hash> index_;  // of the object with a name
  std::priority_queue<object_name> lowest_calls_;
  // The task of which add_edges() reports; whether of one below it on the same stack, and which one
  // that is, if it is known.
  waiting_task* current_ = nullptr;
  bool below_ = false;
  const hidden_task* hidden_ = nullptr;
  std::vector<need_reason> reasons_;  // a label is an index
  std::vector<need> needs_;
  std::vector<own_need> own_needs_;  // of the task whose edges are reported
  // Of tasks other than the one that reported it, by object, fiber and label.
  std::map<std::tuple<std::uint32_t, const fiber*, std::uint32_t>, waited_object> other_needs_;
  std::unordered_set<const void*> nodes_;  // whose parked tasks are known
  std::vector<fiber*> parked_;             // tasks that were found there and are not added yet
};

// The parts of a sentence about a task of a cycle: what it waits for, and why it is needed.
struct cycle_step {
  std::string task;  // name and spawn site, and its place
  std::string construct;
  std::string line;
  std::string kind;  // of the object
  std::string made;
  std::int64_t phase = -1;
  std::string relation;  // of the next task to the object
};
// Describes a cycle, in which each step waits for the next one. Throws: std::bad_alloc.
std::string describe_cycle(std::vector<cycle_step> steps);
cycle_kind kind_of_cycle(const std::vector<cycle_step>& steps) noexcept;

}  // namespace apgas::inline v0::scheduler
