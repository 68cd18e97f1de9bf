// SPDX-License-Identifier: Apache-2.0
#pragma once

// The local transport: places of one process. A post puts the message into the receiver's inbox;
// it is complete when the receiver takes it out.
//
//                 written by                  read by
//   inbox_        any thread of any place     the thread in progress
//   meetings      each rank, in its turn      all ranks
//
// Invariants
//   I1  all ranks take part in all meetings in the same order; a rank enters meeting k+1 after it
//       saw meeting k complete, so one count and two sets of records serve all meetings.
//   I2  once all have entered the first meeting of an end, what was sent to a rank lies in its
//   inbox:
//       nothing has to be counted.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <apgas/base/spin_lock.hpp>
#include <apgas/comm/shutdown_steps.hpp>
#include <apgas/comm/message_queue.hpp>
#include <apgas/comm/transports.hpp>

namespace apgas::inline v0::comm {

// Where n ranks meet: complete when all have entered. Context: any thread.
class exchange_point {
 public:
  explicit exchange_point(int size) : size_(static_cast<std::uint64_t>(size)) {}

  // Enters the next meeting; `turn` is the number of meetings this rank has entered before.
  // Each rank may leave a record of the same size.
  void enter(rank who, std::uint64_t turn, std::span<const std::byte> record);
  bool complete(std::uint64_t turn) noexcept;
  // Requires: complete(turn).
  std::vector<std::byte> records(std::uint64_t turn);

 private:
  const std::uint64_t size_;
  base::spin_lock lock_;
  std::uint64_t entered_ = 0;
  std::vector<std::byte> records_[2];
};

class local_transport final : public transport, private remote_memory {
 public:
  local_transport(rank here, local_fabric& fabric, exchange_point& exchanges,
                  local_fabric::abort_function end_process);

  std::string_view name() const noexcept override { return "local"; }
  bool wakes_on_arrival() const noexcept override { return true; }
  void post(rank dest, buffer message) noexcept override;
  void push() noexcept override {}
  void send(rank dest, buffer message) noexcept override { post(dest, std::move(message)); }
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
  message_queue inbox_;

  // By the thread that holds the seat.
  base::spin_lock progress_lock_;
  message_chain arrived_;
  std::uint64_t turn_ = 0;  // meetings entered
  shutdown_steps end_;
};

}  // namespace apgas::inline v0::comm
