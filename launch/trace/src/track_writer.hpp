// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "trace_index.hpp"
#include "trace_sink.hpp"

namespace apgas::inline v0::launch {

// Writes the events of one thread of a place: the slices of its track, with their arrows.
class track_writer {
 public:
  track_writer(const std::vector<place_trace>& places, const trace_index& index, std::size_t place,
               std::size_t thread, trace_sink& to);
  void write();

 private:
  void on(const trace_event& e);
  void resume(const trace_event& e);
  void open(const trace_event& e);
  // Just before the last slice ended.
  std::uint64_t end_of_last() const noexcept { return ended_ns_ - (ended_ns_ != 0 ? 1 : 0); }
  void begin_task(const trace_event& e, std::uint64_t label, bool continued);
  void end_task(std::string_view then);
  void end_all_tasks(std::string_view innermost);
  void flow(std::uint64_t number, bool begins);
  void flow_of_spawn(const trace_event& e);
  void activity(const trace_event& e);
  void message(const trace_event& e);
  std::uint64_t label_of(std::uint64_t task, std::uint64_t recorded) const;

  const std::vector<place_trace>& places_;
  const trace_index& index_;
  const std::size_t place_;
  const std::size_t thread_number_;
  const place_trace& trace_;
  const place_trace::thread& thread_;
  trace_sink& to_;
  const trace_track track_;

  std::uint64_t now_ = 0;
  std::vector<std::uint64_t> tasks_;  // open slices
  std::vector<std::uint64_t> activities_;
  bool first_ = true;
  bool first_external_ = true;
  bool task_ended_ = false;         // by the previous event, or by the one before a flow
  std::uint64_t ended_ns_ = 0;      // when
  std::uint64_t skipped_ = 0;       // events `open` that say nothing new
  std::uint64_t opening_ = 0;       // events `open` of a resumption that follow
  std::uint64_t pending_flow_ = 0;  // ends when they are open
};

}  // namespace apgas::inline v0::launch
