// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "awaited_tasks.hpp"
#include "wait_groups.hpp"

namespace apgas::inline v0::scheduler {
namespace {

// A place knows the texts of its groups by their addresses.
std::string construct_of(const wait_record& waits_for, const char* caller) {
  return construct_text(waits_for.construct, line_text(waits_for, caller));
}

}  // namespace

bool is_of_standard_library(const call_site& where) noexcept {
  return std::strstr(where.file_name(), "/include/c++/") != nullptr;
}

std::string line_text(const wait_record& waits_for, const char* caller) {
  std::string line = line_text(waits_for.where);
  return line.empty() ? caller : line;
}

std::string line_text(const call_site& where) {
  if (where.line() == 0 || is_of_standard_library(where)) return {};
  return fmt::format("{}:{}", where.file_name(), where.line());
}

std::string construct_text(std::string_view construct, std::string_view line) {
  return fmt::format("{}{}{}", construct, line.empty() ? "" : " at ", line);
}

std::string task_text(const task_state& task, bool main) {
  std::string text;
  if (task.name != nullptr) text = fmt::format("\"{}\", ", task.name);
  if (task.site.line() == 0) return text + (main ? "main" : "a task without a spawn site");
  return fmt::format("{}spawned at {}:{}", text, task.site.file_name(), task.site.line());
}

std::size_t wait_groups::key_hash::operator()(const key& k) const noexcept {
  std::size_t h = k.line * std::size_t{31} + k.spawn_line + (k.main ? 1 : 0);
  for (const char* p : {k.construct, k.file, k.caller, k.spawn_file, k.name}) {
    h = (h ^ reinterpret_cast<std::uintptr_t>(p)) * std::size_t{0x9e3779b97f4a7c15};
  }
  return h ^ (h >> 32);
}

wait_groups::key wait_groups::key_of(const wait_record& waits_for, const task_state& task,
                                     bool main, const char* caller) noexcept {
  return {.construct = waits_for.construct,
          .file = waits_for.where.file_name(),
          .caller = caller,
          .spawn_file = task.site.file_name(),
          .name = task.name,
          .line = waits_for.where.line(),
          .spawn_line = task.site.line(),
          .main = main && task.site.line() == 0};
}

std::uint64_t wait_groups::add(const wait_record& waits_for, const task_state& task, bool main,
                               double waited_s, const char* caller) {
  ++tasks_;
  const key k = key_of(waits_for, task, main, caller);
  auto at = groups_.find(k);
  if (at == groups_.end()) {
    if (groups_.size() == groups_told_apart_max) return std::numeric_limits<std::uint64_t>::max();
    at = groups_.try_emplace(k).first;
    at->second.waits_for = waits_for;
    at->second.task = task;
  }
  group& g = at->second;
  g.longest_s = std::max(g.longest_s, waited_s);
  return ++g.count;
}

std::string text_of(const place_waits::group& g) {
  std::string text = fmt::format("{} in {}, {}", g.count, g.construct, g.task);
  // Rounded down, since less is known to be true.
  if (g.longest_s >= 1)
    text += fmt::format(", for {}{:.0f} s", g.at_least ? "at least " : "", std::floor(g.longest_s));
  return text;
}

std::vector<place_waits::group> wait_groups::largest(std::size_t most) const {
  // Equal lines may have several addresses.
  std::map<std::pair<std::string, std::string>, place_waits::group> by_text;
  for (const auto& [k, g] : groups_) {
    place_waits::group& all =
        by_text[{construct_of(g.waits_for, k.caller), task_text(g.task, k.main)}];
    all.count += g.count;
    all.longest_s = std::max(all.longest_s, g.longest_s);
  }
  std::vector<place_waits::group> all;
  all.reserve(by_text.size());
  for (auto& [text, g] : by_text) {
    all.push_back({text.first, text.second, g.count, g.longest_s});
  }
  std::ranges::stable_sort(all, std::ranges::greater{}, &place_waits::group::count);
  if (all.size() > most) all.resize(most);
  return all;
}

waiting_tasks wait_groups::description_of(const wait_record& waits_for, const task_state& task,
                                          bool main, const char* caller) {
  return {.tasks = 1,
          .construct = waits_for.construct,
          .where = line_text(waits_for, caller),
          .spawned = line_text(task.site),
          .name = task.name == nullptr ? "" : task.name,
          .main = main && task.site.line() == 0,
          .awaits = {}};
}

std::vector<waiting_tasks> wait_groups::list(const awaited_tasks& awaited) const {
  // Equal lines may have several addresses.
  std::map<std::pair<std::string, std::string>, waiting_tasks> by_text;
  for (const auto& [k, g] : groups_) {
    const auto [at, is_new] =
        by_text.try_emplace({construct_of(g.waits_for, k.caller), task_text(g.task, k.main)});
    const std::uint64_t before = at->second.tasks;
    if (is_new) {
      at->second = description_of(g.waits_for, g.task, k.main, k.caller);
      at->second.awaits = awaited.text(at->first.first, at->first.second);
    }
    at->second.tasks = before + g.count;
    at->second.longest_s = std::max(at->second.longest_s, g.longest_s);
  }
  std::vector<waiting_tasks> all;
  all.reserve(by_text.size());
  for (auto& [line, tasks] : by_text) all.push_back(std::move(tasks));
  std::ranges::stable_sort(all, std::ranges::greater{}, &waiting_tasks::tasks);
  return all;
}

}  // namespace apgas::inline v0::scheduler
