// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "hang_explanation.hpp"
#include "wait_groups.hpp"

// Makes the graph of a place small enough to be sent. If each object of an entry needs a task of a
// second entry, and each task of that waits for an object of a third one, then following such edges
// never ends for any task or object of these entries. So a cycle of entries means that there is a
// cycle of tasks and objects, however many an entry stands for.
namespace apgas::inline v0::scheduler {
namespace {

// Tasks of one entry are of one group, and wait for the same object entry in the same way.
struct task_look {
  wait_groups::key group;
  const char* mode;
  std::uint32_t object;
  bool operator==(const task_look&) const noexcept = default;
};

struct task_look_hash {
  std::size_t operator()(const task_look& k) const noexcept {
    constexpr std::size_t odd = 0x9e3779b97f4a7c15;
    const auto mode = reinterpret_cast<std::uintptr_t>(k.mode);
    const std::size_t h = (wait_groups::key_hash()(k.group) ^ mode ^ k.object) * odd;
    return h ^ (h >> 32);
  }
};

}  // namespace

// While other tasks run, places may know different phases of a clock at one moment. A task that
// waits for one of them does not need a task that has not signalled another one. For a list of
// edges, some places may run tasks and others not, and the names are to be the same at all of them.
std::string hang_explanation::name_text(const object_node& o) const {
  std::string text = text_of(o.name);
  const bool of_phase = scope_ == graph_scope::some_tasks || purpose_ == graph_purpose::edges;
  if (of_phase && !text.empty() && o.what.phase >= 0) text += fmt::format(".{}", o.what.phase);
  return text;
}

bool hang_explanation::is_of_interest(const object_node& o) const noexcept {
  return o.name.kind != 0 || o.first_task != no_task;
}

// Returns the entry of each object, or none if no task of any place waits for it. Of many objects,
// those with a name come first and keep an entry of their own, in the order of the names, so that
// several places keep the same ones.
std::vector<std::uint32_t> hang_explanation::condense_objects(place_waits& to) const {
  using look = std::tuple<const char*, const char*, std::uint32_t, std::int64_t, int, const char*,
                          std::uint32_t>;
  std::vector<std::uint32_t> entries(objects_.size());
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < objects_.size(); ++i) {
    entries[i] = place_waits::none;
    if (is_of_interest(objects_[i])) order.push_back(i);
  }
  const bool many = order.size() > single_objects_max;
  if (many) {
    const auto last = order.begin() + single_objects_max;
    std::ranges::partial_sort(order, last, {}, [this](std::uint32_t i) {
      return std::pair(objects_[i].name.kind == 0, objects_[i].name);
    });
  }
  std::map<look, std::uint32_t> alike;
  for (const std::uint32_t i : order) {
    const object_node& o = objects_[i];
    const bool single = !many || (o.name.kind != 0 && to.objects.size() < single_objects_max);
    const auto next = static_cast<std::uint32_t>(to.objects.size());
    entries[i] = next;
    if (!single) {
      const wait_record* const w = o.first_task == no_task ? nullptr : &tasks_[o.first_task].waits;
      entries[i] = alike
                       .try_emplace({o.what.kind, o.what.made.file_name(), o.what.made.line(),
                                     o.what.phase, o.what.place, w == nullptr ? "" : w->construct,
                                     w == nullptr ? 0 : w->where.line()},
                                    next)
                       .first->second;
    }
    if (entries[i] == next) {
      to.objects.push_back({.name = single ? name_text(o) : std::string(),
                            .kind = o.what.kind,
                            .made = line_text(o.what.made),
                            .phase = o.what.phase,
                            .place = o.what.place});
    }
    ++to.objects[entries[i]].count;
  }
  return entries;
}

// Returns the entry of each task.
std::vector<std::uint32_t> hang_explanation::condense_tasks(
    place_waits& to, const std::vector<std::uint32_t>& objects) const {
  std::unordered_map<task_look, std::uint32_t, task_look_hash> alike;
  std::vector<std::uint32_t> entries;
  entries.reserve(tasks_.size());
  for (const waiting_task& t : tasks_) {
    const task_state& task = t.on->task;
    const std::uint32_t object = t.object == no_object ? place_waits::none : objects[t.object];
    const auto [at, is_new] = alike.try_emplace(
        {wait_groups::key_of(t.waits, task, t.on->runs_main, t.caller), t.mode, object},
        static_cast<std::uint32_t>(to.graph_tasks.size()));
    if (is_new) {
      to.graph_tasks.push_back({.text = task_text(task, t.on->runs_main),
                                .construct = t.waits.construct,
                                .line = line_text(t.waits, t.caller),
                                .object = object,
                                .mode = t.mode});
    }
    to.graph_tasks[at->second].count += t.count;
    entries.push_back(at->second);
  }
  return entries;
}

// Leaves out the tasks and objects that are on no way from a cycle to a cycle, where an object with
// a name may be on a cycle through other places. A sweep takes the ends of all such ways away. What
// is left after so many of them costs space in a message, and nothing else.
void hang_explanation::leave_out_ends() {
  constexpr int sweeps_max = 32;
  std::vector<bool> task_kept(tasks_.size(), true);
  std::vector<bool> object_kept(objects_.size(), true);
  const auto sweep = [&] {
    std::vector<bool> needed_tasks(tasks_.size());
    std::vector<bool> awaited(objects_.size());
    std::vector<bool> needing(objects_.size());
    for (const need& n : needs_) {
      if (!task_kept[n.task] || !object_kept[n.object]) continue;
      needed_tasks[n.task] = needing[n.object] = true;
    }
    bool same = true;
    for (std::size_t t = 0; t < tasks_.size(); ++t) {
      const std::uint32_t object = tasks_[t].object;
      if (!task_kept[t]) continue;
      task_kept[t] = needed_tasks[t] && object != no_object && object_kept[object];
      same &= task_kept[t];
      if (task_kept[t]) awaited[object] = true;
    }
    for (std::size_t o = 0; o < objects_.size(); ++o) {
      if (!object_kept[o]) continue;
      const bool named = objects_[o].name.kind != 0;
      object_kept[o] = (named && (awaited[o] || needing[o])) || (awaited[o] && needing[o]);
      same &= object_kept[o];
    }
    return same;
  };
  for (int i = 0; i < sweeps_max && !sweep(); ++i) continue;
  // The last sweep may have left out the object of a task that it had kept.
  for (std::size_t t = 0; t < tasks_.size(); ++t) {
    task_kept[t] = task_kept[t] && object_kept[tasks_[t].object];
  }

  std::vector<waiting_task> tasks;
  std::vector<object_node> objects;
  std::vector<need> needs;
  std::vector<std::uint32_t> task_now(tasks_.size());
  std::vector<std::uint32_t> object_now(objects_.size());
  for (std::size_t o = 0; o < objects_.size(); ++o) {
    object_now[o] = static_cast<std::uint32_t>(objects.size());
    if (!object_kept[o]) continue;
    objects.push_back(objects_[o]);
    objects.back().first_task = no_task;
  }
  for (std::size_t t = 0; t < tasks_.size(); ++t) {
    task_now[t] = static_cast<std::uint32_t>(tasks.size());
    if (!task_kept[t]) continue;
    tasks.push_back(tasks_[t]);
    std::uint32_t& object = tasks.back().object;
    object = object_now[object];
    objects[object].first_task = task_now[t];
  }
  for (const need& n : needs_) {
    if (task_kept[n.task] && object_kept[n.object])
      needs.push_back({object_now[n.object], task_now[n.task], n.label});
  }
  tasks_ = std::move(tasks);
  objects_ = std::move(objects);
  needs_ = std::move(needs);
}

void hang_explanation::condense(place_waits& to) const {
  const std::vector<std::uint32_t> objects = condense_objects(to);
  const std::vector<std::uint32_t> tasks = condense_tasks(to, objects);
  // An object that needs several tasks of an entry counts once, so the edges are sorted by object.
  // Each task that waits for an object may have reported the same edges.
  std::vector<need> edges = needs_;
  const auto ends = [](const need& n) { return std::tuple(n.object, n.task, n.label); };
  std::ranges::sort(edges, {}, ends);
  const auto repeated = std::ranges::unique(edges, {}, ends);
  edges.erase(repeated.begin(), repeated.end());
  struct counted {
    std::uint64_t objects = 0;
    std::uint64_t tasks = 0;
    std::uint32_t last = 0;
  };
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, counted> needs;
  auto found = needs.end();
  for (const need& n : edges) {
    if (objects[n.object] == place_waits::none) continue;
    const std::tuple between(objects[n.object], tasks[n.task], n.label);
    // Edges of objects that are alike follow each other.
    if (found == needs.end() || found->first != between) found = needs.try_emplace(between).first;
    counted& c = found->second;
    if (c.objects == 0 || c.last != n.object) ++c.objects;
    c.last = n.object;
    c.tasks += tasks_[n.task].count;
  }
  for (const auto& [key, c] : needs) {
    const auto& [object, task, label] = key;
    to.needs.push_back({.object = object,
                        .task = task,
                        .count = c.objects,
                        .relation = relation_text(label),
                        .tasks = c.tasks,
                        .perhaps_another = reasons_[label].by == releaser::perhaps_another});
  }
}

}  // namespace apgas::inline v0::scheduler
