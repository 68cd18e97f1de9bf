// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <apgas/statistics.hpp>

// The fields of `statistics` with their names and their texts for people.
namespace apgas::inline v0::remote {

enum class field_kind : std::uint8_t {
  gauge,    // a number that stays: the table shows it, and sums are sums
  longest,  // nanoseconds, of several places the most
  deepest,  // bytes, of several places the most
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
    {"tasks", "tasks", field_kind::count, &statistics::tasks},
    {"inlined", "  spawns inlined", field_kind::count, &statistics::inlined},
    {"steal_attempts", "steals tried", field_kind::count, &statistics::steal_attempts},
    {"steals", "steals", field_kind::count, &statistics::steals},
    {"stolen", "tasks stolen", field_kind::count, &statistics::stolen},
    {"fences", "fences of thieves", field_kind::count, &statistics::fences},
    {"sleep_fences", "fences before sleeps", field_kind::count, &statistics::sleep_fences},
    {"other_fences", "other fences", field_kind::count, &statistics::other_fences},
    {"drains", "drains", field_kind::count, &statistics::drains},
    {"fibers", "stacks made", field_kind::count, &statistics::fibers},
    {"deepest_stack", "deepest stack", field_kind::deepest, &statistics::deepest_stack},
    {"suspensions", "suspensions of tasks", field_kind::count, &statistics::suspensions},
    {"finish_suspensions", "  in finish", field_kind::count, &statistics::finish_suspensions},
    {"branch_suspensions", "  in fork_join, forall or coforall", field_kind::count,
     &statistics::branch_suspensions},
    {"at_suspensions", "  in at", field_kind::count, &statistics::at_suspensions},
    {"send_suspensions", "  in async_at", field_kind::count, &statistics::send_suspensions},
    {"clock_suspensions", "  in phases of clocks", field_kind::count,
     &statistics::clock_suspensions},
    {"phaser_suspensions", "  in phases of phasers", field_kind::count,
     &statistics::phaser_suspensions},
    {"team_suspensions", "  in collectives", field_kind::count, &statistics::team_suspensions},
    {"future_suspensions", "  in futures", field_kind::count, &statistics::future_suspensions},
    {"variable_suspensions", "  in sync_var or single_var", field_kind::count,
     &statistics::variable_suspensions},
    {"when_suspensions", "  in when or atomic", field_kind::count, &statistics::when_suspensions},
    {"mutex_suspensions", "  in mutexes", field_kind::count, &statistics::mutex_suspensions},
    {"condition_suspensions", "  in condition variables", field_kind::count,
     &statistics::condition_suspensions},
    {"semaphore_suspensions", "  in semaphores", field_kind::count,
     &statistics::semaphore_suspensions},
    {"channel_suspensions", "  in channels", field_kind::count, &statistics::channel_suspensions},
    {"latch_suspensions", "  in latches", field_kind::count, &statistics::latch_suspensions},
    {"blocking_suspensions", "  in blocking", field_kind::count, &statistics::blocking_suspensions},
    {"sleep_suspensions", "  in sleep", field_kind::count, &statistics::sleep_suspensions},
    {"yield_suspensions", "  in yield", field_kind::count, &statistics::yield_suspensions},
    {"other_suspensions", "  elsewhere", field_kind::count, &statistics::other_suspensions},
    {"clock_phases", "phases of clocks", field_kind::count, &statistics::clock_phases},
    {"phaser_phases", "phases of phasers", field_kind::count, &statistics::phaser_phases},
    {"sleeps", "sleeps of workers", field_kind::count, &statistics::sleeps},
    {"wakeups", "  wake-ups by other threads", field_kind::count, &statistics::wakeups},
    {"asleep_ns", "time that workers slept", field_kind::nanoseconds, &statistics::asleep_ns},
    {"polls", "polls of the network", field_kind::count, &statistics::polls},
    {"frames_sent", "frames sent", field_kind::count, &statistics::frames_sent},
    {"messages_sent", "messages sent", field_kind::count, &statistics::messages_sent},
    {"bytes_sent", "bytes sent", field_kind::bytes, &statistics::bytes_sent},
    {"frames_received", "frames received", field_kind::count, &statistics::frames_received},
    {"task_frames_received", "  frames of tasks", field_kind::count,
     &statistics::task_frames_received},
    {"reply_frames_received", "  replies", field_kind::count, &statistics::reply_frames_received},
    {"finish_frames_received", "  frames of finishes", field_kind::count,
     &statistics::finish_frames_received},
    {"control_frames_received", "  control frames", field_kind::count,
     &statistics::control_frames_received},
    {"messages_received", "messages received", field_kind::count, &statistics::messages_received},
    {"bytes_received", "bytes received", field_kind::bytes, &statistics::bytes_received},
    {"task_bytes_received", "  bytes of tasks", field_kind::bytes,
     &statistics::task_bytes_received},
    {"reply_bytes_received", "  bytes of replies", field_kind::bytes,
     &statistics::reply_bytes_received},
    {"finish_bytes_received", "  bytes of finishes", field_kind::bytes,
     &statistics::finish_bytes_received},
    {"control_bytes_received", "  bytes of control frames", field_kind::bytes,
     &statistics::control_bytes_received},
    {"serialization_ns", "time of serialisation", field_kind::nanoseconds,
     &statistics::serialization_ns},
};

inline bool is_maximum(const statistics_field& field) noexcept {
  return field.kind == field_kind::longest || field.kind == field_kind::deepest;
}

}  // namespace apgas::inline v0::remote
