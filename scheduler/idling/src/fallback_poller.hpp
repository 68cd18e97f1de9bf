// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <thread>

#include <apgas/base/atomic.hpp>
#include <apgas/base/counted_fence.hpp>
#include <apgas/base/own_threads.hpp>

#include "parker.hpp"

// The fallback poller: a thread that polls the network while all workers are busy with tasks that
// do not return to the scheduling loop. Messages that a place has begun to send must not wait for
// these tasks, and what is ready must get a worker: messages that arrive
// (implementation::prefer_external_tasks) and resumed tasks (prefer_resumed_tasks).
// It sleeps until it is armed. While armed it waits for the network, as idle.cpp decides: until
// something arrives, if the network has a descriptor and workers poll rarely, and, on shared cores,
// none searches, but for a millisecond at most. Then it polls, unless a worker has done so.
//
//   armed_   set by any thread, cleared by the fallback poller
//
// Pairs
//   P1  A thread that makes work pending executes the light fence and loads armed_. The fallback
//       poller clears armed_, executes the heavy fence and asks whether work is pending. At least
//       one of the two sees the store of the other, so pending work is always polled for.
//   P2  When the fallback poller sees stopping_, it sees everything that was written before the
//       destructor was called.
namespace apgas::inline v0::scheduler {

class fallback_poller {
 public:
  // Starts the thread. `wait` sleeps until it is time to poll, or until the parker is unparked,
  // which it returns. `poll` polls, unless a worker did meanwhile and the descriptor is not the
  // reason, and returns whether the fallback poller is still needed.
  // Throws: std::system_error.
  fallback_poller(std::function<parker::wake(parker&)> wait,
                  std::function<bool(bool readable)> poll)
      : wait_(std::move(wait)), poll_(std::move(poll)), thread_([this] { loop(); }) {}
  fallback_poller(const fallback_poller&) = delete;
  fallback_poller& operator=(const fallback_poller&) = delete;
  ~fallback_poller() {
    stopping_.store(true, base::release);  // P2
    sleep_.unpark();
    thread_.join();
  }

  // Makes the fallback poller poll until poll() returns false.
  // Context: any thread.
  // Cost: one load if it is armed already.
  void arm() noexcept {
    base::light_fence();  // P1
    if (armed_.load(base::relaxed) || armed_.exchange(true, base::relaxed)) return;
    sleep_.unpark();
  }

  // How many heavy fences it has executed so far. Context: any thread.
  std::uint64_t fences() const noexcept { return fence_.count(); }

 private:
  void loop() noexcept {
    const base::own_thread counts;
    while (!stopping_.load(base::acquire)) {  // P2
      if (!armed_.load(base::relaxed)) {
        static_cast<void>(sleep_.park(std::chrono::nanoseconds::max()));
        continue;
      }
      const parker::wake why = wait_(sleep_);
      if (why == parker::wake::unparked) continue;
      if (poll_(why == parker::wake::readable)) continue;
      armed_.store(false, base::relaxed);
      fence_.heavy_fence();  // P1
      if (poll_(false)) armed_.store(true, base::relaxed);
    }
  }

  std::function<parker::wake(parker&)> wait_;
  std::function<bool(bool)> poll_;
  base::atomic<bool> armed_{false};
  base::atomic<bool> stopping_{false};
  base::counted_fence fence_;
  parker sleep_;
  std::thread thread_;
};

}  // namespace apgas::inline v0::scheduler
