// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

// Receives a merged trace, event by event, and writes it in the format of a viewer. Times are in
// nanoseconds since the start of the trace.
//
// The slices of a track are passed in an order in which they nest: each end belongs to the latest
// slice of the track that is open. Apart from that, events are not ordered by time.
namespace apgas::inline v0::launch {

// The track of a worker, or of the other threads, of a place.
struct trace_track {
  int place = 0;
  int thread = 0;
};

struct trace_argument {
  std::string_view key;
  std::variant<std::string_view, std::int64_t, bool> value;
};
using trace_arguments = std::span<const trace_argument>;

struct trace_slice {
  std::string_view category;
  std::string_view name;
  trace_arguments arguments;
};

class trace_sink {
 public:
  trace_sink() = default;
  trace_sink(const trace_sink&) = delete;
  trace_sink& operator=(const trace_sink&) = delete;
  virtual ~trace_sink() = default;

  virtual void name_place(int place, std::string_view name) = 0;
  virtual void name_track(trace_track track, std::string_view name) = 0;
  virtual void begin(trace_track track, std::uint64_t ns, const trace_slice& what) = 0;
  // `arguments` may be empty.
  virtual void end(trace_track track, std::uint64_t ns, std::string_view category,
                   trace_arguments arguments) = 0;
  // A slice of the place rather than of a worker. Those of one row do not overlap.
  virtual void asynchronous(int place, std::uint64_t row, std::uint64_t from_ns,
                            std::uint64_t to_ns, const trace_slice& what) = 0;
  virtual void instant(trace_track track, std::uint64_t ns, const trace_slice& what) = 0;
  // An arrow begins or ends in the slice that is open at that time.
  virtual void flow(trace_track track, std::uint64_t ns, std::string_view name,
                    std::uint64_t number, bool begins) = 0;
  virtual void counter(int place, std::uint64_t ns, std::string_view name, std::uint64_t value) = 0;
  // Facts about the whole trace, as an object in JSON. The last call.
  virtual void finish(const std::string& metadata) = 0;
};

}  // namespace apgas::inline v0::launch
