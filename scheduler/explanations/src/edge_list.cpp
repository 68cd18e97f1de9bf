// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <apgas/scheduler/job_report.hpp>

#include "awaited_tasks.hpp"
#include "edge_list.hpp"
#include "wait_groups.hpp"

namespace apgas::inline v0::scheduler {
namespace {

// Task entries of which a line says the same.
struct waiting_look {
  std::string_view construct;
  std::string_view line;
  std::string_view task;
  int place;
  std::string object;
  auto operator<=>(const waiting_look&) const = default;
};

// "place 0: 4 tasks in a phase of a clock at solve.cpp:63, spawned at solve.cpp:63 (phase 0 of the
// clock made at solve.cpp:57)".
std::string waiting_text(const wait_edge& e, bool with_places) {
  return fmt::format("{}{} task{} in {}, {}{}",
                     with_places ? fmt::format("place {}: ", e.place) : "", e.tasks,
                     e.tasks == 1 ? "" : "s", construct_text(e.construct, e.where), e.task,
                     e.object.empty() ? "" : fmt::format(" ({})", e.object));
}

class edge_lists {
 public:
  edge_lists(const joined_graph& graph, const awaited_tasks& awaited, bool with_places)
      : graph_(graph), awaited_(awaited), with_places_(with_places) {}

  void add(const waiting_look& look, const std::vector<std::uint32_t>& entries) {
    wait_edge edge;
    edge.construct = look.construct;
    edge.where = look.line;
    edge.task = look.task;
    edge.place = look.place;
    edge.object = look.object;
    for (const std::uint32_t t : entries) edge.tasks += graph_.tasks()[t].entry->count;
    edge.text = waiting_text(edge, with_places_);
    std::vector<wait_edge>& edges = by_construct_[edge.construct];
    const std::size_t before = edges.size();
    const std::vector<std::uint32_t> objects = awaited_.objects_of(entries);
    for (const awaited_tasks::needed_tasks& needed : awaited_.needed_by(objects))
      edges.push_back(with(edge, needed));
    if (const std::set<int> absent = absent_members(objects); !absent.empty()) {
      edges.push_back(edge);
      edges.back().absent = {absent.begin(), absent.end()};
      edges.back().text +=
          fmt::format("{} the call of {}", awaits(edge), places_text(edges.back().absent));
    }
    if (edges.size() != before) return;
    edge.text += fmt::format("{} no task that is known", awaits(edge));
    edges.push_back(std::move(edge));
  }

  wait_edges take(std::size_t most) {
    wait_edges all;
    for (auto& [construct, edges] : by_construct_) {
      std::ranges::stable_sort(edges, std::ranges::greater{}, &wait_edge::tasks);
      if (edges.size() > most) {
        all.left_out.push_back({construct, edges.size() - most});
        edges.resize(most);
      }
      std::ranges::move(edges, std::back_inserter(all.edges));
    }
    return all;
  }

 private:
  wait_edge with(wait_edge edge, const awaited_tasks::needed_tasks& needed) const {
    edge.awaited_tasks = needed.count;
    edge.relation = needed.what.relation;
    edge.awaited_task = needed.what.task;
    edge.awaited_construct = needed.what.construct;
    edge.awaited_where = needed.what.line;
    edge.awaited_place = needed.what.place;
    edge.text += fmt::format("{} {}", awaits(edge), awaited_.text_of({needed}));
    return edge;
  }

  static std::string_view awaits(const wait_edge& edge) {
    return edge.tasks == 1 ? ", awaits" : ", await";
  }

  std::set<int> absent_members(const std::vector<std::uint32_t>& objects) const {
    std::set<int> absent;
    for (const joined_graph::absent_member& m : graph_.absent_members()) {
      if (std::ranges::binary_search(objects, m.object)) absent.insert(m.place);
    }
    return absent;
  }

  const joined_graph& graph_;
  const awaited_tasks& awaited_;
  const bool with_places_;
  std::map<std::string, std::vector<wait_edge>, std::less<>> by_construct_;
};

}  // namespace

wait_edges edges_of(const joined_graph& graph, bool with_places, std::size_t most) {
  std::map<waiting_look, std::vector<std::uint32_t>> looks;
  const awaited_tasks awaited(graph, with_places);
  for (std::uint32_t t = 0; t < graph.tasks().size(); ++t) {
    const joined_graph::joined_task& task = graph.tasks()[t];
    const place_waits::task& entry = *task.entry;
    if (entry.construct == place_waits::runs) continue;
    looks[{entry.construct, entry.line, entry.text, task.place, awaited.object_text({t})}]
        .push_back(t);
  }
  edge_lists lists(graph, awaited, with_places);
  for (const auto& [look, entries] : looks) lists.add(look, entries);
  return lists.take(most);
}

}  // namespace apgas::inline v0::scheduler
