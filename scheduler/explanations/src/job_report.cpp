// SPDX-License-Identifier: Apache-2.0
#include <apgas/scheduler/job_report.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <apgas/scheduler/remedy.hpp>

#include "awaited_tasks.hpp"
#include "edge_list.hpp"
#include "hang_explanation.hpp"
#include "joined_graph.hpp"
#include "team_calls.hpp"
#include "wait_groups.hpp"

namespace apgas::inline v0::scheduler {
namespace {

constexpr std::size_t groups_printed_max = 20;  // that a report contains

constexpr std::string_view they_wait = "\nthey wait for each other";
constexpr std::string_view some_wait = "\nsome of them wait for each other";
constexpr std::string_view some_may_wait = "\nsome of them may wait for each other";

// Of a cycle that a place has found: while tasks of the place run, one of them may unlock a mutex.
// With several places, the names of objects may be those of a moment before.
std::string_view begin_of_cycle(const place_waits& p, bool with_places) {
  if (p.asleep) return they_wait;
  return p.cycle_is_certain && !with_places ? some_wait : some_may_wait;
}

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

std::vector<job_report::group> job_report::groups(const joined_graph& graph,
                                                  std::size_t most) const {
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
      m.all.at_least |= g.at_least;
      m.places.insert(p.place);
    }
  }
  std::vector<const merged*> order;
  order.reserve(by_text.size());
  for (const auto& [text, m] : by_text) order.push_back(&m);
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [](const merged* m) { return m->all.count; });
  if (order.size() > most) order.resize(most);
  const awaited_tasks awaited(graph, places_ > 1);
  std::vector<group> result;
  result.reserve(order.size());
  for (const merged* const m : order) {
    result.push_back({.waits = m->all,
                      .places = {m->places.begin(), m->places.end()},
                      .awaits = awaited.text(m->all.construct, m->all.task)});
  }
  return result;
}

std::vector<job_report::group> job_report::groups() const {
  return groups(joined_graph(answers_), std::numeric_limits<std::size_t>::max());
}

// Returns the largest groups of all places, each with its places.
std::string job_report::groups_text(const joined_graph& graph) const {
  std::string text;
  std::uint64_t told = 0;
  for (const group& g : groups(graph, groups_printed_max)) {
    text += fmt::format("{} {}", told == 0 ? "" : ";", text_of(g.waits));
    told += g.waits.count;
    if (places_ > 1) text += fmt::format(", at {}", places_text(g.places));
    if (!g.awaits.empty()) text += fmt::format(" ({})", g.awaits);
  }
  if (tasks() > told) text += fmt::format("; and {} more tasks in other groups", tasks() - told);
  return text;
}

job_report::cycle_line job_report::cycle(const joined_graph& graph) const {
  const auto sentence = [](std::string_view begin, const std::vector<cycle_step>& steps) {
    return cycle_line{fmt::format("{}: {}", begin, describe_cycle(steps)), kind_of_cycle(steps)};
  };
  const bool with_places = places_ > 1;
  if (with_places && std::ranges::all_of(answers_, &place_waits::asleep)) {
    if (const auto certain = graph.certain_cycle(with_places); !certain.empty())
      return sentence(they_wait, certain);
  }
  for (const place_waits& p : answers_) {
    if (p.cycle.empty()) continue;
    return {fmt::format("{}{}: {}", begin_of_cycle(p, with_places),
                        with_places ? fmt::format(", at place {}", p.place) : "", p.cycle),
            p.kind_of_cycle};
  }
  if (!with_places) return {};  // the place has seen its whole graph
  bool all_wait = false;
  if (const auto called = graph.cycle_of_collectives(with_places, all_wait); !called.empty())
    return sentence(all_wait && missing_.empty() ? they_wait : some_may_wait, called);
  const auto possible = graph.possible_cycle(with_places);
  return possible.empty() ? cycle_line() : sentence(some_may_wait, possible);
}

std::string_view job_report::remedy() const {
  const cycle_kind kind = cycle(joined_graph(answers_)).kind;
  return kind == cycle_kind::none ? remedy_for(answers_) : remedy_for(kind);
}

std::string job_report::text(const std::string& begin) const {
  std::string text = begin + tasks_wait(tasks());
  const joined_graph graph(answers_);
  if (tasks() != 0) text += fmt::format(":{}", groups_text(graph));
  text += cycle(graph).text;
  text += missing_members(answers_);
  return text + places_lines();
}

wait_edges job_report::edges(std::size_t most) const {
  return edges_of(joined_graph(answers_), places_ > 1, most);
}

std::string job_report::edges_text(const wait_edges& edges, std::size_t most) const {
  std::string text = tasks_wait(tasks());
  std::map<std::string_view, std::size_t> left;
  for (const wait_edges::rest& each : edges.left_out) left[each.construct] = each.edges;
  for (auto e = edges.edges.begin(); e != edges.edges.end();) {
    const std::string& construct = e->construct;
    std::size_t more = left[construct];
    for (std::size_t n = 0; e != edges.edges.end() && e->construct == construct; ++e, ++n) {
      if (n < most) {
        text.append("\n").append(e->text);
      } else {
        ++more;
      }
    }
    if (more != 0)
      text +=
          fmt::format("\nand {} more edge{} of tasks in {}", more, more == 1 ? "" : "s", construct);
  }
  return text + places_lines();
}

// What the workers of each place run, what is missing of its graph, and which places have not
// answered.
std::string job_report::places_lines() const {
  std::string text;
  const auto add = [&](const place_waits& p, std::string_view line) {
    text += places_ > 1 ? fmt::format("\nplace {}: {}", p.place, line) : fmt::format("\n{}", line);
  };
  for (const place_waits& p : answers_) {
    for (const std::string& line : p.running) add(p, line);
    if (p.not_in_graph == 0) continue;
    add(p,
        fmt::format("so many tasks wait in different ways that {} of them are only counted: what "
                    "they await is not in this report, and no cycle through them is found",
                    p.not_in_graph));
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
