// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include <apgas/places/place_report.hpp>

#include "statistics_fields.hpp"

// The statistics as JSON.
namespace apgas::inline v0::remote {
namespace {

using json = nlohmann::ordered_json;

json json_of(const statistics& values) {
  json result;
  for (const statistics_field& field : statistics_fields) result[field.name] = values.*field.value;
  result["awake"] = values.awake();
  result["frames_per_message"] = values.frames_per_message();
  return result;
}

json json_of(const place_report& report) {
  json links = json::array();
  for (const link_traffic& each : report.links) {
    links.push_back({{"to", each.to},
                     {"by", link_name(report, each)},
                     {"frames", each.frames},
                     {"messages", each.messages},
                     {"bytes", each.bytes}});
  }
  return {{"place", report.place},
          {"host", report.host},
          {"transport", report.transport},
          {"counters", json_of(report.counters)},
          {"sent", std::move(links)}};
}

}  // namespace

std::string json_of(std::span<const place_report> all) {
  statistics sum;
  json places = json::array();
  for (const place_report& each : all) {
    sum += each.counters;
    places.push_back(json_of(each));
  }
  const json whole{{"version", 1}, {"all", json_of(sum)}, {"places", std::move(places)}};
  return whole.dump(-1, ' ', false, json::error_handler_t::replace);  // host names are not checked
}

}  // namespace apgas::inline v0::remote
