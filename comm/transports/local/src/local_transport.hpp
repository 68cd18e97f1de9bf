// SPDX-License-Identifier: Apache-2.0
#pragma once

// The local transport, for places in one process. A post puts the message into the receiver's
// inbox, and it is complete when the receiver takes it from there.
//
//                 written by                  read by
//   inbox_        any thread of any place     the thread inside progress()
//   exchanges_    each rank, in its turn      all ranks
//
// Invariants
//   I1  All ranks take part in all exchanges in the same order. A rank enters exchange k+1 after it
//       has seen exchange k complete, so one count and two sets of records serve all exchanges.
//   I2  When all ranks have entered the first exchange of the end, every message to a rank is in
//       its inbox, and no counting is necessary.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <apgas/base/spin_lock.hpp>
#include <apgas/comm/message_queue.hpp>
#include <apgas/comm/shutdown_steps.hpp>
#include <apgas/comm/transports.hpp>

namespace apgas::inline v0::comm {

// Exchanges of records between n ranks. An exchange is complete when all ranks have entered it.
// Context: any thread.
class exchange_point {
 public:
  explicit exchange_point(int size) : size_(static_cast<std::uint64_t>(size)) {}

  // Enters the next exchange. `turn` is the number of exchanges that this rank has entered before.
  // Either every rank contributes a record of the same size, or none does.
  void enter(rank from, std::uint64_t turn, std::span<const std::byte> record);
  bool complete(std::uint64_t turn) noexcept;
  // Requires: complete(turn).
  std::vector<std::byte> records(std::uint64_t turn);

 private:
  const std::uint64_t size_;
  base::spin_lock lock_;
  std::uint64_t entered_ = 0;
  std::vector<std::byte> records_[2];
};

class local_transport : public transport, private remote_memory {
 public:
  local_transport(rank here, local_fabric& fabric, exchange_point& exchanges,
                  local_fabric::abort_function end_process);

  std::string_view name() const noexcept override { return "local"; }
  bool wakes_on_arrival() const noexcept override { return true; }
  void post(rank dest, buffer message) noexcept final;
  void push() noexcept final {}
  void send(rank dest, buffer message) noexcept final { post(dest, std::move(message)); }
  bool progress(message_sink& sink) noexcept override;
  void begin_exchange(std::span<const std::byte> mine) override;
  bool exchange_done(std::vector<std::byte>& all) override;
  void begin_barrier() override;
  bool barrier_done() override;
  remote_memory* memory() noexcept override { return this; }
  [[noreturn]] void abort(int code) noexcept override;

 private:
  std::unique_ptr<shared_segment> make_segment(std::size_t bytes) override {
    return make_private_segment(bytes);
  }
  std::unique_ptr<attached_segment> attach(rank, std::span<const std::byte> key) override {
    return attach_private_segment(key);
  }

  local_fabric& fabric_;
  exchange_point& exchanges_;
  const local_fabric::abort_function abort_;

 protected:
  message_queue inbox_;

  // Owned by the thread that holds progress_lock_.
  base::spin_lock progress_lock_;
  message_chain arrived_;

 private:
  std::uint64_t turn_ = 0;  // exchanges entered
  shutdown_steps end_;
};

}  // namespace apgas::inline v0::comm
