// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <thread>

#include <unistd.h>

#include "implementation.hpp"

// Stopping the workers of a process that ends by std::exit while there are tasks: static objects
// are about to be destroyed, which tasks of other workers may use.
//
// A worker cannot be stopped inside a task, where it may hold a lock of the C library that the exit
// needs. It is led to its scheduling loop as by prefer_external_tasks(): its next spawn leaves the
// task, its next pop is refused, and a sleeping worker is woken.
//
//                     written by             read by
//   halted            halt                   workers, the progress thread
//   not_halted        halt, before halted    workers
//   stopped_workers   a worker that stops    halt
//
// Pairs
//   P1  A worker that sees halted also sees not_halted.
//   P2  Everything that a stopped worker did is visible to the thread that has counted it.
namespace apgas::inline v0::scheduler {
namespace {

constexpr int preferred_until_the_next_check = 16;
constexpr std::chrono::microseconds between_looks{200};

}  // namespace

void scheduler::implementation::stop_if_halted(const worker& w) noexcept {
  if (!halted.load(base::acquire) || &w == not_halted) return;  // P1
  stopped_workers.fetch_add(1, base::release);                  // P2
  while (true) pause();
}

bool scheduler::halt(std::chrono::milliseconds patience) noexcept {
  auto& s = *implementation_;
  if (s.schedule != nullptr) s.schedule->end();  // the workers must go on to stop
  const fiber* const caller = current_fiber();
  if (caller != nullptr && caller->on->home == this) s.not_halted = caller->on;
  s.halted.store(true, base::release);  // P1
  s.poller_lock.lock();                 // for good: no thread polls the network any more
  const int others = num_workers() - (s.not_halted != nullptr ? 1 : 0);
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (s.stopped_workers.load(base::acquire) < others) {  // P2
    if (std::chrono::steady_clock::now() > deadline) return false;
    // Again each time, because a worker that takes an external task lowers the number.
    s.preferred_external_tasks.store(preferred_until_the_next_check, base::relaxed);
    for (const auto& w : s.workers) {
      if (w.get() == s.not_halted) continue;
      w->tasks.raise_attention();
      w->tasks.refuse_pop();
      (*s.entries[static_cast<std::size_t>(w->id)])->sleep.unpark();
    }
    s.progress_sleep.unpark();
    std::this_thread::sleep_for(between_looks);
  }
  return true;
}

}  // namespace apgas::inline v0::scheduler
