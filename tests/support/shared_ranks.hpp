// SPDX-License-Identifier: Apache-2.0
#pragma once

// Ranks in one process that share memory, and messages whose contents tell their number.

#include <cstddef>
#include <thread>
#include <utility>
#include <vector>

#include <apgas/comm/transports.hpp>

#include "shm_transport.hpp"

namespace apgas_test {

using namespace apgas::comm;

inline std::byte pattern(std::size_t number, std::size_t i) {
  return static_cast<std::byte>(number * 31 + i * 7 + (i >> 8));
}

inline buffer made(buffer_pool& pool, std::size_t number, std::size_t size) {
  buffer message = pool.get(size);
  for (std::size_t i = 0; i < size; ++i) message.data()[i] = pattern(number, i);
  message.resize(size);
  return message;
}

// Checks messages that have the numbers 0, 1, ... from each rank.
struct messages_sink final : message_sink {
  explicit messages_sink(std::size_t ranks) : next(ranks) {}
  void on_message(rank source, buffer message) noexcept override {
    const std::size_t number = next[static_cast<std::size_t>(source)]++;
    sizes.push_back(message.size());
    for (std::size_t i = 0; i < message.size(); ++i) {
      right &= message.data()[i] == pattern(number, i);
    }
  }
  std::vector<std::size_t> next;
  std::vector<std::size_t> sizes;
  bool right = true;
};

// Ranks in one process that share memory.
struct shared_ranks {
  explicit shared_ranks(int size) : fabric(size), starts(static_cast<std::size_t>(size)) {
    std::vector<std::jthread> threads;
    for (rank r = 0; r < size; ++r) {
      threads.emplace_back([this, r] {
        starts[static_cast<std::size_t>(r)] = share_memory(fabric.at(r));
        (*this)[r].attach();
      });
    }
  }
  ~shared_ranks() {
    for (const auto& each : starts) each.network->detach();
  }
  transport& operator[](rank r) { return *starts[static_cast<std::size_t>(r)].network; }

  local_fabric fabric;
  std::vector<shared_memory_start> starts;
};

}  // namespace apgas_test
