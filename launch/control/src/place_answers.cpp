// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include <apgas/scheduler/inspection.hpp>

#include "place_answers.hpp"

namespace apgas::inline v0::launch {
namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t bytes_of_a_stack = 32768;

std::string text_of(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);  // paths are not checked
}

json json_of(const process_facts& facts) {
  return {{"job", facts.job},          {"program", facts.program}, {"host", facts.host},
          {"process", getpid()},       {"started", facts.started}, {"job_places", facts.places},
          {"watchdog", facts.watchdog}};
}

json json_of(const scheduler::waiting_tasks& group) {
  return {{"tasks", group.tasks},     {"construct", group.construct}, {"where", group.where},
          {"spawned", group.spawned}, {"name", group.name},           {"main", group.main},
          {"awaits", group.awaits},   {"waited_s", group.longest_s}};
}

json json_of(const scheduler::wait_edges& list) {
  json edges = json::array();
  for (const scheduler::wait_edge& each : list.edges) {
    json one{{"tasks", each.tasks}, {"construct", each.construct}, {"where", each.where},
             {"task", each.task},   {"place", each.place},         {"object", each.object}};
    if (each.awaited_tasks != 0) {
      one["awaits"] = {{"tasks", each.awaited_tasks}, {"relation", each.relation},
                       {"task", each.awaited_task},   {"construct", each.awaited_construct},
                       {"where", each.awaited_where}, {"place", each.awaited_place}};
    } else if (!each.absent.empty()) {
      one["awaits"] = {{"places", each.absent}};
    }
    edges.push_back(std::move(one));
  }
  json left_out = json::object();
  for (const scheduler::wait_edges::rest& each : list.left_out)
    left_out[each.construct] = each.edges;
  return {{"edges", std::move(edges)}, {"left_out", std::move(left_out)}};
}

const char* name_of(scheduler::worker_report::kind what) {
  using enum scheduler::worker_report::kind;
  return what == asleep ? "asleep" : what == searching ? "searching" : "running";
}

json tasks_of(const sync::place_state& place, bool detailed) {
  const scheduler::task_report report = scheduler::report_tasks(*place.task_scheduler, detailed);
  json workers = json::array();
  std::size_t awake = 0;
  for (const scheduler::worker_report& each : report.workers) {
    if (each.what != scheduler::worker_report::kind::asleep) ++awake;
    workers.push_back({{"state", name_of(each.what)}, {"spawned", each.spawned}});
  }
  json result{{"place", place.here},       {"waiting", report.waiting},   {"queued", report.queued},
              {"at_rest", report.at_rest}, {"observed", report.observed}, {"awake", awake}};
  if (!detailed) {
    result["workers"] = report.workers.size();
    return result;
  }
  json groups = json::array();
  for (const scheduler::waiting_tasks& each : report.groups) groups.push_back(json_of(each));
  result["workers"] = std::move(workers);
  result["groups"] = std::move(groups);
  result["cycle"] = report.cycle;
  return result;
}

std::string hexadecimal(const std::vector<std::byte>& bytes) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::byte b : bytes) {
    text += digits[std::to_integer<unsigned>(b) >> 4U];
    text += digits[std::to_integer<unsigned>(b) & 15U];
  }
  return text;
}

}  // namespace

std::string tasks_answer(const process_facts& facts, places_of_process places, bool detailed) {
  json answer = json_of(facts);
  json all = json::array();
  for (const sync::place_state* const each : places) all.push_back(tasks_of(*each, detailed));
  answer["places"] = std::move(all);
  return text_of(answer);
}

std::string stacks_answer(const process_facts& facts, places_of_process places) {
  json answer = json_of(facts);
  json all = json::array();
  for (const sync::place_state* const each : places) {
    json place = tasks_of(*each, true);
    const auto copied = scheduler::copy_stacks(*each->task_scheduler, bytes_of_a_stack);
    json stacks = json::array();
    for (const scheduler::suspended_stack& stack : copied.some) {
      json one = json_of(stack.task);
      one["stack_pointer"] = stack.stack_pointer;
      one["bytes"] = hexadecimal(stack.bytes);
      stacks.push_back(std::move(one));
    }
    place["stacks"] = std::move(stacks);
    place["stacks_left_out"] = copied.left_out;
    all.push_back(std::move(place));
  }
  answer["switch"] = scheduler::switches_by_boost() ? "boost" : "own";
  answer["places"] = std::move(all);
  return text_of(answer);
}

std::string explanation_answer(const job_explanation::answer& report,
                               job_explanation::detail what) {
  json result{{"text", report.text}, {"waiting", report.tasks}};
  if (what == job_explanation::detail::edges) result.update(json_of(report.edges));
  if (what != job_explanation::detail::groups) return text_of(result);
  json groups = json::array();
  for (const scheduler::job_report::group& each : report.groups) {
    groups.push_back({{"tasks", each.waits.count},
                      {"waits_in", each.waits.construct},
                      {"task", each.waits.task},
                      {"waited_s", each.waits.longest_s},
                      {"at_least", each.waits.at_least},
                      {"places", each.places},
                      {"awaits", each.awaits}});
  }
  result["groups"] = std::move(groups);
  return text_of(result);
}

std::string trace_answer(const trace_status& status) {
  return text_of({{"state", status.state}, {"path", status.path}, {"problems", status.problems}});
}

std::string activity_answer(std::span<const place_activity> places) {
  json all = json::array();
  for (const place_activity& each : places) {
    json one = json::parse(remote::json_of(std::span(&each.report, 1)))["places"][0];
    one["process"] = each.process;
    one["memory_bytes"] = each.memory_bytes;
    one["memory_peak_bytes"] = each.memory_peak_bytes;
    one["queued"] = each.queued;
    one["asleep"] = each.asleep;
    one["searching"] = each.searching;
    json sites = json::array();
    for (const busy_site& site : each.sites) {
      sites.push_back({{"spawned", site.spawned}, {"workers", site.workers}});
    }
    one["running"] = std::move(sites);
    all.push_back(std::move(one));
  }
  return text_of({{"places", std::move(all)}});
}

}  // namespace apgas::inline v0::launch
