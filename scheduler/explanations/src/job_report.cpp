// SPDX-License-Identifier: Apache-2.0
#include <apgas/scheduler/job_report.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "hang_explanation.hpp"
#include "wait_graph.hpp"
#include "wait_groups.hpp"

namespace apgas::inline v0::scheduler {
namespace {

constexpr std::size_t groups_printed_max = 20;  // that a report contains

}  // namespace

std::string tasks_wait(std::uint64_t n) {
  if (n == 0) return "no task waits";
  return n == 1 ? "1 task waits" : fmt::format("{} tasks wait", n);
}

std::string places_text(const std::vector<int>& places) {
  std::vector<std::string> ranges;
  for (std::size_t i = 0; i < places.size();) {
    std::size_t last = i;
    while (last + 1 < places.size() && places[last + 1] == places[last] + 1) ++last;
    if (last >= i + 2) {
      ranges.push_back(fmt::format("{} to {}", places[i], places[last]));
    } else {
      for (std::size_t k = i; k <= last; ++k) ranges.push_back(std::to_string(places[k]));
    }
    i = last + 1;
  }
  std::string text = places.size() == 1 ? "place " : "places ";
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (i != 0) text += i + 1 == ranges.size() ? " and " : ", ";
    text += ranges[i];
  }
  return text;
}

std::uint64_t job_report::tasks() const noexcept {
  std::uint64_t n = 0;
  for (const place_waits& p : answers_) n += p.tasks;
  return n;
}

// Returns the largest groups of all places, each with its places.
std::string job_report::groups() const {
  struct merged {
    place_waits::group all;
    std::set<int> places;
  };
  std::map<std::pair<std::string, std::string>, merged> by_text;
  for (const place_waits& p : answers_) {
    for (const place_waits::group& g : p.groups) {
      merged& m = by_text[{g.construct, g.task}];
      m.all.construct = g.construct;
      m.all.task = g.task;
      m.all.count += g.count;
      m.all.longest_s = std::max(m.all.longest_s, g.longest_s);
      m.places.insert(p.place);
    }
  }
  std::vector<const merged*> most;
  most.reserve(by_text.size());
  for (const auto& [text, m] : by_text) most.push_back(&m);
  std::ranges::stable_sort(most, std::ranges::greater{},
                           [](const merged* m) { return m->all.count; });
  std::string text;
  std::uint64_t told = 0;
  for (std::size_t i = 0; i < std::min(groups_printed_max, most.size()); ++i) {
    const merged& m = *most[i];
    told += m.all.count;
    text += fmt::format("{} {}", i == 0 ? "" : ";", text_of(m.all));
    if (places_ > 1)
      text += fmt::format(", at {}", places_text({m.places.begin(), m.places.end()}));
  }
  if (tasks() > told) text += fmt::format("; and {} more tasks in other groups", tasks() - told);
  return text;
}

// The graphs of the places, joined where objects have the same name.
class job_report::joined_graph {
 public:
  explicit joined_graph(const std::vector<place_waits>& answers) {
    for (const place_waits& p : answers) add_tasks(p);
    std::size_t first_task = 0;
    for (const place_waits& p : answers) {
      add_objects(p, first_task);
      first_task += p.graph_tasks.size();
    }
  }

  // Returns the steps of a cycle. With `certain`, follows only edges that all objects of an entry
  // have, so that the cycle is certain to exist.
  std::vector<cycle_step> cycle(bool certain, bool with_places) const {
    wait_graph graph;
    graph.set_nodes(static_cast<std::uint32_t>(tasks_.size() + objects_.size()));
    for (std::uint32_t t = 0; t < tasks_.size(); ++t) {
      if (tasks_[t].object != place_waits::none) graph.add({t, node(tasks_[t].object), 0});
    }
    for (std::uint32_t n = 0; n < needs_.size(); ++n) {
      const joined_need& need = needs_[n];
      if (need.certain || !certain) graph.add({node(need.object), need.task, n});
    }
    return steps(graph.find_cycle(), with_places);
  }

 private:
  struct joined_task {
    const place_waits::task* entry;
    int place;
    std::uint32_t object = place_waits::none;  // in objects_
  };
  struct joined_need {
    const place_waits::need* entry;
    std::uint32_t object;
    std::uint32_t task;
    bool certain;
  };

  std::uint32_t node(std::uint32_t object) const {
    return static_cast<std::uint32_t>(tasks_.size()) + object;
  }

  void add_tasks(const place_waits& p) {
    for (const place_waits::task& t : p.graph_tasks)
      tasks_.push_back({.entry = &t, .place = p.place});
  }

  void add_objects(const place_waits& p, std::size_t first_task) {
    std::vector<std::uint32_t> joined;
    for (const place_waits::object& o : p.objects) {
      const auto next = static_cast<std::uint32_t>(objects_.size());
      const std::uint32_t at =
          o.name.empty() ? next : named_.try_emplace(o.name, next).first->second;
      if (at == next) objects_.push_back(o);
      // Only a place where a task is needed knows more than the name.
      if (objects_[at].kind.empty()) objects_[at].kind = o.kind;
      if (objects_[at].made.empty()) objects_[at].made = o.made;
      if (objects_[at].phase < 0) objects_[at].phase = o.phase;
      joined.push_back(at);
    }
    for (std::size_t i = 0; i < p.graph_tasks.size(); ++i) {
      const std::uint32_t object = p.graph_tasks[i].object;
      if (object < joined.size()) tasks_[first_task + i].object = joined[object];
    }
    for (const place_waits::need& n : p.needs) {
      if (n.object >= joined.size() || n.task >= p.graph_tasks.size()) continue;
      needs_.push_back({&n, joined[n.object], static_cast<std::uint32_t>(first_task) + n.task,
                        n.count >= p.objects[n.object].count});
    }
  }

  std::vector<cycle_step> steps(const std::vector<wait_graph::edge>& cycle,
                                bool with_places) const {
    std::vector<cycle_step> all;
    if (cycle.empty()) return all;
    const std::size_t begin = cycle.front().from < tasks_.size() ? 0 : 1;
    for (std::size_t i = 0; i < cycle.size() / 2; ++i) {
      const joined_task& t = tasks_[cycle[begin + 2 * i].from];
      const place_waits::need& needed =
          *needs_[cycle[(begin + 2 * i + 1) % cycle.size()].label].entry;
      const place_waits::object& object = objects_[t.object];
      all.push_back({.task = with_places ? fmt::format("{}, place {}", t.entry->text, t.place)
                                         : t.entry->text,
                     .construct = t.entry->construct,
                     .line = t.entry->line,
                     .kind = object.kind,
                     .made = object.made,
                     .phase = object.phase,
                     .relation = needed.relation,
                     .below = needed.below});
    }
    return all;
  }

  std::vector<joined_task> tasks_;
  std::vector<place_waits::object> objects_;
  std::vector<joined_need> needs_;
  std::map<std::string, std::uint32_t> named_;
};

std::string job_report::cycle() const {
  const joined_graph graph(answers_);
  if (const auto certain = graph.cycle(true, places_ > 1); !certain.empty()) {
    return fmt::format("\nthey wait for each other: {}", describe_cycle(certain));
  }
  for (const place_waits& p : answers_) {
    if (p.cycle.empty()) continue;
    return fmt::format("\nthey wait for each other{}: {}",
                       places_ > 1 ? fmt::format(", at place {}", p.place) : "", p.cycle);
  }
  const auto possible = graph.cycle(false, places_ > 1);
  if (possible.empty()) return {};
  return fmt::format("\nsome of them may wait for each other: {}", describe_cycle(possible));
}

// Says which members of a team have not made the call in which others wait.
std::string job_report::teams() const {
  struct members {
    const place_waits::team* last_call =
        nullptr;  // of those that wait, the one with the most calls
    std::vector<int> waiting;
    std::map<int, std::uint32_t> calls;
  };
  std::map<std::string, members> teams;
  for (const place_waits& p : answers_) {
    for (const place_waits::team& t : p.teams) {
      members& m = teams[t.name];
      m.calls[p.place] = t.calls;
      if (!t.waits) continue;
      m.waiting.push_back(p.place);
      if (m.last_call == nullptr || m.last_call->calls < t.calls) m.last_call = &t;
    }
  }
  std::string text;
  for (auto& [name, m] : teams) {
    if (m.last_call == nullptr) continue;
    std::vector<int> absent;
    for (const int place : m.last_call->members) {
      const auto at = m.calls.find(place);
      if (at == m.calls.end() || at->second < m.last_call->calls) absent.push_back(place);
    }
    if (absent.empty()) continue;
    std::ranges::sort(absent);
    std::ranges::sort(m.waiting);
    const std::string missing = places_text(absent);
    text += fmt::format("\n{} {} in {} of a team for {}, and {} {} not called it",
                        places_text(m.waiting), m.waiting.size() == 1 ? "waits" : "wait",
                        m.last_call->call, missing, missing, absent.size() == 1 ? "has" : "have");
  }
  return text;
}

std::string job_report::text(const std::string& begin) const {
  std::string text = begin + tasks_wait(tasks());
  if (tasks() != 0) text += fmt::format(":{}", groups());
  text += cycle();
  text += teams();
  for (const place_waits& p : answers_) {
    for (const std::string& line : p.running) {
      text +=
          places_ > 1 ? fmt::format("\nplace {}: {}", p.place, line) : fmt::format("\n{}", line);
    }
  }
  for (const missing_place& m : missing_) {
    text += fmt::format(
        "\nplace {} has not answered for {:.0f} s, so its tasks are not in this report: its "
        "process "
        "is stopped, or it gets no processor time, or the network is interrupted",
        m.place, m.seconds);
  }
  return text;
}

}  // namespace apgas::inline v0::scheduler
