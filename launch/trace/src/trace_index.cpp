// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include <apgas/comm/message.hpp>
#include <apgas/scheduler/task_observer.hpp>
#include <apgas/sync/remote_finish.hpp>

#include "trace_index.hpp"

namespace apgas::inline v0::launch {
namespace {

using trace::event_kind;

// The name of a flow that a frame is.
const char* name_of_frame(std::uint64_t kind_flags_other) noexcept {
  const auto kind = static_cast<comm::frame_kind>(kind_flags_other >> 56U);
  const auto flags = static_cast<std::uint8_t>(kind_flags_other >> 48U);
  switch (kind) {
    case comm::frame_kind::task:
    case comm::frame_kind::tasks:
      return (flags & sync::flag_spawn) != 0 ? "async_at" : "at";
    case comm::frame_kind::reply:
      return "reply";
    case comm::frame_kind::finish:
      return "finish";
    case comm::frame_kind::control:
      return "control";
  }
  return "message";
}

}  // namespace

std::int64_t clock_offset::at(std::int64_t ns) const noexcept {
  if (last_ns <= first_ns || first_offset_ns == offset_ns) return offset_ns;
  const long double part = static_cast<long double>(std::clamp(ns, first_ns, last_ns) - first_ns) /
                           static_cast<long double>(last_ns - first_ns);
  return first_offset_ns +
         static_cast<std::int64_t>(part * static_cast<long double>(offset_ns - first_offset_ns));
}

trace_index::trace_index(const std::vector<place_trace>& places,
                         const std::vector<clock_offset>& clocks)
    : traces_(places), clocks_(clocks), places_(places.size()) {
  origin_ns_ = std::numeric_limits<std::int64_t>::max();
  for (std::size_t p = 0; p < places.size(); ++p) {
    const std::int64_t begun = places[p].clock_ns(0);
    origin_ns_ = std::min(origin_ns_, begun + clocks[p].at(begun));
  }
  for (std::size_t p = 0; p < places.size(); ++p) {
    const trace::header& head = places[p].header();
    places_[p].end_ns = ns(p, head.end_cycles - head.base_cycles);
    for (const place_trace::thread& t : places[p].threads()) read(p, t);
  }
}

std::uint64_t trace_index::ns(std::size_t place, std::uint64_t cycles) const noexcept {
  const std::int64_t own = traces_[place].clock_ns(cycles);
  const std::int64_t at = own + clocks_[place].at(own) - origin_ns_;
  return static_cast<std::uint64_t>(std::max<std::int64_t>(at, 0));
}

const char* trace_index::flow_name(std::uint64_t flow) const noexcept {
  const auto found = flows_.find(flow);
  if (found == flows_.end() || !found->second.begun || !found->second.ended) return nullptr;
  return found->second.name;
}

// An arrow can only leave or reach a slice. `depth` is the number of open ones.
void trace_index::read(std::size_t place, const place_trace::thread& thread) {
  place_index& all = places_[place];
  std::uint64_t depth = 0;
  bool task_ended = false;  // just before
  bool first = true;
  std::uint64_t skipped = 0;
  std::uint64_t opening = 0;  // events `open` that still belong to a `resume`
  const auto begins = [&](std::uint64_t flow, const char* name) {
    if (depth == 0 && !task_ended) return;
    flow_ends& f = flows_[flow];
    f.begun = true;
    if (name != nullptr) f.name = name;
  };
  const auto ends = [&](std::uint64_t flow, const char* name) {
    flow_ends& f = flows_[flow];
    f.ended = true;
    if (f.name == nullptr) f.name = name;
  };
  place_trace::for_each_event(thread, [&](const trace_event& e) {
    const std::uint64_t* const w = e.words;
    const std::uint64_t now = ns(place, e.cycles);
    all.end_ns = std::max(all.end_ns, now);
    if (first) all.first_ns.push_back(now);
    const bool after_end = e.kind == event_kind::ready && task_ended;
    switch (e.kind) {
      case event_kind::begin_external:
        if (w[4] != 0) ends(w[4], "submit");
        ++depth;
        break;
      case event_kind::begin_inline:
      case event_kind::begin_spawned:
        ++depth;
        break;
      case event_kind::end:
        depth -= depth != 0 ? 1 : 0;
        break;
      case event_kind::described:
        all.labels[w[1]] = w[2];
        break;
      case event_kind::suspend:
        depth = 0;
        all.waits[w[1]].from_ns = now;
        all.waits[w[1]].construct = w[2] >> 32U;
        all.waits[w[1]].where = w[2] & 0xffff'ffffU;
        all.waits[w[1]].task = w[3];
        if (w[4] != 0) {
          auto [known, is_new] = all.first_wait_ns.try_emplace(w[4], now);
          if (!is_new) known->second = std::min(known->second, now);
        }
        break;
      case event_kind::resume:
        if (w[1] != 0) all.waits[w[1]].to_ns = std::max<std::uint64_t>(now, 1);
        if (w[2] != 0 && w[3] != 0) ends(w[2], "resume");
        opening = w[3];
        break;
      case event_kind::open:
        if (skipped != 0) {
          --skipped;
        } else {
          ++depth;
          opening -= opening != 0 ? 1 : 0;
        }
        break;
      case event_kind::chunk:
        if (!first && opening == 0) skipped = w[1];
        break;
      case event_kind::ready:
        begins(w[1], nullptr);
        break;
      case event_kind::sent:
        begins(w[1], name_of_frame(w[2]));
        break;
      case event_kind::phase:
        all.phases[w[1]].push_back({now, w[2] >> 32U, w[2] & 0xffff'ffffU});
        break;
      case event_kind::activity_begin:
        if (w[1] == static_cast<std::uint64_t>(scheduler::worker_activity::search))
          ++all.searching[now];
        break;
      case event_kind::activity:
        if (w[2] == static_cast<std::uint64_t>(scheduler::worker_activity::search))
          --all.searching[now];
        break;
      default:
        break;
    }
    task_ended = e.kind == event_kind::end || after_end;
    first = false;
  });
  if (first) all.first_ns.push_back(0);
}

}  // namespace apgas::inline v0::launch
