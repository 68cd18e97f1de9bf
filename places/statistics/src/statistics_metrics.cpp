// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include <apgas/places/place_report.hpp>

#include "statistics_fields.hpp"

// The statistics in the text format of Prometheus, version 0.0.4: times in seconds, and names of
// counters that end with "_total", as its naming rules ask.
namespace apgas::inline v0::remote {
namespace {

bool is_gauge(const statistics_field& field) {
  return field.kind == field_kind::gauge || is_maximum(field);
}
bool is_time(const statistics_field& field) {
  return field.kind == field_kind::longest || field.kind == field_kind::nanoseconds;
}

std::string metric_name(const statistics_field& field) {
  std::string name = fmt::format("apgas_{}", field.name);
  if (is_time(field)) name.replace(name.size() - 2, 2, "seconds");  // instead of "ns"
  if (field.kind == field_kind::deepest) name += "_bytes";
  return is_gauge(field) ? name : name + "_total";
}

// Adds a counter of what each place has sent to each other one.
void add_links(std::string& text, std::string_view name, std::uint64_t link_traffic::* value,
               std::span<const place_report> all) {
  auto out = std::back_inserter(text);
  fmt::format_to(out,
                 "# HELP apgas_link_{0}_total {0} sent from one place to another\n"
                 "# TYPE apgas_link_{0}_total counter\n",
                 name);
  for (const place_report& each : all) {
    for (const link_traffic& link : each.links) {
      fmt::format_to(out, "apgas_link_{}_total{{from=\"{}\",to=\"{}\",by=\"{}\"}} {}\n", name,
                     each.place, link.to, link_name(each, link), link.*value);
    }
  }
}

}  // namespace

std::string metrics_of(std::span<const place_report> all) {
  std::string text;
  auto out = std::back_inserter(text);
  for (const statistics_field& field : statistics_fields) {
    const std::string name = metric_name(field);
    std::string_view help = field.text;
    help.remove_prefix(std::min(help.find_first_not_of(' '), help.size()));
    const bool part = help.starts_with("in ") || help == "elsewhere";  // of the suspensions
    fmt::format_to(out, "# HELP {} {}{}\n# TYPE {} {}\n", name, part ? "suspensions " : "", help,
                   name, is_gauge(field) ? "gauge" : "counter");
    for (const place_report& each : all) {
      const std::uint64_t value = each.counters.*field.value;
      fmt::format_to(out, "{}{{place=\"{}\"}} ", name, each.place);
      if (is_time(field)) {
        fmt::format_to(out, "{:.9f}\n", static_cast<double>(value) / 1e9);
      } else {
        fmt::format_to(out, "{}\n", value);
      }
    }
  }
  add_links(text, "frames", &link_traffic::frames, all);
  add_links(text, "bytes", &link_traffic::bytes, all);
  return text;
}

}  // namespace apgas::inline v0::remote
