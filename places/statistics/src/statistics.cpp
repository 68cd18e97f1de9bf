// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <apgas/async_future_at.hpp>
#include <apgas/comm/endpoint.hpp>
#include <apgas/finish.hpp>
#include <apgas/future.hpp>
#include <apgas/places/place_report.hpp>
#include <apgas/sync/place_state.hpp>

#include "statistics_fields.hpp"
#include "suspension_fields.hpp"

namespace apgas::inline v0 {
namespace {

statistics statistics_of(const sync::place_state& place) {
  using enum comm::frame_kind;
  const scheduler::statistics s = place.task_scheduler->stats();
  const comm::traffic t = place.endpoint->total_traffic();
  const auto frames = [&t](comm::frame_kind kind) {
    return t.received_by_kind[static_cast<std::size_t>(kind)];
  };
  const auto bytes = [&t](comm::frame_kind kind) {
    return t.bytes_by_kind[static_cast<std::size_t>(kind)];
  };
  statistics result{.places = 1,
                    .workers = static_cast<std::uint64_t>(place.task_scheduler->num_workers()),
                    .elapsed_ns = s.elapsed_ns,
                    .tasks = s.inlined_tasks + s.loop_tasks,
                    .inlined = s.inlined_tasks,
                    .steal_attempts = s.steal_attempts,
                    .steals = s.steals,
                    .stolen = s.stolen,
                    .fences = s.fences,
                    .sleep_fences = s.sleep_fences,
                    .other_fences = s.other_fences,
                    .drains = s.drains,
                    .fibers = s.fibers,
                    .deepest_stack = place.task_scheduler->deepest_stack(),
                    .clock_suspensions = s.clock_waits,
                    .phaser_suspensions = s.phaser_waits,
                    .clock_phases = s.clock_phases,
                    .phaser_phases = s.phaser_phases,
                    .sleeps = s.sleeps,
                    .wakeups = s.wakeups,
                    .asleep_ns = s.asleep_ns,
                    .polls = s.polls,
                    .frames_sent = t.frames_sent,
                    .messages_sent = t.messages_sent,
                    .bytes_sent = t.bytes_sent,
                    .frames_received = t.frames_received,
                    .messages_received = t.messages_received,
                    .bytes_received = t.bytes_received,
                    .task_frames_received = frames(task) + frames(tasks),
                    .reply_frames_received = frames(reply),
                    .finish_frames_received = frames(comm::frame_kind::finish),
                    .control_frames_received = frames(control),
                    .task_bytes_received = bytes(task) + bytes(tasks),
                    .reply_bytes_received = bytes(reply),
                    .finish_bytes_received = bytes(comm::frame_kind::finish),
                    .control_bytes_received = bytes(control),
                    .serialization_ns = s.serialization_ns};
  result.suspensions = s.clock_waits + s.phaser_waits;
  for (const scheduler::construct_waits& each : place.task_scheduler->waits()) {
    result.*remote::suspension_field_of(each.construct) += each.suspensions;
    result.suspensions += each.suspensions;
  }
  return result;
}

}  // namespace

statistics& statistics::operator+=(const statistics& other) noexcept {
  places += other.places;
  for (const remote::statistics_field& field : remote::statistics_fields) {
    std::uint64_t& mine = this->*field.value;
    const std::uint64_t more = other.*field.value;
    mine = is_maximum(field) ? std::max(mine, more) : mine + more;
  }
  return *this;
}

statistics stats() { return statistics_of(sync::place_of(sync::task_fiber("stats"))); }

statistics stats_all() {
  static_cast<void>(sync::suspendable_fiber("stats_all"));
  statistics sum;
  for (const remote::place_report& each : remote::report_all()) sum += each.counters;
  return sum;
}

namespace remote {

std::string_view link_name(const place_report& from, const link_traffic& link) noexcept {
  const std::string_view all = from.transport;  // "shm+ucx", if both are used
  const std::size_t plus = all.find('+');
  if (plus == std::string_view::npos) return all;
  return link.by_rings ? all.substr(0, plus) : all.substr(plus + 1);
}

place_report report_here() { return report_of(sync::place_of(sync::task_fiber("stats"))); }

place_report report_of(const sync::place_state& place) {
  comm::endpoint& endpoint = *place.endpoint;
  place_report report{.place = place.here,
                      .host = endpoint.host(place.here),
                      .transport = std::string(endpoint.network().name()),
                      .counters = statistics_of(place),
                      .links = {}};
  for (comm::rank other = 0; other < place.places; ++other) {
    const comm::traffic sent = endpoint.traffic_with(other);
    if (sent.frames_sent == 0) continue;
    report.links.push_back({.to = other,
                            .by_rings = endpoint.network().writes_frames(other),
                            .frames = sent.frames_sent,
                            .messages = sent.messages_sent,
                            .bytes = sent.bytes_sent});
  }
  return report;
}

// Spawns no task at this place: it would wait in the deque of a worker until that has nothing else
// to do.
std::vector<place_report> report_all() {
  std::vector<place_report> all;
  finish([&all] {
    std::vector<future<place_report>> others;
    for (int i = 0; i < num_places(); ++i) {
      if (i != here().id())
        others.push_back(async_future_at(place(i), [] { return report_here(); }));
    }
    for (const future<place_report>& each : others) all.push_back(each.get());
    all.insert(all.begin() + here().id(), report_here());
  });
  return all;
}

}  // namespace remote
}  // namespace apgas::inline v0
