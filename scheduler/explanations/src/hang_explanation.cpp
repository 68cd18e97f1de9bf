// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "hang_explanation.hpp"
#include "wait_groups.hpp"

namespace apgas::inline v0::scheduler {
namespace {

constexpr std::size_t steps_max = 20;  // of a cycle that are described

}  // namespace

wait_record waits_for(const fiber& f) {
  if (f.waits_for != nullptr) return *f.waits_for;
  if (f.task.registrations != nullptr) return f.task.registrations->waits_for();
  return {nullptr};
}

void hang_explanation::add(fiber& f) {
  f.node = static_cast<wait_graph::node>(fibers_.size());
  fibers_.push_back(&f);
  if (const void* const object = waits_for(f).object; object != nullptr) {
    objects_.try_emplace(object, object_node{0, {.address = object}});
  }
}

std::string hang_explanation::cycle() {
  auto next = static_cast<wait_graph::node>(fibers_.size());
  for (auto& [address, object] : objects_) object.number = next++;
  graph_.set_nodes(next);
  for (const fiber* f : fibers_) add_edges(*f);
  const std::vector<wait_graph::edge> found = graph_.find_cycle();
  return found.empty() ? std::string() : describe(found);
}

void hang_explanation::needs(const waited_object& object, const fiber& needed,
                             const char* relation) {
  const auto at = objects_.find(object.address);
  // A fiber that is not in the list has no task that waits; it has been used anew.
  if (at == objects_.end() || needed.node >= fibers_.size() || fibers_[needed.node] != &needed) {
    return;
  }
  at->second.what = object;
  const auto known = std::ranges::find(relations_, relation);
  const auto label = static_cast<std::uint32_t>(known - relations_.begin()) * 2 + (below_ ? 1 : 0);
  if (known == relations_.end()) relations_.push_back(relation);
  graph_.add({at->second.number, needed.node, label});
}

// A task that waits for a finish owns it and is not one of its tasks.
void hang_explanation::needs_of_counter(const task_counter* counter, const fiber& f) {
  if (counter == nullptr || waits_for(f).object == counter) return;
  needs({.address = counter}, f, "belongs to it");
}

void hang_explanation::add_edges(const fiber& f) {
  const wait_record waits = waits_for(f);
  if (waits.object != nullptr) graph_.add({f.node, objects_.at(waits.object).number, 0});
  if (waits.explain != nullptr) waits.explain(waits, *this);
  needs_of_counter(f.task.finish, f);
  if (f.outermost != f.task.finish) needs_of_counter(f.outermost, f);
  if (f.task.registrations != nullptr) f.task.registrations->explain(f, *this);
  below_ = true;
  for (const hidden_task* h = f.hidden; h != nullptr; h = h->below) {
    if (h->task->registrations != nullptr) h->task->registrations->explain(f, *this);
  }
  below_ = false;
}

std::string hang_explanation::wait_text(const fiber& f) const {
  const wait_record waits = waits_for(f);
  const std::string at = line_text(waits.where);
  std::string text = "waits";
  const waited_object& object = objects_.at(waits.object).what;
  if (object.phase < 0) text += fmt::format(" in {}", waits.construct);
  if (!at.empty()) text += fmt::format(" at {}", at);
  if (object.phase >= 0) text += fmt::format(" for phase {} of the {}", object.phase, object.kind);
  if (const std::string made = line_text(object.made); !made.empty()) {
    text += fmt::format(" made at {}", made);
  }
  return text;
}

// The cycle alternates between tasks and objects. The text begins with a task.
std::string hang_explanation::describe(const std::vector<wait_graph::edge>& cycle) const {
  const auto is_task = [this](wait_graph::node n) { return n < fibers_.size(); };
  const std::size_t begin = is_task(cycle.front().from) ? 0 : 1;
  const std::size_t steps = cycle.size() / 2;
  const auto letter = [](std::size_t i) {
    return i < 26 ? std::string(1, static_cast<char>('A' + i)) : fmt::format("{}", i + 1);
  };
  std::string text;
  for (std::size_t i = 0; i < std::min(steps, steps_max); ++i) {
    const wait_graph::edge& waits = cycle[begin + 2 * i];
    const wait_graph::edge& needs = cycle[(begin + 2 * i + 1) % cycle.size()];
    const fiber& f = *fibers_[waits.from];
    const fiber& other = *fibers_[needs.to];
    text += i == 0 ? fmt::format("task {} ({})", letter(0), task_text(f.task))
                   : fmt::format("; task {}", letter(i));
    text += steps == 1 ? fmt::format(" {} for itself", wait_text(f))
                       : fmt::format(" {} for task {}", wait_text(f), letter((i + 1) % steps));
    if (i + 1 < steps) text += fmt::format(" ({})", task_text(other.task));
    text += fmt::format(", which {}{}",
                        needs.label % 2 == 0 ? "" : "runs inside a finish of a task that ",
                        relations_[needs.label / 2]);
  }
  if (steps > steps_max) text += fmt::format("; and so on for {} more tasks", steps - steps_max);
  return text;
}

}  // namespace apgas::inline v0::scheduler
