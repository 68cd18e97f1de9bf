// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <apgas/places/place_report.hpp>

#include "statistics_fields.hpp"

// The statistics as a table for people.
namespace apgas::inline v0::remote {
namespace {

constexpr std::size_t most_columns = 8;  // of places
constexpr std::size_t most_links = 16;   // that are shown, those with most bytes

std::string with_commas(std::uint64_t number) {
  if (number < 1000) return std::to_string(number);
  return fmt::format("{},{:03}", with_commas(number / 1000), number % 1000);
}

std::string seconds(std::uint64_t nanoseconds) {
  return fmt::format("{:.3f} s", static_cast<double>(nanoseconds) / 1e9);
}

std::string shown(const statistics_field& field, const statistics& values) {
  const std::uint64_t value = values.*field.value;
  const bool time = field.kind == field_kind::nanoseconds || field.kind == field_kind::longest;
  return time ? seconds(value) : with_commas(value);
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

// A cell for each column of a row.
struct row {
  std::string text;
  std::vector<std::string> cells;
};

void append(std::string& to, const std::vector<row>& rows) {
  std::size_t text_width = 0;
  std::size_t width = 0;
  for (const row& each : rows) {
    text_width = std::max(text_width, each.text.size());
    for (const std::string& cell : each.cells) width = std::max(width, cell.size());
  }
  for (const row& each : rows) {
    to += fmt::format("  {:<{}}", each.text, text_width);
    for (const std::string& cell : each.cells) to += fmt::format("  {:>{}}", cell, width);
    to += '\n';
  }
}

// A row over the columns: all places, and each or, if there are many, the least and the most.
template <class Show, class Key>
row make_row(const char* text, std::span<const place_report> all, const statistics& sum, Show show,
             Key key) {
  row result{text, {show(sum)}};
  if (all.size() <= 1) return result;
  if (all.size() <= most_columns) {
    for (const place_report& each : all) result.cells.push_back(show(each.counters));
    return result;
  }
  const auto by = [&key](const place_report& each) { return key(each.counters); };
  for (const place_report& each : {std::ranges::min(all, {}, by), std::ranges::max(all, {}, by)}) {
    result.cells.push_back(fmt::format("{} ({})", show(each.counters), each.place));
  }
  return result;
}

row heading(std::span<const place_report> all) {
  row result{"", {"all"}};
  if (all.size() > most_columns) {
    result.cells.insert(result.cells.end(), {"least (place)", "most (place)"});
  } else if (all.size() > 1) {
    for (const place_report& each : all)
      result.cells.push_back(fmt::format("place {}", each.place));
  }
  return result;
}

std::string link_lines(std::span<const place_report> all) {
  struct link {
    const place_report* from;
    link_traffic traffic;
  };
  std::vector<link> links;
  for (const place_report& each : all) {
    for (const link_traffic& one : each.links) links.push_back({&each, one});
  }
  if (links.empty()) return {};
  std::ranges::stable_sort(links, std::ranges::greater{},
                           [](const link& each) { return each.traffic.bytes; });
  std::vector<row> rows{{"from place to place", {"frames", "messages", "bytes", "by"}}};
  for (const link& each : std::span(links).first(std::min(most_links, links.size()))) {
    rows.push_back(
        {fmt::format("{} to {}", each.from->place, each.traffic.to),
         {with_commas(each.traffic.frames), with_commas(each.traffic.messages),
          with_commas(each.traffic.bytes), std::string(link_name(*each.from, each.traffic))}});
  }
  std::string text;
  append(text, rows);
  if (links.size() > most_links) {
    const auto others = std::span(links).subspan(most_links);
    std::map<std::string_view, std::size_t> wires;
    for (const link& each : others) ++wires[link_name(*each.from, each.traffic)];
    std::vector<std::string> by;
    by.reserve(wires.size());
    for (const auto& [name, pairs] : wires) by.push_back(fmt::format("{} by {}", pairs, name));
    text += fmt::format("  and {} more pairs with fewer bytes ({})\n", others.size(),
                        fmt::join(by, ", "));
  }
  return text;
}

}  // namespace

std::string table_of(std::span<const place_report> all) {
  statistics sum;
  for (const place_report& each : all) sum += each.counters;
  std::vector<row> rows{heading(all)};
  rows.push_back(make_row(
      "workers awake", all, sum, [](const statistics& s) { return percent(s.awake()); },
      [](const statistics& s) { return s.awake(); }));
  for (const statistics_field& field : statistics_fields) {
    // Of the parts of a number, which are indented, only those that occurred.
    if (field.text[0] == ' ' && sum.*field.value == 0) continue;
    rows.push_back(make_row(
        field.text, all, sum, [&field](const statistics& s) { return shown(field, s); },
        [&field](const statistics& s) { return s.*field.value; }));
  }
  rows.push_back(make_row(
      "frames in a message", all, sum,
      [](const statistics& s) { return fmt::format("{:.1f}", s.frames_per_message()); },
      [](const statistics& s) { return s.frames_per_message(); }));
  std::string text =
      fmt::format("statistics of {}:\n",
                  all.size() == 1 ? std::string("1 place") : fmt::format("{} places", all.size()));
  append(text, rows);
  text += link_lines(all);
  text.pop_back();  // the end of the last line
  return text;
}

}  // namespace apgas::inline v0::remote
