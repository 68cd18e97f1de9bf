// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <iterator>

#include <fmt/format.h>

#include "joined_graph.hpp"
#include "team_calls.hpp"
#include "wait_graph.hpp"

namespace apgas::inline v0::scheduler {

joined_graph::joined_graph(const std::vector<place_waits>& answers) {
  for (const place_waits& p : answers) {
    complete_ &= p.asleep && p.not_in_graph == 0;
    const std::size_t first = tasks_.size();
    for (const place_waits::task& t : p.graph_tasks)
      tasks_.push_back({.entry = &t, .place = p.place});
    if (p.not_in_graph == 0) of_place_[p.place] = {first, tasks_.size()};
    add_objects(p, first);
  }
  add_collectives(answers);
}

void joined_graph::add_objects(const place_waits& p, std::size_t first_task) {
  std::vector<std::uint32_t> joined;
  for (const place_waits::object& o : p.objects) {
    const auto next = static_cast<std::uint32_t>(objects_.size());
    const std::uint32_t at = o.name.empty() ? next : named_.try_emplace(o.name, next).first->second;
    if (at == next) objects_.push_back(o);
    // Only a place where a task is needed knows more than the name.
    if (objects_[at].kind.empty()) objects_[at].kind = o.kind;
    if (objects_[at].made.empty()) objects_[at].made = o.made;
    if (objects_[at].phase < 0) objects_[at].phase = o.phase;
    if (objects_[at].place < 0) objects_[at].place = o.place;
    joined.push_back(at);
  }
  for (std::size_t i = 0; i < p.graph_tasks.size(); ++i) {
    const std::uint32_t object = p.graph_tasks[i].object;
    if (object < joined.size()) tasks_[first_task + i].object = joined[object];
  }
  for (const place_waits::need& n : p.needs) {
    if (n.object >= joined.size() || n.task >= p.graph_tasks.size()) continue;
    needs_.push_back({.object = joined[n.object],
                      .task = static_cast<std::uint32_t>(first_task) + n.task,
                      .certain = n.count >= p.objects[n.object].count,
                      .relation = n.relation,
                      .tasks = n.tasks,
                      .perhaps_another = n.perhaps_another});
  }
}

void joined_graph::add_collectives(const std::vector<place_waits>& answers) {
  for (const team_calls& team : waiting_teams(answers)) {
    for (const auto& [place, in] : team.waiting) {
      const auto object = named_.find(in->object);
      if (object == named_.end()) continue;
      for (const int absent : team.absent(*in)) {
        absent_.push_back({object->second, absent});
        const auto there = of_place_.find(absent);
        if (there != of_place_.end()) choices_.push_back({object->second, there->second});
      }
    }
  }
}

bool joined_graph::all_in(const task_range& tasks, const std::vector<bool>& set) {
  const auto at = [&](std::size_t t) { return set.begin() + static_cast<std::ptrdiff_t>(t); };
  return std::find(at(tasks.first), at(tasks.last), false) == at(tasks.last);
}

// Begins with all tasks, and takes out those that could go on without the others.
std::vector<bool> joined_graph::stuck_tasks() const {
  std::vector<bool> stuck(tasks_.size(), true);
  for (bool same = false; !same;) {
    std::vector<bool> objects(objects_.size());
    for (const joined_need& n : needs_) {
      if (n.certain && stuck[n.task]) objects[n.object] = true;
    }
    for (const choice& c : choices_) {
      if (all_in(c.tasks, stuck)) objects[c.object] = true;
    }
    same = true;
    for (std::size_t t = 0; t < tasks_.size(); ++t) {
      const std::uint32_t object = tasks_[t].object;
      if (!stuck[t] || (object != place_waits::none && objects[object])) continue;
      stuck[t] = same = false;
    }
  }
  return stuck;
}

std::vector<cycle_step> joined_graph::cycle_of(const std::vector<joined_need>& needs,
                                               bool with_places) const {
  const auto first_object = static_cast<std::uint32_t>(tasks_.size());
  wait_graph graph;
  graph.set_nodes(static_cast<std::uint32_t>(tasks_.size() + objects_.size()));
  for (std::uint32_t t = 0; t < tasks_.size(); ++t) {
    if (tasks_[t].object != place_waits::none) graph.add({t, first_object + tasks_[t].object, 0});
  }
  for (std::uint32_t n = 0; n < needs.size(); ++n)
    graph.add({first_object + needs[n].object, needs[n].task, n});
  const std::vector<wait_graph::edge> cycle = graph.find_cycle();
  std::vector<cycle_step> steps;
  if (cycle.empty()) return steps;
  const std::size_t begin = cycle.front().from < first_object ? 0 : 1;
  for (std::size_t i = 0; i < cycle.size() / 2; ++i) {
    const joined_task& t = tasks_[cycle[begin + 2 * i].from];
    const joined_need& needed = needs[cycle[(begin + 2 * i + 1) % cycle.size()].label];
    const place_waits::object& object = objects_[t.object];
    steps.push_back(
        {.task = with_places ? fmt::format("{}, place {}", t.entry->text, t.place) : t.entry->text,
         .construct = t.entry->construct,
         .line = t.entry->line,
         .kind = object.kind,
         .made = object.made,
         .phase = object.phase,
         .relation = std::string(needed.relation)});
  }
  return steps;
}

std::vector<cycle_step> joined_graph::certain_cycle(bool with_places, bool with_others) const {
  std::vector<joined_need> certain;
  std::ranges::copy_if(needs_, std::back_inserter(certain), [with_others](const joined_need& n) {
    return n.certain && (with_others || !n.perhaps_another);
  });
  return cycle_of(certain, with_places);
}

std::vector<cycle_step> joined_graph::cycle_of_collectives(bool with_places, bool& all) const {
  if (choices_.empty()) return {};
  const std::vector<bool> stuck = stuck_tasks();
  all = complete_ && std::ranges::find(stuck, false) == stuck.end();
  std::vector<joined_need> needs;
  std::ranges::copy_if(needs_, std::back_inserter(needs),
                       [&](const joined_need& n) { return n.certain && stuck[n.task]; });
  for (const choice& c : choices_) {
    if (!all_in(c.tasks, stuck)) continue;
    for (std::size_t t = c.tasks.first; t < c.tasks.last; ++t) {
      needs.push_back({.object = c.object,
                       .task = static_cast<std::uint32_t>(t),
                       .certain = false,
                       .relation = "is at a place that has not called it",
                       .tasks = 1});
    }
  }
  return cycle_of(needs, with_places);
}

std::vector<cycle_step> joined_graph::possible_cycle(bool with_places) const {
  return cycle_of(needs_, with_places);
}

}  // namespace apgas::inline v0::scheduler
