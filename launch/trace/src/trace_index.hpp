// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "clock_estimate.hpp"
#include "trace_reader.hpp"

// What must be known of the whole trace before it can be written event by event: the names that
// tasks get only while they run, the waits, which may end on another worker than the one they began
// on, and the flows of which both ends were recorded.
namespace apgas::inline v0::launch {

// The difference of a place's steady clock to that of place 0, as measured at the start and at the
// end: what is added to its times, and the greatest error of that. In between, it is interpolated.
struct clock_offset {
  std::int64_t offset_ns = 0;        // at the end
  std::int64_t error_ns = 0;         // the greater one of the two
  std::int64_t first_offset_ns = 0;  // at the start
  std::int64_t first_ns = 0;         // when they were measured, by the clock of the place
  std::int64_t last_ns = 0;

  std::int64_t at(std::int64_t ns) const noexcept;
};

// The offset of a place whose clock was compared twice.
clock_offset clock_between(const clock_estimate& first, const clock_estimate& last) noexcept;

struct trace_wait {
  std::uint64_t from_ns = 0;
  std::uint64_t to_ns = 0;  // 0: it has not ended
  std::uint64_t construct = 0;
  std::uint64_t where = 0;
  std::uint64_t task = 0;
  std::uint64_t object = 0;  // the address of what the task waits for; 0: unknown
};

struct trace_phase_end {
  std::uint64_t ns = 0;
  std::uint64_t construct = 0;
  std::uint64_t where = 0;
};

struct place_index {
  std::unordered_map<std::uint64_t, std::uint64_t> labels;  // of the tasks that have been described
  std::unordered_map<std::uint64_t, trace_wait> waits;
  std::map<std::uint64_t, std::vector<trace_phase_end>> phases;    // by clock
  std::unordered_map<std::uint64_t, std::uint64_t> first_wait_ns;  // by the object
  std::map<std::uint64_t, int> searching;  // by time: how many more workers search from then on
  std::vector<std::uint64_t> first_ns;     // of each thread: its first event
  std::uint64_t end_ns = 0;
};

class trace_index {
 public:
  trace_index(const std::vector<place_trace>& places, const std::vector<clock_offset>& clocks);

  // The time of an event, in ns since the start of the trace.
  std::uint64_t ns(std::size_t place, std::uint64_t cycles) const noexcept;
  const place_index& of(std::size_t place) const noexcept { return places_[place]; }
  // The name of a flow of which both ends were recorded; null for others.
  const char* flow_name(std::uint64_t flow) const noexcept;

 private:
  struct flow_ends {
    const char* name = nullptr;
    bool begun = false;
    bool ended = false;
  };

  // The slices of a thread that are open while its events are read.
  struct open_slices {
    std::uint64_t depth = 0;     // how many are open
    std::uint64_t repeated = 0;  // events `open` to come that a new chunk repeats
    std::uint64_t opening = 0;   // events `open` to come that belong to a `resume`
    bool task_ended = false;     // just before
    bool first = true;           // there was no event yet
  };

  void read(std::size_t place, const place_trace::thread& thread);
  static void count_slices(const trace_event& e, open_slices& on);
  void note(const trace_event& e, std::uint64_t now, const open_slices& on, place_index& all);
  static void note_wait(const trace_event& e, std::uint64_t now, place_index& all);
  void flow_begins_here(std::uint64_t flow, const char* name, const open_slices& on);
  void flow_ends_here(std::uint64_t flow, const char* name);

  const std::vector<place_trace>& traces_;
  const std::vector<clock_offset>& clocks_;
  std::int64_t origin_ns_ = 0;
  std::vector<place_index> places_;
  std::unordered_map<std::uint64_t, flow_ends> flows_;
};

}  // namespace apgas::inline v0::launch
