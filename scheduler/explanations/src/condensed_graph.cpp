// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>

#include "hang_explanation.hpp"
#include "wait_groups.hpp"

// Makes the graph of a place small enough to be sent. If each object of an entry needs a task of a
// second entry, and each task of that waits for an object of a third one, then following such edges
// never ends for any task or object of these entries. So a cycle of entries means that there is a
// cycle of tasks and objects, however many an entry stands for.
namespace apgas::inline v0::scheduler {
namespace {

// Up to so many objects each have an entry of their own. With the texts of an entry of 200 bytes,
// they are 1 MiB in a message.
constexpr std::size_t single_objects_max = 4096;

}  // namespace

// Returns the entry of each object. Of many objects, those with a name come first and keep an entry
// of their own, in the order of the names, so that several places keep the same ones.
std::vector<std::uint32_t> hang_explanation::condense_objects(place_waits& to) const {
  using look = std::tuple<const char*, std::string, std::int64_t, const char*, std::uint32_t>;
  std::vector<std::uint32_t> entries(objects_.size());
  std::vector<std::uint32_t> order(objects_.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  const bool many = objects_.size() > single_objects_max;
  if (many) {
    std::ranges::sort(order, {}, [this](std::uint32_t i) {
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
      entries[i] =
          alike
              .try_emplace({o.what.kind, line_text(o.what.made), o.what.phase,
                            w == nullptr ? "" : w->construct, w == nullptr ? 0 : w->where.line()},
                           next)
              .first->second;
    }
    if (entries[i] == next) {
      to.objects.push_back({.name = single ? text_of(o.name) : std::string(),
                            .kind = o.what.kind,
                            .made = line_text(o.what.made),
                            .phase = o.what.phase});
    }
    ++to.objects[entries[i]].count;
  }
  return entries;
}

// Returns the entry of each task.
std::vector<std::uint32_t> hang_explanation::condense_tasks(
    place_waits& to, const std::vector<std::uint32_t>& objects) const {
  using look = std::tuple<const char*, const char*, std::uint32_t, const char*, std::uint32_t,
                          const char*, std::uint32_t, const char*, bool>;
  std::map<look, std::uint32_t> alike;
  std::vector<std::uint32_t> entries;
  entries.reserve(tasks_.size());
  for (const waiting_task& t : tasks_) {
    const task_state& task = t.on->task;
    const std::uint32_t object = t.object == no_object ? place_waits::none : objects[t.object];
    const auto [at, is_new] = alike.try_emplace(
        {t.waits.construct, t.waits.where.file_name(), t.waits.where.line(), task.site.file_name(),
         task.site.line(), task.name, object, t.mode, t.on->runs_main},
        static_cast<std::uint32_t>(to.graph_tasks.size()));
    if (is_new) {
      to.graph_tasks.push_back({.text = task_text(task, t.on->runs_main),
                                .construct = t.waits.construct,
                                .line = line_text(t.waits.where),
                                .object = object,
                                .mode = t.mode});
    }
    ++to.graph_tasks[at->second].count;
    entries.push_back(at->second);
  }
  return entries;
}

void hang_explanation::condense(place_waits& to) const {
  const std::vector<std::uint32_t> objects = condense_objects(to);
  const std::vector<std::uint32_t> tasks = condense_tasks(to, objects);
  // An object that needs several tasks of an entry counts once, so the edges are sorted by object.
  // Each task that waits for an object may have reported the same edges.
  std::vector<wait_graph::edge> edges;
  for (const wait_graph::edge& e : graph_.edges()) {
    if (e.from >= tasks_.size()) edges.push_back(e);
  }
  std::ranges::sort(edges, {},
                    [](const wait_graph::edge& e) { return std::tuple(e.from, e.to, e.label); });
  const auto repeated = std::ranges::unique(edges);
  edges.erase(repeated.begin(), repeated.end());
  struct counted {
    std::uint64_t objects = 0;
    std::uint64_t tasks = 0;
    wait_graph::node last = 0;
  };
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, counted> needs;
  for (const wait_graph::edge& e : edges) {
    counted& c = needs[{objects[e.from - tasks_.size()], tasks[e.to], e.label}];
    if (c.objects == 0 || c.last != e.from) ++c.objects;
    c.last = e.from;
    ++c.tasks;
  }
  for (const auto& [key, c] : needs) {
    const auto& [object, task, label] = key;
    to.needs.push_back({.object = object,
                        .task = task,
                        .count = c.objects,
                        .relation = relation_text(label),
                        .tasks = c.tasks});
  }
}

}  // namespace apgas::inline v0::scheduler
