// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <apgas/statistics.hpp>

// Which field of `statistics` counts the suspensions in a construct.
namespace apgas::inline v0::remote {

struct suspension_field {
  std::string_view construct;  // as wait_record::construct; a last '*' stands for any text
  std::uint64_t statistics::* value;
};

inline constexpr suspension_field suspension_fields[] = {
    {"finish", &statistics::finish_suspensions},
    {"fork_join*", &statistics::branch_suspensions},
    {"at", &statistics::at_suspensions},
    {"at_awaitable", &statistics::at_suspensions},
    {"the caller to read*", &statistics::at_suspensions},
    {"memory of another place", &statistics::at_suspensions},
    {"async_at*", &statistics::send_suspensions},
    {"a phase of a clock*", &statistics::clock_suspensions},
    {"a phase of a phaser", &statistics::phaser_suspensions},
    {"phaser::*", &statistics::phaser_suspensions},
    {"accumulator::*", &statistics::phaser_suspensions},
    {"a collective of a team", &statistics::team_suspensions},
    {"future::*", &statistics::future_suspensions},
    {"co_await*", &statistics::future_suspensions},
    {"sync_var::*", &statistics::variable_suspensions},
    {"single_var::*", &statistics::variable_suspensions},
    {"apgas_sync_wait", &statistics::variable_suspensions},
    {"when", &statistics::when_suspensions},
    {"atomic", &statistics::when_suspensions},
    {"mutex::*", &statistics::mutex_suspensions},
    {"shared_mutex::*", &statistics::mutex_suspensions},
    {"condition_variable::*", &statistics::condition_suspensions},
    {"semaphore::*", &statistics::semaphore_suspensions},
    {"channel::*", &statistics::channel_suspensions},
    {"latch::*", &statistics::latch_suspensions},
    {"blocking", &statistics::blocking_suspensions},
    {"sleep_*", &statistics::sleep_suspensions},
    {"yield", &statistics::yield_suspensions},
};

constexpr std::uint64_t statistics::* suspension_field_of(std::string_view construct) noexcept {
  for (const suspension_field& each : suspension_fields) {
    std::string_view pattern = each.construct;
    const bool any_end = pattern.ends_with('*');
    if (any_end) pattern.remove_suffix(1);
    if (any_end ? construct.starts_with(pattern) : construct == pattern) return each.value;
  }
  return &statistics::other_suspensions;
}

}  // namespace apgas::inline v0::remote
