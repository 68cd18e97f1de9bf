// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "wait_groups.hpp"

namespace apgas::inline v0::scheduler {
namespace {

constexpr std::size_t groups_max = 20;  // that a report contains

std::string group_text(const wait_record& waits_for, const task_state& task) {
  const std::string at = line_text(waits_for.where);
  return fmt::format("{}{}{}, {}", waits_for.construct, at.empty() ? "" : " at ", at,
                     task_text(task));
}

}  // namespace

std::string line_text(const call_site& where) {
  if (where.line() == 0 || std::strstr(where.file_name(), "/include/c++/") != nullptr) return {};
  return fmt::format("{}:{}", where.file_name(), where.line());
}

std::string task_text(const task_state& task) {
  std::string text;
  if (task.name != nullptr) text = fmt::format("\"{}\", ", task.name);
  if (task.site.line() == 0) return fmt::format("{}main or a task without a spawn site", text);
  return fmt::format("{}spawned at {}:{}", text, task.site.file_name(), task.site.line());
}

std::size_t wait_groups::key_hash::operator()(const key& k) const noexcept {
  std::size_t h = k.line * std::size_t{31} + k.spawn_line;
  for (const char* p : {k.construct, k.file, k.spawn_file, k.name}) {
    h = (h ^ reinterpret_cast<std::uintptr_t>(p)) * std::size_t{0x9e3779b97f4a7c15};
  }
  return h ^ (h >> 32);
}

std::uint64_t wait_groups::add(const wait_record& waits_for, const task_state& task) {
  const key k{.construct = waits_for.construct,
              .file = waits_for.where.file_name(),
              .spawn_file = task.site.file_name(),
              .name = task.name,
              .line = waits_for.where.line(),
              .spawn_line = task.site.line()};
  group& g = groups_[k];
  if (g.count++ == 0) {
    g.waits_for = waits_for;
    g.task = task;
  }
  ++tasks_;
  return g.count;
}

std::string wait_groups::text() const {
  std::map<std::string, std::uint64_t> by_text;  // equal lines may have several addresses
  for (const auto& [k, g] : groups_) by_text[group_text(g.waits_for, g.task)] += g.count;
  std::vector<std::pair<std::string, std::uint64_t>> most(by_text.begin(), by_text.end());
  std::ranges::stable_sort(most, std::ranges::greater{}, &decltype(most)::value_type::second);
  std::string text;
  for (std::size_t i = 0; i < std::min(groups_max, most.size()); ++i) {
    text += fmt::format("{} {} in {}", i == 0 ? "" : ";", most[i].second, most[i].first);
  }
  if (most.size() > groups_max) {
    text += fmt::format("; and {} more such groups", most.size() - groups_max);
  }
  return text;
}

waiting_tasks wait_groups::description_of(const wait_record& waits_for, const task_state& task) {
  return {.tasks = 1,
          .construct = waits_for.construct,
          .where = line_text(waits_for.where),
          .spawned = line_text(task.site),
          .name = task.name == nullptr ? "" : task.name};
}

std::vector<waiting_tasks> wait_groups::list() const {
  std::map<std::string, waiting_tasks> by_text;  // as in text()
  for (const auto& [k, g] : groups_) {
    const auto [at, is_new] = by_text.try_emplace(group_text(g.waits_for, g.task));
    const std::uint64_t before = at->second.tasks;
    if (is_new) at->second = description_of(g.waits_for, g.task);
    at->second.tasks = before + g.count;
  }
  std::vector<waiting_tasks> all;
  all.reserve(by_text.size());
  for (auto& [line, tasks] : by_text) all.push_back(std::move(tasks));
  std::ranges::stable_sort(all, std::ranges::greater{}, &waiting_tasks::tasks);
  return all;
}

}  // namespace apgas::inline v0::scheduler
