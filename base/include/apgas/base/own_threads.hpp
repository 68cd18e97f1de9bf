// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <sys/types.h>

// Tells the threads of the library from those of the program, so that the watchdog knows whether
// some thread could still make a task ready. A thread of the program that waits inside the library
// counts as one of the library meanwhile.
namespace apgas::inline v0::base {

// While it lives, the calling thread counts as one of the library. Objects of one thread may nest.
// They allocate nothing: a thread may start when there is no memory.
// Context: any thread. The destructor may run on another thread than the constructor, which then
// waits.
class own_thread {
 public:
  own_thread() noexcept;
  own_thread(const own_thread&) = delete;
  own_thread& operator=(const own_thread&) = delete;
  ~own_thread();

 private:
  friend int foreign_threads() noexcept;
  static bool exists_on(pid_t thread) noexcept;

  const pid_t id_;
  own_thread* before_ = nullptr;  // in the list of all objects
  own_thread* next_ = nullptr;
};

// While it lives, another library starts threads that only serve itself, such as those of MPI. The
// destructor counts all threads that have begun in its lifetime as threads of the library. So no
// other thread should start threads meanwhile. Context: any thread.
class threads_start {
 public:
  threads_start();
  threads_start(const threads_start&) = delete;
  threads_start& operator=(const threads_start&) = delete;
  ~threads_start();

 private:
  std::vector<int> before_;  // ascending
};

// Returns how many threads of the process do not count as threads of the library; -1 if the system
// does not tell. Context: any thread. Cost: reads a folder of /proc.
int foreign_threads() noexcept;

}  // namespace apgas::inline v0::base
