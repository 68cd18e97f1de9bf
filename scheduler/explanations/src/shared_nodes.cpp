// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>
#include <unordered_map>

#include "hang_explanation.hpp"
#include "stack_pool.hpp"
#include "wait_groups.hpp"

// Which tasks share a node of the wait-for graph.
namespace apgas::inline v0::scheduler {

// In the fiber itself the number would be lost if its task ran, and another one began there.
std::uint32_t hang_explanation::known_node(const fiber& f) const noexcept {
  const std::size_t stack = number_of_stack(f);
  return stack < node_of_stack_.size() ? node_of_stack_[stack] : no_task;
}

void hang_explanation::note_node(const fiber& f, std::uint32_t node) {
  const std::size_t stack = number_of_stack(f);
  if (stack >= node_of_stack_.size()) node_of_stack_.resize(stack + 1, no_task);
  node_of_stack_[stack] = node;
}

std::size_t hang_explanation::hash_of(const waiting_task& t) const noexcept {
  constexpr std::size_t odd = 0x9e3779b97f4a7c15;
  const auto key = wait_groups::key_of(t.waits, t.on->task, t.on->runs_main, t.caller);
  std::size_t h = wait_groups::key_hash()(key) + t.object;
  for (const auto& [object, label] : own_needs_) {
    h = (h ^ (std::size_t{label} << 32 | object)) * odd;
    h ^= h >> 32;
  }
  return h;
}

// `a` is the task whose edges have just been reported.
bool hang_explanation::share_a_node(const waiting_task& a, const waiting_task& b) const {
  const auto key = [](const waiting_task& t) {
    return wait_groups::key_of(t.waits, t.on->task, t.on->runs_main, t.caller);
  };
  const std::span needs(needs_.begin() + b.first_need, b.needs);
  return a.object == b.object && a.waits.timed == b.waits.timed && a.mode == b.mode &&
         a.awaited == b.awaited && key(a) == key(b) &&
         std::ranges::equal(own_needs_, needs, [](const own_need& own, const need& n) {
           return own == own_need(n.object, n.label);
         });
}

// A task that runs is needed by nobody but its finish, and is not missed.
std::uint32_t hang_explanation::leave_out(const wait_record& waits) noexcept {
  if (waits.construct != place_waits::runs) ++left_out_;
  return no_task;
}

// Returns the node of a task that is added, or no_task if it is left out.
std::uint32_t hang_explanation::node_of(fiber& f, const wait_record& waits, const char* caller,
                                        bool in_batch) {
  if (tasks_.size() >= nodes_max_) return leave_out(waits);
  const std::uint32_t object = object_of(waits);
  waiting_task t{.on = &f, .waits = waits, .object = object, .caller = caller};
  t.in_batch = in_batch;
  add_edges(t);
  std::ranges::sort(own_needs_);
  const auto repeated = std::ranges::unique(own_needs_);
  own_needs_.erase(repeated.begin(), repeated.end());

  const std::size_t h = hash_of(t);
  const auto [first, last] = nodes_by_hash_.equal_range(h);
  for (auto at = first; at != last; ++at) {
    if (!share_a_node(t, tasks_[at->second])) continue;
    ++tasks_[at->second].count;
    return at->second;
  }
  const auto node = static_cast<std::uint32_t>(tasks_.size());
  nodes_by_hash_.emplace(h, node);
  if (object != no_object && objects_[object].first_task == no_task)
    objects_[object].first_task = node;
  t.first_need = static_cast<std::uint32_t>(needs_.size());
  t.needs = static_cast<std::uint32_t>(own_needs_.size());
  for (const auto& [needing, label] : own_needs_) needs_.push_back({needing, node, label});
  tasks_.push_back(t);
  return node;
}

// Returns no_task if the task is left out.
std::uint32_t hang_explanation::node_of_substitute(const task_state& task,
                                                   const task_counter* outermost,
                                                   const wait_record& waits, bool main) {
  constexpr std::size_t substitutes_max = 4096;
  if (substitutes_.size() == substitutes_max) return leave_out(waits);
  fiber& f = substitutes_.emplace_back();
  f.task = task;
  f.outermost = outermost;
  f.runs_main = main;
  const std::uint32_t node = node_of(f, waits, "", false);
  if (node == no_task || tasks_[node].on != &f) substitutes_.pop_back();
  return node;
}

// Gives one task of the node a node of its own, with the same edges. Requires: another one remains.
std::uint32_t hang_explanation::take_out_of_node(std::uint32_t shared) {
  const auto node = static_cast<std::uint32_t>(tasks_.size());
  waiting_task own = tasks_[shared];
  --tasks_[shared].count;
  own.count = 1;
  tasks_.push_back(own);
  for (std::uint32_t i = 0; i < own.needs; ++i) {
    const need n = needs_[own.first_need + i];
    needs_.push_back({n.object, node, n.label});
  }
  return node;
}

// Adds the edges to tasks that others have reported, now that it is known which tasks wait. An
// object may name a fiber that is gone: a task of an earlier run, with another size of stacks, has
// ended without unlocking a mutex. A fiber that is not added has no task that waits; it has been
// used anew.
void hang_explanation::resolve_other_needs() {
  std::unordered_map<const fiber*, std::uint32_t> own_nodes;
  for (const auto& [edge, what] : other_needs_) {
    const auto& [object, needed, label] = edge;
    if (fiber_of_address(needed) != needed) continue;
    const std::uint32_t node = known_node(*needed);
    if (node == no_task) continue;
    if (is_handed_over(tasks_[node], what, reasons_[label].by)) continue;
    objects_[object].what = what;
    const auto [at, is_new] = own_nodes.try_emplace(needed, node);
    if (is_new && tasks_[at->second].count != 1) at->second = take_out_of_node(at->second);
    needs_.push_back({object, at->second, label});
  }
}

}  // namespace apgas::inline v0::scheduler
