// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <ranges>
#include <string_view>

#include <fmt/format.h>

#include <apgas/base/utf8.hpp>

#include "span_report.hpp"

namespace apgas::inline v0::scheduler {
namespace {

constexpr std::size_t rows_most = 12;

std::string time_text(double seconds) {
  if (seconds >= 1) return fmt::format("{:.3f} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.3f} ms", seconds * 1e3);
  return fmt::format("{:.3f} us", seconds * 1e6);
}

double percent(span_ticks part, span_ticks whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string parallelism_text(span_ticks work, span_ticks on_path) {
  return on_path == 0 ? "-" : fmt::format("{:.1f}", parallelism(work, on_path));
}
std::string parallelism_json(span_ticks work, span_ticks on_path) {
  return on_path == 0 ? "null" : fmt::format("{:.6g}", parallelism(work, on_path));
}

// Orders the rows by their time on the critical path, then by `second`.
template <class Row, class Second>
std::vector<Row> ordered(std::vector<Row> rows, Second second) {
  std::ranges::sort(rows, [&](const Row& a, const Row& b) {
    if (a.on_path != b.on_path) return a.on_path > b.on_path;
    return second(a) != second(b) ? second(a) > second(b) : a.site < b.site;
  });
  return rows;
}
std::vector<spawn_site_row> ordered_tasks(const span_summary& s) {
  return ordered(s.by_spawn_site, [](const spawn_site_row& r) { return r.work; });
}
std::vector<finish_row> ordered_finishes(const span_summary& s) {
  return ordered(s.by_finish, [](const finish_row& r) { return r.largest_work; });
}

std::string omitted(std::size_t rows) {
  if (rows <= rows_most) return {};
  return fmt::format("  ... and {} more, with less of the critical path\n", rows - rows_most);
}

std::string totals(const span_summary& s) {
  const auto line = [](std::string_view what, const std::string& value) {
    return fmt::format("  {:<34}{:>12}\n", what, value);
  };
  const auto time = [&](span_ticks ticks) {
    return time_text(static_cast<double>(ticks) * s.seconds_per_tick);
  };
  std::string text = line("work, of all tasks", time(s.work));
  text += line("span, of the critical path", time(s.span));
  text += line("parallelism, work / span", fmt::format("{:.1f}", parallelism(s.work, s.span)));
  text += line("burdened span", time(s.burdened_span));
  text += line("burdened parallelism", fmt::format("{:.1f}", parallelism(s.work, s.burdened_span)));
  text += line("tasks", fmt::format("{}", s.tasks));
  std::string numbers = fmt::format("  {:<20}", "workers");
  std::string factors = fmt::format("  {:<20}", "speed-up to expect");
  for (const int workers : {2, 4, 8, 16, 32, 64}) {
    const speed_up factor = expected_speed_up(s, workers);
    numbers += fmt::format("{:>14}", workers);
    factors += fmt::format("{:>14}", fmt::format("{:.1f} to {:.1f}", factor.least, factor.most));
  }
  return text + numbers + "\n" + factors + "\n";
}

std::string task_table(const span_summary& s) {
  std::string text = fmt::format("  {:<36}{:>12}{:>9}{:>14}{:>14}{:>14}{:>13}{:>9}{:>10}\n",
                                 "tasks spawned at", "tasks", "work", "mean", "longest",
                                 "critical path", "parallelism", "burden", "burdened");
  const std::vector<spawn_site_row> rows = ordered_tasks(s);
  for (const spawn_site_row& r : rows | std::views::take(rows_most)) {
    const double work = static_cast<double>(r.work) * s.seconds_per_tick;
    const double count = static_cast<double>(std::max<std::uint64_t>(r.tasks, 1));
    text += fmt::format("  {:<36}{:>12}{:>7.1f} %{:>14}{:>14}{:>12.1f} %{:>13}{:>7.1f} %{:>10}\n",
                        r.site, r.tasks, percent(r.work, s.work), time_text(work / count),
                        time_text(static_cast<double>(r.longest) * s.seconds_per_tick),
                        percent(r.on_path, s.span), parallelism_text(r.work, r.on_path),
                        percent(r.burden, s.burdened_span),
                        parallelism_text(r.work, r.on_burdened_path));
  }
  return text + omitted(rows.size());
}

std::string finish_table(const span_summary& s) {
  if (s.by_finish.empty()) return {};
  std::string text = fmt::format("  {:<36}{:>12}{:>37}{:>14}\n", "finish or join", "times",
                                 "parallelism of the largest", "critical path");
  const std::vector<finish_row> rows = ordered_finishes(s);
  for (const finish_row& r : rows | std::views::take(rows_most)) {
    text += fmt::format("  {:<36}{:>12}{:>37.1f}{:>12.1f} %\n", r.site, r.times,
                        parallelism(r.largest_work, r.largest_span), percent(r.on_path, s.span));
  }
  return text + omitted(rows.size());
}

// What has the largest part of the critical path: a finish, or what is in no finish.
struct bound {
  std::string what;
  span_ticks on_path = 0;
};
bound largest_part(const span_summary& s) {
  bound found;
  span_ticks in_finishes = 0;
  for (const finish_row& r : s.by_finish) {
    in_finishes += r.on_path;
    if (r.on_path > found.on_path) found = {r.site, r.on_path};
  }
  const span_ticks outside = s.span - std::min(s.span, in_finishes);
  if (outside > found.on_path || found.what.empty()) found = {"code outside any finish", outside};
  return found;
}

// Where most of the burdened span is scheduling, says of which tasks.
std::string short_tasks(const span_summary& s) {
  span_ticks all = 0;
  const spawn_site_row* most = nullptr;
  for (const spawn_site_row& r : s.by_spawn_site) {
    all += r.burden;
    if (most == nullptr || r.burden > most->burden) most = &r;
  }
  if (all <= s.burdened_span / 2) return {};
  return fmt::format(
      "; with scheduling by {:.1f}: {:.0f} % of the burdened span is scheduling, the largest part "
      "of it of {}{}, so make these tasks longer",
      parallelism(s.work, s.burdened_span), percent(all, s.burdened_span),
      most->is_line ? "tasks spawned at " : "", most->site);
}

// Returns `text` as a JSON string.
std::string quoted(std::string_view text) {
  std::string result = "\"";
  std::string valid;
  for (const char c : base::as_utf8(text, valid)) {
    if (c == '"' || c == '\\') result += '\\';
    result += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return result + '"';
}

}  // namespace

double parallelism(span_ticks work, span_ticks span) noexcept {
  return span == 0 ? 1 : static_cast<double>(work) / static_cast<double>(span);
}

speed_up expected_speed_up(const span_summary& s, int workers) noexcept {
  if (s.work == 0) return {};
  const auto work = static_cast<double>(s.work);
  const double bounded = work / workers + static_cast<double>(s.burdened_span);
  return {.least = std::max(work / bounded, 0.0),
          .most = std::min(static_cast<double>(workers), parallelism(s.work, s.span))};
}

std::string span_table(const span_summary& s) {
  const std::string places = s.places == 1 ? "" : fmt::format(" at {} places", s.places);
  return fmt::format("work and span, on {} worker{}{}:\n", s.workers, s.workers == 1 ? "" : "s",
                     places) +
         totals(s) + task_table(s) + finish_table(s);
}

std::string span_sentence(const span_summary& s) {
  const bound largest = largest_part(s);
  std::string text =
      fmt::format("speed-up bounded by {:.1f}: {} ({:.0f} % of the critical path",
                  parallelism(s.work, s.span), largest.what, percent(largest.on_path, s.span));
  const std::vector<spawn_site_row> sites = ordered_tasks(s);
  if (!sites.empty() && sites[0].on_path != 0) {
    text += fmt::format("; {:.0f} % is in {}{}", percent(sites[0].on_path, s.span),
                        sites[0].is_line ? "tasks spawned at " : "", sites[0].site);
  }
  return text + ")" + short_tasks(s);
}

std::string span_json(const span_summary& s) {
  const auto time = [&](span_ticks ticks) {
    return static_cast<double>(ticks) * s.seconds_per_tick;
  };
  std::string text = fmt::format(
      R"({{"places":{},"workers":{},"tasks":{},"work":{:.9g},"span":{:.9g},)"
      R"("parallelism":{:.6g},"burdened_span":{:.9g},"burdened_parallelism":{:.6g},)"
      R"("bounded_by":{},)",
      s.places, s.workers, s.tasks, time(s.work), time(s.span), parallelism(s.work, s.span),
      time(s.burdened_span), parallelism(s.work, s.burdened_span), quoted(largest_part(s).what));
  text += "\n\"spawn_sites\":[";
  const char* separator = "\n";
  for (const spawn_site_row& r : ordered_tasks(s)) {
    text += fmt::format(
        R"({}{{"site":{},"tasks":{},"work":{:.9g},"longest":{:.9g},"on_critical_path":{:.9g},)"
        R"("parallelism":{},"on_burdened_path":{:.9g},"burden":{:.9g},"burdened_parallelism":{}}})",
        separator, quoted(r.site), r.tasks, time(r.work), time(r.longest), time(r.on_path),
        parallelism_json(r.work, r.on_path), time(r.on_burdened_path), time(r.burden),
        parallelism_json(r.work, r.on_burdened_path));
    separator = ",\n";
  }
  text += "],\n\"finishes\":[";
  separator = "\n";
  for (const finish_row& r : ordered_finishes(s)) {
    text +=
        fmt::format(R"({}{{"site":{},"times":{},"on_critical_path":{:.9g},"largest_work":{:.9g},)"
                    R"("largest_span":{:.9g}}})",
                    separator, quoted(r.site), r.times, time(r.on_path), time(r.largest_work),
                    time(r.largest_span));
    separator = ",\n";
  }
  return text + "]}\n";
}

}  // namespace apgas::inline v0::scheduler
