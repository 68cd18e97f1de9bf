// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "hang_explanation.hpp"
#include "stack_pool.hpp"
#include "wait_groups.hpp"

namespace apgas::inline v0::scheduler {
namespace {

constexpr std::size_t steps_max = 20;  // of a cycle that are described

}  // namespace

wait_record waits_for(const fiber& f) {
  const wait_record* const record = f.waits_for.load(base::acquire);  // P1 of suspended_tasks.hpp
  if (record != nullptr) return *record;
  if (f.task.registrations != nullptr) return f.task.registrations->waits_for();
  return {nullptr};
}

void hang_explanation::add(fiber& f, const wait_record& waits) {
  f.node = static_cast<wait_graph::node>(tasks_.size());
  tasks_.push_back({&f, waits});
  if (waits.object != nullptr) {
    objects_.try_emplace(waits.object, object_node{0, {.address = waits.object}});
  }
}

std::string hang_explanation::cycle() {
  auto next = static_cast<wait_graph::node>(tasks_.size());
  for (auto& [address, object] : objects_) object.number = next++;
  graph_.set_nodes(next);
  for (const waiting_task& t : tasks_) add_edges(t);
  const std::vector<wait_graph::edge> found = graph_.find_cycle();
  return found.empty() ? std::string() : describe(found);
}

void hang_explanation::needs(const waited_object& object, const fiber& needed,
                             const char* relation) {
  const auto at = objects_.find(object.address);
  if (at == objects_.end()) return;
  // An object may name a fiber that is gone: a task of an earlier run, with another size of stacks,
  // has ended without unlocking a mutex. A fiber that is not in the list has no task that waits; it
  // has been used anew.
  if (fiber_of_address(&needed) != &needed) return;
  if (needed.node >= tasks_.size() || tasks_[needed.node].on != &needed) return;
  at->second.what = object;
  const auto known = std::ranges::find(relations_, relation);
  const auto label = static_cast<std::uint32_t>(known - relations_.begin()) * 2 + (below_ ? 1 : 0);
  if (known == relations_.end()) relations_.push_back(relation);
  graph_.add({at->second.number, needed.node, label});
}

// A task that waits for a finish owns it and is not one of its tasks.
void hang_explanation::needs_of_counter(const task_counter* counter, const waiting_task& t) {
  if (counter == nullptr || t.waits.object == counter) return;
  needs({.address = counter}, *t.on, "belongs to it");
}

void hang_explanation::add_edges(const waiting_task& t) {
  const fiber& f = *t.on;
  if (const auto at = objects_.find(t.waits.object); at != objects_.end()) {
    graph_.add({f.node, at->second.number, 0});
  }
  if (t.waits.explain != nullptr) t.waits.explain(t.waits, *this);
  needs_of_counter(f.task.finish, t);
  if (f.outermost != f.task.finish) needs_of_counter(f.outermost, t);
  if (f.task.registrations != nullptr) f.task.registrations->explain(f, *this);
  below_ = true;
  for (const hidden_task* h = f.hidden; h != nullptr; h = h->below) {
    if (h->task->registrations != nullptr) h->task->registrations->explain(f, *this);
  }
  below_ = false;
}

std::string hang_explanation::wait_text(const waiting_task& t) const {
  const std::string at = line_text(t.waits.where);
  std::string text = "waits";
  const auto found = objects_.find(t.waits.object);
  const waited_object object = found == objects_.end() ? waited_object{} : found->second.what;
  if (object.phase < 0) text += fmt::format(" in {}", t.waits.construct);
  if (!at.empty()) text += fmt::format(" at {}", at);
  if (object.phase >= 0) text += fmt::format(" for phase {} of the {}", object.phase, object.kind);
  if (const std::string made = line_text(object.made); !made.empty()) {
    text += fmt::format(" made at {}", made);
  }
  return text;
}

// The cycle alternates between tasks and objects. The text begins with a task.
std::string hang_explanation::describe(const std::vector<wait_graph::edge>& cycle) const {
  const auto is_task = [this](wait_graph::node n) { return n < tasks_.size(); };
  const std::size_t begin = is_task(cycle.front().from) ? 0 : 1;
  const std::size_t steps = cycle.size() / 2;
  const auto letter = [](std::size_t i) {
    return i < 26 ? std::string(1, static_cast<char>('A' + i)) : fmt::format("{}", i + 1);
  };
  std::string text;
  for (std::size_t i = 0; i < std::min(steps, steps_max); ++i) {
    const wait_graph::edge& waits = cycle[begin + 2 * i];
    const wait_graph::edge& needs = cycle[(begin + 2 * i + 1) % cycle.size()];
    const waiting_task& one = tasks_[waits.from];
    const fiber& other = *tasks_[needs.to].on;
    text += i == 0 ? fmt::format("task {} ({})", letter(0), task_text(one.on->task))
                   : fmt::format("; task {}", letter(i));
    text += steps == 1 ? fmt::format(" {} for itself", wait_text(one))
                       : fmt::format(" {} for task {}", wait_text(one), letter((i + 1) % steps));
    if (i + 1 < steps) text += fmt::format(" ({})", task_text(other.task));
    text += fmt::format(", which {}{}",
                        needs.label % 2 == 0 ? "" : "runs inside a finish of a task that ",
                        relations_[needs.label / 2]);
  }
  if (steps > steps_max) text += fmt::format("; and so on for {} more tasks", steps - steps_max);
  return text;
}

}  // namespace apgas::inline v0::scheduler
