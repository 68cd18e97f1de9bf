// SPDX-License-Identifier: Apache-2.0
#include <apgas/scheduler/span_profile.hpp>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <map>
#include <system_error>

#include <fmt/format.h>

#include <apgas/base/cycles.hpp>
#include <apgas/base/log.hpp>
#include <apgas/errors.hpp>

#include "recorder.hpp"

namespace apgas::inline v0::scheduler {

span_profile::span_profile(const span_profile_config& c) : config_(c) {
  if (!c.file.empty()) {
    file_.open(c.file);
    if (!file_) {
      throw launch_error(fmt::format(
          "APGAS_PROFILE=span:json:{}: that file cannot be written ({}); name one in a folder that "
          "exists and may be written at every place",
          c.file, std::system_category().message(errno)));
    }
  }
  recorder_ = std::make_unique<span_recorder>(c);
}

span_profile::~span_profile() = default;

task_observer& span_profile::observer() noexcept { return *recorder_; }

void span_profile::report() {
  const span_summary found = recorder_->summary();
  if (config_.file.empty()) {
    std::string table = span_table(found);
    table.pop_back();
    base::print_line(table);
    base::print_line(span_sentence(found));
    return;
  }
  file_ << span_json(found);
  file_.close();
  if (!file_) {
    base::warn(fmt::format("the profile {} is not complete: it could not be written ({})",
                           config_.file, std::system_category().message(errno)));
  }
}

span_summary span_recorder::summary() const {
  span_summary s;
  s.place = config_.place;
  s.places = config_.places;
  s.workers = config_.workers;
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begun_;
  s.seconds_per_tick = elapsed.count() / static_cast<double>(std::max<std::uint64_t>(
                                             config_.clock() - begun_ticks_, 1));
  path longest = longest_;
  for (const shard& in : shards_) {
    for (const auto& [counter, each] : in.scopes) longest.join(each.scope.latest);
  }
  std::map<site_number, spawn_site_row> tasks;
  std::map<site_number, finish_row> finishes;
  for (const worker_totals& of_worker : totals_) {
    for (const auto& [site, total] : of_worker.tasks) {
      spawn_site_row& row = tasks[site];
      row.tasks += total.tasks;
      row.work += total.work;
      row.longest = std::max(row.longest, total.longest);
      s.tasks += total.tasks;
      s.work += total.work;
    }
    for (const auto& [site, total] : of_worker.finishes) {
      finish_row& row = finishes[site];
      row.times += total.times;
      if (total.largest_work < row.largest_work) continue;
      row.largest_work = total.largest_work;
      row.largest_span = total.largest_span;
    }
  }
  for (const path_share& share : longest.shares()) {
    (share.kind == path_share::of::task ? tasks[share.site].on_path
                                        : finishes[share.site].on_path) += share.ticks;
  }
  for (auto& [site, row] : tasks) {
    row.site = sites_.text_of(site);
    row.is_line = site != site_table::unknown && !row.site.starts_with('"');
    s.by_spawn_site.push_back(std::move(row));
  }
  for (auto& [site, row] : finishes) {
    row.site = sites_.text_of(site);
    s.by_finish.push_back(std::move(row));
  }
  s.span = longest.length();
  s.burdened_span = longest.burdened();
  return s;
}

}  // namespace apgas::inline v0::scheduler
