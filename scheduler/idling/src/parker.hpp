// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>

#include <linux/futex.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <apgas/base/atomic.hpp>

// Puts one thread to sleep until another wakes it. A call of unpark() leaves a token, and park()
// waits for a token and takes it. A thread waits on a futex, or on an eventfd while it waits for a
// file descriptor as well.
//
//   token_   written by the waking thread (1) and by the owner (0 or `polling`), read by both
//   event_   written by the owner before it first stores `polling`
//   observer_  written before the parker is shared
//
// Pairs
//   P1  A park() that takes the token sees everything that was written before the unpark() that
//       left it.
//   P2  A waking thread that reads `polling` from token_ sees event_.
namespace apgas::inline v0::scheduler {

// Is told of each token that a thread leaves.
class wake_observer {
 public:
  wake_observer() = default;
  wake_observer(const wake_observer&) = delete;
  wake_observer& operator=(const wake_observer&) = delete;
  // Context: any thread.
  virtual void woken() noexcept = 0;

 protected:
  ~wake_observer() = default;
};

class parker {
 public:
  parker() = default;
  parker(const parker&) = delete;
  parker& operator=(const parker&) = delete;
  ~parker() {
    if (event_ >= 0) close(event_);
  }

  // Sleeps until there is a token, and takes it. Returns false if `timeout` passes first; max()
  // means no time-out.
  // Context: owner.
  [[nodiscard]] bool park(std::chrono::nanoseconds timeout) noexcept {
    const bool forever = timeout == std::chrono::nanoseconds::max();
    const auto end =
        std::chrono::steady_clock::now() + (forever ? std::chrono::nanoseconds{0} : timeout);
    while (token_.exchange(0, base::acquire) == 0) {  // P1
      timespec left{};
      if (!forever) {
        const auto now = std::chrono::steady_clock::now();
        if (now >= end) return false;
        const auto ns = std::chrono::nanoseconds(end - now).count();
        left = {.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
      }
      syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&token_), FUTEX_WAIT_PRIVATE, 0,
              forever ? nullptr : &left, nullptr, 0);
    }
    return true;
  }

  enum class wake : std::uint8_t { unparked, readable, timed_out };

  // The same, but also returns when `descriptor` becomes readable. If the system refuses an
  // eventfd, it waits for the token only, and for at most a millisecond.
  // Context: owner.
  [[nodiscard]] wake park_on(int descriptor, std::chrono::nanoseconds timeout) noexcept {
    using namespace std::chrono_literals;
    if (event_ < 0) event_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (event_ < 0) {
      const bool unparked = park(std::min<std::chrono::nanoseconds>(timeout, 1ms));
      return unparked ? wake::unparked : wake::timed_out;
    }
    bool readable = false;
    std::uint32_t none = 0;
    if (token_.compare_exchange_strong(none, polling, base::acq_rel, base::acquire)) {  // P1, P2
      pollfd both[] = {{.fd = event_, .events = POLLIN, .revents = 0},
                       {.fd = descriptor, .events = POLLIN, .revents = 0}};
      const auto ns = timeout.count();
      const timespec left{.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
      ppoll(both, 2, timeout == std::chrono::nanoseconds::max() ? nullptr : &left, nullptr);
      std::uint64_t count = 0;
      if (both[0].revents != 0) static_cast<void>(read(event_, &count, sizeof(count)) == 0);
      readable = both[1].revents != 0;
    }
    if (token_.exchange(0, base::acquire) == 1) return wake::unparked;  // P1
    return readable ? wake::readable : wake::timed_out;
  }

  // Returns whether there is a token. Context: any thread.
  bool has_token() const noexcept { return token_.load(base::acquire) == 1; }  // P1
  // Takes the token if there is one, and returns whether there was. Context: owner.
  [[nodiscard]] bool take_token() noexcept { return token_.exchange(0, base::acquire) == 1; }  // P1

  // Calls o.woken() after each token from now on. Context: before another thread calls unpark().
  void observe(wake_observer& o) noexcept { observer_ = &o; }

  // Leaves a token, and wakes the owner if it sleeps. Context: any thread. Cost: a system call.
  void unpark() noexcept {
    wake_observer* const observer = observer_;  // the owner may end as soon as it has the token
    if (token_.exchange(1, base::acq_rel) == polling) {  // P1, P2
      const std::uint64_t one = 1;
      static_cast<void>(write(event_, &one, sizeof(one)) == 0);
      return;
    }
    if (observer != nullptr) [[unlikely]]
      observer->woken();
    syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&token_), FUTEX_WAKE_PRIVATE, 1, nullptr,
            nullptr, 0);
  }

 private:
  static constexpr std::uint32_t polling = 2;

  base::atomic<std::uint32_t> token_{0};
  int event_ = -1;
  wake_observer* observer_ = nullptr;
};
#ifndef APGAS_MODEL_CHECK  // the atomics of the model checker are larger, and so is its futex
static_assert(sizeof(base::atomic<std::uint32_t>) == sizeof(std::uint32_t));
#endif

}  // namespace apgas::inline v0::scheduler
