// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <functional>

#include <fmt/format.h>

#include "awaited_tasks.hpp"
#include "wait_groups.hpp"

namespace apgas::inline v0::scheduler {
namespace {

constexpr std::size_t named_max = 3;  // of the needed tasks of a group

}  // namespace

awaited_tasks::awaited_tasks(const joined_graph& graph, bool with_places)
    : graph_(graph), with_places_(with_places) {
  for (std::uint32_t t = 0; t < graph.tasks().size(); ++t) {
    const place_waits::task& entry = *graph.tasks()[t].entry;
    if (graph.tasks()[t].object == place_waits::none) continue;
    entries_[{construct_text(entry.construct, entry.line), entry.text}].push_back(t);
  }
  for (std::uint32_t n = 0; n < graph.needs().size(); ++n) needs_.push_back(n);
  std::ranges::stable_sort(needs_, {}, [&](std::uint32_t n) { return graph.needs()[n].object; });
}

std::vector<std::uint32_t> awaited_tasks::objects_of(
    const std::vector<std::uint32_t>& entries) const {
  std::vector<std::uint32_t> objects;
  objects.reserve(entries.size());
  for (const std::uint32_t t : entries) {
    if (graph_.tasks()[t].object != place_waits::none) objects.push_back(graph_.tasks()[t].object);
  }
  std::ranges::sort(objects);
  const auto repeated = std::ranges::unique(objects);
  objects.erase(repeated.begin(), repeated.end());
  return objects;
}

std::vector<awaited_tasks::needed_tasks> awaited_tasks::needed_by(
    const std::vector<std::uint32_t>& objects) const {
  // A task that several of the objects need counts once.
  std::map<std::pair<std::string_view, std::uint32_t>, std::uint64_t> needed;
  for (const std::uint32_t object : objects) {
    for (const std::uint32_t n : std::ranges::equal_range(
             needs_, object, {},
             [this](std::uint32_t each) { return graph_.needs()[each].object; })) {
      const joined_graph::joined_need& need = graph_.needs()[n];
      needed[{need.relation, need.task}] += need.tasks;
    }
  }
  std::map<task_description, std::uint64_t> counts;
  for (const auto& [relation_and_task, count] : needed) {
    const joined_graph::joined_task& task = graph_.tasks()[relation_and_task.second];
    counts[{.relation = relation_and_task.first,
            .task = task.entry->text,
            .construct = task.entry->construct,
            .line = task.entry->line,
            .place = task.place}] += std::min<std::uint64_t>(count, task.entry->count);
  }
  std::vector<needed_tasks> all;
  all.reserve(counts.size());
  for (const auto& [what, count] : counts) all.push_back({what, count});
  std::ranges::stable_sort(all, std::ranges::greater{}, &needed_tasks::count);
  return all;
}

std::string awaited_tasks::object_text(const std::vector<std::uint32_t>& entries) const {
  std::string text;
  for (const std::uint32_t each : entries) {
    const joined_graph::joined_task& task = graph_.tasks()[each];
    if (task.object == place_waits::none) return {};
    const place_waits::object& o = graph_.objects()[task.object];
    if (o.phase < 0 && o.made.empty() && o.place < 0) return {};
    const std::string& mode = task.entry->mode;
    const std::string one =
        fmt::format("{}{}the {}{}{}{}", mode.empty() ? "" : fmt::format("registered as {}; ", mode),
                    o.phase < 0 ? "" : fmt::format("phase {} of ", o.phase), o.kind,
                    o.made.empty() ? "" : " made at ", o.made,
                    o.place < 0 ? "" : fmt::format(" at place {}", o.place));
    if (!text.empty() && one != text) return {};
    text = one;
  }
  return text;
}

std::string awaited_tasks::text_of(const task_description& what) const {
  const std::string task =
      with_places_ ? fmt::format("{}, place {}", what.task, what.place) : std::string(what.task);
  if (what.construct == place_waits::runs) return task + ", which runs";
  return fmt::format("{}, in {}", task, construct_text(what.construct, what.line));
}

std::string awaited_tasks::text_of(const std::vector<needed_tasks>& needed) const {
  std::uint64_t total = 0;
  for (const needed_tasks& n : needed) total += n.count;
  const std::string_view relation = needed.front().what.relation;
  const bool same = std::ranges::all_of(
      needed, [&](const needed_tasks& n) { return n.what.relation == relation; });
  std::string text = total == 1 ? std::string("the task") : fmt::format("{} tasks", total);
  if (same) text += fmt::format("{} {}", total == 1 ? " that" : ", each of which", relation);
  for (std::size_t i = 0; i < std::min(named_max, needed.size()); ++i) {
    const needed_tasks& n = needed[i];
    text += i == 0 ? ": " : "; ";
    if (n.count > 1 && needed.size() > 1) text += fmt::format("{} ", n.count);
    text += text_of(n.what);
    if (!same) text += fmt::format(", which {}", n.what.relation);
    total -= n.count;
  }
  if (total != 0) text += fmt::format("; and {} more", total);
  return text;
}

std::string awaited_tasks::text(std::string_view construct, std::string_view task) const {
  const auto entries = entries_.find({std::string(construct), task});
  if (entries == entries_.end()) return {};
  std::string text = object_text(entries->second);
  if (const auto needed = needed_by(objects_of(entries->second)); !needed.empty())
    text += fmt::format("{}awaits {}", text.empty() ? "" : " ", text_of(needed));
  return text;
}

}  // namespace apgas::inline v0::scheduler
