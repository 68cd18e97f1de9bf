// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include <apgas/comm/message.hpp>
#include <apgas/scheduler/task_observer.hpp>

#include "track_writer.hpp"

namespace apgas::inline v0::launch {
namespace {

using scheduler::worker_activity;
using trace::event_kind;

constexpr std::string_view name_of(worker_activity what) noexcept {
  switch (what) {
    case worker_activity::search:
      return "search";
    case worker_activity::sleep:
      return "sleep";
    case worker_activity::steal:
      return "steal";
    case worker_activity::poll:
      return "poll";
  }
  return "";
}

constexpr std::string_view name_of(comm::frame_kind kind) noexcept {
  switch (kind) {
    case comm::frame_kind::task:
      return "task";
    case comm::frame_kind::reply:
      return "reply";
    case comm::frame_kind::finish:
      return "finish";
    case comm::frame_kind::control:
      return "control";
    case comm::frame_kind::tasks:
      return "tasks";
  }
  return "";
}

// The numbers of flows that the merge makes itself: from a spawn to the thief, and from the end of
// a task to the one that it resumes directly.
std::uint64_t flow_of_steal(int place, std::uint64_t task) noexcept {
  return std::uint64_t{1} << 61 | static_cast<std::uint64_t>(place) << 44 | task;
}
std::uint64_t flow_of_wait(int place, std::uint64_t wait) noexcept {
  return std::uint64_t{1} << 60 | static_cast<std::uint64_t>(place) << 44 | wait;
}

std::string_view base_name(std::string_view path) noexcept {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

track_writer::track_writer(const std::vector<place_trace>& places, const trace_index& index,
                           std::size_t place, std::size_t thread, trace_sink& to)
    : places_(places),
      index_(index),
      place_(place),
      thread_number_(thread),
      trace_(places[place]),
      thread_(trace_.threads()[thread]),
      to_(to),
      track_{trace_.place(), thread_.is_worker ? static_cast<int>(thread) : -1} {}

void track_writer::write() {
  place_trace::for_each_event(thread_, [this](const trace_event& e) {
    now_ = std::max(now_, index_.ns(place_, e.cycles));
    const bool after_end = e.kind == event_kind::ready && task_ended_;
    on(e);
    task_ended_ = e.kind == event_kind::end || after_end;
    first_ = false;
  });
  now_ = std::max(now_, index_.of(place_).end_ns);
  while (!tasks_.empty()) end_task("goes on");
  for (; !activities_.empty(); activities_.pop_back()) {
    to_.end(track_, now_, name_of(static_cast<worker_activity>(activities_.back())), {});
  }
}

void track_writer::on(const trace_event& e) {
  const std::uint64_t* const w = e.words;
  switch (e.kind) {
    case event_kind::begin_inline:
      begin_task(e, w[2], false);
      break;
    case event_kind::begin_spawned:
      begin_task(e, w[2], false);
      flow_of_spawn(e);
      break;
    case event_kind::begin_external:
      begin_task(e, w[2], false);
      flow(w[4], false);
      break;
    case event_kind::end:
      ended_ns_ = now_;
      if (std::ranges::find(tasks_, w[1]) == tasks_.end()) break;
      while (tasks_.back() != w[1]) end_task("");
      end_task("ended");
      break;
    case event_kind::suspend:
      end_all_tasks(trace_.text(w[2] >> 32U));
      break;
    case event_kind::resume:
      resume(e);
      break;
    case event_kind::open:
      open(e);
      break;
    case event_kind::chunk:
      // After `resume` these are the events `open` that belong to it.
      if (!first_ && opening_ == 0) skipped_ = w[1];
      break;
    case event_kind::ready:
      flow(w[1], true);
      break;
    case event_kind::activity_begin:
      to_.begin(track_, now_,
                {name_of(static_cast<worker_activity>(w[1])),
                 name_of(static_cast<worker_activity>(w[1])),
                 {}});
      activities_.push_back(w[1]);
      break;
    case event_kind::activity:
      activity(e);
      break;
    case event_kind::sent:
      message(e);
      flow(w[1], true);
      break;
    case event_kind::received:
      message(e);
      break;
    case event_kind::counter: {
      const bool ready = w[1] >> 56U == static_cast<unsigned>(trace::counter_kind::ready_tasks);
      to_.counter(trace_.place(), now_, ready ? "ready tasks" : "bytes in flight",
                  w[1] & (~std::uint64_t{0} >> 8U));
      break;
    }
    case event_kind::described:
    case event_kind::phase:
    case event_kind::none:
      break;
  }
}

void track_writer::resume(const trace_event& e) {
  const std::uint64_t* const w = e.words;
  opening_ = w[3];
  pending_flow_ = w[2];
  if (w[2] != 0 || !task_ended_ || w[3] == 0) return;
  const std::uint64_t number = flow_of_wait(trace_.place(), w[1]);
  to_.flow(track_, end_of_last(), "resume", number, true);
  pending_flow_ = number;
}

void track_writer::open(const trace_event& e) {
  if (skipped_ != 0) {
    --skipped_;
    return;
  }
  begin_task(e, e.words[2], true);
  if (opening_ == 0) return;
  --opening_;
  if (opening_ != 0 || pending_flow_ == 0) return;
  const bool own = (pending_flow_ >> 60U) == 1;
  if (own) to_.flow(track_, now_, "resume", pending_flow_, false);
  if (!own) flow(pending_flow_, false);
  pending_flow_ = 0;
}

// Arrows leave the open slice, or the end of the one before.
void track_writer::flow(std::uint64_t number, bool begins) {
  const char* const name = index_.flow_name(number);
  if (name == nullptr) return;
  if (!tasks_.empty()) {
    to_.flow(track_, now_, name, number, begins);
  } else if (begins && task_ended_) {
    to_.flow(track_, end_of_last(), name, number, begins);
  }
}

void track_writer::flow_of_spawn(const trace_event& e) {
  const std::uint64_t spawner = e.words[5];
  if (!thread_.is_worker || std::cmp_equal(spawner, track_.thread)) return;
  // What has spawned it has no slice: it ran before the recording began.
  if (e.words[3] == 0 || e.words[4] < trace_.begun()) return;
  const std::uint64_t spawned = index_.ns(place_, e.words[4]);
  if (spawner >= trace_.threads().size() - 1 || spawned < index_.of(place_).first_ns[spawner])
    return;
  const std::uint64_t number = flow_of_steal(trace_.place(), e.words[1] >> 4U);
  to_.flow({trace_.place(), static_cast<int>(spawner)}, spawned, "steal", number, true);
  to_.flow(track_, now_, "steal", number, false);
}

std::uint64_t track_writer::label_of(std::uint64_t task, std::uint64_t recorded) const {
  const auto& known = index_.of(place_).labels;
  const auto found = known.find(task);
  return found != known.end() ? found->second : recorded;
}

void track_writer::begin_task(const trace_event& e, std::uint64_t recorded, bool continued) {
  const std::uint64_t task = e.words[1] >> 4U;
  const std::uint64_t flags = e.words[1] & 0xf;
  const std::uint64_t label = label_of(task, recorded);
  const trace_site site = site_of_text(trace_.text(label >> 32U));
  const std::string_view given = trace_.text(label & 0xffff'ffffU);
  const std::string number = fmt::format("{}.{}", trace_.place(), task);
  const std::string line = fmt::format("{}:{}", site.file, site.line);
  std::string name(given);
  if (name.empty() && !site.file.empty())
    name = fmt::format("{}:{}", base_name(site.file), site.line);
  if (name.empty()) name = "internal";  // a task of the library
  std::array<trace_argument, 9> all{};
  std::size_t n = 0;
  all[n++] = {"task", number};
  if (!site.file.empty()) {
    all[n++] = {"site", line};
    all[n++] = {"function", site.function};
  }
  all[n++] = {"place", std::int64_t{trace_.place()}};
  all[n++] = {"worker", std::int64_t{track_.thread}};
  std::string parent;
  if (!continued && e.words[3] != 0) {
    parent = fmt::format("{}.{}", trace_.place(), e.words[3]);
    all[n++] = {"parent", parent};
  }
  if ((flags & trace::is_inline) != 0) all[n++] = {"inline", true};
  if (continued) all[n++] = {"continued", true};
  if ((flags & trace::is_branch) != 0) all[n++] = {"branch", true};
  to_.begin(track_, now_, {"task", name, trace_arguments(all).first(n)});
  tasks_.push_back(task);
}

void track_writer::end_task(std::string_view then) {
  const trace_argument argument[] = {{"then", then}};
  const trace_arguments none;
  to_.end(track_, now_, "task", then.empty() ? none : trace_arguments(argument));
  tasks_.pop_back();
}

void track_writer::end_all_tasks(std::string_view innermost) {
  const std::string waits = fmt::format("waits: {}", innermost);
  for (bool first = true; !tasks_.empty(); first = false) end_task(first ? waits : "waits");
}

void track_writer::activity(const trace_event& e) {
  const auto what = static_cast<worker_activity>(e.words[2]);
  const std::string_view name = name_of(what);
  if (what == worker_activity::search || what == worker_activity::sleep) {
    if (activities_.empty() || activities_.back() != e.words[2]) return;
    activities_.pop_back();
    to_.end(track_, now_, name, {});
    return;
  }
  const trace_argument all[] = {{"tasks", static_cast<std::int64_t>(e.words[3] >> 32U)},
                                {"victim", static_cast<std::int64_t>(e.words[3] & 0xffff'ffffU)}};
  const bool steals = what == worker_activity::steal;
  // It may have begun before the first event of this track.
  const std::uint64_t earliest = index_.of(place_).first_ns[thread_number_];
  const std::uint64_t from = std::clamp(index_.ns(place_, e.words[1]), earliest, now_);
  to_.begin(track_, from, {name, name, trace_arguments(all).first(steals ? 2 : 0)});
  to_.end(track_, now_, name, {});
}

void track_writer::message(const trace_event& e) {
  const bool sends = e.kind == event_kind::sent;
  const auto kind = static_cast<comm::frame_kind>(e.words[2] >> 56U);
  const std::string name = fmt::format("{} {}", sends ? "send" : "receive", name_of(kind));
  const trace_argument all[] = {
      {"kind", name_of(kind)},
      {"bytes", static_cast<std::int64_t>(e.words[3])},
      {sends ? "to" : "from", static_cast<std::int64_t>(e.words[2] & 0xffff'ffffU)}};
  to_.instant(track_, now_, {"message", name, all});
}

}  // namespace apgas::inline v0::launch
