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

clock_offset clock_between(const clock_estimate& first, const clock_estimate& last) noexcept {
  return {.offset_ns = last.offset_ns,
          .error_ns = std::max(first.error_ns, last.error_ns),
          .first_offset_ns = first.offset_ns,
          .first_ns = first.read_ns,
          .last_ns = last.read_ns};
}

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
    const std::int64_t begun = places[p].clock_ns(places[p].begun());
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

void trace_index::flow_ends_here(std::uint64_t flow, const char* name) {
  flow_ends& f = flows_[flow];
  f.ended = true;
  if (f.name == nullptr) f.name = name;
}

// An arrow can only leave an open slice, or the end of one.
void trace_index::flow_begins_here(std::uint64_t flow, const char* name, const open_slices& on) {
  if (on.depth == 0 && !on.task_ended) return;
  flow_ends& f = flows_[flow];
  f.begun = true;
  if (name != nullptr) f.name = name;
}

void trace_index::read(std::size_t place, const place_trace::thread& thread) {
  place_index& all = places_[place];
  open_slices on;
  place_trace::for_each_event(thread, [&](const trace_event& e) {
    const std::uint64_t now = ns(place, e.cycles);
    all.end_ns = std::max(all.end_ns, now);
    if (on.first) all.first_ns.push_back(now);
    const bool after_end = e.kind == event_kind::ready && on.task_ended;
    count_slices(e, on);
    note(e, now, on, all);
    on.task_ended = e.kind == event_kind::end || after_end;
    on.first = false;
  });
  if (on.first) all.first_ns.push_back(0);
}

void trace_index::count_slices(const trace_event& e, open_slices& on) {
  switch (e.kind) {
    case event_kind::begin_external:
    case event_kind::begin_inline:
    case event_kind::begin_spawned:
      ++on.depth;
      break;
    case event_kind::end:
      on.depth -= on.depth != 0 ? 1 : 0;
      break;
    case event_kind::suspend:
      on.depth = 0;
      break;
    case event_kind::resume:
      on.opening = e.words[3];
      break;
    case event_kind::open:
      if (on.repeated != 0) {
        --on.repeated;
        break;
      }
      ++on.depth;
      on.opening -= on.opening != 0 ? 1 : 0;
      break;
    case event_kind::chunk:
      if (!on.first && on.opening == 0) on.repeated = e.words[1];
      break;
    default:
      break;
  }
}

void trace_index::note(const trace_event& e, std::uint64_t now, const open_slices& on,
                       place_index& all) {
  const std::uint64_t* const w = e.words;
  const auto search = static_cast<std::uint64_t>(scheduler::worker_activity::search);
  switch (e.kind) {
    case event_kind::begin_external:
      if (w[4] != 0) flow_ends_here(w[4], "submit");
      break;
    case event_kind::described:
      all.labels[w[1]] = w[2];
      break;
    case event_kind::suspend:
      note_wait(e, now, all);
      break;
    case event_kind::resume:
      if (w[1] != 0) all.waits[w[1]].to_ns = std::max<std::uint64_t>(now, 1);
      if (w[2] != 0 && w[3] != 0) flow_ends_here(w[2], "resume");
      break;
    case event_kind::ready:
      flow_begins_here(w[1], nullptr, on);
      break;
    case event_kind::sent:
      flow_begins_here(w[1], name_of_frame(w[2]), on);
      break;
    case event_kind::phase:
      all.phases[w[1]].push_back({now, w[2] >> 32U, w[2] & 0xffff'ffffU});
      break;
    case event_kind::activity_begin:
      if (w[1] == search) ++all.searching[now];
      break;
    case event_kind::activity:
      if (w[2] == search) --all.searching[now];
      break;
    default:
      break;
  }
}

void trace_index::note_wait(const trace_event& e, std::uint64_t now, place_index& all) {
  const std::uint64_t* const w = e.words;
  trace_wait& wait = all.waits[w[1]];
  wait.from_ns = now;
  wait.construct = w[2] >> 32U;
  wait.where = w[2] & 0xffff'ffffU;
  wait.task = w[3];
  wait.object = w[4];
  if (w[4] == 0) return;
  auto [known, is_new] = all.first_wait_ns.try_emplace(w[4], now);
  if (!is_new) known->second = std::min(known->second, now);
}

}  // namespace apgas::inline v0::launch
