// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <apgas/comm/rank.hpp>
#include <apgas/statistics.hpp>
#include <apgas/sync/place_state.hpp>

// The statistics of each place of a job, and their forms: a table for people, JSON, and the text
// format of Prometheus.
namespace apgas::inline v0::remote {

// What one place has sent to another one.
struct link_traffic {
  comm::rank to = 0;
  bool by_rings = false;  // through memory that both share
  std::uint64_t frames = 0;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
};

struct place_report {
  comm::rank place = 0;
  std::string host;
  std::string transport;  // its name
  statistics counters;
  std::vector<link_traffic> links;  // to the places to which something was sent

  template <class Archive>
  void serialize(Archive& archive) {
    archive(place, host, transport, counters, links);
  }
};

// What carries the messages of a link: "shm", or the transport for places of other hosts.
std::string_view link_name(const place_report& from, const link_traffic& link) noexcept;

// The report of a place of this process. Throws: std::bad_alloc. Context: any thread, while the
// workers of the place run.
place_report report_of(const sync::place_state& place);
// The report of this place. Throws: std::bad_alloc. Context: task.
place_report report_here();
// The reports of all places, in their order. Throws: std::bad_alloc, serialization_error. Context:
// task; suspends until all places have answered.
std::vector<place_report> report_all();

// Several lines, without the end of the last one. The columns are the sum and the places, or, if
// there are more than eight, the sum, the least and the most with the place.
std::string table_of(std::span<const place_report> all);
// One object in one line.
std::string json_of(std::span<const place_report> all);
std::string metrics_of(std::span<const place_report> all);

}  // namespace apgas::inline v0::remote
