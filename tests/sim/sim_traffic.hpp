// SPDX-License-Identifier: Apache-2.0
#pragma once

// Records what a simulated network carried, for each place: frames received, and bytes in and out
// as they would lie in messages. The simulation of any protocol can use it.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <apgas/comm/message.hpp>

namespace sim {

class traffic {
 public:
  explicit traffic(int places) : of_(static_cast<std::size_t>(places)) {}

  void add(int from, int to, std::size_t payload_bytes) {
    const auto bytes = static_cast<std::int64_t>(apgas::comm::frame_bytes(payload_bytes));
    ++frames_;
    ++at(to).received;
    at(to).bytes += bytes;
    at(from).bytes += bytes;
  }

  std::int64_t frames() const { return frames_; }
  std::int64_t received_by(int place) const {
    return of_[static_cast<std::size_t>(place)].received;
  }
  std::int64_t most_received_but_by(int place) const {
    std::int64_t most = 0;
    for (std::size_t p = 0; p < of_.size(); ++p) {
      if (static_cast<int>(p) != place) most = std::max(most, of_[p].received);
    }
    return most;
  }
  std::int64_t most_bytes() const {
    std::int64_t most = 0;
    for (const counts& each : of_) most = std::max(most, each.bytes);
    return most;
  }

 private:
  struct counts {
    std::int64_t received = 0;
    std::int64_t bytes = 0;
  };
  counts& at(int place) { return of_[static_cast<std::size_t>(place)]; }

  std::int64_t frames_ = 0;
  std::vector<counts> of_;
};

}  // namespace sim
