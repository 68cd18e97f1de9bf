// SPDX-License-Identifier: Apache-2.0
#pragma once

// The wire that uses MPI's point-to-point calls.

#include "mpi_receiver.hpp"
#include "mpi_sender.hpp"
#include "wire.hpp"

namespace apgas::inline v0::comm {

class mpi_wire final : public wire {
 public:
  mpi_wire(const mpi_channels& channels, buffer_pool& pool)
      : sender_(channels, pool), receiver_(channels, pool) {}

  std::string_view name() const noexcept override { return "mpi"; }
  void submit(rank dest, buffer message) override { sender_.submit(dest, std::move(message)); }
  bool receive(message_chain& arrived) override { return receiver_.receive(arrived); }
  std::uint64_t received() const noexcept override { return receiver_.received(); }
  bool receiving() const noexcept override { return !receiver_.idle(); }
  void complete(std::vector<sent_message>& finished) override { sender_.complete(finished); }
  bool sending() const noexcept override { return !sender_.idle(); }
  const std::vector<std::uint64_t>& sent() const noexcept override { return sender_.sent(); }
  void reset_counts() override {
    sender_.reset_sent();
    receiver_.reset_received();
  }
  void close() override { receiver_.close(); }

 private:
  mpi_sender sender_;
  mpi_receiver receiver_;
};

}  // namespace apgas::inline v0::comm
