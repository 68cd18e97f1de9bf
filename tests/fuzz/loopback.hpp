// SPDX-License-Identifier: Apache-2.0
#pragma once

// A transport for one rank. A posted message arrives at the next progress().

#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include <apgas/comm/transport.hpp>

#include "fuzz.hpp"

namespace apgas_fuzz {

class loopback final : public comm::transport {
 public:
  explicit loopback(comm::buffer_pool& pool) : transport(0, 1, pool) {}

  std::string_view name() const noexcept override { return "loopback"; }
  bool wakes_on_arrival() const noexcept override { return true; }
  void post(comm::rank dest, comm::buffer message) noexcept override {
    add_queued(dest, message.size());
    waiting_.push_back(dest, std::move(message));
  }
  void push() noexcept override {}
  void send(comm::rank dest, comm::buffer message) noexcept override {
    post(dest, std::move(message));
  }
  bool progress(comm::message_sink& sink) noexcept override {
    const bool any = !waiting_.empty();
    while (!waiting_.empty()) {
      comm::buffer message = waiting_.pop_front();
      sub_queued(0, message.size());
      sink.on_message(0, std::move(message));
    }
    return any;
  }

  void begin_exchange(std::span<const std::byte> mine) override {
    record_.assign(mine.begin(), mine.end());
  }
  bool exchange_done(std::vector<std::byte>& all) override {
    all = record_;
    return true;
  }
  void begin_barrier() override {}
  bool barrier_done() override { return true; }
  [[noreturn]] void abort(int) noexcept override { std::abort(); }

 private:
  comm::message_chain waiting_;
  std::vector<std::byte> record_;
};

}  // namespace apgas_fuzz
