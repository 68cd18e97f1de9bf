// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <apgas/scheduler/fiber.hpp>
#include <apgas/scheduler/inspection.hpp>
#include <apgas/scheduler/place_waits.hpp>

// The groups of a report: how many tasks wait in the same construct at the same line, spawned at
// the same line with the same name. A program has few groups, however many tasks wait.
namespace apgas::inline v0::scheduler {

class awaited_tasks;

// How many groups a place sends for a report over all places at most, the largest ones: with texts
// of 150 bytes, they are 150 KiB in a message.
inline constexpr std::size_t groups_kept_max = 1024;

// How many groups are told apart. Only a program that makes up names for its tasks has more. The
// tasks of further groups are only counted, so that a report takes a few MiB, however many tasks
// wait.
inline constexpr std::size_t groups_told_apart_max = 16384;

// A source line as text, "file:line"; empty if it is unknown, or a line of the standard library, as
// for a lock that std::lock_guard takes.
std::string line_text(const call_site& where);
bool is_of_standard_library(const call_site& where) noexcept;
// The same of a task that waits, or `caller`, which says where the call is, if there is no line.
std::string line_text(const wait_record& waits_for, const char* caller);
// "latch::wait at solve.cpp:18", or without the line if it is empty.
std::string construct_text(std::string_view construct, std::string_view line);
// What describes a task: its name and where it was spawned. `main`: without a spawn site it is
// main.
std::string task_text(const task_state& task, bool main);

// A group of a report: "2 in future::get at solve.cpp:11, spawned at solve.cpp:9, for 31 s".
std::string text_of(const place_waits::group& g);

class wait_groups {
 public:
  // Counts a task that waits as `waits_for` says, for `waited_s` seconds as far as that is known.
  // `caller` says where the call is, if the line is unknown; it is one text for each place, and
  // outlives this object. Returns how many tasks its group has now, or the highest number if it is
  // not told apart from others. Throws: std::bad_alloc.
  std::uint64_t add(const wait_record& waits_for, const task_state& task, bool main,
                    double waited_s, const char* caller = "");

  std::uint64_t tasks() const noexcept { return tasks_; }
  // Returns the groups, the largest first; at most `most` of them. Throws: std::bad_alloc.
  std::vector<place_waits::group> largest(std::size_t most) const;
  // Returns all groups that are told apart, the largest first, for tools. Throws: std::bad_alloc.
  std::vector<waiting_tasks> list(const awaited_tasks& awaited) const;

  // Describes a task that waits; waiting_tasks::tasks is 1. Throws: std::bad_alloc.
  static waiting_tasks description_of(const wait_record& waits_for, const task_state& task,
                                      bool main, const char* caller = "");

  // What the tasks of a group have in common.
  struct key {
    const char* construct;
    const char* file;
    const char* caller;
    const char* spawn_file;
    const char* name;
    std::uint32_t line;
    std::uint32_t spawn_line;
    bool main;
    bool operator==(const key&) const = default;
  };
  struct key_hash {
    std::size_t operator()(const key& k) const noexcept;
  };
  static key key_of(const wait_record& waits_for, const task_state& task, bool main,
                    const char* caller) noexcept;

 private:
  struct group {
    wait_record waits_for{nullptr};
    task_state task;
    std::uint64_t count = 0;
    double longest_s = 0;
  };

  std::unordered_map<key, group, key_hash> groups_;
  std::uint64_t tasks_ = 0;
};

}  // namespace apgas::inline v0::scheduler
