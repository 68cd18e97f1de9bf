// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <thread>

#include <apgas/base/atomic.hpp>

#include "parker.hpp"

// A thread that polls when all workers are busy with long tasks: what a place has begun to send
// must not wait for them, and what comes must find a worker (implementation::want_turn). It sleeps
// unless armed, and then looks a thousand times a second.
//
//   armed_   set by anybody, cleared by the thread
//
// Pairs
//   P1  arm's (make work pending, light fence, load armed_) against the thread's (clear armed_,
//   heavy
//       fence, ask whether something is pending): one of the two sees the other.
//   P2  What ~fallback_poller's caller did is visible to the thread that sees stopping_.
namespace apgas::inline v0::scheduler {

class fallback_poller {
 public:
  // `poll` polls unless a worker did since the last call; false: nothing is pending any more.
  explicit fallback_poller(std::function<bool()> poll)
      : poll_(std::move(poll)), thread_([this] { loop(); }) {}
  fallback_poller(const fallback_poller&) = delete;
  fallback_poller& operator=(const fallback_poller&) = delete;
  ~fallback_poller() {
    stopping_.store(true, base::release);  // P2
    sleep_.unpark();
    thread_.join();
  }

  // Something is pending. Context: any thread. Cost: a load while it is armed.
  void arm() noexcept {
    base::light_fence();  // P1
    if (armed_.load(base::relaxed) || armed_.exchange(true, base::relaxed)) return;
    sleep_.unpark();
  }

 private:
  void loop() noexcept {
    using namespace std::chrono_literals;
    while (!stopping_.load(base::acquire)) {  // P2
      if (!armed_.load(base::relaxed)) {
        static_cast<void>(sleep_.park(std::chrono::nanoseconds::max()));
        continue;
      }
      if (sleep_.park(1ms)) continue;
      if (poll_()) continue;
      armed_.store(false, base::relaxed);
      base::heavy_fence();  // P1
      if (poll_()) armed_.store(true, base::relaxed);
    }
  }

  std::function<bool()> poll_;
  base::atomic<bool> armed_{false};
  base::atomic<bool> stopping_{false};
  parker sleep_;
  std::thread thread_;
};

}  // namespace apgas::inline v0::scheduler
