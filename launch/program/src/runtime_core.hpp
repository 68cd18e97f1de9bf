// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <source_location>

#include <sys/types.h>

#include <apgas/base/own_threads.hpp>
#include <apgas/launch/root_call.hpp>

#include "active_program.hpp"
#include "awaited_end.hpp"
#include "root_task.hpp"
#include "session.hpp"

// What an apgas::runtime consists of, and its life:
//
//   place 0      start: root task opens the root finish, and waits
//                calls: each is a task from outside, under a finish of its own
//                stop:  no more calls; waits for those there are; ends the root finish; tells all
//   the others   start; serve: waits to be told
namespace apgas::inline v0::launch {

class runtime_core {
 public:
  // Throws: as the constructor of runtime.
  runtime_core(const config& defaults, std::optional<command_line> again);
  runtime_core(const runtime_core&) = delete;
  runtime_core& operator=(const runtime_core&) = delete;
  // Requires: the end is complete.
  ~runtime_core();

  // Whether this process is the one that made the object, and not forked from it.
  bool in_own_process() const noexcept;
  int here() const noexcept { return places_.here(); }
  int num_places() const noexcept { return places_.num_places(); }

  // The functions of runtime of these names, called outside tasks. Throws: as they do.
  void run(void (*body)(void*), void* object, std::source_location site);
  void submit(std::unique_ptr<submitted_call> call, std::source_location site);
  int serve();
  int stop(int code);

 private:
  class waiting_call;
  class submission;

  void check_process(const char* function) const;
  void begin_call(const char* function);
  void end_call() noexcept;
  void end_places();

  const pid_t process_;
  std::optional<active_program> active_;
  session places_;

  // Place 0 only.
  awaited_end end_;
  const std::function<int()> main_ = [this] { return end_.wait_in_task(); };
  root_task root_{main_, "exceptions that nothing caught reached the end of apgas::runtime"};

  std::mutex calls_mutex_;
  std::condition_variable calls_ended_;
  int calls_ = 0;                               // that have begun and not ended
  bool ending_ = false;                         // no more calls
  std::optional<base::own_thread> stop_waits_;  // the thread in stop() cannot make a task ready

  std::mutex end_mutex_;  // held while the program is ended
  std::optional<int> code_;
};

}  // namespace apgas::inline v0::launch
