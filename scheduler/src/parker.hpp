// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <apgas/base/atomic.hpp>

// How one thread sleeps and is woken: a token, and a futex to wait for it.
//
//   token_   written by the waker (1) and the sleeper (0), read by both
//
// Pairs
//   P1  What the waker did before unpark() is visible after the park() that takes its token.
namespace apgas::inline v0::scheduler {

class parker {
 public:
  // Sleeps until the token is there and takes it. False: the time-out came first.
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

  // Context: any thread.
  void unpark() noexcept {
    token_.store(1, base::release);  // P1
    syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&token_), FUTEX_WAKE_PRIVATE, 1, nullptr,
            nullptr, 0);
  }

 private:
  base::atomic<std::uint32_t> token_{0};
};
#ifndef APGAS_MODEL_CHECK  // where words are larger, and the futex is the model's
static_assert(sizeof(base::atomic<std::uint32_t>) == sizeof(std::uint32_t));
#endif

}  // namespace apgas::inline v0::scheduler
