// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// The events of a trace as a place records them, in memory and in the file that it leaves when it
// dies. An event is a few 64-bit words. The low byte of the first one is its kind, which determines
// the number of words; the rest is the time in cycles since the start of the recorder.
//
// A number of a text is 0 if there is none. A number of a task counts from 1 at its place. The
// number of a flow is unique in the job (flow_number()).
namespace apgas::inline v0::scheduler::trace {

enum class event_kind : std::uint8_t {
  none = 0,
  // A task begins. 1: task << 4 | task_flags; 2: site << 32 | name; 3: the task that spawned it.
  begin_inline,
  // The scheduling loop starts it. 4: time of the spawn; 5: the worker that spawned it.
  begin_spawned,
  // 4: the flow that brought it, or 0.
  begin_external,
  // A task ends. 1: task.
  end,
  // Site and name of a task have become known. 1: task; 2: site << 32 | name.
  described,
  // The stack with the running task is left. 1: wait; 2: construct << 32 | site of the call;
  // 3: task; 4: the address of what it waits for, or 0.
  suspend,
  // It goes on. 1: wait; 2: the flow that made it ready; 0: the task that ended last on this worker
  // did; 3: how many events `open` follow, one for each task of the stack, the lowest first.
  resume,
  // The task is on the stack. 1: task << 4 | task_flags; 2: site << 32 | name.
  open,
  // A chunk of the memory begins, with a stack of this many tasks, which follow. 1: how many.
  chunk,
  // The running task, or a message, makes another task ready. 1: the flow.
  ready,
  // A worker begins to search or to sleep. 1: worker_activity.
  activity_begin,
  // It has done something. 1: the time at which it began; 2: worker_activity; 3: its detail.
  activity,
  // A frame is sent or received. 1: flow; 2: kind << 56 | flags << 48 | the other place; 3: bytes.
  sent,
  received,
  // 1: counter_kind << 56 | value.
  counter,
  // A phase of a clock or phaser is complete. 1: its address, or that of its tree node;
  // 2: construct << 32 | site of a call that waited for it.
  phase,
};
inline constexpr int event_kinds = 17;
inline constexpr std::uint8_t event_words[event_kinds] = {1, 4, 6, 5, 2, 3, 5, 4, 3,
                                                          2, 2, 2, 4, 4, 4, 2, 3};

enum task_flags : std::uint8_t { is_branch = 1, is_external = 2, is_inline = 4 };

enum class counter_kind : std::uint8_t { ready_tasks = 0, bytes_in_flight = 1 };

// The number of the flow from one place to another by the n-th frame, and of the n-th other flow
// that thread `thread` of a place begins. 0 is no flow.
constexpr std::uint64_t frame_flow(int from, int to, std::uint64_t n) noexcept {
  return std::uint64_t{1} << 63 | static_cast<std::uint64_t>(from) << 47 |
         static_cast<std::uint64_t>(to) << 31 | (n & 0x7fff'ffffU);
}
constexpr std::uint64_t local_flow(int place, std::uint32_t thread, std::uint64_t n) noexcept {
  return std::uint64_t{1} << 62 | static_cast<std::uint64_t>(place) << 44 |
         std::uint64_t{thread} << 33 | (n & 0x1'ffff'ffffU);
}

// What a place has recorded, as bytes: this header, then the texts, padded to a multiple of eight
// bytes, then for each thread its events.
// A text is its length in four bytes, then its bytes; the first one has the number 1. The text of a
// site is "file\0line\0function".
struct header {
  std::uint64_t magic = magic_number;
  std::uint32_t place = 0;
  std::uint32_t places = 0;
  std::uint32_t threads = 0;   // the workers, and one for all other threads
  std::uint32_t complete = 0;  // 0: the place died
  std::uint64_t base_cycles = 0;
  // Two readings of both clocks, at the start and at the end.
  std::uint64_t start_cycles = 0;
  std::uint64_t start_ns = 0;
  std::uint64_t end_cycles = 0;
  std::uint64_t end_ns = 0;
  std::uint64_t text_bytes = 0;
  std::uint32_t only_stolen = 0;  // APGAS_TRACE_DETAIL
  std::uint32_t missing_texts = 0;

  static constexpr std::uint64_t magic_number = 0x3130'6563'6172'7461;  // "atrace01"
};
// In front of the events of each thread.
struct thread_header {
  std::uint64_t words = 0;
  std::uint64_t dropped = 0;  // events, the oldest ones
};

}  // namespace apgas::inline v0::scheduler::trace
