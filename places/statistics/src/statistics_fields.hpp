// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apgas/statistics.hpp>

// The fields of `statistics` with their names and their texts for people.
namespace apgas::inline v0::remote {

enum class field_kind : std::uint8_t {
  gauge,    // a number that stays: the table shows it, and sums are sums
  longest,  // nanoseconds, of several places the most
  count,
  bytes,
  nanoseconds,
};

struct statistics_field {
  const char* name;  // in JSON; in metrics after "apgas_"
  const char* text;
  field_kind kind;
  std::uint64_t statistics::* value;
};

inline constexpr statistics_field statistics_fields[] = {
    {"workers", "workers", field_kind::gauge, &statistics::workers},
    {"elapsed_ns", "time since the workers started", field_kind::longest, &statistics::elapsed_ns},
    {"steals", "steals", field_kind::count, &statistics::steals},
    {"stolen", "tasks stolen", field_kind::count, &statistics::stolen},
    {"fences", "fences of thieves", field_kind::count, &statistics::fences},
    {"suspensions", "suspensions of tasks", field_kind::count, &statistics::suspensions},
    {"drains", "drains", field_kind::count, &statistics::drains},
    {"fibers", "stacks made", field_kind::count, &statistics::fibers},
    {"sleeps", "sleeps of workers", field_kind::count, &statistics::sleeps},
    {"asleep_ns", "time that workers slept", field_kind::nanoseconds, &statistics::asleep_ns},
    {"polls", "polls of the network", field_kind::count, &statistics::polls},
    {"frames_sent", "frames sent", field_kind::count, &statistics::frames_sent},
    {"messages_sent", "messages sent", field_kind::count, &statistics::messages_sent},
    {"bytes_sent", "bytes sent", field_kind::bytes, &statistics::bytes_sent},
    {"frames_received", "frames received", field_kind::count, &statistics::frames_received},
    {"messages_received", "messages received", field_kind::count, &statistics::messages_received},
    {"bytes_received", "bytes received", field_kind::bytes, &statistics::bytes_received},
    {"task_frames_received", "  frames of tasks", field_kind::count,
     &statistics::task_frames_received},
    {"reply_frames_received", "  replies", field_kind::count, &statistics::reply_frames_received},
    {"finish_frames_received", "  frames of finishes", field_kind::count,
     &statistics::finish_frames_received},
    {"control_frames_received", "  control frames", field_kind::count,
     &statistics::control_frames_received},
};

}  // namespace apgas::inline v0::remote
