// SPDX-License-Identifier: Apache-2.0
#include <apgas/scheduler/span_profile.hpp>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <map>
#include <mutex>
#include <system_error>

#include <fmt/format.h>

#include <apgas/base/cycles.hpp>
#include <apgas/base/log.hpp>
#include <apgas/errors.hpp>

#include "recorder.hpp"

namespace apgas::inline v0::scheduler {

span_profile::span_profile(const span_profile_config& c) : config_(c) {
  if (!c.file.empty() && c.place == 0) {
    file_.open(c.file);
    if (!file_) {
      throw launch_error(fmt::format(
          "APGAS_PROFILE=span:json:{}: that file cannot be written ({}); name one in a folder that "
          "exists and may be written",
          c.file, std::system_category().message(errno)));
    }
  }
  recorder_ = std::make_unique<span_recorder>(c);
}

span_profile::~span_profile() = default;

task_observer& span_profile::observer() noexcept { return *recorder_; }

std::vector<std::uint64_t> span_profile::departs(const departing_frame& frame) noexcept {
  return recorder_->departs(frame);
}

bool span_profile::arrives(const arriving_frame& frame,
                           std::span<const std::uint64_t> words) noexcept {
  return recorder_->arrives(frame, words);
}

void span_profile::handled() noexcept { recorder_->handled(); }

std::vector<std::uint64_t> span_profile::part() {
  recorder_->end();
  return recorder_->part();
}

bool span_profile::add_part(std::span<const std::uint64_t> words) {
  return recorder_->add_part(words);
}

void span_profile::report() {
  recorder_->end();
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

// ---- totals -------------------------------------------------------------------------------------

void span_recorder::site_totals::add_task(site_number site, const task_total& total) {
  task_total& sum = tasks[site];
  sum.tasks += total.tasks;
  sum.work += total.work;
  sum.longest = std::max(sum.longest, total.longest);
}

void span_recorder::site_totals::add_finish(site_number site, const finish_total& total) {
  finish_total& sum = finishes[site];
  sum.times += total.times;
  if (total.largest_work < sum.largest_work) return;
  sum.largest_work = total.largest_work;
  sum.largest_span = total.largest_span;
}

void span_recorder::end() {
  for (const shard& in : shards_) {
    for (const auto& [counter, each] : in.scopes) longest_.join(each.scope.latest);
  }
  for (const worker_totals& of_worker : totals_) {
    for (const auto& [site, total] : of_worker.tasks) job_.add_task(site, total);
    for (const auto& [site, total] : of_worker.finishes) job_.add_finish(site, total);
  }
  workers_ += config_.workers;
}

// Words: workers; texts of sites; the totals of each site of tasks, and of finishes, with its code;
// the longest paths.
span_words span_recorder::part() const {
  span_words words{static_cast<std::uint64_t>(workers_)};
  const std::vector<std::string> texts = sites_.texts();
  words.push_back(texts.size());
  for (const std::string& text : texts) put_text(words, text);
  words.push_back(job_.tasks.size());
  for (const auto& [site, t] : job_.tasks) {
    words.insert(words.end(), {sites_.code_of(site), t.tasks, t.work, t.longest});
  }
  words.push_back(job_.finishes.size());
  for (const auto& [site, f] : job_.finishes) {
    words.insert(words.end(), {sites_.code_of(site), f.times, f.largest_work, f.largest_span});
  }
  put_paths(words, longest_, sites_);
  return words;
}

bool span_recorder::add_part(std::span<const std::uint64_t> words) {
  span_reader from(words);
  workers_ += static_cast<int>(from.word());
  for (std::size_t n = from.count(1); n != 0; --n) sites_.number_of_text(from.text());
  for (std::size_t n = from.count(4); n != 0; --n) {
    const site_number site = sites_.number_of_code(from.word());
    const task_total total{.tasks = from.word(), .work = from.word(), .longest = from.word()};
    job_.add_task(site, total);
  }
  for (std::size_t n = from.count(4); n != 0; --n) {
    const site_number site = sites_.number_of_code(from.word());
    job_.add_finish(
        site, {.times = from.word(), .largest_work = from.word(), .largest_span = from.word()});
  }
  const critical_paths longest_there = from.next_paths(sites_);
  {
    const std::lock_guard guard(events_lock_);  // the last tasks of this place may still be ending
    longest_.join(longest_there);
  }
  return from.good() && from.at_end();
}

span_summary span_recorder::summary() const {
  span_summary s;
  s.places = config_.places;
  s.workers = workers_;
  if (!config_.nanoseconds) {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begun_;
    const std::uint64_t ticks = std::max<std::uint64_t>(config_.clock() - begun_ticks_, 1);
    s.seconds_per_tick = elapsed.count() / static_cast<double>(ticks);
  }
  std::map<site_number, spawn_site_row> tasks;
  std::map<site_number, finish_row> finishes;
  for (const auto& [site, total] : job_.tasks) {
    spawn_site_row& row = tasks[site];
    row.tasks = total.tasks;
    row.work = total.work;
    row.longest = total.longest;
    s.tasks += total.tasks;
    s.work += total.work;
  }
  for (const auto& [site, total] : job_.finishes) {
    finish_row& row = finishes[site];
    row.times = total.times;
    row.largest_work = total.largest_work;
    row.largest_span = total.largest_span;
  }
  for (const path_share& share : longest_.longest.shares()) {
    (share.kind == path_share::of::task ? tasks[share.site].on_path
                                        : finishes[share.site].on_path) += share.ticks;
  }
  for (const path_share& share : longest_.burdened.shares()) {
    spawn_site_row& row = tasks[share.site];
    row.on_burdened_path += share.ticks;
    if (share.kind == path_share::of::scheduling) row.burden += share.ticks;
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
  s.span = longest_.longest.length();
  s.burdened_span = longest_.burdened.length();
  return s;
}

}  // namespace apgas::inline v0::scheduler
