// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tells the senders of a place that it may sleep, so that one of them wakes it.
//
//   asleep_   set by the receiver, cleared by the sender that wakes it
//
// Pairs
//   P1  Full fences. A receiver announces that it sleeps, executes the fence and looks at its
//       rings. A sender publishes a record, executes the fence and reads the flag. At least one of
//       them sees the store of the other, so no record is left with a receiver that sleeps.
//
// Model: tests/model/ring_model.cpp.

#include <cstdint>

#include <apgas/base/atomic.hpp>

namespace apgas::inline v0::comm {

class sleep_flag {
 public:
  // Announces that the receiver sleeps unless it finds a record afterwards.
  // Context: the receiver.
  void announce() noexcept {
    asleep_.store(1, base::relaxed);
    base::full_fence();  // P1
  }
  // Whether the caller must wake the receiver. Of several senders one gets true.
  // Context: a sender that has published a record.
  bool take() noexcept {
    base::full_fence();  // P1
    return asleep_.load(base::relaxed) != 0 && asleep_.exchange(0, base::relaxed) != 0;
  }

 private:
  base::atomic<std::uint32_t> asleep_{0};
};

}  // namespace apgas::inline v0::comm
